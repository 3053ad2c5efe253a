"""Data types, inspection and the default device."""

from __future__ import annotations

import contextvars
import threading
from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.core import dtypes as dt
from xpops.core.promotion import promote


def test_dtypes_are_numpy_dtypes() -> None:
    assert all(isinstance(dtype, np.dtype) for dtype in tuple(dt.INFO))
    assert xp.float32 == np.float32
    assert xp.bool == np.bool_


def test_can_cast_follows_promotion() -> None:
    for source in tuple(dt.INFO):
        for target in tuple(dt.INFO):
            try:
                expected = promote((source, target)) == target
            except TypeError:
                expected = False
            assert xp.can_cast(source, target) is expected
    assert xp.can_cast(xp.asarray([1], dtype=xp.int8), xp.int16)
    assert not xp.can_cast(xp.uint64, xp.int64)


@pytest.mark.parametrize("dtype", [xp.float16, xp.float32, xp.float64])
def test_finfo_gives_python_floats(dtype: Any) -> None:
    info, expected = xp.finfo(dtype), np.finfo(dtype)
    for name in ("eps", "max", "min", "smallest_normal"):
        assert type(getattr(info, name)) is float
        assert getattr(info, name) == float(getattr(expected, name))
    assert (info.bits, info.dtype) == (expected.bits, dtype)


def test_finfo_of_complex_and_arrays() -> None:
    assert xp.finfo(xp.complex64) == xp.finfo(xp.float32)
    assert xp.finfo(xp.zeros(3, dtype=xp.complex128)).dtype == xp.float64
    assert xp.finfo(np.zeros(3, np.float32)).dtype == xp.float32
    assert (xp.finfo(xp.bfloat16).bits, xp.finfo(xp.bfloat16).eps) == (16, 2**-7)


def test_iinfo() -> None:
    info = xp.iinfo(xp.zeros(1, dtype=xp.uint64))
    assert (info.bits, info.min, info.max, info.dtype) == (64, 0, 2**64 - 1, xp.uint64)
    assert type(info.max) is int


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: xp.finfo(xp.int8), TypeError, "finfo: type has dtype int8"),
        (lambda: xp.iinfo(xp.float32), TypeError, "iinfo: type has dtype float32"),
        (lambda: xp.finfo("no"), TypeError, "finfo: dtype 'no'"),
        (lambda: xp.isdtype(xp.int8, "integer"), ValueError, "isdtype: kind is 'integer'"),
        (lambda: xp.isdtype("no", "bool"), TypeError, "isdtype: dtype 'no'"),
        (lambda: xp.result_type(1, 2.0), TypeError, "result_type: no argument is an array"),
        (lambda: xp.result_type(), TypeError, "result_type: no argument"),
        (lambda: xp.result_type(xp.float8_e5m2, xp.float32), TypeError, "no common dtype"),
        (lambda: xp.astype(xp.zeros(1, dtype=xp.complex64), xp.float32), TypeError, "astype: complex64 to float32"),
        (lambda: xp.astype([1], xp.int8), TypeError, "astype: x is a list"),
        (lambda: xp.astype(xp.zeros(1), "S3"), TypeError, "astype: dtype 'S3'"),
        (lambda: xp.set_default_device("gpu"), ValueError, "set_default_device: device is 'gpu'"),
        (lambda: xp.zeros(1, device="cuda:99"), xp.DeviceError, "zeros: device is 'cuda:99'"),
        (lambda: xp.__array_namespace_info__().dtypes(kind="x"), ValueError, "dtypes: kind is 'x'"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_isdtype() -> None:
    assert xp.isdtype(xp.bfloat16, "real floating")
    assert xp.isdtype(xp.int8, ("bool", "signed integer"))
    assert xp.isdtype(xp.int8, (xp.int16, xp.int8))
    assert not xp.isdtype(xp.bool, "numeric")
    assert not xp.isdtype(xp.float8_e5m2, ("numeric", "bool"))


def test_result_type() -> None:
    x = xp.zeros(2, dtype=xp.float32)
    assert xp.result_type(x, 1j) == xp.complex64
    assert xp.result_type(x, np.zeros(2, np.int64), np.float64(2)) == xp.float32
    assert xp.result_type(xp.int8, xp.uint8, True) == xp.int16
    assert xp.result_type(xp.float64, 1) == xp.float64


def test_inspection() -> None:
    info = xp.__array_namespace_info__()
    assert isinstance(info.devices(), tuple)
    assert info.default_device() in info.devices()
    assert set(info.dtypes()) == {
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float32", "float64", "complex64", "complex128",
    }  # fmt: skip
    assert list(info.dtypes(kind="bool")) == ["bool"]
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32", "float64"}
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    for device in (None, *info.devices()):
        assert info.default_dtypes(device=device) == {
            "real floating": xp.float64,
            "complex floating": xp.complex128,
            "integral": xp.int64,
            "indexing": xp.int64,
        }
        assert info.dtypes(device=device) == info.dtypes()
    for kind in ("signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"):
        assert all(xp.isdtype(dtype, kind) for dtype in info.dtypes(kind=kind).values())
    with pytest.raises(ValueError, match="dtypes: kind is 'odd'; accepted: 'bool', "):
        info.dtypes(kind="odd")
    for question in (info.default_dtypes, info.dtypes):
        with pytest.raises(ValueError, match=f"^{question.__name__}: device is 'tpu'; accepted: "):
            question(device="tpu")


def test_default_device_belongs_to_a_context() -> None:
    before = xp.default_device()

    def other() -> str:
        xp.set_default_device("cpu")
        return xp.default_device()

    assert contextvars.copy_context().run(other) == "cpu"
    assert xp.default_device() == before
    seen: list[str] = []
    xp.set_default_device("cpu")
    thread = threading.Thread(target=lambda: seen.append(xp.default_device()))
    thread.start()
    thread.join()
    xp.set_default_device(None)
    assert seen == [before]
    assert xp.default_device() == before
