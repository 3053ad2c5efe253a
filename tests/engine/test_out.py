"""``out=``: written in place; with overlaps, as if by a temporary; and unchanged by calls that fail."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from xpops.core import dtypes as dt
from xpops.engine import engine_of
from xpops.ops.elementwise import OPERATORS

NDArray = np.ndarray[Any, Any]

devices = st.sampled_from(DEVICES)
SIZES = (1, 2, 16, 17, 33, 64, 1000, 4097)
KEYS = [
    (slice(None, -1), slice(1, None)),
    (slice(1, None), slice(None, -1)),
    (slice(None), slice(None, None, -1)),
    (slice(None, None, -1), slice(None)),
    (slice(None, None, 2), slice(None, None, 2)),
    (slice(None, 8), slice(None, 16, 2)),
    (slice(None, 16, 2), slice(1, 9)),
]


def base_of(size: int, dtype: Any, device: Any) -> tuple[NDArray, Any]:
    host = np.arange(size) % 97
    host = host.astype(dtype)
    return host, xp.asarray(host, device=device, copy=True)


def assert_equal(got: Any, expected: NDArray) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got.to_numpy(), expected)


@pytest.mark.parametrize("dtype", [dt.int8, dt.float16, dt.float32, dt.complex128], ids=str)
@pytest.mark.parametrize("size", SIZES)
def test_exactly_in_place(size: int, dtype: Any, device: Any) -> None:
    host, x = base_of(size, dtype, device)
    address = engine_of(x.device).address(x._data)
    assert xp.add(x, x, out=x) is x
    assert engine_of(x.device).address(x._data) == address
    assert_equal(x, (host + host).astype(dtype))


@pytest.mark.parametrize(("target", "source"), KEYS, ids=str)
@pytest.mark.parametrize("size", [17, 64, 4097])
def test_partial_overlap_is_as_if_through_a_temporary(size: int, target: slice, source: slice, device: Any) -> None:
    host, x = base_of(size, dt.float32, device)
    expected = host.copy()
    expected[target] = host[source] + host[target]
    out = x[target]
    assert xp.add(x[source], x[target], out=out) is out
    assert_equal(x, expected)


@given(st.integers(1, 40), st.data(), devices)
def test_any_overlap_of_one_buffer(length: int, data: st.DataObject, device: Any) -> None:
    host, x = base_of(130, dt.int32, device)

    def part() -> slice:
        step = data.draw(st.sampled_from([1, 2, 3, -1, -2]))
        reach = (length - 1) * abs(step)
        low = data.draw(st.integers(0, 129 - reach))
        first = low if step > 0 else low + reach
        last = first + step * length
        return slice(first, last if last >= 0 else None, step)

    out, first, second = part(), part(), part()
    expected = host.copy()
    expected[out] = host[first] * 2 - host[second]
    xp.subtract(xp.multiply(x[first], 2), x[second], out=x[out])
    assert_equal(x, expected)


@pytest.mark.parametrize("side", [1, 7, 8, 33, 64, 65])
def test_transposed_onto_itself(side: int, device: Any) -> None:
    host, x = base_of(side * side, dt.float32, device)
    square, plain = xp.reshape(x, (side, side)), host.reshape(side, side)
    xp.positive(square.T, out=square)
    assert_equal(square, np.ascontiguousarray(plain.T))
    xp.add(square, square.T, out=square)
    assert_equal(square, plain + plain.T)


def test_a_row_of_the_result_broadcast_onto_it(device: Any) -> None:
    host, x = base_of(20, dt.float32, device)
    matrix, plain = xp.reshape(x, (4, 5)), host.reshape(4, 5)
    xp.add(matrix, matrix[1, :], out=matrix)
    assert_equal(matrix, plain + plain[1])


def test_another_dtype_in_the_same_memory(device: Any) -> None:
    x = xp.asarray(np.arange(64, dtype=np.float32), device=device, copy=True)
    engine = engine_of(device)
    layout = xp.zeros(32, dtype=xp.complex64, device=device)._layout
    alias = xp.Array(layout, engine.adopt(engine.address(x._data), layout, x, True), x)
    expected = np.arange(32).astype(np.complex64)
    xp.add(x[:32], xp.zeros(32, dtype=xp.complex64, device=device), out=alias)
    assert_equal(alias, expected)


# The same in NumPy and xpops.
EVERY_KIND: dict[str, Callable[..., Any]] = {
    "exp": lambda ns, x, **out: ns.exp(x, **out),
    "negative": lambda ns, x, **out: ns.negative(x, **out),
    "atan2": lambda ns, x, **out: ns.atan2(x, x[::-1], **out),
    "multiply": lambda ns, x, **out: ns.multiply(x, 2.5, **out),
    "subtract": lambda ns, x, **out: ns.subtract(2.5, x, **out),
    "clip": lambda ns, x, **out: ns.clip(x, 2.0, 5.0, **out),
}


@pytest.mark.parametrize("name", [*EVERY_KIND, "where"])
def test_every_kind_of_operator_takes_out(name: str, device: Any) -> None:
    host, x = base_of(17, dt.float32, device)
    out = xp.full(17, -7.0, dtype=xp.float32, device=device)
    if name == "where":
        assert xp.where(x > 5, x, -1.0, out=out) is out
        wanted = np.where(host > 5, host, np.float32(-1))
    else:
        assert EVERY_KIND[name](xp, x, out=out) is out
        wanted = EVERY_KIND[name](np, host)
    assert (out.dtype, out.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(out.to_numpy(), wanted, rtol=1e-6 if name in ("exp", "atan2") else 0)


def refused(device: Any) -> list[tuple[Any, Any, type[Exception], str]]:
    _, x = base_of(6, dt.float32, device)
    return [
        (
            x,
            xp.zeros(5, dtype=xp.float32, device=device),
            ValueError,
            r"add: out has shape \(5,\) and dtype float32; accepted: shape \(6,\)",
        ),
        (x, xp.zeros((1, 6), dtype=xp.float32, device=device), ValueError, r"add: out has shape \(1, 6\)"),
        (x[:1], xp.zeros(6, dtype=xp.float32, device=device), ValueError, r"add: out has shape \(6,\)"),
        (x, xp.zeros(6, dtype=xp.complex64, device=device), ValueError, "dtype complex64; accepted: .*dtype float32"),
        (x, xp.zeros(6, dtype=xp.int32, device=device), ValueError, "dtype int32; accepted: .*dtype float32"),
        (
            x,
            xp.broadcast_to(xp.zeros(1, dtype=xp.float32, device=device), (6,)),
            ValueError,
            "add: out (is read-only|has several)",
        ),
        (x, [0.0] * 6, TypeError, "add: out is a list; accepted: an array"),
        (x, 1.0, TypeError, r"add: out is a scalar, 1\.0; accepted: an array"),
    ]


@pytest.mark.parametrize("case", range(8))
def test_refused_and_nothing_damaged(case: int, device: Any) -> None:
    x, out, error, message = refused(device)[case]
    before = [each.to_numpy().copy() for each in (x, out) if isinstance(each, xp.Array)]
    with pytest.raises(error, match=message):
        xp.add(x, x, out=out)
    after = [each.to_numpy() for each in (x, out) if isinstance(each, xp.Array)]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_several_elements_at_one_address_are_refused(device: Any) -> None:
    engine, x = engine_of(device), xp.zeros(6, dtype=xp.float32, device=device)
    from xpops.core.layouts import layout_of

    layout = layout_of(dt.float32, (3, 4), (1, 1), device)
    out = xp.Array(layout, engine.adopt(engine.address(x._data), layout, x, True), x)
    with pytest.raises(ValueError, match="add: out may have several elements at one address"):
        xp.add(xp.ones((3, 4), dtype=xp.float32, device=device), 1.0, out=out)
    assert_equal(x, np.zeros(6, np.float32))


def test_read_only_is_refused(device: Any) -> None:
    host = np.arange(4.0)
    host.flags.writeable = False
    x = xp.ones(4, device=device)
    with pytest.raises(ValueError, match="add: out is read-only; accepted: a writable array"):
        xp.add(x, x, out=xp.Array(x._layout, x._data, x._owner, False))
    with pytest.raises(ValueError, match="add: out is read-only"):
        xp.add(xp.ones(4, device="cpu"), 1.0, out=host)
    np.testing.assert_array_equal(host, np.arange(4.0))
    assert_equal(x, np.ones(4))


def test_another_device_is_refused(cuda: Any) -> None:
    x, out = xp.ones(4, device=cuda), xp.zeros(4, device="cpu")
    with pytest.raises(ValueError, match="add: out is on cpu and x1 on cuda:0; move one"):
        xp.add(x, 1.0, out=out)
    with pytest.raises(ValueError, match="add: x1 is on cuda:0 and x2 on cpu; move one"):
        xp.add(x, out)
    assert_equal(out, np.zeros(4))


def test_out_of_another_framework(device: Any) -> None:
    x = xp.asarray(np.arange(6, dtype=np.float32), device=device)
    for name, make, host_of in foreign_outs(device):
        out = make()
        assert xp.add(x, 1.0, out=out) is out, name
        np.testing.assert_array_equal(host_of(out), np.arange(6, dtype=np.float32) + 1)


def foreign_outs(device: Any) -> list[tuple[str, Any, Any]]:
    """For each installed framework: its name, a function that makes an ``out``, and one that copies it to the host."""
    found: list[tuple[str, Any, Any]] = []
    if device.type == "cpu":
        found.append(("numpy", lambda: np.zeros(6, np.float32), np.asarray))
    try:
        import torch

        if device.type == "cpu" or torch.cuda.is_available():
            found.append(("torch", lambda: torch.zeros(6, device=str(device)), lambda out: out.cpu().numpy()))
    except ImportError:
        pass
    if device.type == "cuda":
        try:
            import cupy

            def zeros() -> Any:
                with cupy.cuda.Device(device.index):
                    return cupy.zeros(6, cupy.float32)

            found.append(("cupy", zeros, cupy.asnumpy))
        except ImportError:
            pass
    return found


def test_foreign_operands_and_a_foreign_out(device: Any) -> None:
    torch = pytest.importorskip("torch")
    if device.type == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    x = torch.arange(12.0, device=str(device)).reshape(3, 4)
    out = torch.zeros(4, 3, device=str(device))
    assert xp.add(x.T, 1.0, out=out) is out
    assert torch.equal(out, x.T + 1)
    out = out.T
    assert xp.multiply(x, x, out=out) is out
    assert torch.equal(out, x * x)
    with pytest.raises(ValueError, match="add: out has shape"):
        xp.add(x, 1.0, out=torch.zeros(5, device=str(device)))


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"])
def test_in_place_operators_keep_the_memory(name: str, device: Any) -> None:
    host, x = base_of(33, dt.float32, device)
    host, x = host + 1, xp.add(x, 1.0)
    same, address = x, engine_of(device).address(x._data)
    x = getattr(operator, name)(x, 2.0)
    assert x is same
    assert engine_of(device).address(x._data) == address
    assert_equal(x, getattr(operator, name)(host, np.float32(2)))


@pytest.mark.parametrize("name", ["iand", "ior", "ixor", "ilshift", "irshift"])
def test_in_place_bitwise_operators_keep_the_memory(name: str, device: Any) -> None:
    host, x = base_of(33, dt.int16, device)
    same = x
    x = getattr(operator, name)(x, 3)
    assert x is same
    assert_equal(x, getattr(operator, name)(host, np.int16(3)))


def test_in_place_operators_reach_every_view(device: Any) -> None:
    host, x = base_of(24, dt.float32, device)
    view = xp.reshape(x, (4, 6))[::2, ::-1]
    view += 100.0
    host.reshape(4, 6)[::2, ::-1] += 100
    assert_equal(x, host)


def test_in_place_refuses_what_would_change_shape_or_dtype(device: Any) -> None:
    x = xp.ones(3, dtype=xp.int32, device=device)
    with pytest.raises((TypeError, ValueError)):
        x += 1.5
    with pytest.raises((TypeError, ValueError)):
        x += xp.ones((2, 3), dtype=xp.int32, device=device)
    with pytest.raises((TypeError, ValueError)):
        x /= 2
    assert_equal(x, np.ones(3, np.int32))


def test_a_thousand_adds_in_place(device: Any) -> None:
    x, y = xp.zeros(4096, dtype=xp.float32, device=device), xp.ones(4096, dtype=xp.float32, device=device)
    for _ in range(1000):
        x += y
    assert_equal(x, np.full(4096, 1000, np.float32))


@pytest.mark.parametrize("size", [64, 1 << 20])
def test_a_thousand_adds_in_place_allocate_nothing(size: int, cuda: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = engine_of(cuda).pool  # type: ignore[attr-defined]  # the CUDA engine's
    x, y = xp.zeros(size, dtype=xp.float32, device=cuda), xp.ones(size, dtype=xp.float32, device=cuda)
    x += y
    reserved = pool.reserved()
    monkeypatch.setattr(pool, "_from_driver", lambda *_: pytest.fail("memory was allocated"))
    for _ in range(1000):
        x += y
    assert pool.reserved() == reserved
    monkeypatch.undo()
    assert_equal(x, np.full(size, 1001, np.float32))


BOOLEAN = [row for row in OPERATORS.values() if row.result == "bool"]
STRIDED = [slice(None), slice(None, None, 2), slice(None, None, -1), slice(1, None, 3), slice(None, None, -2)]


@pytest.mark.parametrize("op", BOOLEAN, ids=lambda op: op.name)
@pytest.mark.parametrize("dtype", [dt.bool, dt.int16, dt.uint64, *sorted(dt.REAL_FLOATS, key=str)], ids=str)
def test_strided_truth_of_every_length(op: Any, dtype: Any, device: Any) -> None:
    """The reference computes single elements, because NumPy's loops are wrong for some strides from 16 elements on."""
    if dtype not in dt.CATEGORIES[op.accepts]:
        pytest.skip("not accepted")
    values = (0, 1, 1, -1, np.nan, np.inf, -np.inf, -0.0) if dtype in dt.REAL_FLOATS else (0, 1, 1, 3)
    random = np.random.default_rng(1)
    hosts = [random.choice(values, 400).astype(dtype) for _ in range(op.arity)]
    operands = [xp.asarray(host, device=device) for host in hosts]
    single = [host.astype(np.float64) if dtype in dt.REAL_FLOATS else host for host in hosts]
    wanted = np.array([op.cpu(*pair) for pair in zip(*single, strict=True)])
    for length in (1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 100, 129, 130):
        for into in STRIDED:
            for step in (1, 2, -1):
                written = xp.zeros(400, dtype=xp.bool, device=device)
                out = written[into][:length]
                places = np.arange(400)[::step][:length]
                getattr(xp, op.name)(*(x[::step][:length] for x in operands), out=out)
                expected = np.zeros(400, bool)
                expected[np.arange(400)[into][:length]] = wanted[places]
                np.testing.assert_array_equal(written.to_numpy(), expected)
