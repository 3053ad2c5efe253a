"""torch tensors with lazy bits, whose memory differs from their values, or of other kinds: on first and later calls.

Each function is called on plain tensors until it is in the steady state, and then on tensors that differ in one fact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import xpops as xp

torch = pytest.importorskip("torch")

Function = Callable[[Any, Any, Any], Any]

PLACES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"))]


@xp.fuse
def fused(x: Any, y: Any) -> Any:
    return x * y + x


def torch_fused(x: Any, y: Any) -> Any:
    return x * y + x


# (ns, x, y) -> tensor, for xpops and torch.
CALLS: dict[str, tuple[Function, Function]] = {
    "add": (lambda ns, x, y: ns.add(x, y), lambda ns, x, y: ns.add(x, y)),
    "multiply by a number": (lambda ns, x, y: ns.multiply(x, 2.5), lambda ns, x, y: ns.multiply(x, 2.5)),
    "negative": (lambda ns, x, y: ns.negative(x), lambda ns, x, y: ns.negative(x)),
    "exp": (lambda ns, x, y: ns.exp(x), lambda ns, x, y: ns.exp(x)),
    "where": (lambda ns, x, y: ns.where(ns.not_equal(x, y), x, y), lambda ns, x, y: ns.where(ns.ne(x, y), x, y)),
    "sum": (lambda ns, x, y: ns.sum(x), lambda ns, x, y: ns.sum(x)),
    "sum of rows": (lambda ns, x, y: ns.sum(x, axis=1), lambda ns, x, y: ns.sum(x, dim=1)),
    "cumulative_prod": (lambda ns, x, y: ns.cumulative_prod(x, axis=1), lambda ns, x, y: ns.cumprod(x, dim=1)),
    "matmul": (lambda ns, x, y: ns.matmul(x, y), lambda ns, x, y: ns.matmul(x, y)),
    "vecdot": (lambda ns, x, y: ns.vecdot(x, y), lambda ns, x, y: torch.linalg.vecdot(x, y)),
    "take": (
        lambda ns, x, y: ns.take(x, torch.tensor([2, 0], device=x.device), axis=0),
        lambda ns, x, y: x[torch.tensor([2, 0], device=x.device)],
    ),
    "concat": (lambda ns, x, y: ns.concat([x, y]), lambda ns, x, y: ns.cat([x, y])),
    "inv": (lambda ns, x, y: ns.linalg.inv(x), lambda ns, x, y: torch.linalg.inv(x)),
    "fft": (lambda ns, x, y: ns.fft.fft(x), lambda ns, x, y: torch.fft.fft(x)),
    "fuse": (lambda ns, x, y: fused(x, y), lambda ns, x, y: torch_fused(x, y)),
    "copy": (lambda ns, x, y: ns.asarray(x).copy(), lambda ns, x, y: x.clone()),
}

# Tensors of the same dtype, shape and strides as the plain ones.
VARIANTS: dict[str, Callable[[Any], Any]] = {
    "conjugate": lambda z: z.conj(),
    "negated": torch._neg_view,
    "negated conjugate": lambda z: torch._neg_view(z.conj()),
    "conjugate of a conjugate": lambda z: z.conj().conj(),
    "of a parameter": lambda z: torch.nn.Parameter(z).detach(),
    "elsewhere": lambda z: z.clone(),
    "view of a view": lambda z: z.view(-1)[:].view(z.shape),
    "off alignment": lambda z: torch.cat([z.new_zeros(1), z.reshape(-1)])[1:].view(z.shape),
}


def as_torch(result: Any) -> Any:
    return result if isinstance(result, torch.Tensor) else torch.from_dlpack(result)


def plain_pair(place: str, dtype: Any) -> tuple[Any, Any]:
    x, y = (torch.randn(8, 8, dtype=dtype, device=place) for _ in range(2))
    return x + 4 * torch.eye(8, dtype=dtype, device=place), y


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128, torch.float32], ids=str)
def test_one_fact_differs(name: str, place: str, dtype: Any) -> None:
    ours, theirs = CALLS[name]
    x, y = plain_pair(place, dtype)
    for kind, variant in VARIANTS.items():
        for a, b in ((x, y), (variant(x), variant(y)), (variant(x), y), (x, variant(y)), (x, y)):
            expected = theirs(torch, a.clone(), b.clone())
            for number in range(4):
                result = as_torch(ours(xp, a, b))
                torch.testing.assert_close(result, expected, msg=lambda text: f"{kind}, call {number}: {text}")  # noqa: B023


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CALLS)
def test_views_of_parts_of_complex_numbers(name: str, place: str) -> None:
    """The imaginary part of a conjugate is a view with torch's neg bit; that of the tensor itself has none."""
    ours, theirs = CALLS[name]
    z, w = (torch.view_as_complex(torch.stack([each, each + 1], -1)) for each in plain_pair(place, torch.float32))
    for a, b in ((z.imag, w.imag), (z.conj().imag, w.conj().imag), (z.imag, w.imag)):
        expected = theirs(torch, a.clone(), b.clone())
        for _ in range(4):
            torch.testing.assert_close(as_torch(ours(xp, a, b)), expected)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CALLS)
def test_gradients_and_inference(name: str, place: str) -> None:
    """The result requires grad where torch's does, on every call. Inference mode changes nothing."""
    ours, theirs = CALLS[name]
    x, y = plain_pair(place, torch.float32)
    leaf = x.clone().requires_grad_()
    with torch.inference_mode():
        made = x.clone()
    expected = theirs(torch, x, y)

    def check(a: Any) -> None:
        for _ in range(3):
            torch.testing.assert_close(as_torch(ours(xp, a, y)), expected)

    for _ in range(2):
        check(x)
        for _ in range(3):
            if name == "copy":  # the result is an xpops array, which records nothing
                with pytest.raises(TypeError, match="requires grad"):
                    ours(xp, leaf, y)
                continue
            found = as_torch(ours(xp, leaf, y))
            assert found.requires_grad == theirs(torch, leaf, y).requires_grad
            torch.testing.assert_close(found.detach(), expected)
        with torch.no_grad():
            check(leaf)
        with torch.inference_mode():
            check(leaf)
            check(made)
            check(x)
        check(made)
        check(torch.nn.Parameter(x, requires_grad=False))


@pytest.mark.parametrize("place", PLACES)
def test_out_with_a_lazy_bit_is_refused(place: str) -> None:
    """The result would be written to its memory, and the tensor's value would be the conjugate."""
    x, y = plain_pair(place, torch.complex64)
    for _ in range(3):
        out = torch.empty_like(x)
        assert xp.add(x, y, out=out) is out
        for _ in range(2):
            with pytest.raises(ValueError, match="out is read-only"):
                xp.add(x, y, out=out.conj())
        torch.testing.assert_close(out, x + y)
