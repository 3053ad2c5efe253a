"""Import by DLPack: producers of every generation, every header, every error."""

from __future__ import annotations

import gc

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops
from tests.helpers.producers import GENERATIONS, Producer, StreamProducer, VersionProducer
from xpops.core import dtypes as dt
from xpops.dlpack.importing import from_dlpack

RNG = np.random.default_rng(5)


def values(x):
    """The elements of a View on the CPU, without a reference to their owner."""
    return np.array(x.data)


def dropped(producer):
    gc.collect()
    return producer.deleted


@pytest.mark.parametrize("kind", GENERATIONS, ids=lambda kind: kind.__name__)
def test_every_generation_is_read_and_given_back_once(kind):
    array = RNG.normal(size=(3, 4))
    producer = kind(array)
    view = from_dlpack(producer)
    assert view.layout.shape == (3, 4)
    assert np.array_equal(values(view), array)
    assert view.data.ctypes.data == array.ctypes.data
    assert view.writable
    assert dropped(producer) == 0
    del view
    assert dropped(producer) == 1
    # On the CPU there is no stream. The newest version is requested first.
    assert all("stream" not in call for call in producer.calls)
    if kind.versions:
        assert producer.calls == [{"max_version": (1, 1)}]


def test_a_part_of_the_array_keeps_the_memory():
    producer = Producer(np.arange(10.0))
    part = xpops.from_dlpack(producer)[2:5]
    assert dropped(producer) == 0
    assert float(part[0]) == 2
    del part
    assert dropped(producer) == 1


@pytest.mark.parametrize("dtype", dt.INFO, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("kind", [StreamProducer, Producer])
def test_every_dtype(dtype, kind):
    codes = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}
    array = np.array([0, 1, 3]).astype(dtype)
    header = {"code": codes[dtype.name]} if dtype.name in codes else {}
    view = from_dlpack(kind(array, **header))
    assert view.layout.dtype == dtype
    assert values(view).tobytes() == array.tobytes()


@given(
    code=st.integers(0, 20),
    bits=st.sampled_from([1, 4, 6, 8, 16, 32, 64, 80, 128]),
    lanes=st.sampled_from([0, 1, 2, 4]),
    versioned=st.booleans(),
)
def test_any_dtype_is_read_or_refused_by_name(code, bits, lanes, versioned):
    known = {info.dlpack: dtype for dtype, info in dt.INFO.items()}
    producer = (Producer if versioned else StreamProducer)(
        np.zeros(4, np.complex128), code=code, bits=bits, lanes=lanes, shape=(4,), strides=(1,)
    )
    if lanes == 1 and (code, bits) in known:
        view = from_dlpack(producer)
        assert view.layout.dtype == known[code, bits]
        del view
    else:
        with pytest.raises(
            BufferError, match=f"from_dlpack: x has DLPack dtype code {code}, bits {bits}, lanes {lanes}"
        ):
            from_dlpack(producer)
    assert producer.deleted == 1


@pytest.mark.parametrize("kind", [StreamProducer, Producer])
@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ({}, lambda a: a),
        ({"strides": None}, lambda a: a),
        ({"shape": (2, 3), "strides": None, "byte_offset": 16}, lambda a: a.ravel()[2:8].reshape(2, 3)),
        ({"shape": (3,), "strides": (-1,), "byte_offset": 16}, lambda a: a.ravel()[2::-1]),
        ({"shape": (3, 2), "strides": (0, 5)}, lambda a: np.broadcast_to(a.ravel()[:6:5], (3, 2))),
        ({"shape": (1, 4), "strides": (77, 1)}, lambda a: a.ravel()[None, :4]),
        ({"shape": (1, 4), "strides": (-(2**60), 1)}, lambda a: a.ravel()[None, :4]),
        ({"shape": (), "strides": ()}, lambda a: a.ravel()[0]),
        ({"shape": (), "strides": None, "byte_offset": 24}, lambda a: a.ravel()[3]),
        ({"shape": (0, 3), "strides": (3, 1), "data": None}, lambda a: np.empty((0, 3))),
        ({"shape": (2, 0), "strides": None, "data": None}, lambda a: np.empty((2, 0))),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_every_header(kind, header, expected):
    array = np.arange(12.0).reshape(3, 4)
    producer = kind(array, **header)
    result = xpops.from_dlpack(producer)
    want = expected(array)
    assert result.shape == want.shape
    assert np.array_equal(np.asarray(result), want)
    assert np.array_equal(np.asarray(result + result), want + want)
    del result
    assert dropped(producer) == 1


@given(data=st.data())
def test_any_view_of_an_ndarray(data):
    array = np.arange(120).reshape(2, 3, 4, 5)
    for axis in range(4):
        step = data.draw(st.sampled_from([1, 2, -1, -2]))
        array = array[(slice(None),) * axis + (slice(data.draw(st.integers(0, 2)), None, step),)]
    array = array.transpose(data.draw(st.permutations(range(4))))
    for producer in (array, Producer(array)):
        view = from_dlpack(producer)
        assert np.array_equal(values(view), array)
        if array.size:
            assert view.data.ctypes.data == array.ctypes.data


@pytest.mark.parametrize("flags", [0, 1, 2, 3])
def test_flags(flags):
    x = xpops.from_dlpack(Producer(np.zeros(3), flags=flags))
    if flags & 1:
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            xpops.add(x, 1, out=x)
        assert not np.asarray(x).flags.writeable
    else:
        x[0] = 1
    assert float(x[0]) == (0 if flags & 1 else 1)


