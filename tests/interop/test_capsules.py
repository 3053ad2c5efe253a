"""A capsule is consumed once, by the thread or library that is first, even if it is interrupted."""

from __future__ import annotations

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, RLock, Thread

import numpy as np
import pytest

import xpops
from tests.helpers.producers import Producer, StreamProducer, name_of
from xpops.frameworks import capsule as dl

THREADS, ROUNDS = 8, 500


class Given:
    """A producer that always returns the same capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **keywords):
        return self.capsule


@pytest.fixture
def _hurry():
    """Let threads switch as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(params=[None, RLock()], ids=["GIL", "no GIL"])
def _lock(request, monkeypatch):
    """The lock of a Python with a GIL (none), and of one without."""
    monkeypatch.setattr(dl, "_lock", request.param)


@pytest.mark.usefixtures("_hurry", "_lock")
@pytest.mark.parametrize("others", [xpops.from_dlpack, np.from_dlpack], ids=["xpops", "numpy"])
@pytest.mark.parametrize("kind", [StreamProducer, Producer])
def test_one_thread_gets_the_capsule(kind, others):
    barrier = Barrier(THREADS)

    def taken(take, shared, arrays, errors):
        barrier.wait()
        try:
            arrays.append(take(shared))
        except (BufferError, ValueError) as error:  # NumPy raises ValueError
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


@pytest.fixture(autouse=True)
def traced_before():
    """Python 3.12 traces the instructions of a function from its second call on."""
    for _ in range(2):
        consumed(Producer(np.ones(2)).capsule(Producer.versions), 10**6, gc.collect)


def consumed(capsule, steps, act):
    """Consume a capsule, and call `act` at instruction number `steps`. Returns the result, or None after an error."""
    left, before = steps, sys.gettrace()

    def trace(frame, event, argument):
        nonlocal left
        if frame.f_globals is not vars(dl) or frame.f_code.co_name == "__del__":
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left == 0:
                act()
        return trace

    sys.settrace(trace)
    try:
        return dl.consume(capsule, "f", "x"), left
    except (KeyboardInterrupt, BufferError):
        return None, left
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("kind", [StreamProducer, Producer])
def test_an_interrupt_neither_leaks_nor_frees_twice(kind):
    """Interrupted at any instruction, the capsule is either untouched, or its deleter is called once."""

    def interrupt():
        raise KeyboardInterrupt

    outcomes = set()
    for steps in range(1, 1000):
        producer = kind(np.ones(2))
        capsule = producer.capsule(kind.versions)
        content, _ = consumed(capsule, steps, interrupt)
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
    # It must also release its lock, or other threads would wait for ever.
    thread = Thread(target=xpops.from_dlpack, args=(Producer(np.ones(2)),), daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()


@pytest.mark.usefixtures("_lock")
@pytest.mark.parametrize("other", [xpops.from_dlpack, np.from_dlpack], ids=["xpops", "numpy"])
@pytest.mark.parametrize("kind", [StreamProducer, Producer])
def test_another_consumer_at_any_instruction(kind, other):
    """One of the two gets the memory, and the deleter is called once."""
    winners = set()
    for steps in range(1, 1000):
        producer, theirs = kind(np.ones(2)), []
        capsule = producer.capsule(kind.versions)

        def consume(capsule=capsule, theirs=theirs):
            with suppress(BufferError, ValueError):  # NumPy raises ValueError
                theirs.append(other(Given(capsule)))

        ours, left = consumed(capsule, steps, consume)
        if left > 0:
            break
        assert (ours is None) == bool(theirs), f"after {steps} instructions"
        winners.add(ours is None)
        del ours
        theirs.clear()
        gc.collect(0)
        assert producer.deleted == 1, f"after {steps} instructions"
    assert winners == {False, True}
    assert left > 0


@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 5), (4, 1, 3, 2)])
@pytest.mark.parametrize("contents", [dl._contents, dl.contents], ids=["Python", "compiled core"])
def test_contents_tell_what_a_capsule_holds(contents, shape):
    x = np.zeros(shape, np.float32)
    said, address = contents(Producer(x).capsule(False))
    axes = np.array((*shape, *(step // 4 for step in x.strides)), np.int64).tobytes()
    assert said == np.array([1, 0, len(shape)], np.int32).tobytes() + bytes([2, 32, 1, 0]) + axes
    assert address == x.ctypes.data
    other, moved = contents(Producer(x, byte_offset=8, strides=None, code=0, device=(2, 3)).capsule(False))
    assert other == np.array([2, 3, len(shape)], np.int32).tobytes() + bytes([0, 32, 1, 0]) + axes[: 8 * len(shape)]
    assert moved == address + 8
    for wrong in (Producer(x).capsule(True), Producer(x, ndim=-1).capsule(False)):
        with pytest.raises(ValueError, match=r"PyCapsule|-1 axes"):
            contents(wrong)
