"""Views of arrays on a GPU: their addresses, shapes, strides and alignments are those of NumPy's views."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.fake_cuda import on_gpu, pretend
from xpops.core.compiled import compiled
from xpops.core.layouts import alignment, normal_strides

KEYS: list[Any] = [
    3,
    -1,
    (3, 5),
    (-6, -7),
    slice(1, None),
    slice(None, None, 2),
    slice(None, None, -1),
    slice(4, 1),
    slice(-3, None, 2),
    (slice(None), 3),
    (Ellipsis, None),
    (None, 2, Ellipsis, None),
    (slice(1, 3), None, 4),
    Ellipsis,
    None,
    (),
    (slice(None, None, -2), -2),
]
WRONG: list[Any] = [6, -7, (0, 7), (0, 0, 0), (Ellipsis, Ellipsis), slice(None, None, 0), slice("a"), 10**30, "a"]
WRONG += [2**62]  # times the stride, this is beyond 64 bits
SHOWN: dict[str, Callable[[Any, Any], Any]] = {
    "T": lambda namespace, x: x.T,
    "mT": lambda namespace, x: namespace.matrix_transpose(x) if namespace is np else x.mT,
    "flip": lambda namespace, x: namespace.flip(x, axis=1),
    "expand_dims": lambda namespace, x: namespace.expand_dims(x, axis=1),
    "reshape": lambda namespace, x: namespace.reshape(x, (-1, 1)) if x.shape[0] == 6 else x,
    "broadcast_to": lambda namespace, x: namespace.broadcast_to(x, (2, *x.shape)),
    "unstack": lambda namespace, x: namespace.unstack(x, axis=0)[-1] if x.shape[0] else x,
    "diagonal": lambda namespace, x: namespace.linalg.diagonal(x) if namespace is xp else np.diagonal(x),
}


def array_on_gpu(host: np.ndarray) -> xp.Array:
    x = on_gpu(host)
    return xp.Array(x._layout, x._data, x._owner)


def select(host: np.ndarray, key: Any) -> np.ndarray:
    """``host[key]`` as a view, even if it has no axes."""
    key = key if isinstance(key, tuple) else (key,)
    return host[key if Ellipsis in key else (*key, Ellipsis)]


def require_same(found: xp.Array, expected: np.ndarray, x: xp.Array) -> None:
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert found._owner is x._owner
    if expected.size:
        assert found._data == expected.ctypes.data
        assert found._layout.align == alignment(found._data)
        theirs = tuple(step // expected.itemsize for step in expected.strides)
        assert found._layout.strides == normal_strides(expected.shape, theirs)


def hosts() -> list[np.ndarray]:
    base = np.arange(42, dtype=np.float32).reshape(6, 7)
    return [base, base.T.copy().T, np.arange(43, dtype=np.int8)[1:].reshape(6, 7), base[:, ::-1], base.astype("c16")]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_key_selects_what_it_selects_in_numpy(key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch)
    for host in hosts():
        x = array_on_gpu(host)
        for _ in range(3):
            require_same(x[key], select(host, key), x)
            if key not in (-6, (-6, -7)):
                require_same(x[1:][key], select(host[1:], key), x)


@pytest.mark.parametrize("key", WRONG, ids=str)
def test_a_wrong_key_raises_the_same_error_each_time(key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch)
    x, messages = array_on_gpu(hosts()[0]), set()
    for _ in range(3):
        with pytest.raises(IndexError) as error:
            x[key]
        messages.add(str(error.value))
        x[3], x[0, 0], x[::2]
    assert len(messages) == 1


@pytest.mark.parametrize("show", SHOWN)
def test_a_view_is_that_of_numpy(show: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch)
    for host in hosts():
        if host.dtype == np.int8 and show == "diagonal":
            continue
        for x in (array_on_gpu(host), array_on_gpu(host)):
            for rows in (slice(None), slice(1, 5)):
                if show == "reshape" and not host[rows].flags.c_contiguous:
                    continue
                for _ in range(2):
                    require_same(SHOWN[show](xp, x[rows]), SHOWN[show](np, host[rows]), x)


def test_views_of_read_only_arrays_are_read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch)
    for _ in range(3):
        for writable in (False, True):
            x = array_on_gpu(hosts()[0])
            x._writable = writable
            assert [x[1]._writable, x.T._writable, x[..., None]._writable] == [writable] * 3
            assert xp.broadcast_to(x, (2, 6, 7))._writable is False


def test_empty_arrays_have_views(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch)
    for _ in range(3):
        x = array_on_gpu(np.zeros((0, 5), np.float32))
        assert [x[:, 2].shape, x[1:].shape, x.T.shape, x[None].shape] == [(0,), (0, 5), (5, 0), (1, 0, 5)]
        with pytest.raises(IndexError, match="index: 0 is out of range for axis 0 of length 0"):
            x[0]


@pytest.mark.skipif(compiled is None, reason="the compiled core was not built, or XPOPS_PURE leaves it out")
def test_views_keep_no_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch)
    x = array_on_gpu(hosts()[0])
    x[2], x.T, x[1:, None]
    gc.collect()
    before = sys.getrefcount(x._owner), sys.getrefcount(x._data), sys.getrefcount(x[2]._layout)
    for _ in range(100):
        x[2], x.T, x[1:, None]
    assert (sys.getrefcount(x._owner), sys.getrefcount(x._data), sys.getrefcount(x[2]._layout)) == before
