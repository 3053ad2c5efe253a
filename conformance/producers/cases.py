"""One producer, drawn: memory that can be, described right, or with faults that make it impossible."""

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

# How often: a case without a fault, with one or two, and with all fields at random.
SOUND, FAULTY, GARBAGE = 4, 5, 1
CALLS = ("from_dlpack", "from_dlpack, copy", "asarray", "astype")


class Case(NamedTuple):
    """One producer, and what is asked of it.

    Attributes
    ----------
    interface : bool
        Whether it has ``__cuda_array_interface__`` only.
    generation : int
        Which of the generations of DLPack producers it is.
    dtype, shape, strides, offset
        The sound memory: strides in elements, the first element `offset` bytes from the start.
    header : dict
        What the producer says that differs from it.
    faults : tuple of str
        What makes it impossible; empty if it is sound.
    garbage : bool
        Whether every field is at random: then it may be read or not, and its elements are not looked at.
    answer : object
        What ``__dlpack__`` returns, or raises, in place of a capsule; `...` for a capsule.
    call : str
        One of `CALLS`.
    write : bool
        Whether elements are written, too.
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
    """The case of a number: always the same for one seed, up to addresses."""
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
        kind = "garbage" if 0 in shape else "not on a GPU"  # empty arrays need no memory there
    faults = spoil(kind, state, header, interface)
    garbage, answer = kind == "garbage", header.pop("answer", ...)
    # Old generations have no version that could be wrong.
    generation = rng.choice((2, 3)) if "version" in faults else rng.randrange(1 if on_gpu else 0, 5)
    call, write = CALLS[0] if garbage else rng.choice(CALLS), not garbage and rng.random() < 0.3  # the others read
    return Case(interface, generation, dtype, shape, strides, offset, header, faults, garbage, answer, call, write)


def _layout(rng: Random, item: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """A shape, and strides of either sign, with gaps, repeats, and axes in any order, that fit into the memory."""
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
    """Where the first element lies: the span ends at the end of the memory, or begins at its beginning, mostly."""
    low, high = (each * item for each in reach(shape, strides))
    least, most = -low, SIZE - high
    if rng.random() < 0.1:
        step = item if on_gpu else 1
        return min(least + step * rng.randrange(64), most - most % step if on_gpu else most)
    return rng.choice((least, most))


def _header(state: Drawn, strides: tuple[int, ...]) -> dict[str, Any]:
    """A header of DLPack that says what is, in one of the ways that are allowed."""
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
    """The entries of a sound ``__cuda_array_interface__``."""
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
    """The elements of a sound case in a copy of its memory, as NumPy sees them."""
    steps = tuple(stride * case.dtype.itemsize for stride in case.strides)
    if not prod(case.shape):
        return np.empty(case.shape, case.dtype)
    return np.ndarray(case.shape, case.dtype, image, case.offset, steps)
