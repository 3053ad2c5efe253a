"""Manipulation functions, on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from xpops.testing.strategies import numpy_arrays, shapes, views

devices = st.sampled_from(DEVICES)
INT32 = np.dtype("int32")


def pair(data: st.DataObject, device: Any) -> tuple[Any, Any]:
    """The same view as an Array and as an ndarray."""
    host = data.draw(numpy_arrays(INT32))
    key, order = data.draw(views(host.shape))
    x = xp.asarray(host, device=device, copy=True)[key]
    return xp.permute_dims(x, order), host[key].transpose(order)


@given(st.data(), devices)
def test_axes_move(data: st.DataObject, device: Any) -> None:
    x, host = pair(data, device)
    order = data.draw(st.permutations(range(-host.ndim, 0)))
    assert_same(xp.permute_dims(x, tuple(order)), host.transpose(order))
    count = data.draw(st.integers(0, host.ndim))
    source = tuple(data.draw(st.permutations(range(host.ndim)))[:count])
    target = tuple(data.draw(st.permutations(range(host.ndim)))[:count])
    assert_same(xp.moveaxis(x, source, target), np.moveaxis(host, source, target))
    if host.ndim >= 2:
        assert_same(xp.matrix_transpose(x), host.mT)


@given(st.data(), devices)
def test_flip_expand_squeeze(data: st.DataObject, device: Any) -> None:
    x, host = pair(data, device)
    axes = tuple(data.draw(st.sets(st.sampled_from(range(host.ndim)))) if host.ndim else ())
    assert_same(xp.flip(x, axis=axes), np.flip(host, axes))
    assert_same(xp.flip(x), np.flip(host))
    new = tuple(data.draw(st.sets(st.integers(0, host.ndim + 1), min_size=2, max_size=2)))
    expanded = xp.expand_dims(x, axis=new)
    assert_same(expanded, np.expand_dims(host, new))
    assert_same(xp.squeeze(expanded, axis=new), host)


@given(st.data(), devices)
def test_reshape(data: st.DataObject, device: Any) -> None:
    x, host = pair(data, device)
    assert_same(xp.reshape(x, (host.size,)), host.reshape(host.size))
    if host.size:
        assert_same(xp.reshape(x, (-1, 1)), host.reshape(-1, 1))
    copied = xp.reshape(x, host.shape, copy=True)
    assert_same(copied, host)
    try:
        host.reshape(host.size, copy=False)
    except ValueError:
        with pytest.raises(ValueError, match="reshape: copy is False"):
            xp.reshape(x, (host.size,), copy=False)
    else:
        assert_same(xp.reshape(x, (host.size,), copy=False), host.reshape(host.size))


def test_reshape_is_a_view_where_it_can_be(device: Any) -> None:
    x = xp.arange(6, device=device)
    xp.reshape(x, (2, 3))[0, 1] = 10
    xp.reshape(x, (2, 3), copy=True)[0, 2] = 20
    assert x.tolist() == [0, 10, 2, 3, 4, 5]


@given(st.data(), shapes(), devices)
def test_broadcast(data: st.DataObject, shape: tuple[int, ...], device: Any) -> None:
    given_shape = tuple(1 if data.draw(st.booleans()) else n for n in shape)[data.draw(st.integers(0, len(shape))) :]
    host = data.draw(numpy_arrays(INT32, st.just(given_shape)))
    x = xp.asarray(host, device=device, copy=True)
    assert_same(xp.broadcast_to(x, shape), np.broadcast_to(host, shape))
    assert xp.broadcast_shapes(given_shape, shape) == np.broadcast_shapes(given_shape, shape)
    both = xp.broadcast_arrays(x, xp.zeros(shape, device=device))
    assert isinstance(both, tuple)
    assert_same(both[0], np.broadcast_to(host, shape))
    assert both[1].shape == shape


@given(st.data(), devices)
def test_unstack(data: st.DataObject, device: Any) -> None:
    x, host = pair(data, device)
    if host.ndim == 0:
        with pytest.raises(IndexError, match="unstack: axis is 0"):
            xp.unstack(x)
        return
    axis = data.draw(st.integers(-host.ndim, host.ndim - 1))
    parts = xp.unstack(x, axis=axis)
    assert isinstance(parts, tuple)
    for part, expected in zip(parts, np.unstack(host, axis=axis), strict=True):
        assert_same(part, expected)


def test_foreign_arrays_are_taken_where_they_lie() -> None:
    host = np.arange(6)
    x = xp.flip(host)
    x[0] = 100
    assert type(x) is np.ndarray
    assert host[5] == 100


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: xp.reshape(x, (4, 2)), ValueError, r"reshape: shape is \(4, 2\); accepted: shapes of 6"),
        (lambda x: xp.reshape(x, (-1, -1)), ValueError, "one -1 at most"),
        (lambda x: xp.reshape(x, (-2, 3)), ValueError, "reshape: shape is"),
        (lambda x: xp.reshape(x, "a"), TypeError, "reshape: shape is 'a'"),
        (lambda x: xp.permute_dims(x, (0,)), ValueError, "permute_dims: axes is"),
        (lambda x: xp.permute_dims(x, (0, 0)), ValueError, "twice"),
        (lambda x: xp.permute_dims(x, (0, 2)), IndexError, "permute_dims: axes is 2; accepted: -2 to 1"),
        (lambda x: xp.moveaxis(x, 0, (0, 1)), ValueError, "moveaxis: source is 0"),
        (lambda x: xp.moveaxis(x, 0, 5), IndexError, "moveaxis: destination is 5"),
        (lambda x: xp.squeeze(x, 0), ValueError, "squeeze: axis 0 has length 2"),
        (lambda x: xp.squeeze(x, 7), IndexError, "squeeze: axis is 7"),
        (lambda x: xp.expand_dims(x, axis=4), IndexError, "expand_dims: axis is 4; accepted: -3 to 2"),
        (lambda x: xp.expand_dims(x, axis=(0, 0)), ValueError, "twice"),
        (lambda x: xp.flip(x, axis=2), IndexError, "flip: axis is 2"),
        (lambda x: xp.flip(x, axis=0.5), TypeError, "flip: axis is 0.5"),
        (lambda x: xp.broadcast_to(x, (3,)), ValueError, "broadcast_to"),
        (lambda x: xp.broadcast_arrays(x, xp.zeros(4)), ValueError, "broadcast_arrays: shapes"),
        (lambda x: xp.broadcast_shapes((2,), (3,)), ValueError, "broadcast_shapes: shapes"),
        (lambda x: xp.matrix_transpose(x[0]), ValueError, "matrix_transpose: x has shape"),
        (lambda x: xp.flip([1, 2]), TypeError, "flip: x is a list; accepted: an array"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    xp.set_default_device("cpu")
    with pytest.raises(error, match=message):
        call(xp.zeros((2, 3)))
