"""Elementwise loops of the compiled core that need no wider numbers, against NumPy, with all kinds of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.core.compiled import compiled
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.elementwise import OPERATORS
from xpops.ops.operator import Operator

needs_core = pytest.mark.skipif(compiled is None, reason="the compiled core was not built, or XPOPS_PURE leaves it out")
NDArray = np.ndarray[Any, Any]
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 1e-45, -1e-38, 3e38, 2.0**24, 1e30, -7.0, np.inf, -np.inf, np.nan)
# Rows that NumPy computes in float32 or float64 with the same result.
EXACT = [row for row in (*OPERATORS.values(), ACTIVATIONS["relu"]) if row.core and row.name != "logaddexp"]


def operands(count: int, size: int) -> list[NDArray]:
    """Random bits, random numbers and special numbers beside each other."""
    random, found = np.random.default_rng(size + count), []
    grid = np.meshgrid(*[np.array(SPECIAL, np.float32)] * count, indexing="ij")
    for special in grid:
        bits = random.integers(0, 1 << 32, size, dtype=np.uint64).astype(np.uint32).view(np.float32)
        near = random.normal(size=size).astype(np.float32)
        found.append(np.concatenate([special.ravel(), bits, near, np.roll(near, 1) * np.float32(3)]))
    return found


def wanted(row: Operator, xs: list[NDArray]) -> NDArray:
    with np.errstate(all="ignore"):
        if row.name == "hypot":
            return np.asarray(np.hypot(*[x.astype(np.float64) for x in xs])).astype(np.float32)
        return np.asarray(row.cpu(*xs))


def assert_same(got: NDArray, expected: NDArray) -> None:
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    known = ~np.isnan(expected)
    assert np.array_equal(got[known].view(np.int32), expected[known].view(np.int32))


@needs_core
@pytest.mark.parametrize("row", EXACT, ids=lambda row: row.name)
@pytest.mark.parametrize("size", [1, 1000, 5000])
def test_all_kinds_of_numbers(row: Operator, size: int) -> None:
    xs = operands(row.arity, size)
    expected = wanted(row, xs)
    for step in (1, -1, 3):
        parts = [np.repeat(x, abs(step))[::step] if step != -1 else x[::-1].copy()[::-1] for x in xs]
        out = np.empty(len(expected) * 2, np.float32)[:: 1 + (step == 3)][: len(expected)]
        compiled.compute(row.name, out, *parts)  # type: ignore[union-attr]
        assert_same(np.ascontiguousarray(out), expected)


@needs_core
@pytest.mark.parametrize("row", EXACT, ids=lambda row: row.name)
def test_the_result_replaces_an_operand(row: Operator) -> None:
    expected = wanted(row, operands(row.arity, 3000))
    for place in range(row.arity):
        xs = operands(row.arity, 3000)
        compiled.compute(row.name, xs[place], *xs)  # type: ignore[union-attr]
        assert_same(xs[place], expected)


@needs_core
@pytest.mark.parametrize("row", EXACT, ids=lambda row: row.name)
def test_numbers_beside_arrays(row: Operator) -> None:
    """A number that is the same along a line is read once."""
    first, *others = operands(row.arity, 2000)
    for values in zip(*(x[:60] for x in others), strict=True) if others else [()]:
        for rows in (1, 4):
            x = np.broadcast_to(first, (rows, len(first)))
            out = np.empty(x.shape, np.float32)
            compiled.compute(row.name, out, x, *[np.full((1, 1), value, np.float32) for value in values])  # type: ignore[union-attr]
            expected = wanted(row, [first, *[np.asarray(value, np.float32) for value in values]])
            for each in out:
                assert_same(each, expected)


def test_zeros_at_the_bounds_do_not_depend_on_the_dtype() -> None:
    for dtype in (xp.float16, xp.float32, xp.float64):
        for zero, bound in ((-0.0, 0.0), (0.0, -0.0)):
            for count in (1, 5, 3000):
                x = xp.full(count, zero, dtype=dtype, device="cpu")
                for low in (bound, xp.full(count, bound, dtype=dtype, device="cpu")):
                    assert xp.all(xp.signbit(xp.clip(x, low, 1.0)) == xp.signbit(xp.asarray(bound, device="cpu")))


def test_scalars_beyond_the_dtype() -> None:
    for dtype in (xp.float16, xp.bfloat16, xp.float32):
        x = xp.ones(5000, dtype=dtype, device="cpu")
        for _ in range(2):
            assert xp.all(xp.add(x, 1e300) == xp.inf)
            assert xp.all(xp.clip(x, -1e300, 1e300) == 1)
