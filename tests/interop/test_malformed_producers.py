"""Producers with invalid descriptions: each raises before anything is read, and its deleter is called once."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import xpops
from tests.helpers.fake_cuda import FAKE, pretend
from tests.helpers.producers import Producer, StreamProducer
from xpops.dlpack.importing import from_dlpack
from xpops.frameworks import memory


@pytest.fixture
def gpu(monkeypatch):
    return pretend(monkeypatch)


HEADERS = [
    ({"shape": (-1,), "strides": (1,)}, r"shape \(-1,\); accepted: lengths of 0 and more"),
    ({"shape": (2, -3), "strides": None}, r"shape \(2, -3\); accepted"),
    ({"shape": (0, -1), "strides": None}, r"shape \(0, -1\); accepted"),
    ({"shape": (-(2**63),), "strides": (0,)}, r"shape \(-9223372036854775808,\)"),
    ({"ndim": -1}, "ndim -1; accepted: 0 to 64"),
    ({"ndim": 65}, "ndim 65; accepted: 0 to 64"),
    ({"ndim": 2**31 - 1}, "ndim 2147483647; accepted: 0 to 64"),
    ({"ndim": 2, "shape": None}, "2 axes and no shape, a NULL pointer"),
    ({"data": None}, "12 elements at NULL; accepted: NULL for empty arrays only"),
    ({"data": None, "shape": (), "strides": ()}, "1 elements at NULL"),
    ({"data": None, "byte_offset": 4096}, "data NULL and byte_offset 4096"),
    ({"shape": (2**61,), "strides": (1,)}, r"accepted: less than 2\*\*63 bytes"),
    ({"shape": (2**62, 2**62), "strides": (0, 0)}, r"accepted: less than 2\*\*63 bytes"),
    ({"shape": (0, 2**62, 2**62), "strides": None}, r"accepted: less than 2\*\*63 bytes"),
    ({"shape": (3, 4), "strides": (2**62, 1)}, "beyond the address space"),
    ({"shape": (3, 4), "strides": (-(2**62), 1)}, "beyond the address space"),
    ({"shape": (3,), "strides": (-(2**57),)}, "beyond the address space"),
    ({"shape": (2, 2), "strides": (2**59, -(2**59))}, "beyond the address space"),
    ({"shape": (2,), "strides": (1,), "byte_offset": 2**64 - 8}, "beyond the address space"),
]


@pytest.mark.parametrize(("header", "words"), HEADERS, ids=lambda value: str(value) if isinstance(value, dict) else "")
@pytest.mark.parametrize("kind", [StreamProducer, Producer])
@pytest.mark.parametrize("device", [(1, 0), (2, 7)])
def test_headers_that_cannot_be(gpu, header, words, kind, device):
    producer = kind(np.arange(12.0).reshape(3, 4), device=device, **header)
    with pytest.raises(BufferError, match=f"from_dlpack: x (has|at) .*{words}"):
        from_dlpack(producer)
    gc.collect(0)
    assert producer.deleted == 1


def test_functions_name_themselves_and_their_argument():
    producer = Producer(np.arange(3.0), ndim=-1)
    with pytest.raises(BufferError, match="add: x2 has ndim -1; accepted: 0 to 64"):
        xpops.add(np.ones(3), producer)
    gc.collect(0)
    assert producer.deleted == 1


@pytest.mark.parametrize(
    ("header", "shape"),
    [
        ({"shape": (0,), "strides": (1,), "data": None, "byte_offset": 2**64 - 1}, (0,)),
        ({"shape": (0, 5), "strides": (2**62, -(2**62)), "data": None}, (0, 5)),
        ({"shape": (1,), "strides": (2**63 - 1,)}, (1,)),
        ({"ndim": 0, "shape": None, "strides": None}, ()),
        ({"shape": (1,) * 64, "strides": None}, (1,) * 64),
    ],
)
def test_headers_that_can_be(header, shape):
    producer = Producer(np.full(1, 7.0), **header)
    x = xpops.from_dlpack(producer)
    assert x.shape == shape
    assert np.asarray(x).tolist() == np.full(shape, 7.0).tolist()
    del x
    assert producer.deleted == 1


@pytest.mark.parametrize("flags", [4, 1 << 40, 2**64 - 4])
def test_flags_of_later_versions_change_nothing(flags):
    view = from_dlpack(Producer(np.arange(3.0), flags=flags))
    assert view.data.tolist() == [0, 1, 2]
    assert view.writable


@pytest.mark.parametrize(
    ("announced", "words"),
    [
        (None, "returned None; accepted: two integers"),
        ((1,), r"returned \(1,\)"),
        ((1, 0, 0), r"returned \(1, 0, 0\)"),
        (("cpu", 0), "returned"),
        ((1.0, 0), "returned"),
        ((1, None), "returned"),
        (1, "returned 1"),
    ],
)
def test_devices_that_are_no_pair_of_integers(announced, words):
    producer = Producer(np.ones(2), announced=announced)
    with pytest.raises(TypeError, match=rf"from_dlpack: x\.__dlpack_device__\(\) {words}"):
        from_dlpack(producer)
    assert producer.calls == []


@pytest.mark.parametrize("announced", [(0, 0), (99, 0), (-1, 0), (2, -1), (2, 2**31), (2**70, 0)])
def test_unknown_devices(announced):
    producer = Producer(np.ones(2), announced=announced)
    with pytest.raises(BufferError, match=r"x is on DLPack device \(.*\); accepted: CPU \(1\), CUDA"):
        from_dlpack(producer)


def test_a_producer_without_a_device():
    class Half:
        def __dlpack__(self, **keywords):
            raise AssertionError

    with pytest.raises(AttributeError, match=r"from_dlpack: x is a test.* without __dlpack_device__; accepted"):
        from_dlpack(Half())


@pytest.mark.parametrize(
    ("announced", "device"),
    [((1, 0), (2, 7)), ((2, 7), (1, 0)), ((2, 7), (2, 6)), ((2, 7), (2, -1)), ((1, 0), (13, 7))],
)
def test_a_capsule_on_another_device_than_announced(gpu, announced, device):
    producer = Producer(np.ones(2), announced=announced, device=device)
    with pytest.raises(BufferError, match=r"x gave memory on DLPack device \(.*\); accepted: memory on c"):
        from_dlpack(producer)
    gc.collect(0)
    assert producer.deleted == 1


@pytest.mark.parametrize("returned", [None, 17, b"dltensor", object()])
def test_no_capsule(returned):
    producer = Producer(np.ones(2))
    producer.capsule = lambda versioned: returned
    with pytest.raises(TypeError, match=r"from_dlpack: x\.__dlpack__\(\) returned .*; accepted: a DLPack capsule"):
        from_dlpack(producer)


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, OSError, KeyboardInterrupt, BufferError])
def test_what_a_producer_raises_comes_through(error):
    class Raising(Producer):
        def __dlpack__(self, **keywords):
            raise error("its own words")

    with pytest.raises(error, match="its own words"):
        from_dlpack(Raising(np.ones(2)))


# On a GPU an address that is not its memory would be a fault that ends the context ------------------------------------


@pytest.mark.parametrize("at", [0, -1], ids=["first", "last"])
def test_addresses_that_are_not_the_gpus(gpu, at):
    producer = Producer(np.arange(6.0), device=(2, 7))
    address = producer.array.ctypes.data + (0 if at == 0 else producer.array.nbytes - 1)
    gpu.unknown = (address,)
    with pytest.raises(BufferError, match=rf"x is on cuda:7, but address {address:#x} is not in CUDA's memory"):
        from_dlpack(producer)
    gc.collect(0)
    assert producer.deleted == 1


def test_addresses_of_another_gpu(gpu, monkeypatch):
    monkeypatch.setattr(memory, "device_at", lambda address: xpops.Device("cuda:3"))
    with pytest.raises(
        BufferError, match=r"x is on cuda:7, but address .* is in memory of cuda:3; accepted: .* cuda:7"
    ):
        from_dlpack(Producer(np.arange(6.0), device=(2, 7)))


def test_empty_arrays_need_no_memory_of_the_gpu(gpu):
    gpu.unknown = range(2**64)
    for data in (None, 1):
        view = from_dlpack(Producer(np.ones((0, 2)), device=(2, 7), data=data))
        assert view.layout.shape == (0, 2)


# __cuda_array_interface__ --------------------------------------------------------------------------------------------


class Interface:
    """An object that has only ``__cuda_array_interface__``. Entries of `...` are left out."""

    def __init__(self, array, **entries):
        self.array = array
        given = {"version": 3, "shape": array.shape, "typestr": array.dtype.str, "data": (array.ctypes.data, False)}
        self.entries = {key: value for key, value in {**given, **entries}.items() if value is not ...}

    @property
    def __cuda_array_interface__(self):
        return self.entries


@pytest.mark.parametrize(
    ("entries", "error", "words"),
    [
        ({"shape": (-3,)}, BufferError, r"shape \(-3,\); accepted: lengths"),
        ({"shape": (2.0,)}, TypeError, "a float in shape; accepted: integers"),
        ({"shape": ("a",)}, TypeError, "a str in shape"),
        ({"shape": (None,)}, TypeError, "a NoneType in shape"),
        ({"shape": 6}, TypeError, "shape 6; accepted: a tuple of integers"),
        ({"shape": "6"}, TypeError, "shape '6'; accepted"),
        ({"shape": None}, TypeError, "shape None; accepted"),
        ({"shape": ...}, BufferError, "no 'shape'; accepted: version, shape"),
        ({"shape": (2**70,)}, BufferError, r"less than 2\*\*63 bytes"),
        ({"shape": (1,) * 65}, BufferError, "65 axes; accepted: at most 64"),
        ({"strides": (2, 2)}, BufferError, "accepted: one stride for each axis"),
        ({"strides": ()}, BufferError, "accepted: one stride for each axis"),
        ({"strides": (2.0,)}, TypeError, "a float in strides"),
        ({"strides": 2}, TypeError, "strides 2; accepted"),
        ({"strides": (3,)}, BufferError, "multiples of 2"),
        ({"strides": (2**62,)}, BufferError, "beyond the address space"),
        ({"strides": (2**80,)}, BufferError, "beyond the address space"),
        ({"typestr": ...}, BufferError, "no 'typestr'"),
        ({"typestr": "nonsense"}, BufferError, "dtype nonsense; accepted: bool"),
        ({"typestr": ""}, BufferError, "dtype ; accepted: bool"),
        ({"typestr": "i2,i2"}, BufferError, "dtype i2,i2"),
        ({"typestr": "<f3"}, BufferError, "dtype <f3"),
        ({"typestr": "<f16"}, BufferError, "dtype <f16"),
        ({"typestr": "|V2", "descr": [("a", "<i2")]}, BufferError, r"dtype \|V2"),
        ({"typestr": "|O8"}, BufferError, r"dtype \|O8"),
        ({"typestr": ">i2"}, BufferError, "dtype >i2"),
        ({"typestr": None}, TypeError, "typestr None; accepted: a text"),
        ({"typestr": np.dtype("i2")}, TypeError, "accepted: a text"),
        ({"data": ...}, BufferError, "no 'data'"),
        ({"data": None}, TypeError, "data None; accepted: an address and whether"),
        ({"data": 4096}, TypeError, "data 4096; accepted"),
        ({"data": (4096,)}, TypeError, r"data \(4096,\); accepted"),
        ({"data": (None, False)}, TypeError, "a NoneType in data"),
        ({"data": (-8, False)}, BufferError, "address -8 in data"),
        ({"data": (2**64, False)}, BufferError, "address 18446744073709551616 in data"),
        ({"data": (0, False)}, BufferError, "at address 0x0, which CUDA does not know"),
        ({"data": (2**64 - 2, False)}, BufferError, "beyond the address space"),
        ({"version": ...}, BufferError, "no 'version'"),
        ({"version": "3"}, TypeError, "a str in version"),
        ({"version": -1}, BufferError, "version -1; accepted: 0 to 3"),
        ({"version": 4}, BufferError, "version 4; accepted: 0 to 3"),
        ({"mask": "a mask"}, BufferError, "has a mask"),
        ({"stream": 0}, BufferError, r"stream 0; accepted: None, 1 \(legacy default\)"),
        ({"stream": -1}, BufferError, "stream -1; accepted"),
        ({"stream": 2**64}, BufferError, "stream 18446744073709551616; accepted"),
        ({"stream": "1"}, TypeError, "a str in stream"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_interfaces_that_cannot_be(gpu, entries, error, words):
    with pytest.raises(error, match=f"from_dlpack: x.*{words}"):
        from_dlpack(Interface(np.arange(6, dtype=np.int16), **entries))
    assert gpu.orders == []


@pytest.mark.parametrize("interface", [None, 5, [("shape", (3,))]])
def test_interfaces_that_are_no_dict(interface):
    class Wrong:
        __cuda_array_interface__ = interface

    with pytest.raises(TypeError, match=r"add: x1\.__cuda_array_interface__ is a.*; accepted: a dict"):
        xpops.add(Wrong(), 1)


@pytest.mark.parametrize("version", [0, 1, 2, 3])
@pytest.mark.parametrize("shape", [(6,), [2, 3], (np.int64(6),), (2, 0)])
def test_interfaces_that_can_be(gpu, version, shape):
    array = np.arange(6, dtype=np.int16)
    view = from_dlpack(Interface(array, version=version, shape=shape, descr=[("", "<f8")]))
    assert view.layout.shape == tuple(shape)
    assert view.layout.dtype == np.int16
    assert view.layout.device == FAKE
    assert view.data == (0 if 0 in shape else array.ctypes.data)


def test_an_interface_where_no_gpu_is():
    if len(xpops.__array_namespace_info__().devices()) > 1:
        pytest.skip("there is one")
    with pytest.raises(BufferError, match=r"x is at address .*, which CUDA does not know; accepted: memory of a GPU"):
        from_dlpack(Interface(np.arange(6, dtype=np.int16)))
