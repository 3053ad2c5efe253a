"""Creation functions, on every device."""

from __future__ import annotations

import array
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_close, assert_same
from xpops.core import dtypes as dt
from xpops.testing.strategies import elements, numpy_arrays, shapes

devices = st.sampled_from(DEVICES)
NUMERIC = [dtype for dtype in tuple(dt.INFO) if xp.isdtype(dtype, "numeric")]


@given(st.data(), shapes(), st.sampled_from(tuple(dt.INFO)), devices)
def test_full_keeps_the_bits(data: st.DataObject, shape: tuple[int, ...], dtype: Any, device: Any) -> None:
    value = data.draw(elements(dtype))
    with np.errstate(all="ignore"):
        expected = np.full(shape, value, dtype)
    x = xp.full(shape, value, dtype=dtype, device=device)
    assert x.device == device
    assert_same(x, expected)
    assert_same(xp.full_like(x, value), expected)


@given(shapes(), st.sampled_from(tuple(dt.INFO)), devices)
def test_zeros_ones_empty(shape: tuple[int, ...], dtype: Any, device: Any) -> None:
    for name in ("zeros", "ones"):
        x = getattr(xp, name)(shape, dtype=dtype, device=device)
        expected = getattr(np, name)(shape, dtype)
        assert_same(x, expected)
        assert_same(getattr(xp, name + "_like")(x), expected)
    empty = xp.empty(shape, dtype=dtype, device=device)
    for x in (empty, xp.empty_like(empty)):
        assert (x.shape, x.dtype, x.device) == (shape, dtype, device)


def test_defaults(device: Any) -> None:
    assert xp.zeros(2, device=device).dtype == xp.float64
    assert [xp.full(1, value, device=device).dtype for value in (True, 1, 1.0, 1j)] == [
        xp.bool, xp.int64, xp.float64, xp.complex128,
    ]  # fmt: skip
    assert xp.full(2, xp.asarray(3, dtype=xp.int8, device=device)).dtype == xp.int8
    assert xp.full(2, np.float32(3)).dtype == xp.float32
    for value in (xp.asarray(3, dtype=xp.int8, device=device), np.int64(3)):
        filled = xp.full(2, value, dtype=xp.int32, device=device)
        assert (filled.dtype, filled.tolist()) == (xp.int32, [3, 3])
    assert xp.zeros([2, np.int64(3)], device=device).shape == (2, 3)
    assert xp.ones_like(np.zeros(3, np.int16)).dtype == xp.int16


@given(st.data(), st.sampled_from(dt.INTEGERS), devices)
def test_arange_of_integers_is_exact(data: st.DataObject, dtype: Any, device: Any) -> None:
    info = np.iinfo(dtype)
    start = data.draw(elements(dtype))
    step = data.draw(st.integers(-1000, 1000).filter(bool))
    length = data.draw(st.integers(0, 50))
    stop = start + length * step
    expected = list(range(start, stop, step))
    if not info.min <= stop <= info.max:
        expected = [value for value in expected if info.min <= value <= info.max]
        stop = expected[-1] + (1 if step > 0 else -1) if expected else start
    assert_same(xp.arange(start, stop, step, dtype=dtype, device=device), np.array(expected, dtype))


@given(st.floats(-100, 100), st.floats(-100, 100), st.floats(0.1, 10) | st.floats(-10, -0.1), devices)
def test_arange_of_floats(start: float, stop: float, step: float, device: Any) -> None:
    expected = start + np.arange(max(0, int(np.ceil((stop - start) / step)))) * step
    x = xp.arange(start, stop, step, device=device)
    np.testing.assert_allclose(x.to_numpy(), expected, rtol=1e-14, atol=1e-13)
    assert xp.arange(3, device=device).dtype == xp.int64
    assert xp.arange(3.0, device=device).dtype == xp.float64


