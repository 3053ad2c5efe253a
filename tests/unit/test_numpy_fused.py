"""The expressions of `xpops.numpy` can be fused, and compile, without a GPU."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import pytest

import xpops.numpy
from xpops.api.fusion import Fused
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.dispatch.fusion.programs import sources
from xpops.dispatch.fusion.recording import record
from xpops.engine.cuda.runtime.compile import compile_cubin

MODULES = [importlib.import_module(each.name) for each in pkgutil.walk_packages(xpops.numpy.__path__, "xpops.numpy.")]
EXPRESSIONS = {
    f"{module.__name__}.{name}": found
    for module in MODULES
    for name, found in vars(module).items()
    if isinstance(found, Fused)
}
# Expressions whose operands may be scalars, and how they are called then: "a" is an array, "s" a scalar.
SCALARS = {
    "_binomial_step": ("aaaaas",), "_clip": ("aas", "asa", "ass"), "_close": ("aass", "asss", "sass"),
    "_correction": ("ass",), "_divmod": ("as", "sa"), "_float_power": ("as", "sa"), "_interpolate": ("aaaaaaass",),
    "_logistic": ("ass",), "_number": ("as",), "_numbers": ("asss",), "_one_sided": ("aaass",),
    "_poisson_step": ("aaaas",), "_round_before": ("as",), "_round_behind": ("as",), "_scaled": ("as",),
    "_step": ("aaa",), "_triangular": ("asss",), "_wald": ("aass",),
}  # fmt: skip

COMPLEX = ("_is_complex", "_is_real")


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_it_can_be_fused(name: str) -> None:
    expression, short = EXPRESSIONS[name], name.rpartition(".")[2]
    count = len(inspect.signature(expression.function).parameters)
    x = layout_of(dt.complex128 if short in COMPLEX else dt.float64, (1 << 20,), None, Device("cuda"), 256)
    for kinds in ("a" * count, *SCALARS.get(short, ())):
        assert len(kinds) == count
        specs: tuple[Any, ...] = tuple(x if kind == "a" else float for kind in kinds)
        assert sources(record(short, expression.function, specs))


@pytest.mark.parametrize("name", ["counts._poisson_round", "rejection._angle_round", "rounding._frexp"])
def test_it_compiles(name: str) -> None:
    (found,) = (expression for path, expression in EXPRESSIONS.items() if path.endswith(name))
    x = layout_of(dt.float64, (1 << 20,), None, Device("cuda"), 256)
    (source,) = sources(record("fused", found.function, (x,) * len(inspect.signature(found.function).parameters)))
    assert compile_cubin("fused", source, 90)
