"""Tries one case: xpops must read it correctly or refuse it with a clear error, and call its deleter once."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np

import xpops
from conformance.producers.cases import Case, elements
from conformance.producers.faults import without_missing
from conformance.producers.memory import SIZE, Memory
from tests.helpers.producers import GENERATIONS, name_of

# Messages of errors begin with the function and its argument, and end with what is accepted.
_ARGUMENTS = {"from_dlpack": "x", "from_dlpack, copy": "x", "asarray": "obj", "astype": "x"}
_ERRORS = (BufferError, TypeError, ValueError, IndexError, AttributeError, xpops.DeviceError)


class Interface:
    """An object that has only ``__cuda_array_interface__``."""

    def __init__(self, entries: dict[str, Any]) -> None:
        self._entries = entries

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._entries


def run(case: Case, memory: Memory, rng: np.random.Generator) -> str:
    """The outcome of a case. It begins with "fault" if something is wrong."""
    image = rng.integers(0, 256, SIZE, np.uint8)
    wanted = elements(case, image)
    if wanted.size:
        wanted[...] = rng.integers(0, 100, case.shape).astype(case.dtype)
    memory.write(image)
    producer: Any = Interface(without_missing(case.header)) if case.interface else _producer(case)
    outcome = _outcome(case, producer, memory, image, wanted)
    if not case.interface and not outcome.startswith("fault"):
        memory.settle()
        outcome = _given_back(case, producer) or outcome
    return outcome


def _producer(case: Case) -> Any:
    producer: Any = GENERATIONS[case.generation](np.zeros(1), **case.header)
    capsules: list[tuple[Any, str]] = []
    make = producer.capsule

    def capsule(versioned: bool) -> Any:
        if isinstance(case.answer, Exception):
            raise case.answer
        if case.answer is not ...:
            return case.answer
        made = make(versioned)
        capsules.append((made, name_of(made)))
        return made

    producer.capsule = capsule
    producer.capsules = capsules
    return producer


def _outcome(case: Case, producer: Any, memory: Memory, image: Any, wanted: Any) -> str:
    try:
        x = _taken(case, producer)
    except Exception as error:
        if not case.faults and not case.garbage:
            return f"fault: refused though sound: {type(error).__name__}: {error}"
        return f"refused: {type(error).__name__}" if _is_clear(case, error) else f"fault: unclear {error!r}"
    if case.faults:
        return "fault: accepted though impossible"
    if case.garbage:
        return "accepted, not read"
    if x.shape != case.shape or x.dtype != case.dtype:
        return f"fault: {x.dtype} of shape {x.shape}"
    if not np.array_equal(x.to_numpy(), wanted):
        return "fault: other values"
    if case.write:
        return _written(case, x, memory, image, wanted)
    return "read" if np.array_equal(memory.read(), image) else "fault: memory was written"


def _taken(case: Case, producer: Any) -> Any:
    if case.call == "from_dlpack":
        return xpops.from_dlpack(producer)
    if case.call == "from_dlpack, copy":
        return xpops.from_dlpack(producer, copy=True)
    return xpops.asarray(producer) if case.call == "asarray" else xpops.astype(producer, case.dtype)


def _is_clear(case: Case, error: Exception) -> bool:
    """Whether an error is the producer's own, or names the function, the argument, and what is accepted."""
    if error is case.answer:
        return True
    if isinstance(error, xpops.DeviceError):
        return "is not there" in str(error)
    function = case.call.partition(",")[0]
    start = f"{function}: {_ARGUMENTS[case.call]}"
    return isinstance(error, _ERRORS) and str(error).startswith(start) and "; accepted: " in str(error)


def _written(case: Case, x: Any, memory: Memory, image: Any, wanted: Any) -> str:
    """Write 1 to every element. All other bytes must stay; if `x` is a copy, all bytes must stay."""
    is_copy = case.call in ("from_dlpack, copy", "astype")
    versioned = GENERATIONS[case.generation].versions and case.generation != 4
    read_only = case.header["data"][1] if case.interface else bool(case.header["flags"] & 1 and versioned)
    repeats = any(stride == 0 and length > 1 for length, stride in zip(case.shape, case.strides, strict=True))
    try:
        x[...] = True if case.dtype == bool else 1
    except ValueError as error:
        refused = (read_only and not is_copy) or repeats
        return "read, not written" if refused else f"fault: not written: {error}"
    if read_only and not is_copy:
        return "fault: written though read-only"
    if not (x.to_numpy() == np.ones(case.shape, case.dtype)).all():
        return "fault: other values after writing"
    if not is_copy and wanted.size:
        wanted[...] = 1
    return "read and written" if np.array_equal(memory.read(), image) else "fault: wrote elsewhere"


def _given_back(case: Case, producer: Any) -> str | None:
    """A fault if the deleter of a consumed capsule was not called once, or another capsule's deleter was called."""
    taken = sum(name_of(capsule) != name for capsule, name in producer.capsules)
    wanted = taken if case.header["deleter"] else 0
    if producer.deleted != wanted:
        gc.collect()
    return None if producer.deleted == wanted else f"fault: {producer.deleted} calls of the deleter for {wanted}"
