"""The functors of special functions, compiled for the host: their accuracy against mpmath, and special values."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers.host_compile import PRELUDE, build_all, call
from tests.helpers.special_cases import CASES
from xpops.core import dtypes as dt
from xpops.ops.operator import Operator
from xpops.ops.special import SPECIAL
from xpops.testing import ulp_error

NDArray = np.ndarray[Any, Any]
PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
POINTS = 40
C_TYPES = {dt.float32: "float", dt.float64: "double"}
rows = pytest.mark.parametrize("op", SPECIAL.values(), ids=str)
dtypes = pytest.mark.parametrize("dtype", C_TYPES, ids=str)


@functools.cache
def libraries() -> dict[str, ctypes.CDLL]:
    """A library for each type of numbers."""
    includes = "".join(f'#include "xpops/math/{header}.cuh"\n' for header in {op.header for op in SPECIAL.values()})
    return build_all(
        {
            name: includes
            + PRELUDE
            + "".join(
                f"ELEMENTWISE{op.arity}({op.functor}_, {op.functor}(), {', '.join([name] * (op.arity + 1))})\n"
                for op in SPECIAL.values()
            )
            for name in C_TYPES.values()
        }
    )


def computed(op: Operator, *operands: NDArray) -> NDArray:
    """The functor's results."""
    dtype = operands[-1].dtype
    return call(libraries()[C_TYPES[dtype]], f"{op.functor}_", dtype, *operands)


def test_every_row_has_a_case() -> None:
    assert CASES.keys() == SPECIAL.keys()


@rows
@dtypes
def test_promise(op: Operator, dtype: Any) -> None:
    case = CASES[op.name]
    operands = case.operands(dtype, POINTS, op.name)
    got = computed(op, *operands)
    error = ulp_error(got, case.exact(operands, got))
    worst = int(np.argmax(error))
    assert error[worst] <= op.error(dtype), [x[worst] for x in operands]


EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.5, -3.5, 30.0, np.nan]
# SciPy's sine of a multiple of pi is not 0.
INEXACT = {"sinc"}


@pytest.mark.parametrize("op", [op for op in SPECIAL.values() if op.arity == 1], ids=str)
@dtypes
def test_special_values_are_those_of_scipy(op: Operator, dtype: Any) -> None:
    special = pytest.importorskip("scipy.special")
    x = np.array(EDGES, dtype)
    with np.errstate(all="ignore"):
        wanted = getattr(special, op.public)(x.astype(np.float64))
    got = computed(op, x).astype(np.float64)
    bound = 1e-15 if op.name in INEXACT else float(np.finfo(dtype).tiny)
    np.testing.assert_allclose(got, wanted, rtol=1e-12 if dtype == dt.float64 else 3e-5, atol=bound)


@pytest.mark.parametrize("op", [op for op in SPECIAL.values() if op.arity > 1], ids=str)
@dtypes
def test_nan_gives_nan(op: Operator, dtype: Any) -> None:
    ordinary = CASES[op.name].operands(dtype, 5, op.name)
    assert np.isfinite(computed(op, *ordinary)).all()
    for place in range(op.arity):
        operands = [np.full_like(x, np.nan) if i == place else x for i, x in enumerate(ordinary)]
        assert np.isnan(computed(op, *operands)).all()


@pytest.mark.parametrize(("least", "most", "ratios"), [(1e-6, 1, 1e3), (1, 60, 5), (60, 2e3, 2), (2e3, 1e6, 1.05)])
@dtypes
def test_incomplete_gamma_of_all_shapes(least: float, most: float, ratios: float, dtype: Any) -> None:
    """On both sides of the mean, to far tails."""
    random = np.random.default_rng(4)
    a = np.exp(random.uniform(np.log(least), np.log(most), POINTS)).astype(dtype)
    x = (a * np.exp(random.uniform(-np.log(ratios), np.log(ratios), POINTS))).astype(dtype)
    for name in ("gammainc", "gammaincc"):
        got = computed(SPECIAL[name], a, x)
        wanted = CASES[name].exact([a, x], got)
        normal = np.abs(wanted) >= np.finfo(dtype).tiny
        assert normal.sum() >= POINTS / 2
        assert np.max(ulp_error(got, wanted)[normal]) <= 12


