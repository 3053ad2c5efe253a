"""Torch's lazy conjugates and negatives, whose memory differs from their values: three calls of each kind."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import xpops
from xpops.dlpack.importing import from_dlpack

torch = pytest.importorskip("torch")
# No part is zero, no elements are equal, and none is its own conjugate.
VALUES = [[1 + 2j, 3 - 4j, -5 + 6j], [-7 - 8j, 9 + 10j, 11 - 12j]]
LAZY = {
    "conjugate": lambda z: z.conj(),
    "conjugate of a view": lambda z: z.mT[1:].conj(),
    "double conjugate": lambda z: z.conj().conj(),
    "adjoint": lambda z: z.mH,
    "negative": lambda z: z.conj().imag,
    "negative view": lambda z: torch._neg_view(z.real),
    "both": lambda z: torch._neg_view(z.conj()),
    "double negative": lambda z: torch._neg_view(torch._neg_view(z)),
    "plain": lambda z: z,
}


@pytest.fixture(params=[torch.complex64, torch.complex128], ids=str)
def z(request, device):
    if device.type == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    return torch.tensor(VALUES, dtype=request.param, device=device)


@pytest.fixture(params=LAZY)
def lazy(request, z):
    return LAZY[request.param](z)


def expected(x):
    """The values as torch computes them, as an ndarray."""
    return x.clone().resolve_conj().resolve_neg().cpu().numpy()


CALLS = {
    "from_dlpack": xpops.from_dlpack,
    "from_dlpack, copy": lambda x: xpops.from_dlpack(x, copy=True),
    "from_dlpack, host": lambda x: xpops.from_dlpack(x, device="cpu"),
    "asarray": xpops.asarray,
    "asarray, copy": lambda x: xpops.asarray(x, copy=True),
    "asarray, dtype": lambda x: xpops.asarray(x, dtype=xpops.complex128 if x.is_complex() else xpops.float64),
    "asarray, host": lambda x: xpops.asarray(x, device="cpu"),
    "astype": lambda x: xpops.astype(x, x.dtype),
}


@pytest.mark.parametrize("name", CALLS)
def test_conversions_have_the_tensors_values(name, lazy, z):
    call, warmed = CALLS[name], lazy.clone().resolve_conj().resolve_neg()
    for x in (lazy, lazy, warmed, lazy):  # plain tensors between lazy ones of that shape
        y = call(x)
        y = y if isinstance(y, torch.Tensor) else torch.from_numpy(y.to_numpy())
        np.testing.assert_array_equal(expected(y), expected(x))


@pytest.mark.parametrize("take", [xpops.from_dlpack, xpops.asarray])
def test_a_lazy_tensor_becomes_a_writable_copy(take, lazy, z):
    before = z.clone()
    is_lazy = lazy.is_conj() or lazy.is_neg()
    x = take(lazy)
    x[...] = 0
    assert torch.equal(z, before) == is_lazy
    assert x.to_numpy().tolist() == np.zeros(lazy.shape).tolist()


@pytest.mark.parametrize("take", [xpops.from_dlpack, xpops.asarray, from_dlpack])
def test_a_lazy_tensor_needs_a_copy(take, lazy):
    if lazy.is_conj() or lazy.is_neg():
        for error in (BufferError, ValueError):
            with pytest.raises(
                error, match=r"copy is False, but .* is a lazy conjugate or negative, .*; accepted: copy"
            ):
                take(lazy, copy=False)
    else:
        assert take(lazy, copy=False) is not None


def test_a_copy_is_made_once(z, monkeypatch):
    """`copy=True` for a tensor that must be copied anyway makes one copy."""
    made = []
    monkeypatch.setattr("xpops.dlpack.importing.copy_tensor", made.append)
    xpops.from_dlpack(z.conj(), copy=True)
    assert made == []


def test_operands_assignments_and_keys(lazy, z, device):
    x = xpops.asarray(torch.zeros(lazy.shape, dtype=lazy.dtype, device=device))
    for _ in range(3):
        np.testing.assert_array_equal((x + lazy).to_numpy(), expected(lazy))
        np.testing.assert_array_equal(expected(xpops.add(lazy, lazy)), 2 * expected(lazy))
        y = x.copy()
        operator.setitem(y, ..., lazy)
        np.testing.assert_array_equal(y.to_numpy(), expected(lazy))
        y = x.copy()
        operator.setitem(y, xpops.asarray([1], device=device), lazy[0])
        np.testing.assert_array_equal(y.to_numpy()[1], expected(lazy[0]))


def test_lazy_keys(device):
    if device.type == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    places = torch._neg_view(torch.tensor([-2, -1, 0], device=device))
    x = xpops.arange(4, device=device)
    for _ in range(3):
        assert x[places].to_numpy().tolist() == [2, 1, 0]
        assert xpops.take(x, places).to_numpy().tolist() == [2, 1, 0]
