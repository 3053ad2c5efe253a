"""Faults that make a description of memory invalid, and random descriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any, NamedTuple

import numpy as np

FAR = 2**62


class Drawn(NamedTuple):
    """The valid memory that a producer describes. Its first element is at `address`."""

    rng: Random
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    address: int
    device: tuple[int, int]


def _negative(state: Drawn) -> dict[str, Any]:
    rng = state.rng
    shape = [*state.shape, 3][: max(len(state.shape), 1)]
    shape[rng.randrange(len(shape))] = -rng.choice((1, 2, 2**31, 2**63))
    return _shaped(tuple(shape), rng.choice((None, (1,) * len(shape))))


def _shaped(shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> dict[str, Any]:
    return {"ndim": len(shape), "shape": shape, "strides": strides}


def _raised(kind: type[Exception]) -> Exception:
    return kind("its own words")


# Faults that make a header invalid. Each sets all fields that it needs; the other fields may be valid or have a fault.
_FAULTS: dict[str, Callable[[Drawn], dict[str, Any]]] = {
    "negative length": _negative,
    "ndim": lambda state: {"ndim": state.rng.choice((-1, -(2**31), 65, 2**31 - 1))},
    "no shape": lambda state: {"shape": None, "strides": None, "ndim": state.rng.choice((1, 2, 64))},
    "no data": lambda state: _shaped((2, 3)) | {"data": None, "byte_offset": state.rng.choice((0, 64))},
    "too large": lambda state: _shaped(state.rng.choice(((2**63 - 1, 2), (FAR, FAR), (0, FAR, FAR), (2**31,) * 3))),
    "too far": lambda state: _shaped(
        (3, 3), state.rng.choice(((FAR, 1), (1, -FAR), (FAR, FAR), (-(2**63), 1), (2**59, -(2**59))))
    ),
    "offset": lambda state: _shaped((2,)) | {"byte_offset": 2**64 - state.rng.choice((1, 8, 4096))},
    "code": lambda state: {"code": state.rng.choice((3, 7, 14, 16, 255))},
    "bits": lambda state: {"bits": state.rng.choice((0, 1, 4, 6, 24, 80, 255))},
    "lanes": lambda state: {"lanes": state.rng.choice((0, 2, 4, 65535))},
    "unknown device": lambda state: _both(state.rng.choice(((0, 0), (4, 0), (14, 1), (-1, 0), (2, -1), (13, -5)))),
    "missing device": lambda state: _both((2, 99)),
    "another device": lambda state: {
        "announced": state.device,
        "device": state.rng.choice(((10, 0), (2, 3), (2, -1), (99, 99))),
    },
    "no device": lambda state: {"announced": state.rng.choice((None, (), (1,), "cpu", (1.0, 0), ("a", 0), 1))},
    "version": lambda state: {"version": (state.rng.choice((2, 2**32 - 1)), 0)},
    "name": lambda state: {"name": state.rng.choice(("arrow_array", "used_dltensor", "dltensor_versioned2", "dl"))},
    "answer": lambda state: {"answer": state.rng.choice((None, 17, b"dltensor", object()))},
    "raises": lambda state: {"answer": _raised(state.rng.choice((BufferError, RuntimeError, TypeError, MemoryError)))},
}
# Host memory, which the GPU must not access.
_HOST = np.zeros(4096, np.uint8)
_GPU_FAULTS: dict[str, Callable[[Drawn], dict[str, Any]]] = {
    "host memory": lambda state: _shaped((2,)) | {"data": _HOST.ctypes.data, "byte_offset": 0, "device": state.device},
    "misaligned": lambda state: _shaped(()) | {"code": 2, "bits": 64, "data": state.address | 1, "byte_offset": 0},
}


def spoil(kind: str, state: Drawn, header: dict[str, Any], interface: bool) -> tuple[str, ...]:
    """Make a header invalid, or fill it with garbage. Returns the names of its faults."""
    if kind == "garbage":
        header |= _garbage_entries(state) if interface else _garbage(state)
    if kind != "faulty":
        return () if kind in ("sound", "garbage") else (kind,)
    choices = _INTERFACE_FAULTS if interface else _FAULTS | (_GPU_FAULTS if state.device[0] == 2 else {})
    faults = state.rng.sample(sorted(choices), state.rng.choice((1, 1, 2)))
    for name in faults:
        header |= choices[name](state)
    return tuple(faults)


def _both(device: tuple[int, int]) -> dict[str, Any]:
    return {"announced": device, "device": device}


def _garbage(state: Drawn) -> dict[str, Any]:
    """Random values for every field but the pointers, as in uninitialised memory."""
    rng = state.rng
    ndim, any_ = rng.randrange(-1, 6), _integers(rng)
    return {
        "ndim": rng.choice((ndim, ndim, 70)),
        "shape": tuple(next(any_) for _ in range(70)),
        "strides": rng.choice((None, tuple(next(any_) for _ in range(70)))),
        "data": rng.choice((None, state.address, state.address)),
        "byte_offset": next(any_) % 2**64,
        "code": rng.randrange(12),
        "bits": rng.choice((8, 16, 32, 64, 128, rng.randrange(256))),
        "lanes": rng.choice((1, 1, rng.randrange(2**16))),
        "flags": rng.getrandbits(64),
        "version": (rng.choice((0, 1, rng.getrandbits(32))), rng.getrandbits(32)),
    }


def _integers(rng: Random) -> Iterator[int]:
    while True:
        yield rng.choice((0, 1, 2, 3, -1, 100, 2**20, 2**31, -(2**31), 2**63 - 1, -(2**63), rng.getrandbits(62)))


_MISSING = object()
_ENTRIES: dict[str, tuple[Any, ...]] = {
    "shape": (_MISSING, None, 6, "6", (-3,), (2.0,), ("a",), (None,), (2**70,), (1,) * 65, {3: 4}),
    "typestr": (_MISSING, None, "", "nonsense", "<f3", "|O8", "|V4", "i4,i4", "float32", ">f4", 4, "<M8[s]", b"<f4"),
    "data": (_MISSING, None, 4096, (4096,), (None, False), (-8, False), (2**64, False), ("a", True), (1, 2, 3)),
    "version": (_MISSING, None, "3", -1, 4, 2.0),
    "mask": (object(), 1, [True]),
    "stream": (0, -1, 2**64, "1", 1.5, object()),
}


def _wrong_entry(name: str, state: Drawn) -> dict[str, Any]:
    return {name: state.rng.choice(_ENTRIES[name])}


_INTERFACE_FAULTS: dict[str, Callable[[Drawn], dict[str, Any]]] = {
    **{name: partial(_wrong_entry, name) for name in _ENTRIES},
    "strides": lambda state: {
        "shape": (2, 2),
        "strides": state.rng.choice(((), (16,), (16, 16, 16), 16, "a", (1.0, 2.0), (2**80, 16), (None, 1))),
    },
    "null": lambda state: {"shape": (2,), "strides": None, "data": (0, False)},
    "host": lambda state: {"shape": (2,), "strides": None, "data": (_HOST.ctypes.data, False)},
}


def _garbage_entries(state: Drawn) -> dict[str, Any]:
    rng, any_ = state.rng, _integers(state.rng)
    return {
        "shape": tuple(next(any_) for _ in range(rng.randrange(5))),
        "strides": rng.choice((None, tuple(next(any_) for _ in range(rng.randrange(5))))),
        "data": (rng.choice((0, state.address, next(any_))), rng.choice((False, True))),
    }


def without_missing(entries: dict[str, Any]) -> dict[str, Any]:
    """The entries without those that are marked as missing."""
    return {key: value for key, value in entries.items() if value is not _MISSING}
