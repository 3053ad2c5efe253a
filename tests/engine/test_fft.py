"""Fourier transforms, on every device, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_close, assert_same

NDArray = np.ndarray[Any, Any]

ALONG_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
ALONG_AXES = ("fftn", "ifftn", "rfftn", "irfftn")
REAL = ("rfft", "rfftn", "ihfft")
NORMS = ("backward", "ortho", "forward")
# Powers of two, small and large primes, and products of both.
LENGTHS = (1, 2, 3, 7, 8, 13, 16, 127, 128, 131, 1009, 1024, 1155, 4096, 65536, 99991)
devices = st.sampled_from(DEVICES)


def some(dtype: str, *shape: int, seed: int = 0) -> NDArray:
    generator = np.random.default_rng(seed)
    host = generator.normal(size=shape) + 1j * generator.normal(size=shape)
    return (host if np.dtype(dtype).kind == "c" else host.real).astype(dtype)


def check(name: str, host: NDArray, x: Any, **options: Any) -> None:
    """Check that `x` is near NumPy's result in double precision, relative to the size of the whole result."""
    wide = host.astype(np.complex128 if host.dtype.kind == "c" else np.float64)
    wanted = getattr(np.fft, name)(wide, **options)
    single = host.dtype in (np.float32, np.complex64)
    kind = {"c": ("c16", "c8"), "f": ("f8", "f4")}[wanted.dtype.kind][single]
    got = getattr(xp.fft, name)(x, **options)
    assert (got.dtype, got.shape) == (np.dtype(kind), wanted.shape)
    size = float(np.sqrt(np.mean(abs(wanted) ** 2))) if wanted.size else 1
    tolerance = 40 * np.finfo(kind).eps * max(size, 1e-300)
    np.testing.assert_allclose(got.to_numpy(), wanted, rtol=0, atol=tolerance * 4)


@pytest.mark.parametrize("name", ALONG_AXIS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_every_length(device: Any, name: str, dtype: str) -> None:
    if name in REAL and dtype[0] == "c":
        return
    for length in LENGTHS:
        host = some(dtype, 2, length)
        x = xp.asarray(host, device=device)
        for norm in NORMS:
            if length > 1 or name not in ("irfft", "hfft"):
                check(name, host, x, norm=norm)
            if length < 2000:
                check(name, host, x, n=length + 3, norm=norm)
                check(name, host, x, n=length // 2 + 1, norm=norm)
        assert_same(x, host)


@settings(max_examples=200)
@given(st.data(), devices, st.sampled_from(ALONG_AXES), st.sampled_from(["4", "8"]), st.sampled_from(NORMS))
def test_any_axes(data: st.DataObject, device: Any, name: str, width: str, norm: str) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=5)))
    host = some({"4": "float32", "8": "float64"}[width] if name == "rfftn" else f"complex{int(width) * 16}", *shape)
    axes = tuple(data.draw(st.lists(st.sampled_from(range(len(shape))), min_size=1, unique=True)))
    lengths = tuple(data.draw(st.integers(2, 7)) for _ in axes) if data.draw(st.booleans()) else None
    order = data.draw(st.permutations(range(len(shape))))
    x = xp.permute_dims(xp.asarray(host, device=device), tuple(order))
    host = host.transpose(order)
    if name == "irfftn" and lengths is None and host.shape[axes[-1]] == 1:
        return
    check(name, host, x, s=lengths, axes=axes, norm=norm)


