"""A capsule is consumed once: by whichever thread or library comes first, and whatever interrupts it."""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import xpops
from tests.helpers.producers import Producer, StreamProducer, name_of
from xpops.frameworks import capsule as dl

THREADS, ROUNDS = 8, 500


class Given:
    """A producer that hands out one capsule, however often it is asked."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **keywords):
        return self.capsule


@pytest.fixture
def _hurry():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_hurry")
@pytest.mark.parametrize("others", [xpops.from_dlpack, np.from_dlpack], ids=["xpops", "numpy"])
@pytest.mark.parametrize("kind", [StreamProducer, Producer])
def test_one_thread_gets_the_capsule(kind, others):
    barrier = Barrier(THREADS)

    def taken(take, shared, arrays, errors):
        barrier.wait()
        try:
            arrays.append(take(shared))
        except (BufferError, ValueError) as error:  # NumPy's own is a ValueError
            errors.append(str(error))

    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(ROUNDS):
            producer = kind(np.arange(3.0))
            shared = Given(producer.capsule(kind.versions))
            takes = [xpops.from_dlpack, others] * (THREADS // 2)
            arrays, errors = [], []
            list(pool.map(taken, takes, *([each] * THREADS for each in (shared, arrays, errors))))
            assert (len(arrays), len(errors)) == (1, THREADS - 1)
            assert producer.deleted == 0
            assert np.asarray(arrays[0]).tolist() == [0, 1, 2]
            arrays.clear()
            assert producer.deleted == 1


@pytest.mark.parametrize("kind", [StreamProducer, Producer])
def test_an_interrupt_neither_leaks_nor_frees_twice(kind):
    """At every instruction that consumes: the capsule is untouched, or its memory is given back once."""

    def interrupted(frame, event, argument):
        nonlocal left
        if frame.f_globals is not vars(dl) or frame.f_code.co_name == "__del__":
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return interrupted

    outcomes = set()
    for steps in range(1, 1000):
        producer, left = kind(np.ones(2)), steps
        capsule = producer.capsule(kind.versions)
        sys.settrace(interrupted)
        try:
            content = dl.consume(capsule, "f", "x")
        except KeyboardInterrupt:
            content = None
        finally:
            sys.settrace(None)
        if content is not None:
            break
        gc.collect(0)
        used = name_of(capsule).startswith("used_")
        assert producer.deleted == used, f"after {steps} instructions"
        outcomes.add(used)
    assert outcomes == {False, True}
    assert content is not None
    del content
    assert producer.deleted == 1
