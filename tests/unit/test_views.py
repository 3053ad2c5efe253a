"""Views against NumPy's own strides. No device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from tests.helpers.layouts import CUTS
from xpops.core.devices import CPU
from xpops.core.layouts import Layout, layout_of
from xpops.plan.strides import views
from xpops.plan.strides.views import Region
from xpops.testing import strategies


def numbered(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)


def layout_like(host: np.ndarray[Any, Any]) -> Layout:
    return layout_of(host.dtype, host.shape, tuple(stride // host.itemsize for stride in host.strides), CPU)


def read(host: np.ndarray[Any, Any], region: Region) -> np.ndarray[Any, Any]:
    """The elements of a region of `host`, read from its flat memory."""
    if 0 in region.shape:
        assert region.offset == 0
        return np.empty(region.shape, host.dtype)
    start = host.ravel()[region.offset :] if host.ndim else host.reshape(1)
    return as_strided(start, region.shape, tuple(stride * host.itemsize for stride in region.strides))


@given(st.data(), strategies.shapes())
def test_index_selects_what_numpy_selects(data: st.DataObject, shape: tuple[int, ...]) -> None:
    host = numbered(shape)
    key = data.draw(strategies.keys(shape))
    np.testing.assert_array_equal(read(host, views.index(layout_like(host), key)), host[key])


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (3, "3 is out of range for axis 0 of length 3"),
        ((0, -5), "-5 is out of range for axis 1 of length 4"),
        ((0, 0, 0), "3 indices for an array of 2 axes"),
        ((..., ...), "several"),
        (1.0, "a float along axis 0"),
        (True, "a bool along axis 0"),
        ([0, 1], "a list"),
        ("a", "a str"),
        (slice(None, None, 0), "a step other than 0"),
        (slice(0.5), "slice of integers"),
    ],
)
def test_index_refuses(key: Any, message: str) -> None:
    with pytest.raises(IndexError, match=message):
        views.index(layout_like(numbered((3, 4))), key)


def check_reshape(base: np.ndarray[Any, Any], host: np.ndarray[Any, Any], target: tuple[int, ...]) -> None:
    """Check that reshaping gives a view exactly when NumPy's does, and the same view."""
    region = views.reshape(layout_like(host), target)
    try:
        expected = host.reshape(target, copy=False)
    except ValueError:
        assert region is None
        return
    assert region is not None
    moved = region._replace(offset=0 if host.size == 0 else int(host.flat[0]))
    np.testing.assert_array_equal(read(base, moved), expected)


@given(st.data(), strategies.shapes())
def test_reshape_is_a_view_exactly_where_numpy_has_one(data: st.DataObject, shape: tuple[int, ...]) -> None:
    base = numbered(shape)
    key, order = data.draw(strategies.views(shape))
    host = base[key].transpose(order)
    check_reshape(base, host, data.draw(reshapes(host.size)))


@pytest.mark.parametrize("name", CUTS)
def test_reshape_of_fixed_views(name: str) -> None:
    base = numbered(CUTS[name].base)
    host = CUTS[name].of(np, base)
    for axis, length in enumerate(host.shape):
        before, after = host.shape[:axis], host.shape[axis + 1 :]
        for part in (part for part in (1, 2, 4, length) if length % part == 0):
            check_reshape(base, host, (*before, part, length // part, *after))
        if after:
            check_reshape(base, host, (*before, length * after[0], *after[1:]))
    check_reshape(base, host, (host.size,))


def reshapes(size: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of `size` elements."""
    if size == 0:
        return st.permutations([0, 2, 3]).map(tuple)
    factors: list[int] = []
    rest = size
    for prime in (2, 3, 5):
        while rest % prime == 0:
            factors.append(prime)
            rest //= prime

    def grouped(order: list[int]) -> st.SearchStrategy[tuple[int, ...]]:
        return st.lists(st.booleans(), min_size=len(order), max_size=len(order)).map(lambda joins: join(order, joins))

    return st.permutations([*factors, 1]).flatmap(grouped)


def join(factors: list[int], joins: list[bool]) -> tuple[int, ...]:
    shape = [1]
    for factor, joined in zip(factors, joins, strict=True):
        if joined:
            shape[-1] *= factor
        else:
            shape.append(factor)
    return tuple(shape)


@given(st.data(), strategies.shapes())
def test_flip_permute_and_expand(data: st.DataObject, shape: tuple[int, ...]) -> None:
    host = numbered(shape)
    layout = layout_like(host)
    order = data.draw(st.permutations(range(host.ndim)))
    axes = tuple(data.draw(st.sets(st.sampled_from(range(host.ndim)))) if host.ndim else ())
    new = tuple(data.draw(st.sets(st.integers(0, host.ndim), max_size=1)))
    np.testing.assert_array_equal(read(host, views.permute(layout, order)), host.transpose(order))
    np.testing.assert_array_equal(read(host, views.flip(layout, axes)), np.flip(host, axes))
    np.testing.assert_array_equal(read(host, views.expand_dims(layout, new)), np.expand_dims(host, new))


def test_broadcast_to() -> None:
    host = numbered((3, 1))
    region = views.broadcast_to(layout_like(host), (2, 3, 4))
    assert region.strides == (0, 1, 0)
    np.testing.assert_array_equal(read(host, region), np.broadcast_to(host, (2, 3, 4)))
    with pytest.raises(ValueError, match=r"\(3, 1\), which does not broadcast to \(3,\)|cannot be broadcast"):
        views.broadcast_to(layout_like(host), (3,))


@pytest.mark.parametrize(
    ("shape", "size", "expected"),
    [
        ((-1,), 6, (6,)), ((2, -1), 6, (2, 3)), ((), 1, ()), ((0, 3), 0, (0, 3)), ((0, -1), 0, None),
        ((-1, 0), 6, None), ((-1, -1), 6, None), ((4, -1), 6, None), ((7,), 6, None),
    ],
)  # fmt: skip
def test_fill_shape(shape: tuple[int, ...], size: int, expected: tuple[int, ...] | None) -> None:
    if expected is None:
        with pytest.raises(ValueError, match=f"shapes of {size} elements"):
            views.fill_shape(shape, size)
    else:
        assert views.fill_shape(shape, size) == expected


@pytest.mark.parametrize(
    ("axes", "error", "message"),
    [(2, IndexError, "-2 to 1"), ((0, -2), ValueError, "twice"), (0.5, TypeError, "an integer")],
)
def test_axes_of_refuses(axes: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"f: axis is .*{message}"):
        views.axes_of(axes, 2, "f")
