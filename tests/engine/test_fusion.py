"""Fused functions on every device, against NumPy and against the functions called one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(8)


def bits(x: Any) -> Any:
    found = np.asarray(x.to_numpy())
    return found.view(f"u{found.itemsize}") if found.dtype.kind == "f" else found


def polynomial(x: Any, y: Any, a: Any) -> Any:
    return 0.5 * x * (1 + xp.tanh(a * (x + 0.0447 * x * x * x))) + y


def branches(x: Any, y: Any, a: Any) -> Any:
    return xp.where(x > y, xp.exp(-xp.abs(x)) * y, xp.maximum(x, a) / (1 + y * y)), x < y


def numbers(x: Any, y: Any, a: Any) -> Any:
    return xp.log1p(xp.abs(x)) ** 2 + xp.sqrt(xp.abs(y)) * a - xp.sin(x) * xp.cos(y) // 0.25


# On the CPU a fused function is the function itself; tests/unit/test_fused_emulated.py has the kernels there.
@pytest.mark.parametrize("function", [polynomial, branches, numbers])
@pytest.mark.parametrize("dtype", [xp.float32, xp.float64, xp.float16, xp.bfloat16])
def test_fusing_changes_no_bit(function: Any, dtype: Any, cuda: Any) -> None:
    x, y = (xp.asarray(RANDOM.normal(size=(333, 65)), dtype=dtype, device=cuda) for _ in range(2))
    fused = xp.fuse(function)
    for first, second in ((x, y), (x.T[:64], y[:, 0]), (x[5:, ::-1], y[:-5]), (x, y[:1])):
        for a in (0.798, -1.5):
            got, wanted = fused(first, second, a), function(first, second, a)
            for one, other in zip(
                *(each if isinstance(each, tuple) else (each,) for each in (got, wanted)), strict=True
            ):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(bits(one), bits(other))


@pytest.mark.parametrize("device", DEVICES)
@given(st.integers(0, 5000), st.sampled_from(["f4", "f8", "i4", "u1", "f2"]))
@settings(max_examples=25, deadline=None)
def test_sizes_and_dtypes_against_numpy(device: Any, size: int, dtype: str) -> None:
    host = RANDOM.integers(0, 100, (2, size)).astype(dtype)
    x, y = (xp.asarray(each, device=device) for each in host)
    got = xp.fuse(lambda x, y: xp.maximum(x * y, y - x) + 3)(x, y)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            got.to_numpy(), np.maximum(host[0] * host[1], host[1] - host[0]) + host.dtype.type(3)
        )


@pytest.mark.parametrize("device", DEVICES)
def test_another_scalar_is_no_other_kernel(device: Any) -> None:
    calls = []

    @xp.fuse
    def scaled(x: Any, a: Any) -> Any:
        calls.append(1)
        return x * a

    x = xp.asarray([1.0, 2.0], device=device)
    assert [scaled(x, each).to_numpy().tolist() for each in (1.0, 2.0, -3.0)] == [[1, 2], [2, 4], [-3, -6]]
    assert len(calls) == (3 if device.type == "cpu" else 1)


def test_torch_tensors_on_their_gpu(cuda_torch: Any) -> None:
    torch = cuda_torch
    x, y = (torch.randn(100, 33, device="cuda") for _ in range(2))
    fused = xp.fuse(lambda x, y, z, a: (x * y + z * a, x > y))
    for _ in range(3):
        total, more = fused(x, y, y[:1], 2.0)
        assert isinstance(total, torch.Tensor)
        torch.testing.assert_close(total, x * y + y[:1] * 2.0)
        assert torch.equal(more, x > y)


@pytest.mark.parametrize("device", DEVICES)
def test_a_sum_of_nothing(device: Any) -> None:
    x = xp.zeros((0, 3), dtype=xp.float32, device=device)
    assert xp.fuse(lambda x: xp.sum(x * 2, axis=0) + 1)(x).to_numpy().tolist() == [1.0, 1.0, 1.0]


ROWS = [(70,), (1, 70), (5, 33), (3, 4, 100), (300, 20), (40_000, 32), (1000, 7), (513, 96), (300, 1024), (260, 5000)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [*ROWS, (256, 70_000)], ids=str)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_rows(device: Any, shape: tuple[int, ...], dtype: str) -> None:
    host, scale = RANDOM.normal(size=shape).astype(dtype), RANDOM.normal(size=shape[-1:]).astype(dtype)

    def function(m: Any) -> Any:
        along = {"axis": -1, "keepdims": True}

        def both(x: Any, scale: Any) -> Any:
            weights = m.exp(x - m.max(x, **along))
            normal = (x - m.mean(x, **along)) / m.sqrt(m.var(x, **along) + 0.25) * scale
            return weights / m.sum(weights, **along), normal, m.max(x * x, axis=-1)

        return both

    x, y = (xp.asarray(each, device=device) for each in (host, scale))
    got = xp.fuse(function(xp))(x, y)
    wanted = function(np)(host.astype(np.float64), scale.astype(np.float64))
    tolerance = {"f2": 1e-2, "f4": 2e-5, "f8": 1e-12}[dtype]
    for one, other in zip(got, wanted, strict=True):
        assert one.dtype == host.dtype
        np.testing.assert_allclose(one.to_numpy(), other, rtol=tolerance, atol=tolerance)


class Producer:
    """An object that has ``__dlpack__`` but no operators."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __dlpack__(self, **named: Any) -> Any:
        return self._x.__dlpack__(**named)

    def __dlpack_device__(self) -> Any:
        return self._x.__dlpack_device__()


@pytest.mark.parametrize("owns", [(True, False), (False, True), (False, False)], ids=str)
def test_arguments_of_which_some_are_no_arrays_of_ours(owns: tuple[bool, bool], device: Any) -> None:
    """The function gets only xpops arrays, so that its operators mean the same on every device."""

    @xp.fuse
    def scaled(x: Any, y: Any) -> Any:
        return xp.maximum(x * 2 + y, y - 1)

    x, y = (xp.asarray(np.linspace(-1, end, 9), device=device) for end in (1, 2))
    arguments = [each if own else Producer(each) for each, own in zip((x, y), owns, strict=True)]
    for _ in range(3):
        result = scaled(*arguments)
        expected = np.maximum(x.to_numpy() * 2 + y.to_numpy(), y.to_numpy() - 1)
        np.testing.assert_allclose(result.to_numpy(), expected, rtol=1e-15)


def test_numpys_scalars_are_pythons(device: Any) -> None:
    """A float32 array with a NumPy float64 scalar gives float32, as with a Python float."""
    fused = xp.fuse(lambda x, number: x * number)
    x = xp.asarray(np.arange(4, dtype=np.float32), device=device)
    for number in (2.0, np.float64(2.0), np.float32(2.0)):
        for _ in range(2):
            result = fused(x, number)
            assert (result.dtype, result.tolist()) == (xp.float32, [0.0, 2.0, 4.0, 6.0])
