"""Fourier transforms of torch's tensors on the CPU, against NumPy's in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.ops.fft import TRANSFORMS

torch = pytest.importorskip("torch")
ONE_AXIS = [name for name in TRANSFORMS if not name.endswith("n")]
SEVERAL_AXES = [name for name in TRANSFORMS if name.endswith("n")]
NORMS = ("backward", "ortho", "forward")


def operand(name: str, shape: tuple[int, ...], bits: int) -> Any:
    random = np.random.default_rng(7)
    x = random.normal(size=shape)
    if TRANSFORMS[name].kind == "rfft":
        return x.astype(f"float{bits}")
    return (x + 1j * random.normal(size=shape)).astype(f"complex{2 * bits}")


def assert_transforms(name: str, x: Any, **parameters: Any) -> None:
    """Three calls on a tensor have the values of NumPy's transform, and leave the tensor as it is."""
    wanted = getattr(np.fft, name)(x.astype(np.result_type(x.dtype, np.float64)), **parameters)
    before = x.copy()
    tensor = torch.from_numpy(x)
    for _ in range(3):
        got = getattr(xp.fft, name)(tensor, **parameters)
        assert type(got) is torch.Tensor
        assert got.dtype.itemsize == x.itemsize * wanted.itemsize // np.result_type(x.dtype, np.float64).itemsize
        tolerance = 40 * np.finfo(x.dtype).eps * float(np.abs(wanted).max())
        np.testing.assert_allclose(got.numpy(), wanted, rtol=0, atol=tolerance)
    assert np.array_equal(x, before)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", ONE_AXIS)
def test_along_an_axis(name: str, bits: int) -> None:
    for shape in ((2,), (17,), (3, 97), (5, 4, 6), (2, 1024)):
        x = operand(name, shape, bits)
        for norm in NORMS:
            for axis in range(-1, x.ndim):
                for n in (None, 5, shape[axis] + 3):
                    if n is not None or x.shape[axis] > 1:
                        assert_transforms(name, x, n=n, axis=axis, norm=norm)
    assert_transforms(name, operand(name, (6, 8), bits).T[::1], n=4, axis=0)
    assert_transforms(name, operand(name, (9, 12), bits)[1:, ::2])


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", SEVERAL_AXES)
def test_along_several_axes(name: str, bits: int) -> None:
    x = operand(name, (3, 4, 6), bits)
    for norm in NORMS:
        assert_transforms(name, x, norm=norm)
        for axes in ((0,), (1, 2), (2, 0), (2, 1, 0)):
            assert_transforms(name, x, axes=axes, norm=norm)
            assert_transforms(name, x, axes=axes, s=(5, 4, 7)[: len(axes)], norm=norm)
    assert_transforms(name, operand(name, (6, 5, 8), bits).transpose(2, 0, 1)[::2], axes=(0, 2))


def test_small_and_special_numbers() -> None:
    tiny = torch.tensor([3e-38, 3e-38, 3e-38, 3e-38], dtype=torch.complex64)
    assert torch.allclose(xp.fft.ifft(tiny), torch.tensor([3e-38, 0, 0, 0], dtype=torch.complex64), rtol=1e-6, atol=0)
    x = torch.ones(64, dtype=torch.complex64)
    x[3] = complex("nan")
    assert torch.isnan(xp.fft.fft(x)).all()
    scalar = torch.tensor(2 + 1j)
    assert xp.fft.fftn(scalar, axes=()) == xp.fft.fftn(torch.tensor([2 + 1j]), axes=())[0] == scalar
    assert torch.equal(xp.fft.fft(x.conj(), n=2), torch.tensor([2 + 0j, 0j]))
