"""Memory of two owners on a pretended GPU: which stream waits for which, what is retained, and until when."""

from __future__ import annotations

import numpy as np
import pytest

import xpops
from tests.helpers.fake_cuda import FAKE, on_gpu, pretend
from tests.helpers.producers import Producer, header_of
from xpops.core.errors import DeviceError
from xpops.dispatch.operands import Operands
from xpops.dispatch.ownership import Borrowed, Lent, borrow
from xpops.dispatch.primitives import call
from xpops.dlpack.exporting import to_capsule
from xpops.engine.program import Program
from xpops.frameworks.dlpack import DLPackAdapter

OURS, THEIRS = 9, 5


@pytest.fixture
def gpu(monkeypatch):
    gpu = pretend(monkeypatch)
    gpu.stream = OURS
    return gpu


class Streamed(DLPackAdapter):
    """A framework that names its current stream."""

    def __init__(self, stream):
        self.stream = stream

    def current_stream(self, device):
        return self.stream


@pytest.mark.parametrize(
    ("lender", "orders", "is_retained"), [(THEIRS, [(OURS, THEIRS)], False), (OURS, [], False), (None, [], True)]
)
def test_a_lender_waits_for_our_work(gpu, lender, orders, is_retained):
    owner = object()
    memory = Borrowed(owner, FAKE, lender)
    assert (gpu.orders, gpu.retained) == ([], [])
    del memory
    assert gpu.orders == orders
    assert gpu.retained == ([(owner, OURS)] if is_retained else [])


def test_what_is_borrowed_knows_the_lenders_stream(gpu):
    view = Streamed(THEIRS).view(Producer(np.arange(3.0), device=(2, 7)), "f", "x", lambda device: OURS)
    kept = borrow(view, Streamed(THEIRS))
    del view
    assert gpu.orders == []
    del kept
    assert gpu.orders == [(OURS, THEIRS)]


def test_we_wait_for_a_consumers_work(gpu):
    memory = Lent(object(), FAKE, THEIRS, OURS)
    assert gpu.orders == []
    del memory
    assert gpu.orders == [(THEIRS, OURS)]


def test_a_capsule_orders_both_ways(gpu):
    x = on_gpu(np.arange(3.0))
    capsule = to_capsule(x, stream=THEIRS, max_version=(1, 0))
    assert gpu.orders == [(OURS, THEIRS)]
    assert header_of(capsule).tensor.device_id == 7
    del capsule
    assert gpu.orders == [(OURS, THEIRS), (THEIRS, OURS)]


def test_a_calls_operands_are_kept_until_it_is_through(gpu):
    """A producer without a framework names no stream, so its memory is retained until the call has finished."""
    producer = Producer(np.arange(3.0), device=(2, 7))
    operands = Operands("f", ("x",), (producer,))
    assert gpu.retained == []
    operands.release()
    assert [stream for _, stream in gpu.retained] == [OURS]
    del operands
    assert producer.deleted == 0
    gpu.retained.clear()
    assert producer.deleted == 1


@pytest.mark.parametrize(("memory", "kept_for"), [(Borrowed, OURS), (Lent, THEIRS)])
def test_memory_of_streams_that_cannot_be_ordered_is_kept(gpu, monkeypatch, memory, kept_for):
    """As for captured streams: the owner is retained until the last user of the memory has finished."""

    def refuse(first, then):
        raise DeviceError("captured")

    monkeypatch.setattr(gpu, "order", refuse)
    owner = object()
    held = memory(owner, FAKE, THEIRS) if memory is Borrowed else memory(owner, FAKE, THEIRS, OURS)
    del held
    assert gpu.retained == [(owner, kept_for)]


def test_a_lender_on_another_stream_goes_on_behind_the_call(gpu, monkeypatch):
    """With an xpops array and a framework's array, the call runs on our stream."""
    monkeypatch.setattr("xpops.dispatch.operands.adapter_of", lambda kind: Streamed(THEIRS))
    producer = Producer(np.arange(3.0), device=(2, 7))
    operands = Operands("f", ("x1", "x2"), (on_gpu(np.arange(3.0)), producer))
    assert (operands.stream, operands.keys((), ()), gpu.orders) == (OURS, None, [])
    operands.release()
    assert (gpu.orders, gpu.retained) == ([(OURS, THEIRS)], [])


def broken(stream, *data):
    raise DeviceError("broken")


CALLS = {
    "elementwise": lambda x: xpops.negative(x),
    "primitive": lambda x: call(lambda engine, specs: Program((), broken), "f", ("x",), (x,), kept=False),
}


@pytest.mark.parametrize("call", CALLS)
def test_operands_are_kept_through_a_call_that_fails(gpu, monkeypatch, call):
    """Work launched before the error may still read them."""
    monkeypatch.setattr("xpops.dispatch.calls._calls", {})
    monkeypatch.setattr(gpu, "elementwise", lambda *arguments: broken)
    producer = Producer(np.arange(3.0), device=(2, 7))
    with pytest.raises(DeviceError, match="broken"):
        CALLS[call](producer)
    assert [stream for _, stream in gpu.retained] == [OURS]
    assert producer.deleted == 0


def test_torch_hears_that_out_was_written():
    """Then a backward pass that needs overwritten values raises, after first and later calls."""
    torch = pytest.importorskip("torch")
    x, out = torch.arange(3.0), torch.zeros(3)
    for _ in range(4):
        version = out._version
        assert xpops.add(x, x, out=out) is out
        assert out._version > version
