"""`Array.flat`, `Array.put` and `Array.view`: those of NumPy on the same values and strides."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops as xp
from tests.helpers.devices import DEVICES
from xpops.testing import to_numpy

DTYPES = ("bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "complex64", "complex128")
# Views of an array of shape (4, 6, 8).
SHOWN: tuple[Callable[[Any], Any], ...] = (
    lambda x: x,
    lambda x: x[1],
    lambda x: x[2, 3, 1:2],
    lambda x: x[::2, 1:],
    lambda x: x[..., ::-1],
    lambda x: x[..., 2:6],
    lambda x: x[0].T,
    lambda x: x[:, :0],
    lambda x: x[0, 0, 0, ...],
)


def drawn(random: np.random.Generator, dtype: str) -> np.ndarray[Any, Any]:
    return random.integers(0, 2 if dtype == "bool" else 100, (4, 6, 8)).astype(dtype)


def pair(random: np.random.Generator, dtype: str, device: Any) -> tuple[np.ndarray[Any, Any], Any]:
    host = drawn(random, dtype)
    return host, xp.asarray(host, device=device, copy=True)


def outcome(function: Callable[..., Any], *given: Any) -> Any:
    try:
        return function(*given)
    except (ValueError, IndexError) as error:
        return type(error)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("number", range(len(SHOWN)))
@pytest.mark.parametrize("old", DTYPES)
def test_view_is_that_of_numpy(old: str, number: int, device: Any) -> None:
    show = SHOWN[number]
    host, x = pair(np.random.default_rng(number), old, device)
    for new in (*DTYPES, None):
        for _ in range(2):
            given = () if new is None else (new,)
            wanted, found = outcome(show(host).view, *given), outcome(show(x).view, *given)
            if isinstance(wanted, type):
                assert found is wanted
            elif found is ValueError:  # NumPy strides in bytes; ours must be whole elements
                size = np.dtype(new).itemsize
                assert any(step % size for step in show(host).strides[:-1]) or device != "cpu"
            else:
                assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
                got = to_numpy(found)
                if new == "bool":  # any byte but 0 is True, and kernels write 1
                    got, wanted = got.view(np.uint8) != 0, wanted.view(np.uint8) != 0
                assert got.tobytes() == wanted.tobytes()
    wide = x.view("uint8")
    wide[...] = 0
    assert not to_numpy(x).any()


@pytest.mark.parametrize("device", DEVICES)
def test_views_of_dtypes_of_ml_dtypes(device: Any) -> None:
    host = np.arange(16, dtype=np.uint8).reshape(2, 8)
    x = xp.asarray(host, device=device)
    for dtype in (xp.bfloat16, ml_dtypes.float8_e5m2):
        for _ in range(2):
            found = x.view(dtype)
            assert to_numpy(found).tobytes() == host.tobytes()
            assert (found.view(xp.uint8) == x).all()
            assert (found[:, 2:].view(xp.uint8) == x[:, 2 * found.itemsize :]).all()


@pytest.mark.parametrize("device", DEVICES)
def test_errors_of_view(device: Any) -> None:
    x = xp.zeros((4, 6), dtype=xp.float32, device=device)
    for _ in range(2):
        with pytest.raises(ValueError, match="view: the last axis has stride 6; accepted"):
            x.T.view(xp.int64)
        with pytest.raises(ValueError, match="view: rows of 12 bytes; accepted for float64: multiples of 8 bytes"):
            x[:, :3].view(xp.float64)
        with pytest.raises(ValueError, match="view: a 0-d array of 4 bytes has no view as int8"):
            x[0, 0].view(xp.int8)
        with pytest.raises(TypeError, match=r"view: dtype is \(24,\); accepted: a dtype. For another shape"):
            x.view((24,))
    fixed = xp.broadcast_to(x, (2, 4, 6)).view(xp.int32)
    with pytest.raises(ValueError, match="read-only"):
        fixed[0] = 1


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("number", range(len(SHOWN)))
@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64", "bool"])
def test_put_is_that_of_numpy(dtype: str, number: int, device: Any) -> None:
    random, show = np.random.default_rng(number), SHOWN[number]
    host, x = pair(random, dtype, device)
    size = show(host).size
    many = random.permutation(max(size, 1))[: max(size // 2, 1)]
    calls: list[tuple[Any, Any, str]] = [
        (many, random.integers(0, 2, 5), "raise"),
        (-1 - many, 1, "raise"),
        ([[0]], [[True, False]], "raise"),
        ([], 1, "raise"),
        ([0], [], "raise"),
        ([size], 1, "raise"),
        ([-size - 1], 1, "raise"),
        (5, 0, "wrap"),
        (-5, 1, "wrap"),
        ([10 * size + 7], [1], "clip"),
        ([-2], [0], "clip"),
        ([True], 1, "raise"),
    ]
    if device != "cpu":  # there the error comes when the host next reads
        calls = [each for each in calls if each[2] != "raise" or np.abs(np.max(each[0], initial=0)) < size]
        calls = [each for each in calls if each[2] != "raise" or np.abs(np.min(each[0], initial=0)) <= size]
    for indices, values, mode in calls:
        for write in (lambda y, *given: y.put(*given), xp.numpy.put):
            wanted = outcome(show(host).put, indices, values, mode)
            assert outcome(write, show(x), indices, values, mode) == wanted
            np.testing.assert_array_equal(to_numpy(x), host)


KEYS: list[Any] = [
    0, -1, 3, np.int64(2), slice(None), slice(1, None, 2), slice(None, None, -1), Ellipsis, (1,), [0, 2],
    [[0, 1], [2, 3]], 10**6, -(10**6), [10**6], [-1, -2], slice(3, 1),
]  # fmt: skip


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("number", range(len(SHOWN)))
def test_flat_is_that_of_numpy(number: int, device: Any) -> None:
    show = SHOWN[number]
    host, x = pair(np.random.default_rng(number), "float32", device)
    assert len(show(x).flat) == show(host).size
    keys = [
        key for key in KEYS if device == "cpu" or not isinstance(key, list) or np.abs(key).max() < len(show(x).flat)
    ]
    for key in keys:
        for _ in range(2):
            wanted, found = (outcome(operator.getitem, show(each).flat, key) for each in (host, x))
            if isinstance(wanted, type):
                assert found is wanted
                continue
            np.testing.assert_array_equal(to_numpy(found), wanted)
            found[...] = -5  # a copy
            np.testing.assert_array_equal(to_numpy(x), host)
        for values in (4, [1, 2, 3], 2.5, np.arange(6.0).reshape(2, 3)):
            if np.ndim(values) and np.ndim(wanted) == 0 and not isinstance(wanted, type):
                with pytest.raises(ValueError, match="accepted: shape"):
                    show(x).flat[key] = values
                continue
            if isinstance(outcome(operator.setitem, show(host).flat, key, values), type):
                continue
            show(x).flat[key] = values
            np.testing.assert_array_equal(to_numpy(x), host)
    show(host).flat = [7, 8, 9]
    show(x).flat = [7, 8, 9]
    np.testing.assert_array_equal(to_numpy(x), host)


@pytest.mark.parametrize("device", DEVICES)
def test_flat_as_an_iterator_and_an_array(device: Any) -> None:
    host = np.arange(6, dtype=np.int32).reshape(2, 3).T
    x = xp.asarray(host, device=device)
    each = x.flat
    assert each.base is x
    assert int(next(each)) == 0
    assert each.index == 1
    assert list(map(int, each)) == [3, 1, 4, 2, 5]
    assert list(each) == []
    mask = host.ravel() > 2
    np.testing.assert_array_equal(to_numpy(x.flat[xp.asarray(mask, device=device)]), host.flat[mask])
    np.testing.assert_array_equal(to_numpy(x.flat == 3), host.flat == 3)
    np.testing.assert_array_equal(to_numpy(x.flat != 3), host.flat != 3)
    with xp.allow_host_copies():
        np.testing.assert_array_equal(np.asarray(x.flat), host.ravel())
    x.flat[1] = 2.75  # converted to the dtype
    assert int(x[0, 1]) == 2
    fixed = xp.broadcast_to(x, (2, 3, 2))
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            fixed.flat[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            fixed.put([0], 1)