def test_read_only_ndarrays_and_broadcasts_stay_read_only():
    for array in (np.broadcast_to(np.float32(2), (3,)), np.frombuffer(bytes(8))):
        assert not from_dlpack(array).writable
    copied = from_dlpack(np.broadcast_to(np.float32(2), (3,)), copy=True)
    assert copied.writable


def test_a_newer_minor_version_is_read_and_a_newer_major_one_refused():
    assert from_dlpack(Producer(np.ones(2), version=(1, 9))).layout.shape == (2,)
    producer = Producer(np.ones(2), version=(2, 0), lanes=9)
    with pytest.raises(BufferError, match=r"version 2\.0; accepted: 0\.x and 1\.x"):
        from_dlpack(producer)
    assert dropped(producer) == 1


def test_a_missing_deleter_is_fine():
    producer = Producer(np.ones(2), deleter=False)
    view = from_dlpack(producer)
    assert values(view).sum() == 2
    del view
    assert dropped(producer) == 0


@pytest.mark.parametrize("kind", [4, 7, 8, 10, 14])
def test_devices_that_are_not_ours(kind):
    producer = Producer(np.ones(2), device=(kind, 0))
    with pytest.raises(BufferError, match=rf"x is on DLPack device \({kind}, 0\); accepted: CPU"):
        from_dlpack(producer)
    assert producer.calls == []


def test_a_device_that_is_not_ours_can_copy_itself_to_the_host():
    class Elsewhere(Producer):
        def __dlpack_device__(self):
            return (14, 0)

    producer = Elsewhere(np.ones(2))
    assert values(from_dlpack(producer, device=xpops.Device("cpu"))).sum() == 2
    assert producer.calls == [{"max_version": (1, 1), "dl_device": (1, 0)}]


def test_a_capsule_on_another_device_than_announced():
    class Liar(Producer):
        def __dlpack_device__(self):
            return (1, 0)

    producer = Liar(np.ones(2), device=(10, 0))
    with pytest.raises(BufferError, match=r"gave memory on DLPack device \(10, 0\); accepted: memory on cpu"):
        from_dlpack(producer)
    assert dropped(producer) == 1


def test_pinned_memory_is_host_memory():
    producer = Producer(np.ones(2), device=(3, 0))
    assert from_dlpack(producer).layout.device == "cpu"
    assert producer.calls == [{"max_version": (1, 1)}]


def test_a_cuda_device_that_is_not_there():
    producer = Producer(np.ones(2), device=(2, 99))
    with pytest.raises(xpops.DeviceError, match="cuda:99"):
        from_dlpack(producer)
    assert producer.calls == []


def test_a_capsule_used_twice():
    producer = VersionProducer(np.ones(2))
    capsule = producer.capsule(True)
    producer.capsule = lambda versioned: capsule
    view = from_dlpack(producer)
    with pytest.raises(BufferError, match="used before"):
        from_dlpack(producer)
    del view
    assert dropped(producer) == 1


def test_refused_capsules():
    class Wrong:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **keywords):
            return 17

    with pytest.raises(TypeError, match="returned an int; accepted: a DLPack capsule"):
        from_dlpack(Wrong())
    with pytest.raises(BufferError, match="holds no DLPack tensor"):
        from_dlpack(Producer(np.ones(2), name="arrow_array"))


def test_refused_producers():
    capsule = Producer(np.ones(2)).capsule(True)
    for x in (capsule, [1, 2], 3.5, "text"):
        with pytest.raises(AttributeError, match=r"from_dlpack: x is a .*; accepted: an object with __dlpack__"):
            from_dlpack(x)


def test_a_producers_own_errors_pass_through():
    class Broken(Producer):
        def __dlpack__(self, **keywords):
            self.calls.append(keywords)
            raise TypeError("my dtype is odd")

    producer = Broken(np.ones(2))
    with pytest.raises(TypeError, match="my dtype is odd"):
        from_dlpack(producer)
    assert len(producer.calls) == 1

    class Refusing(Broken):
        def __dlpack__(self, **keywords):
            raise BufferError("not today")

    with pytest.raises(BufferError, match="not today"):
        from_dlpack(Refusing(np.ones(2)))


def test_copy():
    array = np.arange(4.0)
    for copy, shared in ((None, True), (False, True), (True, False)):
        producer = Producer(array)
        view = from_dlpack(producer, copy=copy)
        assert (view.data.ctypes.data == array.ctypes.data) is shared
        assert np.array_equal(values(view), array)
        assert producer.calls == [{"max_version": (1, 1)} | ({"copy": False} if copy is False else {})]
        assert dropped(producer) == (0 if shared else 1)
    with pytest.raises(BufferError, match="x was copied"):
        from_dlpack(Producer(array, flags=2), copy=False)


def test_of_our_own():
    x = xpops.asarray(np.arange(6).reshape(2, 3), device="cpu")[:, ::-2]
    view = from_dlpack(x)
    assert view.layout is x._layout
    assert view.data is x._data
    assert from_dlpack(x, copy=True).data is not x._data


def test_ml_dtypes_arrays_that_numpy_does_not_export():
    with pytest.raises(BufferError):
        from_dlpack(np.ones(2, ml_dtypes.bfloat16))
