"""concat, stack, repeat, roll and tile, on every device, against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from xpops.core import dtypes as dt
from xpops.testing import generator, random_bits
from xpops.testing.strategies import numpy_arrays, views

devices = st.sampled_from(DEVICES)
dtypes = st.sampled_from(tuple(dt.INFO))


def pair(data: st.DataObject, device: Any, dtype: Any, least: int = 0) -> tuple[Any, Any]:
    """The same view as an Array and as an ndarray."""
    host = data.draw(numpy_arrays(dtype, hnp.array_shapes(min_dims=least, max_dims=4, min_side=0, max_side=5)))
    key, order = data.draw(views(host.shape).filter(lambda drawn: host[drawn[0]].ndim >= least))
    x = xp.asarray(host, device=device, copy=True)[key]
    return xp.permute_dims(x, order), host[key].transpose(order)


@given(st.data(), dtypes, devices)
def test_stack(data: st.DataObject, dtype: Any, device: Any) -> None:
    x, host = pair(data, device, dtype)
    axis = data.draw(st.integers(-host.ndim - 1, host.ndim))
    other, other_host = xp.flip(x), np.flip(host)
    for count in (1, 2, 5):
        arrays, hosts = [x, other, x, x, other][:count], [host, other_host, host, host, other_host][:count]
        assert_same(xp.stack(arrays, axis=axis), np.stack(hosts, axis))


@given(st.data(), dtypes, devices)
def test_concat(data: st.DataObject, dtype: Any, device: Any) -> None:
    x, host = pair(data, device, dtype, 1)
    axis = data.draw(st.integers(-host.ndim, host.ndim - 1) | st.none())
    cut = data.draw(st.slices(host.shape[axis])) if axis is not None else slice(None)
    key = (slice(None),) * (axis % host.ndim) + (cut,) if axis is not None else ()
    for keys in ([()], [(), key], [key, (), key, ()]):
        found = xp.concat([x[each] for each in keys], axis=axis)
        assert_same(found, np.concatenate([host[each] for each in keys], axis))


@pytest.mark.parametrize("count", [2, 3, 59, 60, 61, 130])
def test_many_pieces(count: int, device: Any) -> None:
    hosts = [np.arange(n * 7, dtype=np.float32).reshape(n, 7) for n in generator(count).integers(0, 9, count)]
    arrays = [xp.asarray(host, device=device) for host in hosts]
    assert_same(xp.concat(arrays), np.concatenate(hosts))
    assert_same(xp.concat([each.T for each in arrays], axis=1), np.concatenate([each.T for each in hosts], 1))
    assert_same(xp.concat(arrays, axis=None), np.concatenate(hosts, None))
    for axis in (0, 1, 2):
        assert_same(xp.stack([arrays[0]] * count, axis=axis), np.stack([hosts[0]] * count, axis))


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.complex128], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (3, 1025), (1024, 64), (70000, 3), (5, 40, 33)], ids=str)
def test_every_size(dtype: Any, shape: tuple[int, ...], device: Any) -> None:
    host = random_bits(np.dtype(np.uint8), int(np.prod(shape)), "join").reshape(shape).astype(dtype)
    x = xp.asarray(host, device=device)
    for axis in range(len(shape)):
        parts = [host, host[..., ::-1], host[:1] if axis == 0 else host]
        arrays = [x, xp.flip(x, axis=-1), x[:1] if axis == 0 else x]
        assert_same(xp.concat(arrays, axis=axis), np.concatenate(parts, axis))
        assert_same(xp.stack(arrays[:2], axis=axis), np.stack(parts[:2], axis))
        assert_same(xp.roll(x, 7, axis=axis), np.roll(host, 7, axis))
        assert_same(xp.repeat(x, 3, axis=axis), np.repeat(host, 3, axis))
        counts = generator("counts", axis).integers(0, 4, shape[axis])
        assert_same(xp.repeat(x, xp.asarray(counts, device=device), axis=axis), np.repeat(host, counts, axis))
    assert_same(xp.roll(x, -5), np.roll(host, -5))
    assert_same(xp.tile(x, (2, 3)), np.tile(host, (2, 3)))


def test_dtypes_are_promoted(device: Any) -> None:
    parts = [np.ones(3, np.int8), np.ones(3, np.int32)]
    arrays = [xp.asarray(part, device=device) for part in parts]
    assert_same(xp.stack(arrays), np.stack(parts))
    assert_same(xp.concat(arrays), np.concatenate(parts))


@given(st.data(), dtypes, devices)
def test_repeat(data: st.DataObject, dtype: Any, device: Any) -> None:
    x, host = pair(data, device, dtype)
    axis = data.draw(st.integers(-host.ndim, host.ndim - 1) | st.none()) if host.ndim else None
    times = data.draw(st.integers(0, 4))
    wanted = np.repeat(host, times, axis)
    for repeats in (times, np.int8(times), xp.asarray([times], device=device), xp.asarray(times, device=device)):
        assert_same(xp.repeat(x, repeats, axis=axis), wanted)
    length = host.size if axis is None else host.shape[axis]
    counts = data.draw(hnp.arrays(data.draw(st.sampled_from([np.int64, np.uint8])), length, elements=st.integers(0, 4)))
    repeated = xp.repeat(x, xp.asarray(counts, device=device), axis=axis)
    assert_same(repeated, np.repeat(host, counts.astype(np.int64), axis))


@given(st.data(), dtypes, devices)
def test_roll(data: st.DataObject, dtype: Any, device: Any) -> None:
    x, host = pair(data, device, dtype)
    shifts = st.integers(-12, 12)
    one = data.draw(shifts)
    assert_same(xp.roll(x, one), np.roll(host, one))
    if host.ndim:
        axes = tuple(data.draw(st.lists(st.integers(-host.ndim, host.ndim - 1), max_size=3)))
        assert_same(xp.roll(x, one, axis=axes), np.roll(host, one, axes))
        several = tuple(data.draw(shifts) for _ in axes)
        assert_same(xp.roll(x, several, axis=axes), np.roll(host, several, axes))


@given(st.data(), dtypes, devices)
def test_tile(data: st.DataObject, dtype: Any, device: Any) -> None:
    x, host = pair(data, device, dtype)
    counts = tuple(data.draw(st.lists(st.integers(0, 3), max_size=5)))
    assert_same(xp.tile(x, counts), np.tile(host, counts))


def test_results_are_of_the_callers_framework() -> None:
    host = np.arange(6).reshape(2, 3)
    torch = pytest.importorskip("torch")
    for x, kind in ((host, np.ndarray), (torch.asarray(host), torch.Tensor)):
        results = {
            "stack": (xp.stack([x, x]), np.stack([host, host])),
            "concat": (xp.concat([x, x]), np.concatenate([host, host])),
            "repeat": (xp.repeat(x, 2), np.repeat(host, 2)),
            "repeat each": (xp.repeat(x, x[:, 1], axis=0), np.repeat(host, host[:, 1], 0)),
            "roll": (xp.roll(x, 1), np.roll(host, 1)),
            "tile": (xp.tile(x, (2,)), np.tile(host, 2)),
        }
        for name, (found, wanted) in results.items():
            assert type(found) is kind, name
            assert np.array_equal(found, wanted), name


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: xp.stack(x), TypeError, "stack: arrays is an xpops.Array; accepted: a tuple or list"),
        (lambda x: xp.stack([]), ValueError, "stack: arrays is empty"),
        (lambda x: xp.stack([x, 1]), TypeError, r"stack: arrays\[1\] is a Python int"),
        (lambda x: xp.stack([x, x.T]), ValueError, r"stack: arrays\[1\] has shape \(3, 2\)"),
        (lambda x: xp.stack([x, x], axis=3), IndexError, "stack: axis is 3; accepted: -3 to 2"),
        (lambda x: xp.concat([x, x], axis=2), IndexError, "concat: axis is 2"),
        (lambda x: xp.repeat(x, -1), ValueError, "repeat: repeats is -1; accepted: 0 and more"),
        (lambda x: xp.repeat(x, 1.5), TypeError, "repeat: repeats is 1.5; accepted: integers"),
        (lambda x: xp.repeat(x, [1, 2]), TypeError, r"repeat: repeats is \[1, 2\]"),
        (lambda x: xp.repeat(x, 1, axis=2), IndexError, "repeat: axis is 2"),
        (lambda x: xp.repeat(x, xp.asarray([1, 2])), ValueError, r"repeat: repeats has shape \(2,\); accepted: \(6,\)"),
        (lambda x: xp.repeat(x, xp.asarray([1, -2]), axis=0), ValueError, "repeat: repeats holds -2"),
        (lambda x: xp.repeat(x, x[0, :2], axis=0), TypeError, "repeat: repeats has dtype float64"),
        (lambda x: xp.repeat([1, 2], xp.asarray([1, 2])), TypeError, "repeat: x is a list"),
        (lambda x: xp.repeat([1, 2], 2), TypeError, "repeat: x is a list"),
        (lambda x: xp.roll(x, (1, 2)), ValueError, "roll: shift is"),
        (lambda x: xp.roll(x, (1, 2), axis=0), ValueError, "roll: shift is"),
        (lambda x: xp.roll(x, 0.5), TypeError, "roll: shift is 0.5; accepted: integers"),
        (lambda x: xp.roll(x, 1, axis=2), IndexError, "roll: axis is 2; accepted: -2 to 1"),
        (lambda x: xp.tile(x, (-1,)), ValueError, r"tile: repetitions is \(-1,\)"),
        (lambda x: xp.tile(x, 0.5), TypeError, "tile: repetitions is 0.5"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str, device: Any) -> None:
    xp.set_default_device(device)
    try:
        with pytest.raises(error, match=message):
            call(xp.zeros((2, 3)))
    finally:
        xp.set_default_device(None)
