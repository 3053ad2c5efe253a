"""The CUDA side of DLPack on a pretended GPU: streams, devices, moves, ``__cuda_array_interface__``."""

from __future__ import annotations

import gc

import ml_dtypes
import numpy as np
import pytest

from tests.helpers.fake_cuda import FAKE, on_gpu, pretend
from tests.helpers.producers import BareProducer, Producer, StreamProducer, header_of, ints, name_of
from xpops.core.devices import CPU
from xpops.dlpack.capsules import device_of
from xpops.dlpack.exporting import cuda_array_interface, to_capsule
from xpops.dlpack.importing import from_dlpack
from xpops.frameworks.registry import adapter_of


@pytest.fixture
def gpu(monkeypatch):
    return pretend(monkeypatch)


@pytest.mark.parametrize(("ours", "sent"), [(0, 1), (1, 1), (2, 2), (4096, 4096)])
@pytest.mark.parametrize("kind", [StreamProducer, Producer])
def test_the_stream_is_always_named(gpu, ours, sent, kind):
    gpu.stream = ours
    producer = kind(np.arange(3.0), device=(2, 7))
    view = from_dlpack(producer)
    assert view.layout.device == FAKE
    assert view.data == producer.array.ctypes.data
    assert producer.calls[-1]["stream"] == sent
    del view
    gc.collect()
    # The producer names no stream, so its memory is released when our stream has finished.
    assert [stream for _, stream in gpu.retained] == [ours]
    assert producer.deleted == 0
    gpu.retained.clear()
    assert producer.deleted == 1


def test_producers_export_while_their_device_is_the_current_one(gpu):
    class FromTheCurrentDevice(StreamProducer):
        def __dlpack__(self, **options):
            assert gpu.is_current
            return super().__dlpack__(**options)

    from_dlpack(FromTheCurrentDevice(np.arange(3.0), device=(2, 7)))
    assert not gpu.is_current


def test_a_cuda_producer_without_streams_cannot_be_ordered(gpu):
    with pytest.raises(TypeError, match="stream"):
        from_dlpack(BareProducer(np.arange(3.0), device=(2, 7)))


def test_managed_memory_is_cuda_memory(gpu):
    assert from_dlpack(Producer(np.arange(3.0), device=(13, 7))).layout.device == FAKE


def test_misaligned_elements_are_refused_on_a_gpu(gpu):
    producer = Producer(np.zeros(8, np.float32), shape=(2,), byte_offset=2, device=(2, 7))
    with pytest.raises(BufferError, match=r"from_dlpack: x is at address 0x.*; accepted: a multiple of 4 bytes"):
        from_dlpack(producer)
    gc.collect()
    assert producer.deleted == 1


@pytest.mark.parametrize(
    ("ours", "stream", "order"),
    [
        (0, None, []),
        (0, 1, []),
        (0, 2, [(0, 2)]),
        (0, 4096, [(0, 4096)]),
        (0, -1, []),
        (4096, None, [(4096, 0)]),
        (4096, 1, [(4096, 0)]),
        (4096, 4096, []),
        (4096, -1, []),
    ],
)
def test_the_consumers_stream_waits_for_ours(gpu, ours, stream, order):
    gpu.stream = ours
    capsule = to_capsule(on_gpu(np.arange(3.0)), stream=stream)
    assert gpu.orders == order
    tensor = header_of(capsule).tensor
    assert (tensor.device_type, tensor.device_id) == (2, 7)


@pytest.mark.parametrize(("stream", "error"), [(0, ValueError), (-2, ValueError), ("1", TypeError), (1.5, TypeError)])
def test_streams_that_are_none(gpu, stream, error):
    with pytest.raises(error, match=r"__dlpack__: stream is .*; accepted"):
        to_capsule(on_gpu(np.arange(3.0)), stream=stream)


def test_export_to_the_host(gpu):
    x = on_gpu(np.arange(12.0).reshape(3, 4)[:, ::2])
    assert device_of(x._layout) == (2, 7)
    managed = header_of(to_capsule(x, dl_device=(1, 0), max_version=(1, 0)))
    assert (managed.tensor.device_type, managed.tensor.device_id, managed.flags) == (1, 0, 2)
    assert ints(managed.tensor.strides, 2) == (2, 1)
    with pytest.raises(BufferError, match="copy is False, but the array is on cuda:7 and has to be copied to cpu"):
        to_capsule(x, dl_device=(1, 0), copy=False)
    with pytest.raises(ValueError, match="accepted on the CPU: None"):
        to_capsule(x, dl_device=(1, 0), stream=1)
    with pytest.raises(BufferError, match=r"accepted: \(2, 7\), or \(1, 0\) for the host"):
        to_capsule(x, dl_device=(2, 0))
    assert to_capsule(x, dl_device=(2, 7)) is not None


