"""Every elementwise operator on real floating-point dtypes: special values and accuracy, against plain NumPy.

On the CPU NumPy computes them, or the compiled core.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from conformance.references import floor_divide, reference_of
from tests.helpers.rows import COMPUTED, function_of, parameters, values
from tests.helpers.values import HALVES, WIDE, assert_bits, assert_within, binary_values, computed, equal_bits, report
from xpops.core import dtypes as dt
from xpops.ops.elementwise import OPERATORS
from xpops.ops.operator import Operator
from xpops.testing import special_values, ulp_error

NDArray = np.ndarray[Any, Any]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the references overflow and meet NaN on purpose
floats = pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)

# The standard does not fix every result of these operators. So each has a test of its own below.
EXTREMA = ("fmax", "fmin", "maximum", "minimum")
OPEN = {"floor_divide", "logaddexp", "logaddexp2", "nextafter", "remainder", *EXTREMA}
ROWS = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype}")
    for op in COMPUTED
    for dtype in dt.REAL_FLOATS
    if dtype in dt.CATEGORIES[op.accepts] and op.name not in OPEN
]
WIDE_BOUND, HALF_BOUND = 4, 0.51  # 16-bit results are rounded once from a float32 that is almost exact


def call(name: str, device: Any, *hosts: NDArray) -> NDArray:
    result = function_of(OPERATORS[name])(*(xp.asarray(host, device=device) for host in hosts))
    assert result.device == device
    host: NDArray = result.to_numpy()
    return host


def bound(dtype: Any) -> float:
    return HALF_BOUND if dtype in HALVES else WIDE_BOUND


def in_computed(function: Callable[..., Any], *hosts: NDArray) -> NDArray:
    """`function` in the dtype that elements are computed in, rounded once; booleans stay."""
    result = np.asarray(function(*(host.astype(computed(host.dtype)) for host in hosts)))
    return result if result.dtype == dt.bool else result.astype(hosts[-1].dtype)


@pytest.mark.parametrize(("op", "dtype"), ROWS)
def test_values(op: Operator, dtype: Any, device: Any) -> None:
    hosts = values(op, dtype)
    if op.name in ("copysign", "signbit"):  # the sign of NaN is not specified
        hosts = [host[hosts[-1] == hosts[-1]] for host in hosts]
    arrays = [xp.asarray(host, device=device) for host in hosts]
    for numbers in parameters(op, dtype):
        got = function_of(op)(*arrays, *map(float, numbers)).to_numpy()
        if op.error(dtype) <= 0.5:  # correctly rounded
            assert_bits(
                got, in_computed(lambda *hosts, numbers=numbers: reference_of(op)(*hosts, *numbers), *hosts), *hosts
            )
        else:
            wanted = reference_of(op)(*(host.astype(WIDE[dtype]) for host in hosts), *numbers)
            assert_within(got, wanted, max(bound(dtype), op.error(dtype)), *hosts)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_quotients_of_halves_are_the_nearest_numbers(dtype: Any, device: Any) -> None:
    """Of every number with 37 divisors that are spread over all others."""
    every = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    x, y = every[:, None], every[None, 11 :: (1 << 16) // 37]
    wanted = (x.astype(np.float32) / y.astype(np.float32)).astype(dtype)
    assert_bits(call("divide", device, x, y), wanted)


@floats
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_logaddexp(name: str, dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    wanted = getattr(np, name)(x.astype(WIDE[dtype]), y.astype(WIDE[dtype]))
    got = call(name, device, x, y)
    # Near 0 the terms cancel, so the error may be a unit in the larger operand's last place.
    larger = np.maximum(np.abs(x.astype(WIDE[dtype])), np.abs(y.astype(WIDE[dtype])))
    unit = float(np.finfo(computed(dtype)).eps) * larger
    cancelled = np.abs(got.astype(WIDE[dtype]) - wanted) <= max(1, bound(dtype)) * unit
    report((ulp_error(got, wanted) <= bound(dtype)) | cancelled, got, wanted, x, y)


@floats
@pytest.mark.parametrize("name", EXTREMA)
def test_extrema(name: str, dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    got, wanted = call(name, device, x, y), in_computed(getattr(np, name), x, y)
    zeros = (x == 0) & (y == 0) & (got == 0)  # which zero is larger is not specified
    report(equal_bits(got, wanted) | zeros, got, wanted, x, y)


@floats
def test_nextafter(dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    assert_bits(call("nextafter", device, x, y), np.where(x == y, y, np.nextafter(x, y)), x, y)


@floats
def test_floor_divide(dtype: Any, device: Any) -> None:
    x, y = binary_values(dtype)
    wide = computed(dtype)
    got, wanted = call("floor_divide", device, x, y), in_computed(floor_divide, x, y)
    # If the quotient has more digits than its dtype, the last digit depends on the method.
    free = np.abs(x.astype(wide) / y.astype(wide)) >= 1 / np.finfo(wide).eps
    near = free & (ulp_error(got, wanted.astype(WIDE[dtype])) <= 1)
    report(equal_bits(got, wanted) | near, got, wanted, x, y)


@pytest.mark.parametrize(
    ("x", "y", "wanted"),
    [
        (np.inf, 2.0, np.inf),
        (np.inf, -2.0, -np.inf),
        (-np.inf, 2.0, -np.inf),
        (-np.inf, -2.0, np.inf),
        (2.0, np.inf, 0.0),
        (-2.0, np.inf, -0.0),
        (2.0, -np.inf, -0.0),
        (-2.0, -np.inf, 0.0),
        (1.0, 0.0, np.inf),
        (1.0, -0.0, -np.inf),
        (0.0, 0.0, np.nan),
        (np.inf, np.inf, np.nan),
        (0.0, -1.0, -0.0),
        (-0.0, 1.0, -0.0),
        (-7.0, 2.0, -4.0),
    ],
)
@floats
def test_floor_divide_by_the_standards_list(x: float, y: float, wanted: float, dtype: Any, device: Any) -> None:
    hosts = [np.array([value], np.float64).astype(dtype) for value in (x, y, wanted)]
    assert_bits(call("floor_divide", device, *hosts[:2]), hosts[2], *hosts[:2])


@floats
def test_remainder(dtype: Any, device: Any) -> None:
    def with_the_divisors_zero(x: NDArray, y: NDArray) -> NDArray:
        result = np.remainder(x, y)
        return np.where(result == 0, np.copysign(result, y), result)

    x, y = binary_values(dtype)
    got, wanted = call("remainder", device, x, y), in_computed(with_the_divisors_zero, x, y)
    zeros = (got == 0) & (wanted == 0) & (np.signbit(got) == np.signbit(y))
    report(equal_bits(got, wanted) | zeros, got, wanted, x, y)


@pytest.mark.parametrize("integer", [dt.bool, dt.int8, dt.int64, dt.uint64], ids=str)
@pytest.mark.parametrize("op", [op for op in COMPUTED if op.floating], ids=str)
def test_integers_are_computed_as_float64(op: Operator, integer: Any, device: Any) -> None:
    host = np.array([0, 1, 1, 0, 1]) if integer == dt.bool else np.array([0, 1, 2, 3, 100])
    x = xp.asarray(host.astype(integer), device=device)
    count = op.arity - op.parameters
    got, wanted = (function_of(op)(*[each] * count).to_numpy() for each in (x, xp.astype(x, xp.float64)))
    assert_bits(got, wanted, host)


@floats
def test_scalars_are_rounded_to_the_array_dtype_once(dtype: Any, device: Any) -> None:
    x = special_values(dtype)
    for scalar in (0.1, -0.0, 1e-50, float("inf"), float("nan"), 3, True):
        got = xp.multiply(xp.asarray(x, device=device), scalar).to_numpy()
        rounded = np.full(x.shape, scalar, np.float64).astype(dtype)
        assert_bits(got, in_computed(np.multiply, x, rounded), x, rounded)


@floats
@pytest.mark.parametrize("value", [0.0, -0.0, 1e-45, float("nan"), float("inf"), 0.1])
def test_fills_keep_every_bit(value: float, dtype: Any, device: Any) -> None:
    got = xp.full((33,), value, dtype=dtype, device=device).to_numpy()
    assert_bits(got, np.full(33, value, np.float64).astype(dtype))
