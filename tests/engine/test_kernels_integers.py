"""Every elementwise operator on integers and booleans, with limits of dtypes, against Python's integers and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from conformance.references import reference_of
from tests.helpers.rows import COMPUTED, function_of, parameters, values
from tests.helpers.values import assert_bits
from xpops.core import dtypes as dt
from xpops.ops.operator import Operator
from xpops.testing import special_values

NDArray = np.ndarray[Any, Any]
INTEGERS = dt.SIGNED_INTEGERS + dt.UNSIGNED_INTEGERS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns of division by zero
integers = pytest.mark.parametrize("dtype", INTEGERS, ids=str)


def shifted_left(x: int, count: int, width: int) -> int:
    return x << count if 0 <= count < width else 0


def shifted_right(x: int, count: int, width: int) -> int:
    return x >> (count if 0 <= count < width else width)


def power(x: int, y: int, width: int) -> int:
    """Powers modulo ``2**width``. Negative powers are rounded toward zero."""
    if y < 0:
        return {1: 1, -1: 1 - 2 * (y % 2)}.get(x, 0)
    return pow(x, y, 2**width)


# Computed with Python's integers, which do not overflow; the result is taken modulo 2**width.
BY_RULE: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda x, y, width: x + y,
    "subtract": lambda x, y, width: x - y,
    "multiply": lambda x, y, width: x * y,
    "floor_divide": lambda x, y, width: x // y if y else 0,
    "remainder": lambda x, y, width: x % y if y else 0,
    "pow": power,
    "bitwise_and": lambda x, y, width: x & y,
    "bitwise_or": lambda x, y, width: x | y,
    "bitwise_xor": lambda x, y, width: x ^ y,
    "bitwise_left_shift": shifted_left,
    "bitwise_right_shift": shifted_right,
    "maximum": lambda x, y, width: max(x, y),
    "minimum": lambda x, y, width: min(x, y),
}
ROWS = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype}")
    for op in COMPUTED
    for dtype in (dt.bool, *INTEGERS)
    if dtype in dt.CATEGORIES[op.accepts]
]


def call(name: str, device: Any, *hosts: NDArray) -> NDArray:
    host: NDArray = getattr(xp, name)(*(xp.asarray(each, device=device) for each in hosts)).to_numpy()
    return host


def by_rule(name: str, x: NDArray, y: NDArray) -> NDArray:
    width = 8 * x.itemsize
    results = [BY_RULE[name](a, b, width) % 2**width for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    return np.array(results, f"u{x.itemsize}").view(x.dtype)


@pytest.mark.parametrize(("op", "dtype"), ROWS)
def test_values(op: Operator, dtype: Any, device: Any) -> None:
    hosts = values(op, dtype, 500)
    arrays = [xp.asarray(host, device=device) for host in hosts]
    for numbers in parameters(op, dtype):
        got = function_of(op)(*arrays, *map(float, numbers)).to_numpy()
        if op.name in BY_RULE and dtype != dt.bool:
            assert_bits(got, by_rule(op.name, *hosts), *hosts)
        else:
            assert_bits(got, np.ascontiguousarray(reference_of(op)(*hosts, *numbers)), *hosts)


@pytest.mark.parametrize("dtype", dt.SIGNED_INTEGERS, ids=str)
def test_edges_of_division(dtype: Any, device: Any) -> None:
    low = np.iinfo(dtype).min
    x, y = np.array([low, low, 7, -7, -7, 7], dtype), np.array([-1, 0, 0, 0, 2, -2], dtype)
    assert call("floor_divide", device, x, y).tolist() == [low, 0, 0, 0, -4, -4]
    assert call("remainder", device, x, y).tolist() == [0, 0, 0, 0, 1, -1]


@pytest.mark.parametrize("scalar", [0, -1, 3, 127])
@pytest.mark.parametrize("name", ["add", "multiply", "floor_divide", "remainder", "pow", "bitwise_left_shift"])
def test_scalars_on_either_side(name: str, scalar: int, device: Any) -> None:
    host = special_values(dt.int8)
    x, same = xp.asarray(host, device=device), np.full_like(host, scalar)
    function = getattr(xp, name)
    assert_bits(function(x, scalar).to_numpy(), by_rule(name, host, same), host, same)
    assert_bits(function(scalar, x).to_numpy(), by_rule(name, same, host), same, host)


@integers
def test_scalars_that_do_not_fit(dtype: Any, device: Any) -> None:
    x, info = xp.asarray(special_values(dtype), device=device), np.iinfo(dtype)
    for scalar in (int(info.max) + 1, int(info.min) - 1):
        for arguments in ((x, scalar), (scalar, x)):
            with pytest.raises(
                OverflowError, match=f"add: x[12] is {scalar}, which {dtype} cannot hold; accepted: {info.min}"
            ):
                xp.add(*arguments)
    assert_bits(
        xp.add(x, int(info.max)).to_numpy(), by_rule("add", *np.broadcast_arrays(special_values(dtype), info.max))
    )


@pytest.mark.parametrize(
    ("x", "y", "result"),
    [
        (dt.int8, dt.uint8, dt.int16),
        (dt.int16, dt.uint32, dt.int64),
        (dt.uint8, dt.uint64, dt.uint64),
        (dt.bool, dt.int32, dt.int32),
    ],
    ids=str,
)
def test_mixed_integers_are_converted_before_they_are_computed(x: Any, y: Any, result: Any, device: Any) -> None:
    a, b = (each.reshape(-1) for each in np.meshgrid(special_values(x), special_values(y)))
    wide = a.astype(result), b.astype(result)
    for name in ("add", "multiply", "floor_divide", "remainder", "maximum"):
        assert_bits(call(name, device, a, b), by_rule(name, *wide), a, b)
    assert_bits(call("less", device, a, b), np.less(*wide), a, b)