@pytest.mark.parametrize("name", ALONG_AXES)
def test_all_axes_by_default(device: Any, name: str) -> None:
    host = some("float32" if name == "rfftn" else "complex64", 3, 4, 5)
    check(name, host, xp.asarray(host, device=device))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_views(device: Any, axis: int) -> None:
    """Negative and large strides, strides of 0, and memory that is not aligned to a complex number."""
    host = some("complex64", 9, 10, 11)
    x = xp.asarray(host, device=device)
    check("fft", host[::-1, 1::2], x[::-1, 1::2], axis=axis)
    check("irfft", host[1:, :, 1:], x[1:, :, 1:], axis=axis, n=7)
    repeated = np.broadcast_to(host[:1], (4, 10, 11))
    check("ifft", repeated, xp.broadcast_to(x[:1], (4, 10, 11)), axis=axis)
    real, flat = xp.asarray(host.real.copy(), device=device), some("float32", 1001)
    check("rfft", host.real[1:, 1:, 1:], real[1:, 1:, 1:], axis=axis)
    check("rfft", flat[1:], xp.asarray(flat, device=device)[1:])


def test_many_transforms(device: Any) -> None:
    host = some("complex64", 2000, 64)
    x = xp.asarray(host, device=device)
    check("fft", host, x)
    check("fft", host, x, axis=0)
    check("ifftn", host.reshape(20, 10, 10, 64), xp.reshape(x, (20, 10, 10, 64)), axes=(2, 3))
    check("irfftn", host.reshape(20, 10, 10, 64), xp.reshape(x, (20, 10, 10, 64)), axes=(1, 2, 3))


def test_a_large_image(device: Any) -> None:
    """A real transform of all axes, whose last axis is transformed by a separate call."""
    host, spectrum = some("float32", 1024, 1155), some("complex64", 1155, 513)
    check("rfftn", host, xp.asarray(host, device=device))
    check("irfftn", spectrum, xp.asarray(spectrum, device=device), norm="ortho")
    check("rfftn", host, xp.asarray(host, device=device), axes=(1, 0))


def test_real_numbers_where_complex_ones_are_due(device: Any) -> None:
    host = some("float32", 4, 6)
    x = xp.asarray(host, device=device)
    for name in ("fft", "ifft", "irfft", "hfft"):
        check(name, host, x)


def test_there_and_back(device: Any) -> None:
    x = xp.asarray(some("complex128", 5, 7), device=device)
    for norm in NORMS:
        assert_close(xp.abs(xp.fft.ifftn(xp.fft.fftn(x, norm=norm), norm=norm) - x) + 1, np.ones((5, 7)), 20)
    y = xp.asarray(some("float64", 5, 7), device=device)
    assert_close(xp.abs(xp.fft.irfft(xp.fft.rfft(y), n=7) - y) + 1, np.ones((5, 7)), 20)
    assert_close(xp.abs(xp.fft.hfft(xp.fft.ihfft(y), n=7) - y) + 1, np.ones((5, 7)), 20)


def test_empty_arrays(device: Any) -> None:
    x = xp.zeros((0, 4), dtype=xp.complex64, device=device)
    assert xp.fft.fft(x).shape == (0, 4)
    assert xp.fft.irfft(x).shape == (0, 6)
    assert_same(xp.fft.fft(x, n=3, axis=0), np.zeros((3, 4), np.complex64))
    scalar = xp.asarray(2 + 1j, device=device)
    assert_same(xp.fft.fftn(scalar), np.asarray(2 + 1j))


def test_minus_one_is_all(device: Any) -> None:
    host = some("complex128", 3, 4)
    x = xp.asarray(host, device=device)
    check("fftn", host, x, s=(-1, 6), axes=(0, 1))
    assert xp.fft.irfftn(x, s=(3, -1), axes=(0, 1)).shape == (3, 6)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 9])
def test_frequencies(device: Any, n: int) -> None:
    for d in (1.0, 0.3):
        assert_close(xp.fft.fftfreq(n, d=d, device=device), np.fft.fftfreq(n, d), 2)
        found = xp.fft.rfftfreq(n, d=d, dtype=xp.float32, device=device)
        assert_close(found, np.fft.rfftfreq(n, d).astype(np.float32), 2)
        assert found.device == device


