"""Every layout class of the elementwise kernels, at the edges of every tile and pack, against plain NumPy.

Values are small integers, so that every result is exact in every dtype. A wrong result means an element in the wrong
place.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from xpops.core import dtypes as dt

NDArray = np.ndarray[Any, Any]

devices = st.sampled_from(DEVICES)
LENGTHS = sorted({1, 2, 3, 5, 7, 11, 13, 509, 2039, *(2**k + d for k in (4, 5, 6, 7, 9, 10, 12) for d in (-1, 0, 1))})
SIDES = (7, 8, 9, 31, 32, 33, 63, 64, 65, 127)
# Two operands' dtypes and the result's.
MIXES = [
    (dt.float32, dt.float32, dt.float32),
    (dt.float16, dt.float16, dt.float16),
    (dt.bfloat16, dt.float32, dt.float32),
    (dt.uint8, dt.uint8, dt.uint8),
    (dt.int8, dt.int64, dt.int64),
    (dt.bool, dt.float64, dt.float64),
    (dt.int16, dt.float16, dt.float16),
    (dt.complex64, dt.float32, dt.complex64),
    (dt.complex128, dt.complex128, dt.complex128),
]
mixes = pytest.mark.parametrize("mix", MIXES, ids=lambda mix: "-".join(each.name for each in mix[:2]))
BY_SIZE = [dt.int8, dt.float16, dt.float32, dt.float64, dt.complex128]
by_size = pytest.mark.parametrize("dtype", BY_SIZE, ids=str)


class Recipe(NamedTuple):
    """How to make an operand from a flat buffer, in the same way in NumPy and xpops.

    Attributes
    ----------
    offset : int
        The number of elements before the first.
    lengths : tuple of int
        The lengths of the buffer's axes, in the order of memory.
    key : tuple of slice
        The slices along these axes.
    order : tuple of int
        The permutation of the axes.
    shape : tuple of int
        The shape to which the result is broadcast, which makes axes of stride 0.
    """

    offset: int
    lengths: tuple[int, ...]
    key: tuple[slice, ...]
    order: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return self.offset + int(np.prod(self.lengths, dtype=np.int64))

    def cut(self, namespace: Any, flat: Any) -> Any:
        part = namespace.permute_dims(
            namespace.reshape(flat[self.offset :], self.lengths)[(*self.key, ...)], self.order
        )
        return part if part.shape == self.shape else namespace.broadcast_to(part, self.shape)


def dense(shape: tuple[int, ...], offset: int = 0) -> Recipe:
    return Recipe(offset, shape, (slice(None),) * len(shape), tuple(range(len(shape))), shape)


@st.composite
def recipes(draw: st.DrawFn, shape: tuple[int, ...], repeats: bool = True) -> Recipe:
    """An operand that broadcasts to `shape`: permuted, stepped, flipped, shifted, repeated where `repeats`."""
    visible = shape[draw(st.integers(0, len(shape))) :] if repeats else shape
    kept = [draw(st.sampled_from([1, length, length])) if repeats else length for length in visible]
    order = tuple(draw(st.permutations(range(len(kept)))))
    lengths, key = [0] * len(kept), [slice(None)] * len(kept)
    for place, length in zip(order, kept, strict=True):
        step = draw(st.sampled_from([1, 1, 1, -1, 2, -2, 3]))
        spare = draw(st.sampled_from([0, 0, 1])) if abs(step) == 1 else 0
        lengths[place] = length * abs(step) + spare
        key[place] = (
            slice(spare, None, step) if step > 0 else slice(lengths[place] - 1, spare - 1 if spare else None, step)
        )
    # Repeats are strides of 0 in the operand, or the operator broadcasts.
    explicit = tuple(visible) if repeats and draw(st.booleans()) else tuple(kept)
    return Recipe(draw(st.sampled_from([0, 0, 1, 3])), tuple(lengths), tuple(key), order, explicit)


shapes = st.one_of(
    st.sampled_from(LENGTHS).map(lambda length: (length,)),
    st.tuples(st.sampled_from([1, 3, *SIDES]), st.sampled_from([1, 3, *SIDES])),
    st.tuples(st.integers(1, 5), st.sampled_from([8, 31, 33]), st.sampled_from([3, 16, 33])),
    st.lists(st.integers(1, 4), min_size=4, max_size=6).map(tuple),
    st.sampled_from([(0,), (3, 0), (0, 5, 2), ()]),
)


def numbers(dtype: Any, size: int, seed: int) -> NDArray:
    """Integers from 0 to 60, in no order."""
    return np.random.default_rng(seed).integers(0, 2 if dtype == dt.bool else 61, size).astype(dtype)


def operand(recipe: Recipe, dtype: Any, seed: int, device: Any) -> tuple[NDArray, Any]:
    """The same view of the same numbers in NumPy and in xpops."""
    flat = numbers(dtype, recipe.size, seed)
    return recipe.cut(np, flat), recipe.cut(xp, xp.asarray(flat, device=device, copy=True))


def added(a: NDArray, b: NDArray, dtype: Any) -> NDArray:
    wide = np.complex128 if dtype.kind == "c" else np.float64
    return (a.astype(wide) + b.astype(wide)).astype(dtype)


def assert_equal(got: Any, expected: NDArray) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got.to_numpy(), expected)


@given(st.data(), shapes, st.sampled_from(MIXES), devices)
@settings(max_examples=300)
def test_binary_with_any_layouts(data: st.DataObject, shape: tuple[int, ...], mix: Any, device: Any) -> None:
    a, x = operand(data.draw(recipes(shape)), mix[0], 1, device)
    b, y = operand(data.draw(recipes(shape)), mix[1], 2, device)
    assert_equal(xp.add(x, y), added(a, b, mix[2]))


@given(st.data(), shapes, st.sampled_from(MIXES), devices)
@settings(max_examples=200)
def test_out_with_any_layout_writes_its_elements_only(
    data: st.DataObject, shape: tuple[int, ...], mix: Any, device: Any
) -> None:
    a, x = operand(data.draw(recipes(shape, repeats=False)), mix[0], 1, device)
    b, y = operand(data.draw(recipes(shape)), mix[1], 2, device)
    recipe = data.draw(recipes(shape, repeats=False))
    flat = numbers(mix[2], recipe.size + 40, 3)  # with guards behind the last element
    target = xp.asarray(flat, device=device, copy=True)
    out = recipe.cut(xp, target[: recipe.size])
    recipe.cut(np, flat[: recipe.size])[...] = added(a, b, mix[2])
    assert xp.add(x, y, out=out) is out
    assert_equal(target, flat)


@given(st.data(), shapes, st.sampled_from(MIXES), devices)
@settings(max_examples=150)
def test_where_with_any_layouts(data: st.DataObject, shape: tuple[int, ...], mix: Any, device: Any) -> None:
    c, condition = operand(data.draw(recipes(shape)), dt.bool, 1, device)
    a, x = operand(data.draw(recipes(shape)), mix[0], 2, device)
    b, y = operand(data.draw(recipes(shape)), mix[1], 3, device)
    assert_equal(xp.where(condition, x, y), np.where(c, a.astype(mix[2]), b.astype(mix[2])))


@given(st.data(), shapes, st.sampled_from(BY_SIZE[:4]), devices)
@settings(max_examples=100)
def test_clip_with_any_layouts(data: st.DataObject, shape: tuple[int, ...], dtype: Any, device: Any) -> None:
    a, x = operand(data.draw(recipes(shape, repeats=False)), dtype, 1, device)
    low, x_low = operand(data.draw(recipes(shape)), dtype, 2, device)
    expected = np.minimum(np.maximum(a, low), 40).astype(dtype)
    assert_equal(xp.clip(x, x_low, 40), expected)


@given(st.data(), shapes, st.sampled_from(list(dt.INFO)), devices)
@settings(max_examples=150)
def test_copies_of_any_layout(data: st.DataObject, shape: tuple[int, ...], dtype: Any, device: Any) -> None:
    a, x = operand(data.draw(recipes(shape)), dtype, 1, device)
    assert_equal(x.copy(), a)
    assert_equal(xp.astype(x, xp.complex128), a.astype(np.complex128))


@pytest.mark.parametrize("length", LENGTHS)
@mixes
def test_contiguous(mix: Any, length: int, device: Any) -> None:
    for offsets in ((0, 0), (1, 0), (0, 3), (2, 2)):
        (a, x), (b, y) = (
            operand(dense((length,), offset), dtype, seed, device)
            for seed, (dtype, offset) in enumerate(zip(mix, offsets, strict=False))
        )
        assert_equal(xp.add(x, y), added(a, b, mix[2]))


@pytest.mark.parametrize("shape", [*product(SIDES, SIDES[::3]), (8, 4097), (1025, 9), (64, 1000)], ids=str)
@by_size
def test_transposed_beside_plain(dtype: Any, shape: tuple[int, int], device: Any) -> None:
    a, x = operand(dense(shape), dtype, 1, device)
    b, y = operand(dense(shape[::-1]), dtype, 2, device)
    assert_equal(xp.add(x.T, y), added(a.T, b, dtype))
    assert_equal(xp.add(x, y.T), added(a, b.T, dtype))
    assert_equal(xp.reshape(x.T, (-1,)), a.T.reshape(-1))


@pytest.mark.parametrize("batch", [(1,), (3,), (2, 5), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("side", [(8, 8), (33, 65), (64, 31)], ids=str)
@by_size
def test_transposed_in_batches(dtype: Any, side: tuple[int, int], batch: tuple[int, ...], device: Any) -> None:
    a, x = operand(dense((*batch, *side)), dtype, 1, device)
    b, y = operand(dense((*batch, *side[::-1])), dtype, 2, device)
    column, z = operand(dense((side[1], 1)), dtype, 3, device)
    assert_equal(xp.add(x.mT, y), added(np.swapaxes(a, -1, -2), b, dtype))
    assert_equal(xp.add(x.mT, z), added(np.swapaxes(a, -1, -2), column, dtype))
    assert_equal(xp.add(xp.permute_dims(x, reversed_axes(a.ndim)), 1), added(a.transpose(), np.ones(()), dtype))
    assert_equal(xp.where(y == z, x.mT, y), np.where(b == column, np.swapaxes(a, -1, -2), b))


def reversed_axes(ndim: int) -> tuple[int, ...]:
    return tuple(reversed(range(ndim)))


@pytest.mark.parametrize("length", [1, 31, 341, 342, 1365, 1366, 4097])
@mixes
def test_short_rows_plus_a_row(mix: Any, length: int, device: Any) -> None:
    a, x = operand(dense((length, 3)), mix[0], 1, device)
    b, y = operand(dense((3,)), mix[1], 2, device)
    assert_equal(xp.add(x, y), added(a, b, mix[2]))


@pytest.mark.parametrize("length", [1, 15, 16, 17, 64, 129])
@mixes
def test_outer_sums_rows_and_columns(mix: Any, length: int, device: Any) -> None:
    other = length + 7
    m, x = operand(dense((length, other)), mix[0], 1, device)
    first, column = operand(dense((length, 1)), mix[1], 2, device)
    second, row = operand(dense((1, other)), mix[1], 3, device)
    start, outer = operand(dense((length, 1)), mix[0], 4, device)
    assert_equal(xp.add(outer, row), added(start, second, mix[2]))
    assert_equal(xp.add(x, row), added(m, second, mix[2]))
    assert_equal(xp.add(x, column), added(m, first, mix[2]))


@pytest.mark.parametrize("inner", [8, 12, 13])
@mixes
def test_four_axes_broadcast_from_both_sides(mix: Any, inner: int, device: Any) -> None:
    a, x = operand(dense((4, 1, 6, inner)), mix[0], 1, device)
    b, y = operand(dense((4, 5, 1, inner)), mix[1], 2, device)
    assert_equal(xp.add(x, y), added(a, b, mix[2]))


@pytest.mark.parametrize("rank", [5, 6, 7, 8])
@mixes
def test_many_axes_that_do_not_coalesce(mix: Any, rank: int, device: Any) -> None:
    shape = (2, 3, 2, 3, 2, 2, 3, 2)[:rank]
    every_other = tuple(length if axis % 2 else 1 for axis, length in enumerate(shape))
    a, x = operand(dense(shape[::-1]), mix[0], 1, device)
    b, y = operand(dense(every_other), mix[1], 2, device)
    assert_equal(xp.add(xp.permute_dims(x, reversed_axes(rank)), y), added(a.transpose(), b, mix[2]))


@mixes
def test_elements_without_axes_and_arrays_without_elements(mix: Any, device: Any) -> None:
    for first, second in [((), ()), ((), (5,)), ((3, 1), ()), ((0,), (1,)), ((0, 3), (3,)), ((2, 0, 4), ())]:
        a, x = operand(dense(first), mix[0], 1, device)
        b, y = operand(dense(second), mix[1], 2, device)
        assert_equal(xp.add(x, y), added(a, b, mix[2]))


@pytest.mark.parametrize("length", [1, 17, 1025])
@by_size
def test_reversed_and_stepped(dtype: Any, length: int, device: Any) -> None:
    a, x = operand(dense((3 * length,)), dtype, 1, device)
    for key in (slice(None, None, -1), slice(1, None, 3), slice(None, None, -3), slice(2, 2 + length)):
        assert_equal(xp.positive(x[key]), a[key])
        assert_equal(xp.add(x[key], x[key][::-1]), added(a[key], a[key][::-1], dtype))