@given(st.data(), st.sampled_from([xp.float16, xp.float32, xp.float64, xp.int32]), st.booleans(), devices)
def test_linspace(data: st.DataObject, dtype: Any, endpoint: bool, device: Any) -> None:
    start, stop = data.draw(st.integers(-1000, 1000)), data.draw(st.integers(-1000, 1000))
    num = data.draw(st.integers(0, 30))
    x = xp.linspace(start, stop, num, dtype=dtype, endpoint=endpoint, device=device)
    expected = np.linspace(start, stop, num, dtype=np.float64, endpoint=endpoint)
    assert (x.shape, x.dtype) == ((num,), dtype)
    tolerance = 1 if dtype == xp.int32 else 2 * float(np.finfo(dtype).eps) * 1000
    np.testing.assert_allclose(x.to_numpy().astype(np.float64), expected, rtol=0, atol=tolerance)
    if num:
        assert x[0].item() == start
    if endpoint and num > 1:
        assert x[-1].item() == stop


LEAST, GREATEST = 2.0**-1074, float(np.finfo(np.float64).max)
ENDS: dict[str, tuple[float, float]] = {
    "subnormal": (0.0, 3 * LEAST),
    "subnormal, down": (7 * LEAST, -4 * LEAST),
    "to the least normal": (LEAST, 2.0**-1022),
    "tiny": (1e-305, -3e-310),
    "tiny neighbours": (2.0**-1000, float(np.nextafter(2.0**-1000, 1))),
    "all": (-GREATEST, GREATEST),
    "huge": (GREATEST, GREATEST / 3),
    "float32": (-float(np.finfo(np.float32).max), float(np.finfo(np.float32).max)),
    "float32's subnormal": (0.0, 3 * 2.0**-149),
    "across zero": (-0.1, 0.3),
    "neighbours": (1.0, 1 + 2.0**-50),
    "one": (0.1, 0.1),
}


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("dtype", [xp.float32, xp.float64], ids=str)
@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
def test_linspace_of_any_size(ends: tuple[float, float], dtype: Any, endpoint: bool, device: Any) -> None:
    """Against exact fractions: errors are at most half a unit of the result and a float64 unit of the ends or span."""
    if dtype == xp.float32 and max(map(abs, ends)) > float(np.finfo(np.float32).max):
        pytest.skip("no float32")
    limits, (start, stop) = np.finfo(dtype), (Fraction(float(dtype.type(end))) for end in ends)
    size = max(abs(start), abs(stop), abs(stop - start))
    for num in (1, 2, 3, 7, 10, 1000, 1025):
        got = xp.linspace(float(start), float(stop), num, dtype=dtype, endpoint=endpoint, device=device).to_numpy()
        steps = max(num - 1 if endpoint else num, 1)
        for i, found in enumerate(got):
            exact = start + (stop - start) * Fraction(i, steps)
            unit = Fraction(2) ** (math.frexp(float(exact))[1] - limits.nmant - 1)
            half = max(unit, Fraction(float(limits.smallest_subnormal))) / 2
            assert abs(Fraction(float(found)) - exact) <= half + size / 2**52
        assert got[0] == dtype.type(ends[0])
        if endpoint and num > 1:
            assert got[-1] == dtype.type(ends[1])


def test_linspace_of_tiny_and_huge_complex(device: Any) -> None:
    x = xp.linspace(0, complex(8 * LEAST, -4 * LEAST), 5, device=device)
    assert x.tolist() == [complex(2 * i * LEAST, -i * LEAST) for i in range(5)]
    y = xp.linspace(complex(-GREATEST, 0), complex(GREATEST, GREATEST), 3, device=device)
    assert y.tolist() == [complex(-GREATEST, 0), complex(0, GREATEST / 2), complex(GREATEST, GREATEST)]


def test_linspace_of_complex(device: Any) -> None:
    x = xp.linspace(0, 1 + 2j, 5, device=device)
    assert_close(x, np.linspace(0, 1 + 2j, 5), 4)