def test_shifts(device: Any) -> None:
    host = np.arange(60.0).reshape(3, 4, 5)
    x = xp.asarray(host, device=device)
    for axes in (None, 1, (0, -1), [2]):
        assert_same(xp.fft.fftshift(x, axes=axes), np.fft.fftshift(host, axes))
        assert_same(xp.fft.ifftshift(x, axes=axes), np.fft.ifftshift(host, axes))


def test_refusals(device: Any) -> None:
    x = xp.zeros((3, 4), dtype=xp.complex64, device=device)
    with pytest.raises(
        TypeError, match=r"fft: dtype int64 is not accepted; accepted: complex64 and complex128, float32"
    ):
        xp.fft.fft(xp.zeros(3, dtype=xp.int64, device=device))
    with pytest.raises(TypeError, match=r"rfft: dtype complex64 is not accepted; accepted: float32 and float64"):
        xp.fft.rfft(x)
    with pytest.raises(TypeError, match=r"fftn: dtype float16 is not accepted"):
        xp.fft.fftn(xp.zeros(3, dtype=xp.float16, device=device))
    with pytest.raises(
        TypeError, match=r"ifft: x is a Python complex; accepted: an array|every operand is a Python scalar"
    ):
        xp.fft.ifft(1j)
    with pytest.raises(TypeError, match=r"fft: n is 1.5; accepted: an integer"):
        xp.fft.fft(x, n=1.5)
    with pytest.raises(ValueError, match=r"fft: n is \(0,\), for x of shape \(3, 4\); accepted: lengths of 1 or more"):
        xp.fft.fft(x, n=0)
    with pytest.raises(ValueError, match=r"irfft: n is \(0,\)"):
        xp.fft.irfft(x[:, :1])
    with pytest.raises(ValueError, match=r"hfft: norm is 'unit'; accepted: 'backward', 'ortho', 'forward'"):
        xp.fft.hfft(x, norm="unit")
    with pytest.raises(IndexError, match=r"fft: axis is 2; accepted: -2 to 1"):
        xp.fft.fft(x, axis=2)
    with pytest.raises(ValueError, match=r"fftn: s is given and axes is not"):
        xp.fft.fftn(x, s=(3, 4))
    with pytest.raises(ValueError, match=r"fftn: s is \(3,\), for 2 axes"):
        xp.fft.fftn(x, s=(3,), axes=(0, 1))
    with pytest.raises(ValueError, match=r"ifftn: axes is \(0, -2\), which names an axis twice"):
        xp.fft.ifftn(x, axes=(0, -2))
    with pytest.raises(ValueError, match=r"irfftn: axes is empty"):
        xp.fft.irfftn(x, axes=())
    with pytest.raises(ValueError, match=r"fftfreq: n is 0"):
        xp.fft.fftfreq(0)
    with pytest.raises(TypeError, match=r"rfftfreq: dtype int64 is not accepted"):
        xp.fft.rfftfreq(3, dtype=xp.int64)
    with pytest.raises(TypeError, match=r"fftfreq: n is 2.5"):
        xp.fft.fftfreq(2.5)


def test_the_operand_stays_as_it_is(device: Any) -> None:
    host = np.fft.rfft(np.random.default_rng(1).normal(size=(6, 8))).astype(np.complex64)
    x = xp.asarray(host.copy(), device=device)
    xp.fft.irfft(x, n=8)
    xp.fft.irfft(x, axis=0, n=10)
    xp.fft.hfft(x)
    xp.fft.irfftn(x)
    np.testing.assert_array_equal(x.to_numpy(), host)


def test_small_numbers_are_not_lost(device: Any) -> None:
    x = xp.full((4,), 3e-38, dtype=xp.float32, device=device)
    np.testing.assert_allclose(xp.fft.ifft(x).to_numpy(), [3e-38, 0, 0, 0], rtol=1e-6)
    assert complex(xp.fft.ifft(xp.full((2**20,), 3e-38, dtype=xp.float32, device=device))[0]).real == np.float32(3e-38)