@pytest.mark.parametrize(("least", "most", "bound"), [(50, 1e3, 20), (0.5, 1e5, 300)])
def test_incomplete_beta_of_large_shapes(least: float, most: float, bound: float) -> None:
    """Near the mean, and in the lower tail."""
    random = np.random.default_rng(3)
    a, b = (np.exp(random.uniform(np.log(least), np.log(most), POINTS)) for _ in "ab")
    mean = a / (a + b)
    x = np.clip(mean + random.uniform(-6, 4, POINTS) * np.sqrt(mean * (1 - mean) / (a + b)), mean / 5, None)
    x = np.minimum(x, 1 - (1 - mean) / 5)
    for name in ("betainc", "betaincc"):
        got = computed(SPECIAL[name], a, b, x)
        assert np.max(ulp_error(got, CASES[name].exact([a, b, x], got))) <= bound


EXTREME: dict[str, list[tuple[float, ...]]] = {
    "gammainc": [(1e8, 0.5), (1e30, 1e15), (1e16, 1e8), (9.99, 1e300), (1e-300, 0.5), (1e37, 1e37), (1e15, 1e16)],
    "gammaincc": [(1e15, 0.5), (2, 1.7e308), (1e30, 1e16), (1e-300, 0.5), (1e37, 1.1e37), (59.9, 1e4)],
    "gammaincinv": [(1e6, 1e-300), (1e15, 0.9), (0.5, 1e-20), (10, 1 - 2.0**-53)],
    "gammainccinv": [(1, 1e-300), (1e-30, 1e-300), (9.99, 1e-300), (1e6, 1e-20)],
    "gdtr": [(1e300, 3, 1e300), (1e-300, 3, 1e-300), (2, 1e8, 0.5), (0, 3, 1)],
    "betainc": [(1e3, 1e300, 0.9), (1e300, 10, 0.999999999), (1e-30, 50, 1e-300), (1e8, 1e8, 0.5), (0.5, 1e15, 1e-15)],
    "betaincc": [(300, 1e300, 0.9), (1e300, 9.99, 0.999), (1e-30, 50, 0.5), (1e8, 1e5, 0.999)],
    "betaincinv": [(0.5, 1e15, 0.9), (1e5, 1e15, 1 - 2.0**-53), (1e15, 300, 1e-20), (1e5, 1e5, 1e-300)],
    "fdtr": [(1, 1e30, 1e5), (1e30, 50, 1), (1e5, 0.5, 2), (1e15, 1e8, 2)],
    "fdtri": [(2.5, 1e30, 0.999999999), (1e8, 1e5, 1e-300), (1e15, 1e8, 1e-5)],
    "stdtr": [(1e30, -3), (1e15, 1e5), (1e-3, 1), (1e8, -10)],
    "stdtrit": [(1e15, 1e-300), (1e30, 0.9), (1e5, 1e-20)],
    "nbdtri": [(300, 1000, 1e-300), (1e5, 1e8, 1e-20)],
}


@pytest.mark.parametrize("name", EXTREME)
def test_extreme_operands(name: str) -> None:
    special = pytest.importorskip("scipy.special")
    operands = [np.array(column) for column in zip(*EXTREME[name], strict=True)]
    with np.errstate(all="ignore"):
        wanted = getattr(special, name)(
            *[x.astype(np.int64) if name == "nbdtri" and i < 2 else x for i, x in enumerate(operands)]
        )
    np.testing.assert_allclose(computed(SPECIAL[name], *operands), wanted, rtol=1e-9)


def test_the_page_has_the_promises_of_the_rows() -> None:
    section = PAGE.read_text().partition("\n## Special functions")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    found = {name.strip("`"): (float(single), float(double)) for name, _, single, double in lines[1:]}
    assert found == {op.name: op.ulps for op in SPECIAL.values()}
    ranges = {name.strip("`"): operands for name, operands, *_ in lines[1:]}
    assert ranges == {name: described(name) for name in SPECIAL}


def described(name: str) -> str:
    """The operands for which the errors were measured."""
    return ", ".join(f"{each} {case}" for each, case in zip(SPECIAL[name].arguments, CASES[name].ranges, strict=True))
