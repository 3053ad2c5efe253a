"""Draws random producers: valid memory with a correct description, or one with faults that make it invalid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from operator import mul
from random import Random
from typing import Any, NamedTuple

import numpy as np

from conformance.producers.faults import FAR, Drawn, spoil
from conformance.producers.memory import SIZE
from xpops.core import dtypes as dt

# Weights of cases: without a fault, with one or two faults, and with random fields.
SOUND, FAULTY, GARBAGE = 4, 5, 1
CALLS = ("from_dlpack", "from_dlpack, copy", "asarray", "astype")


class Case(NamedTuple):
    """One producer, and the call that imports it.

    Attributes
    ----------
    interface : bool
        Whether the producer has only ``__cuda_array_interface__``.
    generation : int
        The index of the producer's class in ``GENERATIONS``.
    dtype, shape, strides, offset
        The valid memory: strides are in elements, and the first element is `offset` bytes from the start.
    header : dict
        The fields of the producer's description.
    faults : tuple of str
        The faults of the description; empty if it is valid.
    garbage : bool
        Whether the fields are random. Then xpops may accept it or not, and its elements are not checked.
    answer : object
        What ``__dlpack__`` returns or raises instead of a capsule; ``...`` if it returns a capsule.
    call : str
        One of `CALLS`.
    write : bool
        Whether the test also writes to the elements.
    """

    interface: bool
    generation: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    header: dict[str, Any]
    faults: tuple[str, ...]
    garbage: bool
    answer: Any
    call: str
    write: bool


def draw(seed: int, index: int, start: int, device: tuple[int, int]) -> Case:
    """The case with a number. It depends only on the seed and the number, except for addresses."""
    rng = Random(f"{seed} {index}")
    on_gpu = device[0] == 2
    interface = rng.random() < (0.3 if on_gpu else 0.1)
    # The interface has no name for the dtypes of ml_dtypes.
    dtype = rng.choice([each for each in dt.INFO if not interface or each.isbuiltin == 1])
    shape, strides = _layout(rng, dtype.itemsize)
    offset = _place(rng, shape, strides, dtype.itemsize, on_gpu)
    state = Drawn(rng, dtype, shape, start + offset, device)
    header = _interface(state, strides) if interface else _header(state, strides)
    kind = rng.choices(("sound", "faulty", "garbage"), (SOUND, FAULTY, GARBAGE))[0]
    if interface and not on_gpu:
        kind = "garbage" if 0 in shape else "not on a GPU"  # an empty array is valid on any device
    faults = spoil(kind, state, header, interface)
    garbage, answer = kind == "garbage", header.pop("answer", ...)
    # Old generations have no version field.
    generation = rng.choice((2, 3)) if "version" in faults else rng.randrange(1 if on_gpu else 0, 5)
    call, write = CALLS[0] if garbage else rng.choice(CALLS), not garbage and rng.random() < 0.3  # others only read
    return Case(interface, generation, dtype, shape, strides, offset, header, faults, garbage, answer, call, write)


def _layout(rng: Random, item: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A shape and strides that fit into the memory. Strides may be negative, 0, or have gaps; axes are in any order."""
    while True:
        shape = tuple(
            rng.choice((0, 1, 2, 2, 3, 4, 5, 7) if rng.random() < 0.4 else (1, 2, 3, 5))
            for _ in range(rng.randrange(6))
        )
        strides = list(accumulate(reversed(shape[1:]), mul, initial=1))[::-1] if shape else []
        if rng.random() < 0.7:
            step = rng.choice((1, 1, 2))
            for axis in rng.sample(range(len(shape)), len(shape)):
                strides[axis] = rng.choice((step, step, -step, 0) if rng.random() < 0.5 else (step,))
                step *= max(shape[axis], 1) + rng.choice((0, 0, 1))
        low, high = reach(shape, strides)
        if (high - low) * item <= SIZE // 2:
            return shape, tuple(strides)


def reach(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """The elements that a layout spans, relative to the first one."""
    if 0 in shape:
        return 0, 0
    ends = [(length - 1) * stride for length, stride in zip(shape, strides, strict=True)]
    return sum(end for end in ends if end < 0), sum(end for end in ends if end > 0) + 1


def _place(rng: Random, shape: tuple[int, ...], strides: tuple[int, ...], item: int, on_gpu: bool) -> int:
    """The offset of the first element. Mostly, the elements end at the end of the memory, or begin at its beginning."""
    low, high = (each * item for each in reach(shape, strides))
    least, most = -low, SIZE - high
    if rng.random() < 0.1:
        step = item if on_gpu else 1
        return min(least + step * rng.randrange(64), most - most % step if on_gpu else most)
    return rng.choice((least, most))


def _header(state: Drawn, strides: tuple[int, ...]) -> dict[str, Any]:
    """A correct DLPack header, in one of the forms that are allowed."""
    rng, shape, item = state.rng, state.shape, state.dtype.itemsize
    code, bits = dt.INFO[state.dtype].dlpack
    before = rng.choice((0, 0, item, 4096, 1))
    spelled = tuple(
        stride if length > 1 else rng.choice((stride, 7, -FAR)) for length, stride in zip(shape, strides, strict=True)
    )
    header: dict[str, Any] = {
        "data": state.address - before,
        "byte_offset": before,
        "device": state.device,
        "code": code,
        "bits": bits,
        "shape": shape,
        "strides": spelled,
        "flags": rng.choice((0, 0, 0, 1, 2, 4, 1 << 50)),
        "version": (1, rng.choice((0, 1, 2, 99))),
        "deleter": rng.random() > 0.1,
    }
    if strides == np.empty(shape, np.int8).strides and rng.random() < 0.5:
        header["strides"] = None
    if state.device[0] == 1 and rng.random() < 0.1:
        header["device"] = (3, rng.randrange(3))
    if 0 in shape:
        header |= {"strides": rng.choice((None, (FAR,) * len(shape)))}
        header |= rng.choice(({}, {"data": None}, {"byte_offset": 2**64 - 1}, {"data": 1}))
    return header


def _interface(state: Drawn, strides: tuple[int, ...]) -> dict[str, Any]:
    """The entries of a correct ``__cuda_array_interface__``."""
    rng, item = state.rng, state.dtype.itemsize
    entries = {
        "version": rng.choice((2, 3, 3, 0, 1)),
        "shape": rng.choice((tuple, list))(state.shape),
        "typestr": state.dtype.str,
        "data": (state.address, rng.choice((False, False, True))),
        "strides": tuple(stride * item for stride in strides),
        "stream": rng.choice((None, 1, 2)),
        "descr": rng.choice(([("", state.dtype.str)], [("a", "<f8"), ("b", "<i4")])),
    }
    if strides == np.empty(state.shape, np.int8).strides and rng.random() < 0.5:
        entries["strides"] = None
    return entries


def elements(case: Case, image: Any) -> Any:
    """The elements of a valid case, as a NumPy view of a copy of its memory."""
    steps = tuple(stride * case.dtype.itemsize for stride in case.strides)
    if not prod(case.shape):
        return np.empty(case.shape, case.dtype)
    return np.ndarray(case.shape, case.dtype, image, case.offset, steps)
