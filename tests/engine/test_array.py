"""The Array object, on every device."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from xpops.core import dtypes as dt
from xpops.testing.strategies import keys, numpy_arrays, shapes, views

devices = st.sampled_from(DEVICES)
BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
BITWISE = ["and_", "or_", "xor", "lshift", "rshift"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


@given(st.data(), st.sampled_from(tuple(dt.INFO)), devices)
def test_indexing_is_numpys(data: st.DataObject, dtype: Any, device: Any) -> None:
    host = data.draw(numpy_arrays(dtype))
    first, order = data.draw(views(host.shape))
    x = xp.permute_dims(xp.asarray(host, device=device, copy=True)[first], order)
    host = host[first].transpose(order)
    key = data.draw(keys(host.shape))
    assert_same(x[key], host[key])


@given(st.data(), st.sampled_from(tuple(dt.INFO)), devices)
def test_assignment_is_numpys(data: st.DataObject, dtype: Any, device: Any) -> None:
    base = data.draw(numpy_arrays(dtype))
    x_base = xp.asarray(base, device=device, copy=True)
    first, order = data.draw(views(base.shape))
    host, x = base[first].transpose(order), xp.permute_dims(x_base[first], order)
    key = data.draw(keys(host.shape))
    shape = np.empty(host.shape, np.int8)[key].shape
    broadcast = tuple(1 if data.draw(st.booleans()) else length for length in shape)
    value = data.draw(numpy_arrays(dtype, st.just(broadcast[data.draw(st.integers(0, len(shape))) :])))
    host[key] = value
    x[key] = xp.asarray(value, device=device)
    assert_same(x_base, base)


def test_assignment_of_overlapping_views(device: Any) -> None:
    x, host = xp.arange(6, device=device), np.arange(6)
    x[1:], host[1:] = x[:-1], host[:-1].copy()
    x[::-1], host[::-1] = x, host.copy()
    assert_same(x, host)


def test_assignment_of_scalars(device: Any) -> None:
    x = xp.zeros((2, 3), dtype=xp.float32, device=device)
    x[0, :] = -0.0
    x[1, ::2] = True
    x[1, 1] = np.float64(0.5)
    x[0, 2] = xp.asarray(7, dtype=xp.int8, device=device)
    assert_same(x, np.array([[-0.0, -0.0, 7.0], [1.0, 0.5, 1.0]], np.float32))


@pytest.mark.parametrize(
    ("dtype", "value", "error", "message"),
    [
        ("int32", 1.5, TypeError, "value is a Python float, which does not promote to int32"),
        ("float32", 1j, TypeError, "a Python complex"),
        ("bool", 1, TypeError, "a Python int"),
        ("int8", 128, OverflowError, "128"),
        ("uint8", -1, OverflowError, "-1"),
        ("int8", np.zeros(3, np.int16), TypeError, "value is int16"),
        ("float64", np.zeros(3, "float32").astype(xp.float8_e5m2), TypeError, "value is float8_e5m2"),
        ("float64", np.zeros(4), ValueError, "broadcast"),
        ("float64", "text", TypeError, "value is a str"),
    ],
)
def test_assignment_refuses(dtype: str, value: Any, error: type[Exception], message: str) -> None:
    x = xp.ones(3, dtype=dtype, device="cpu")
    with pytest.raises(error, match=message):
        x[...] = value
    assert x.tolist() == [1, 1, 1]


def test_read_only_arrays_refuse_assignment(device: Any) -> None:
    x = xp.broadcast_to(xp.zeros(1, device=device), (3,))
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        x += 1.0
    with pytest.raises(ValueError, match="read-only"):
        x[1:][0] = 1.0


@pytest.mark.parametrize("name", BINARY + COMPARISONS + BITWISE)
def test_binary_operators(name: str, device: Any) -> None:
    function = getattr(operator, name)
    dtype = np.int64 if name in BITWISE else np.float64
    a, b = np.array([7, 2, 5], dtype), np.array([1, 2, 3], dtype)
    x, y = xp.asarray(a, device=device), xp.asarray(b, device=device)
    assert_same(function(x, y), function(a, b))
    assert_same(function(x, 2), function(a, 2))
    assert_same(function(np.float64(2) if dtype is np.float64 else 2, x), function(2, a))
    if device == "cpu":
        assert_same(function(a, y), function(a, b))
    assert function(x, y).device == device


@pytest.mark.parametrize("name", BINARY + BITWISE)
def test_in_place_operators_write_through(name: str, device: Any) -> None:
    function = getattr(operator, "i" + name.rstrip("_"))
    dtype = np.int64 if name in BITWISE else np.float32
    host, b = np.array([7, 2, 5, 9], dtype), np.array([1, 2], dtype)
    x = xp.asarray(host, device=device, copy=True)
    view = x[::2]
    kept = view
    view = function(view, xp.asarray(b, device=device))
    host[::2] = getattr(operator, name)(host[::2], b)
    assert view is kept
    assert_same(x, host)


def test_in_place_on_an_item(device: Any) -> None:
    x = xp.arange(4, device=device)
    x[1:3] += 10
    assert x.tolist() == [0, 11, 12, 3]


def test_in_place_keeps_dtype_and_shape(device: Any) -> None:
    x = xp.ones(3, dtype=xp.float32, device=device)
    with pytest.raises(ValueError, match=r"out has shape .* and dtype float32; accepted: .* complex64 or another one"):
        x += xp.ones(3, dtype=xp.complex64, device=device)
    with pytest.raises(ValueError, match="out has shape"):
        x += xp.ones((2, 3), dtype=xp.float32, device=device)
    x += 1
    assert_same(x, np.full(3, 2, np.float32))


def test_in_place_rounds_a_wider_result_of_its_kind_once(device: Any) -> None:
    x = xp.ones(2, dtype=xp.float32, device=device)
    x += xp.asarray([2.0**-24 + 2.0**-50, 1e300], dtype=xp.float64, device=device)
    assert_same(x, np.array([1 + 2.0**-23, np.inf], np.float32))
    n = xp.asarray([100, -1], dtype=xp.int8, device=device)
    n *= xp.asarray([3, 3], dtype=xp.int64, device=device)
    assert_same(n, np.array([300 - 256, -3], np.int8))
    with pytest.raises(ValueError, match=r"out has shape .* and dtype int8; accepted: .* float32"):
        n += xp.ones(2, dtype=xp.float32, device=device)
    with pytest.raises(ValueError, match=r"dtype uint8; accepted: .* int64"):
        xp.add(n, xp.ones(2, dtype=xp.int64, device=device), out=xp.ones(2, dtype=xp.uint8, device=device))


def test_unary_operators(device: Any) -> None:
    host = np.array([-1, 2], np.int8)
    x = xp.asarray(host, device=device)
    for function in (operator.neg, operator.pos, operator.invert, abs):
        assert_same(function(x), function(host))


def test_strangers_are_left_to_their_own_methods(device: Any) -> None:
    class Stranger:
        def __radd__(self, other: Any) -> str:
            return "theirs"

    x = xp.ones(2, device=device)
    assert x + Stranger() == "theirs"
    assert (x == "text") is False
    with pytest.raises(TypeError, match="unsupported operand"):
        x -= "text"


@pytest.mark.parametrize("sequence", [[1, 2], (1, 2)], ids=["list", "tuple"])
@pytest.mark.parametrize(
    ("operate", "name"),
    [
        (operator.add, "add"),
        (operator.mul, "multiply"),
        (operator.eq, "equal"),
        (operator.ne, "not_equal"),
        (operator.lt, "less"),
        (operator.imul, "multiply"),
        (operator.matmul, "matmul"),
    ],
)
def test_sequences_are_no_operands(operate: Any, name: str, sequence: Any, device: Any) -> None:
    """Otherwise Python would repeat the sequence as often as the array says, or compare identities."""
    message = f"^{name}: an operand is a {type(sequence).__name__}; accepted: arrays and Python scalars, so use asarray"
    with pytest.raises(TypeError, match=message):
        operate(xp.asarray(2, device=device), sequence)
    if operate is not operator.imul:
        with pytest.raises(TypeError, match=": an operand is a"):
            operate(sequence, xp.asarray(2, device=device))


@pytest.mark.parametrize("dtype", tuple(dt.INFO), ids=str)
def test_python_scalars(dtype: Any, device: Any) -> None:
    x = xp.astype(xp.asarray(1, device=device), dtype)
    assert bool(x) is True
    assert complex(x) == 1
    assert x.item() == x.tolist() == 1
    if dtype in (xp.complex64, xp.complex128):
        for kind in (int, float):
            with pytest.raises(TypeError, match=f"{kind.__name__}: the array has dtype {dtype}"):
                kind(x)
    else:
        assert (int(x), float(x)) == (1, 1.0)
    if xp.isdtype(dtype, "integral"):
        assert range(3)[x] == 1
    else:
        with pytest.raises(TypeError, match="index: the array has dtype"):
            operator.index(x)


def test_scalars_of_more_elements_refuse(device: Any) -> None:
    x = xp.ones((1, 1), dtype=xp.int64, device=device)
    for kind in (bool, int, float, complex, operator.index):
        with pytest.raises(TypeError, match=r"the array has shape \(1, 1\); accepted: 0-d arrays"):
            kind(x)
    assert x.item() == 1
    with pytest.raises(ValueError, match=r"item: the array has shape \(2,\)"):
        xp.ones(2, device=device).item()
    with pytest.raises(OverflowError):
        int(xp.asarray(xp.inf, device=device))
    with pytest.raises(ValueError, match="NaN"):
        int(xp.asarray(xp.nan, device=device))


def test_container(device: Any) -> None:
    host = np.arange(6).reshape(3, 2)
    x = xp.asarray(host, device=device)
    assert len(x) == 3
    for row, expected in zip(x, host, strict=True):
        assert_same(row, expected)
    assert 5 in x
    assert 6 not in x
    zero_d = xp.asarray(1, device=device)
    for function in (len, iter):
        with pytest.raises(TypeError, match="0-d"):
            function(zero_d)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


def test_integer_arrays_index(device: Any) -> None:
    x = xp.arange(5, device=device)
    assert x[xp.asarray(-1, device=device)].item() == 4
    assert x[xp.asarray(1, device=device) : np.int8(3)].tolist() == [1, 2]
    assert x[xp.asarray([0, -1], device=device)].tolist() == [0, 4]
    assert x[x > 1].tolist() == [2, 3, 4]


def test_transposes(device: Any) -> None:
    host = np.arange(24).reshape(2, 3, 4)
    x = xp.asarray(host, device=device)
    assert_same(x[0].T, host[0].T)
    assert_same(x.mT, host.mT)
    assert_same(x.transpose(), host.transpose())
    assert_same(x.transpose(2, 0, 1), host.transpose(2, 0, 1))
    assert_same(x.reshape(4, -1), host.reshape(4, -1))
    assert_same(x.reshape((3, 8)), host.reshape(3, 8))
    assert_same(x.astype(xp.int8), host.astype(np.int8))
    for name in ("T", "mT"):
        with pytest.raises(ValueError, match=f"{name}: the array has 1 axes"):
            getattr(x[0, 0], name)
    with pytest.raises(ValueError, match="T: the array has 3 axes"):
        _ = x.T


@given(st.data(), st.sampled_from(tuple(dt.INFO)), devices)
def test_copies_and_pickles(data: st.DataObject, dtype: Any, device: Any) -> None:
    host = data.draw(numpy_arrays(dtype))
    x = xp.asarray(host, device=device, copy=True)
    for other in (x.copy(), copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert_same(other, host)
        assert other.device == device
        if x.size:
            other[...] = x * 0 if xp.isdtype(dtype, "numeric") else x
            assert_same(x, host)


def test_numpy_aliases_on_the_cpu() -> None:
    x = xp.zeros((2, 3), device="cpu")
    view = np.asarray(x[:, ::-2])
    view[0, 0] = 5
    assert x[0, 2].item() == 5
    assert np.array(x).base is None
    assert np.asarray(x, dtype=np.int8).dtype == np.int8
    assert not np.asarray(xp.broadcast_to(x, (2, 2, 3))).flags.writeable
    with pytest.raises(ValueError, match="copy=False"):
        np.array(x, dtype=np.int8, copy=False)
    assert not np.shares_memory(np.array(x, copy=True), x.to_numpy())


def test_numpy_gets_nothing_from_a_gpu_unasked(device: Any) -> None:
    x = xp.ones(3, device=device)
    if device == "cpu":
        return
    with pytest.raises(xp.HostCopyError, match="allow_host_copies"):
        np.asarray(x)
    with xp.allow_host_copies():
        assert np.asarray(x).tolist() == [1, 1, 1]
        with pytest.raises(ValueError, match="copy=False"):
            np.array(x, copy=False)
    with pytest.raises(TypeError):
        np.asarray(x)


def test_text(device: Any) -> None:
    x = xp.asarray([[1, 2], [3, 4]], dtype=xp.int8, device=device)
    assert repr(x) == f"Array([[1, 2],\n       [3, 4]], dtype=int8, device='{device}')"
    assert str(x) == "[[1 2]\n [3 4]]"
    assert repr(xp.asarray(2.5, device=device)) == f"Array(2.5, dtype=float64, device='{device}')"
    assert repr(xp.zeros((0, 3), device=device)) == f"Array([], shape=(0, 3), dtype=float64, device='{device}')"
    assert f"{xp.asarray(2.5, device=device):.2f}" == "2.50"
    assert f"{x}" == str(x)
    with pytest.raises(TypeError, match="format: the array has shape"):
        format(x, ".2f")


@pytest.mark.parametrize("shape", [(5000,), (40, 50), (7, 8, 9, 10), (3, 1000), (7, 200)])
def test_text_of_large_arrays_is_numpys(shape: tuple[int, ...], device: Any) -> None:
    host = np.arange(int(np.prod(shape))).reshape(shape)
    text = np.array2string(host, separator=", ", prefix="Array(")
    assert repr(xp.asarray(host, device=device)) == f"Array({text}, dtype=int64, device='{device}')"


def test_namespace(device: Any) -> None:
    x = xp.zeros(1, device=device)
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert x.__array_namespace__(api_version=version) is xp
    with pytest.raises(ValueError, match=r"'2020\.01'; accepted: 2021\.12"):
        x.__array_namespace__(api_version="2020.01")


def test_to_device(device: Any) -> None:
    host = np.arange(6.0).reshape(2, 3)
    x = xp.asarray(host, device=device)
    assert x.to_device(device) is x
    for target in DEVICES:
        moved = x.T.to_device(target)
        assert moved.device == target
        assert_same(moved, host.T)
    with pytest.raises(xp.DeviceError, match="not there"):
        x.to_device("cuda:99")
    with pytest.raises(ValueError, match="no device"):
        x.to_device("tpu")


@given(shapes(), st.sampled_from(tuple(dt.INFO)))
def test_properties(shape: tuple[int, ...], dtype: Any) -> None:
    x = xp.empty(shape, dtype=dtype, device="cpu")
    assert (x.shape, x.ndim, x.size, x.dtype, x.device) == (shape, len(shape), int(np.prod(shape)), dtype, "cpu")
