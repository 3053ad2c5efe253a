"""Layouts: interned, normalised, and their facts about memory."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xpops.core import dtypes as dt
from xpops.core import layouts
from xpops.core.devices import CPU, Device
from xpops.core.layouts import alignment, contiguous_strides, extent, layout_of

shapes = st.lists(st.integers(0, 5), max_size=5).map(tuple)


@given(shapes)
def test_c_order_is_numpys(shape: tuple[int, ...]) -> None:
    if 0 not in shape:
        assert contiguous_strides(shape) == np.empty(shape, np.int8).strides
    layout = layout_of(dt.float32, shape, None, CPU)
    assert layout.contiguous
    assert (layout.size, layout.nbytes, layout.ndim) == (int(np.prod(shape)), 4 * int(np.prod(shape)), len(shape))
    if 0 not in shape:
        assert layout is layout_of(dt.float32, shape, contiguous_strides(shape), CPU)


def test_equal_layouts_are_one_object() -> None:
    one = layout_of(dt.float32, (2, 3), (3, 1), CPU, 8)
    assert one is layout_of(np.dtype("float32"), (2, 3), (3, 1), CPU, 8)
    others = [
        layout_of(dt.int32, (2, 3), (3, 1), CPU, 8),
        layout_of(dt.float32, (3, 2), (3, 1), CPU, 8),
        layout_of(dt.float32, (2, 3), (1, 2), CPU, 8),
        layout_of(dt.float32, (2, 3), (3, 1), Device("cuda"), 8),
        layout_of(dt.float32, (2, 3), (3, 1), CPU, 16),
    ]
    assert all(other is not one for other in others)


@pytest.mark.parametrize(
    ("shape", "strides", "normal"),
    [
        ((1, 3), (77, 1), (0, 1)),
        ((3, 1), (1, -5), (1, 0)),
        ((0, 3), (99, 7), (0, 0)),
        ((1,), (1,), (0,)),
        ((), (), ()),
        ((2, 3), (-3, 0), (-3, 0)),
    ],
)
def test_strides_that_never_matter_are_zero(
    shape: tuple[int, ...], strides: tuple[int, ...], normal: tuple[int, ...]
) -> None:
    assert layout_of(dt.int8, shape, strides, CPU).strides == normal


@pytest.mark.parametrize(
    ("shape", "strides", "contiguous"),
    [
        ((2, 3), (3, 1), True),
        ((2, 3), (1, 2), False),
        ((2, 3), (4, 1), False),
        ((3,), (-1,), False),
        ((3,), (0,), False),
        ((1, 3), (50, 1), True),
        ((0,), (5,), True),
    ],
)
def test_contiguous(shape: tuple[int, ...], strides: tuple[int, ...], contiguous: bool) -> None:
    assert layout_of(dt.int8, shape, strides, CPU).contiguous is contiguous


def test_unused_layouts_are_forgotten() -> None:
    key = (dt.int8, (12345, 6), (6, 1), CPU, 16)
    layout = layout_of(*key)
    assert layouts._interned[key] is layout
    del layout
    gc.collect()
    assert key in layouts._interned, "the newest are kept"
    for length in range(layouts._newest.maxlen or 0):
        layout_of(dt.int8, (54321, length), None, CPU)
    gc.collect()
    assert key not in layouts._interned


def test_threads_get_the_same_layout() -> None:
    def make(_: int) -> list[object]:
        return [layout_of(dt.int8, (length, 7), None, CPU) for length in range(2, 200)]

    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(make, range(4))
    assert all(a is b for other in others for a, b in zip(first, other, strict=True))


@given(st.integers(1, 2**48))
def test_alignment_divides_the_address(address: int) -> None:
    found = alignment(address)
    assert found in (1, 2, 4, 8, 16)
    assert address % found == 0
    assert found == 16 or address % (2 * found) != 0


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9)), max_size=4))
def test_extent_spans_every_element(axes: list[tuple[int, int]]) -> None:
    shape, strides = tuple(length for length, _ in axes), tuple(stride for _, stride in axes)
    low, high = extent(layout_of(dt.int16, shape, strides, CPU))
    offsets = [
        2 * sum(int(i) * stride for i, stride in zip(index, strides, strict=True)) for index in np.ndindex(*shape)
    ]
    assert (low, high) == ((min(offsets), max(offsets) + 2) if offsets else (0, 0))


def test_it_prints_its_parts() -> None:
    assert repr(layout_of(dt.int8, (2,), None, CPU)) == "Layout(int8, (2,), (1,), 'cpu', align=16)"
