"""DLPack's C exchange API of our arrays, called as a library in C does. Only the compiled core has it."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from ctypes import CFUNCTYPE, POINTER, PYFUNCTYPE, byref, c_char_p, c_int, c_int32, c_uint32, c_void_p, py_object
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.fake_cuda import FAKE, on_gpu, pretend
from tests.helpers.producers import CODES, DLTensor, New, Producer, header_of, ints
from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.layouts import layout_of
from xpops.testing import assert_no_copies

pytestmark = pytest.mark.skipif(compiled is None, reason="the compiled core has the exchange API")
READ_ONLY, IS_COPIED = 1, 2
OURS = 9

# Functions that say nothing of Python's lock are called without it.
_Fail = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)
_Allocate = CFUNCTYPE(c_int, POINTER(DLTensor), POINTER(c_void_p), c_void_p, _Fail)
_Export = PYFUNCTYPE(c_int, py_object, POINTER(c_void_p))
_Import = PYFUNCTYPE(c_int, c_void_p, POINTER(py_object))
_View = PYFUNCTYPE(c_int, py_object, POINTER(DLTensor))
_Stream = PYFUNCTYPE(c_int, c_int32, c_int32, POINTER(c_void_p))
_Deleter = CFUNCTYPE(None, c_void_p)
_DeleterWithLock = PYFUNCTYPE(None, c_void_p)


class Exchange(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("previous", c_void_p),
        ("allocate", _Allocate),
        ("export_owned", _Export),
        ("import_owned", _Import),
        ("view", _View),
        ("current_stream", _Stream),
    ]


@pytest.fixture(autouse=True)
def _host() -> Iterator[None]:
    """Arrays are in memory that a test can read."""
    xp.set_default_device("cpu")
    yield
    xp.set_default_device(None)


@pytest.fixture
def api() -> Exchange:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = (py_object, c_char_p), c_void_p
    found = pointer(xp.Array.__dlpack_c_exchange_api__, b"dlpack_exchange_api")  # type: ignore[attr-defined]
    return Exchange.from_address(found)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    gpu = pretend(monkeypatch)
    gpu.stream = OURS
    return gpu


def view(api: Exchange, x: Any) -> DLTensor:
    tensor = DLTensor()
    assert api.view(x, byref(tensor)) == 0
    return tensor


def exported(api: Exchange, x: Any) -> New:
    made = c_void_p()
    assert api.export_owned(x, byref(made)) == 0
    return New.from_address(made.value)


def content(tensor: DLTensor, dtype: Any) -> np.ndarray:
    """The elements of a tensor, read from its memory."""
    shape, strides = ints(tensor.shape, tensor.ndim) or (), ints(tensor.strides, tensor.ndim) or ()
    if 0 in shape:
        return np.empty(shape, dtype)
    item = np.dtype(dtype).itemsize
    last = sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    memory = np.frombuffer((ctypes.c_uint8 * ((last + 1) * item)).from_address(tensor.data + tensor.byte_offset), dtype)
    return np.lib.stride_tricks.as_strided(memory, shape, [stride * item for stride in strides])


def test_the_table_says_its_version(api: Exchange) -> None:
    assert (api.major, api.minor, api.previous) == (1, 3, None)
    assert type(xp.ones(3)).__dlpack_c_exchange_api__ is xp.Array.__dlpack_c_exchange_api__  # type: ignore[attr-defined]


BASE = np.arange(24).reshape(2, 3, 4)
VIEWS = {
    "contiguous": lambda x: x,
    "permuted": lambda x: xp.permute_dims(x, (2, 0, 1)),
    "stepped": lambda x: x[:, ::2, 1::2],
    "a row": lambda x: x[1, 1],
    "one long axis": lambda x: x[:1, :, 2:3],
    "repeated": lambda x: xp.broadcast_to(x[:, :1], (2, 5, 4)),
    "0-d": lambda x: x[1, 2, 3],
    "empty": lambda x: x[:, 3:],
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("dtype", [dtype for dtype in dt.INFO if dtype not in dt.FLOAT8], ids=str)
def test_a_view_describes_the_array(api: Exchange, dtype: Any, name: str) -> None:
    x = VIEWS[name](xp.asarray(BASE.astype(dtype), copy=True))
    expected = np.asarray(x) if x._writable else np.asarray(xp.asarray(x, copy=True))
    if not x._writable:
        x = type(x)(x._layout, x._data, x._owner, True)
    for _ in range(2):
        tensor = view(api, x)
        info = dt.INFO[dtype].dlpack
        assert (tensor.device_type, tensor.device_id, tensor.lanes, tensor.byte_offset) == (1, 0, 1, 0)
        assert (tensor.code, tensor.bits) == info
        assert ints(tensor.shape, tensor.ndim) == x.shape
        assert content(tensor, dtype).tobytes() == np.ascontiguousarray(expected).tobytes()
        assert (tensor.data is None) == (x.size == 0)


@pytest.mark.parametrize("dtype", sorted(set(map(np.dtype, "?bhilBHILefdFD")), key=str), ids=str)
def test_the_codes_are_those_of_the_specification(api: Exchange, dtype: np.dtype) -> None:
    tensor = view(api, xp.zeros(3, dtype=dtype))
    assert (tensor.code, tensor.bits) == (CODES.get(dtype.kind, 0), dtype.itemsize * 8)


def test_the_code_of_bfloat16_is_that_of_the_specification(api: Exchange) -> None:
    tensor = view(api, xp.zeros(3, dtype=xp.bfloat16))
    assert (tensor.code, tensor.bits) == (4, 16)


def test_what_a_view_cannot_say_is_refused(api: Exchange) -> None:
    x, tensor = xp.arange(6), DLTensor()
    with pytest.raises(BufferError, match="has negative strides; accepted: a copy of it"):
        api.view(x[::-1], byref(tensor))
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    for read_only in (xp.asarray(fixed), xp.broadcast_to(x, (2, 6)), xp.asarray(fixed)[::-1]):
        with pytest.raises(BufferError, match=r"is read-only|has negative strides"):
            api.view(read_only, byref(tensor))
        with pytest.raises(BufferError, match="is read-only; accepted: a copy of it"):
            api.export_owned(read_only, byref(c_void_p()))  # consumers do not look at the flag
    del x._owner
    for other in (3, BASE, None, x):
        with pytest.raises(TypeError, match="accepted: an array of xpops"):
            api.view(other, byref(tensor))
        with pytest.raises(TypeError, match="accepted: an array of xpops"):
            api.export_owned(other, byref(c_void_p()))


@pytest.mark.parametrize("deleter", [_Deleter, _DeleterWithLock], ids=["without the lock", "with the lock"])
def test_an_exported_array_lives_until_it_is_deleted(api: Exchange, deleter: Any) -> None:
    x = xp.arange(6.0)
    gone = weakref.ref(x._data)
    managed = exported(api, x)
    del x
    gc.collect()
    assert (managed.major, managed.minor, managed.flags) == (1, 1, 0)
    assert gone() is not None
    assert content(managed.tensor, "f8").tolist() == [0, 1, 2, 3, 4, 5]
    address = ctypes.addressof(managed)
    thread = threading.Thread(target=deleter(managed.deleter), args=(address,))
    thread.start()
    thread.join()
    assert gone() is None


def test_a_reversed_array_is_exported_as_dlpack_does(api: Exchange) -> None:
    for x, flags, expected in ((xp.arange(3.0)[::-1], IS_COPIED, [2, 1, 0]), (xp.arange(3.0), 0, [0, 1, 2])):
        managed = exported(api, x)
        capsule = header_of(x.__dlpack__(max_version=(1, 0)))
        assert managed.flags == capsule.flags == flags
        assert content(managed.tensor, "f8").tolist() == content(capsule.tensor, "f8").tolist() == expected
        _Deleter(managed.deleter)(ctypes.addressof(managed))


def test_a_copy_for_an_export_is_reported(api: Exchange) -> None:
    with pytest.raises(AssertionError, match="is copied for DLPack"), assert_no_copies():
        api.export_owned(xp.arange(3.0)[::-1], byref(c_void_p()))


def test_a_header_is_never_replaced(api: Exchange) -> None:
    """Threads that export the first arrays of a layout get one header: borrowed tensors point into it."""
    for number in range(50):
        arrays = [xp.zeros((3, 1000 + number)) for _ in range(4)]
        with ThreadPoolExecutor(4) as pool:
            places = list(pool.map(lambda x: view(api, x).shape, arrays))
        assert len(set(places)) == 1


def test_an_imported_tensor_is_an_array_that_owns_it(api: Exchange) -> None:
    for flags, writable in ((0, True), (READ_ONLY, False)):
        producer = Producer(np.arange(6.0).reshape(2, 3), flags=flags)
        x = py_object()
        assert api.import_owned(ctypes.addressof(header_of(producer.capsule(True))), byref(x)) == 0
        array = x.value
        ctypes.pythonapi.Py_DecRef(x)  # the caller's reference
        del x
        assert type(array) is xp.Array
        assert xp.sum(array, axis=1).tolist() == [3, 12]
        assert array._writable == writable
        assert producer.deleted == 0
        del array
        gc.collect()
        assert producer.deleted == 1


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"version": (2, 0)}, "version 2.0; accepted: 0.x and 1.x"),
        ({"lanes": 4}, "lanes 4"),
        ({"device": (7, 0)}, r"device \(7, 0\); accepted: CPU"),
        ({"shape": (-1,), "strides": (1,)}, "shape"),
    ],
)
def test_what_cannot_be_imported_is_deleted(api: Exchange, header: dict[str, Any], message: str) -> None:
    producer = Producer(np.arange(6.0), **header)
    with pytest.raises(BufferError, match=message):
        api.import_owned(ctypes.addressof(header_of(producer.capsule(True))), byref(py_object()))
    gc.collect()
    assert producer.deleted == 1


def asked(api: Exchange, prototype: DLTensor) -> tuple[int, New | None, list[tuple[str, str]]]:
    errors: list[tuple[str, str]] = []
    fail = _Fail(lambda context, kind, message: errors.append((kind.decode(), message.decode())))
    made = c_void_p()
    status = api.allocate(prototype, byref(made), None, fail)
    return status, New.from_address(made.value) if made.value else None, errors


@pytest.mark.parametrize("shape", [(2, 3), (0, 4), ()])
def test_an_allocated_array_is_like_its_prototype(api: Exchange, shape: tuple[int, ...]) -> None:
    capsule = Producer(np.ones(shape, "f4")).capsule(True)
    status, managed, errors = asked(api, header_of(capsule).tensor)
    assert managed is not None
    tensor = managed.tensor
    assert (status, errors, tensor.code, tensor.bits, tensor.device_type) == (0, [], 2, 32, 1)
    assert ints(tensor.shape, tensor.ndim) == shape
    if 0 not in shape:
        content(tensor, "f4")[...] = 7
        assert (content(tensor, "f4") == 7).all()
    _Deleter(managed.deleter)(ctypes.addressof(managed))


@pytest.mark.parametrize(
    ("header", "kind", "message"),
    [
        (
            {"code": 9},
            "BufferError",
            "a dtype of code 9, bits 64 and lanes 1 was asked for; accepted: the codes",
        ),
        ({"lanes": 4}, "BufferError", "bits 64 and lanes 4 was asked for"),
        ({"device": (7, 3)}, "BufferError", "device (7, 3); accepted: CPU"),
        ({"device": (3, 0)}, "BufferError", "memory on device (3, 0) was asked for; accepted: (1, 0)"),
        ({"device": (1, 5)}, "BufferError", "memory on device (1, 5) was asked for; accepted: (1, 0)"),
        ({"ndim": -1}, "BufferError", "-1 axes; accepted: 0 or more"),
        ({"shape": (-1,)}, "BufferError", "shape (-1,) was asked for; accepted: lengths of 0 or more"),
    ],
)
def test_a_refused_allocation_says_why(api: Exchange, header: dict[str, Any], kind: str, message: str) -> None:
    capsule = Producer(np.ones(3), **header).capsule(True)
    status, managed, ((found, text),) = asked(api, header_of(capsule).tensor)
    assert (status, managed, found) == (-1, None, kind)
    assert message in text


def test_the_host_has_no_stream(api: Exchange) -> None:
    stream = c_void_p(5)
    assert api.current_stream(1, 0, byref(stream)) == 0
    assert stream.value is None
    stream = c_void_p(5)
    with pytest.raises(BufferError, match=r"device \(7, 0\)"):
        api.current_stream(7, 0, byref(stream))
    assert stream.value == 5


def test_a_gpus_stream_and_memory_are_ours(api: Exchange, gpu: Any) -> None:
    stream = c_void_p()
    assert api.current_stream(2, FAKE.index, byref(stream)) == 0
    assert stream.value == OURS
    x = on_gpu(np.arange(3.0))
    tensor = view(api, x)
    assert (tensor.device_type, tensor.device_id, tensor.data) == (2, FAKE.index, x._data)
    assert gpu.orders == [], "the consumer runs on our stream"
    status, made, errors = asked(api, tensor)
    assert made is not None
    assert (status, errors, made.tensor.device_type, made.tensor.device_id) == (0, [], 2, FAKE.index)
    _Deleter(made.deleter)(ctypes.addressof(made))
    y = py_object()
    managed = exported(api, x)
    assert api.import_owned(ctypes.addressof(managed), byref(y)) == 0
    assert y.value._layout is layout_of(dt.float64, (3,), None, FAKE, x._layout.align)
    ctypes.pythonapi.Py_DecRef(y)
    del y
    gc.collect()
    assert [stream for _, stream in gpu.retained] == [OURS], "the memory is kept until our work is done"