@given(st.integers(0, 5), st.none() | st.integers(0, 5), st.integers(-6, 6) | st.just(2**70), st.sampled_from(NUMERIC))
def test_eye(rows: int, columns: int | None, k: int, dtype: Any) -> None:
    for device in DEVICES:
        x = xp.eye(rows, columns, k=k, dtype=dtype, device=device)
        assert_same(x, np.eye(rows, columns, k=min(k, 10)).astype(dtype))


@given(st.data(), st.sampled_from([d for d in tuple(dt.INFO) if d not in (xp.float8_e4m3fn, xp.float8_e5m2)]), devices)
def test_triangles(data: st.DataObject, dtype: Any, device: Any) -> None:
    host = data.draw(numpy_arrays(dtype, shapes().filter(lambda shape: len(shape) >= 2)))
    k = data.draw(st.integers(-6, 6))
    order = data.draw(st.permutations(range(host.ndim)))
    x, host = xp.permute_dims(xp.asarray(host, device=device), order), host.transpose(order)
    zero = np.zeros((), dtype)
    mask = np.tri(*host.shape[-2:], k=k, dtype=bool)
    assert_same(xp.tril(x, k=k), np.where(mask, host, zero))
    mask = ~np.tri(*host.shape[-2:], k=k - 1, dtype=bool)
    assert_same(xp.triu(x, k=k), np.where(mask, host, zero))


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_meshgrid(indexing: Any, count: int, device: Any) -> None:
    vectors = [np.arange(n + 1) for n in range(count)]
    grids = xp.meshgrid(*(xp.asarray(v, device=device) for v in vectors), indexing=indexing)
    assert isinstance(grids, tuple)
    for x, expected in zip(grids, np.meshgrid(*vectors, indexing=indexing), strict=True):
        assert_same(x, expected)


@given(st.data(), st.sampled_from(tuple(dt.INFO)), devices)
def test_asarray_of_arrays(data: st.DataObject, dtype: Any, device: Any) -> None:
    host = data.draw(numpy_arrays(dtype))
    x = xp.asarray(host, device=device)
    assert_same(x, host)
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=False, dtype=dtype, device=device) is x
    assert_same(xp.asarray(host[..., None][..., 0], device=device), host)
    copied = xp.asarray(x, copy=True)
    assert copied is not x
    assert_same(copied, host)


def test_asarray_aliases_on_the_cpu() -> None:
    host = np.arange(6.0).reshape(2, 3)
    for copy in (None, False):
        x = xp.asarray(host.T[::-1], device="cpu", copy=copy)
        x[0, 0] = 100 + host[0, 2]
        assert host[0, 2] >= 100
    assert not np.shares_memory(xp.asarray(host, device="cpu", copy=True).to_numpy(), host)
    host.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        xp.asarray(host, device="cpu")[0, 0] = 1.0
    buffer = array.array("i", [1, 2, 3])
    x = xp.asarray(memoryview(buffer), device="cpu", copy=False)
    x[0] = 9
    assert buffer[0] == 9


def test_asarray_of_odd_memory(device: Any) -> None:
    record = np.zeros(3, [("a", "i1"), ("b", "<f8")])
    record["b"] = [1, 2, 3]
    for host in (record["b"], np.arange(3, dtype=">i4"), np.frombuffer(b"\0" + bytes(16), "u1")[1:].view("<f8")):
        assert_same(xp.asarray(host, device=device), host.astype(host.dtype.newbyteorder("=")))
    with pytest.raises(ValueError, match="copy is False"):
        xp.asarray(np.arange(3, dtype=">i4"), device=device, copy=False)