@pytest.mark.parametrize("view", [np.s_[:], np.s_[::2], np.s_[::-1], np.s_[:0], np.s_[:, ::2]])
def test_moves(gpu, view):
    array = np.arange(12.0).reshape(3, 4)[view]
    there = from_dlpack(array, device=FAKE)
    assert there.layout.device == FAKE
    assert there.layout.contiguous
    back = from_dlpack(Producer(array, device=(2, 7)), device=CPU)
    assert np.array_equal(back.data, array)
    assert back.writable
    assert np.array_equal(from_dlpack(on_gpu(array), device=CPU).data, array)
    for x, target in ((array, FAKE), (Producer(array, device=(2, 7)), CPU)):
        for error in (BufferError, ValueError):
            with pytest.raises(error, match="from_dlpack: copy is False, but x is on"):
                from_dlpack(x, device=target, copy=False)


def test_cuda_array_interface(gpu):
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert cuda_array_interface(on_gpu(array)) == {
        "version": 3,
        "shape": (3, 4),
        "typestr": "<f4",
        "data": (array.ctypes.data, False),
        "strides": None,
        "stream": 1,
    }
    gpu.stream = 4096
    part = cuda_array_interface(on_gpu(array.T[::2], writable=False))
    assert part["strides"] == (8, 16)
    assert part["data"] == (array.ctypes.data, True)
    assert part["stream"] == 4096
    assert cuda_array_interface(on_gpu(array[:0]))["data"] == (0, False)
    with pytest.raises(AttributeError, match="no name for bfloat16"):
        cuda_array_interface(on_gpu(np.ones(2, ml_dtypes.bfloat16)))


class Interface:
    """An object that has only ``__cuda_array_interface__``."""

    def __init__(self, array, **entries):
        self.array, self.entries = array, entries

    @property
    def __cuda_array_interface__(self):
        array = self.array
        return {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, False),
            "strides": array.strides,
            "version": 3,
        } | self.entries


@pytest.mark.parametrize(
    ("ours", "entries", "order"),
    [
        (0, {}, []),
        (0, {"stream": None}, []),
        (0, {"stream": 1}, []),
        (0, {"stream": 2}, [(2, 1)]),
        (4096, {"stream": 1}, [(1, 4096)]),
        (4096, {"stream": 4096}, []),
        (0, {"version": 2, "strides": None}, []),
    ],
)
def test_objects_with_the_interface_only(gpu, ours, entries, order):
    gpu.stream = ours
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    x = Interface(array, **entries)
    assert adapter_of(Interface).name == "dlpack"
    view = adapter_of(Interface).view(x, "add", "x1", lambda device: gpu.current_stream())
    assert (view.layout.dtype, view.layout.shape, view.layout.strides) == (np.int16, (2, 3), (3, 1))
    assert (view.data, view.owner, view.writable) == (array.ctypes.data, x, True)
    assert gpu.orders == order
    assert from_dlpack(x).layout is view.layout


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"mask": object()}, "has a mask"),
        ({"typestr": ">i2"}, "has dtype >i2"),
        ({"typestr": "|V2"}, "has dtype"),
        ({"strides": (7, 2)}, "multiples of 2"),
    ],
)
def test_interfaces_that_are_refused(gpu, entries, words):
    x = Interface(np.arange(6, dtype=np.int16).reshape(2, 3), **entries)
    with pytest.raises(BufferError, match=f"from_dlpack: x .*{words}"):
        from_dlpack(x)


def test_round_trip(gpu):
    class Other:
        def __init__(self, x):
            self.x = x

        def __dlpack_device__(self):
            return device_of(self.x._layout)

        def __dlpack__(self, **keywords):
            capsule = to_capsule(self.x, **keywords)
            assert name_of(capsule) == "dltensor_versioned"
            return capsule

    for array in (np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3).T, np.ones((2, 1, 0))):
        x = on_gpu(array, writable=False)
        view = from_dlpack(Other(x))
        assert (view.layout.shape, view.layout.strides) == (x._layout.shape, x._layout.strides)
        assert not view.writable
        assert view.data == (x._data if array.size else 0)
