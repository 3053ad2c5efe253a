"""The expressions of `xpops.numpy` can be fused, and compile, without a GPU."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import numpy
import pytest

import xpops
import xpops.numpy
from xpops.api.fusion import Fused
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.dispatch.fusion.programs import sources
from xpops.dispatch.fusion.recording import record
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.numpy import elementwise

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

INTEGERS = {
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "gcd",
    "invert",
    "lcm",
    "left_shift",
    "right_shift",
}
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


UFUNCS = [
    name
    for name in sorted(xpops.numpy.__all__)
    if isinstance(getattr(numpy, name, None), numpy.ufunc) and name != "matmul"
]


@pytest.mark.parametrize("name", UFUNCS)
def test_operands_are_converted_in_one_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `dtype`, and with a scalar; other calls with it reuse the function."""
    made: list[Fused] = []

    converting = elementwise._converting

    def convert(*arguments: Any) -> Any:
        made.append(converting(*arguments))
        return made[-1]

    monkeypatch.setattr(elementwise, "_converting", convert)
    ufunc, count, integers = getattr(xpops.numpy, name), getattr(numpy, name).nin, name in INTEGERS
    x = xpops.asarray([1, 2, 3], dtype=xpops.int16)
    for _ in range(2):
        ufunc(*(x,) * count, dtype=dt.int32 if integers else dt.float32)
    assert made[0] is made[1]
    layout = layout_of(dt.int16, (1 << 20,), None, Device("cuda"), 256)
    if name in ("absolute", "add", "fmax", "fmin", "isnan", "maximum", "minimum", "multiply"):  # they take booleans
        ufunc(*(x,) * count, dtype=dt.bool)
        assert len(sources(record(name, made[-1].function, (layout,) * count))) == 1
    for operands in ((layout,) * count, (layout, *(int,) * (count - 1))):
        assert len(sources(record(name, made[0].function, operands))) == 1


@pytest.mark.parametrize("name", ["counts._poisson_round", "rejection._angle_round", "rounding._frexp"])
def test_it_compiles(name: str) -> None:
    (found,) = (expression for path, expression in EXPRESSIONS.items() if path.endswith(name))
    x = layout_of(dt.float64, (1 << 20,), None, Device("cuda"), 256)
    (source,) = sources(record("fused", found.function, (x,) * len(inspect.signature(found.function).parameters)))
    assert compile_cubin("fused", source, 90)