@pytest.mark.parametrize(
    ("obj", "dtype"),
    [
        (True, "bool"), (3, "int64"), (2.5, "float64"), (1j, "complex128"), ([], "float64"), ([True, 2], "int64"),
        ([[1, 2.5], [True, 3]], "float64"), ((1, 2j), "complex128"), (np.float32(2), "float32"),
        ([np.int8(1), np.int8(2)], "int8"), (range(3), "int64"), (b"abc", "uint8"), (bytearray(b"abc"), "uint8"),
    ],
)  # fmt: skip
def test_asarray_of_plain_data(obj: Any, dtype: str, device: Any) -> None:
    x = xp.asarray(obj, device=device)
    assert_same(x, np.asarray(memoryview(obj) if isinstance(obj, bytes) else obj).astype(dtype))


def test_asarray_of_sequences_with_arrays(device: Any) -> None:
    parts = [xp.asarray(1, dtype=xp.int8, device=device), [xp.asarray(2, dtype=xp.int8, device=device)]]
    assert_same(xp.asarray([parts[0], parts[1][0]], device=device), np.array([1, 2], np.int8))
    assert xp.asarray([[parts[0]], parts[1]], device=device).shape == (2, 1)


def test_asarray_converts(device: Any) -> None:
    assert_same(xp.asarray([1, 2], dtype=xp.float32, device=device), np.array([1, 2], np.float32))
    assert_same(xp.asarray(2**64 - 1, dtype=xp.uint64, device=device), np.array(2**64 - 1, np.uint64))
    assert_same(xp.asarray(np.arange(3), dtype=xp.bfloat16, device=device), np.arange(3).astype(xp.bfloat16))
    x = xp.asarray([1.5, 2.5], device=device)
    assert_same(xp.asarray(x, dtype=xp.int8), np.array([1, 2], np.int8))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: xp.asarray([[1], [2, 3]]), ValueError, "asarray: obj is no rectangular array"),
        (lambda: xp.asarray("abc"), TypeError, "asarray: obj becomes a NumPy array of dtype <U3"),
        (lambda: xp.asarray(None), TypeError, "dtype object"),
        (lambda: xp.asarray(object()), TypeError, "dtype object"),
        (lambda: xp.asarray(2**63), OverflowError, "asarray: a Python integer does not fit int64"),
        (lambda: xp.asarray([1, -(2**70)]), OverflowError, "asarray"),
        (lambda: xp.asarray(300, dtype=xp.uint8), OverflowError, "asarray: .*300"),
        (lambda: xp.asarray([1j], dtype=xp.float32), TypeError, "asarray"),
        (lambda: xp.asarray(np.ones(2, np.complex64), dtype=xp.float32), TypeError, "asarray: complex64 to float32"),
        (lambda: xp.asarray([1, 2], copy=False), ValueError, "copy is False, but a list has to be copied"),
        (lambda: xp.asarray(xp.zeros(2), dtype=xp.int8, copy=False), ValueError, "copy is False, but float64"),
        (lambda: xp.asarray(np.zeros(2, "M8[s]")), TypeError, "datetime64"),
        (lambda: xp.zeros(-1), ValueError, r"zeros: shape is \(-1,\)"),
        (lambda: xp.zeros((2, 1.5)), TypeError, "zeros: shape is"),
        (lambda: xp.empty((2**40, 2**40)), ValueError, "more than memory can hold"),
        (
            lambda: xp.empty(2**58, device="cpu"),
            xp.OutOfMemoryError,
            "cpu: 2,305,843,009,213,693,952 bytes were asked for",
        ),
        (lambda: xp.ones(2, dtype="no"), TypeError, "ones: dtype 'no'"),
        (lambda: xp.full(2, 1.5, dtype=xp.int8), TypeError, "full: fill_value is 1.5; accepted for dtype int8: values"),
        (lambda: xp.full(2, 300, dtype=xp.int8), OverflowError, "full: fill_value is 300"),
        (lambda: xp.full(2, "a"), TypeError, "full: fill_value is a str"),
        (lambda: xp.full(2, xp.zeros(2)), ValueError, r"full: fill_value has shape \(2,\)"),
        (lambda: xp.full_like([1], 2), TypeError, "full_like: x is a list"),
        (lambda: xp.arange(1, 5, 0), ValueError, "arange: step is 0"),
        (lambda: xp.arange("a"), TypeError, "arange: stop is 'a'"),
        (lambda: xp.arange(1j), TypeError, "arange: stop is 1j"),
        (lambda: xp.arange(float("inf")), ValueError, "arange: stop is inf"),
        (lambda: xp.arange(0, 300, dtype=xp.uint8), OverflowError, "arange: the last value is 299"),
        (lambda: xp.arange(0.5, 3, dtype=xp.int8), TypeError, "arange: start is 0.5"),
        (lambda: xp.arange(3, dtype=xp.bool), TypeError, "arange: dtype is bool"),
        (lambda: xp.linspace(0, 1, -1), ValueError, "linspace: num is"),
        (lambda: xp.linspace(0, 1j, 3, dtype=xp.float32), TypeError, "linspace: dtype is float32"),
        (lambda: xp.linspace(0, "a", 3), TypeError, "linspace: stop is 'a'"),
        (lambda: xp.eye(2.5), TypeError, "eye: n_rows is 2.5"),
        (lambda: xp.eye(2, k=0.5), TypeError, "eye: k is 0.5"),
        (lambda: xp.tril(xp.zeros(3)), ValueError, r"tril: x has shape \(3,\)"),
        (lambda: xp.meshgrid(xp.zeros((2, 2))), ValueError, r"meshgrid: arrays\[0\] has shape"),
        (lambda: xp.meshgrid(xp.zeros(2), indexing="yx"), ValueError, "meshgrid: indexing is 'yx'"),
        (lambda: xp.from_dlpack([1, 2]), AttributeError, "__dlpack__"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    xp.set_default_device("cpu")
    with pytest.raises(error, match=message):
        call()


def test_numpy_data_is_not_aliased_on_a_gpu(device: Any) -> None:
    if device != "cpu":
        with pytest.raises(ValueError, match="copy is False"):
            xp.asarray(np.zeros(3), device=device, copy=False)


@pytest.mark.parametrize("device", DEVICES)
def test_values_of_another_kind_fill_if_they_stay_as_they_are(device: Any) -> None:
    cases = [
        (1.0, xp.int64, 1),
        (-3.0, xp.int8, -3),
        (2 + 0j, xp.float32, 2.0),
        (4 + 0j, xp.uint8, 4),
        (1, xp.bool, True),
        (0.0, xp.bool, False),
        (True, xp.float16, 1.0),
    ]
    for value, dtype, wanted in cases * 2:
        found = xp.full((3,), value, dtype=dtype, device=device)
        assert found.dtype == dtype
        assert found.to_numpy().tolist() == [wanted] * 3
        assert xp.full_like(found, value).to_numpy().tolist() == [wanted] * 3
    refused = [
        (1.5, xp.int64),
        (math.nan, xp.int64),
        (math.inf, xp.int8),
        (2, xp.bool),
        (1j, xp.float64),
        (1 + 1j, xp.int8),
    ]
    for value, dtype in refused * 2:
        with pytest.raises(TypeError, match=r"full: fill_value is .*; accepted for dtype"):
            xp.full((3,), value, dtype=dtype, device=device)
    with pytest.raises(OverflowError, match="full: fill_value is 300, which int8 cannot hold"):
        xp.full((3,), 300.0, dtype=xp.int8, device=device)


def test_shapes_may_be_arrays_of_one_number() -> None:
    for shape in (xp.asarray(3), np.int64(3), np.array(3)):
        assert xp.empty(shape, device="cpu").shape == xp.zeros(shape, device="cpu").shape == (3,)
        assert xp.linspace(0, 1, shape, device="cpu").shape == (3,)
    assert xp.zeros(np.array([2, 3]), device="cpu").shape == (2, 3)
    with pytest.raises(TypeError, match="zeros: shape is"):
        xp.zeros(xp.asarray(3.0), device="cpu")
