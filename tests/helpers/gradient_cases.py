"""Calls of every public function that has a gradient."""

from __future__ import annotations

from typing import Any

import pytest

import xpops as xp
from tests.helpers.gradients import ELEMENTWISE, Case, constant
from tests.helpers.special_gradients import SPECIAL

torch = pytest.importorskip("torch")

_ALONG = [[0, 2, 1, -1], [1, 1, 0, 2]]
_PLACES = [[0, 2, 1, 0], [1, 1, 0, 2]]


def _svd(x: Any) -> tuple[Any, ...]:
    """What does not depend on the phases of singular vectors."""
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    return abs(u), s, (u * s[..., None, :]) @ vh


def _hermitian(x: Any) -> Any:
    return x @ xp.conj(xp.matrix_transpose(x)) + constant(x, [[2, 0, 0], [0, 2, 0], [0, 0, 2]])


COLLECTIVE = [
    Case("sum", xp.sum, complex=True, theirs=torch.sum),
    Case("sum", lambda x: xp.sum(x, axis=(0, 2), keepdims=True), ((2, 3, 2),), "", True, lambda x: x.sum((0, 2), True)),
    Case("prod", xp.prod, domain="nonzero", complex=True, theirs=torch.prod),
    Case("prod", lambda x: xp.prod(x, axis=1), complex=True, theirs=lambda x: x.prod(1)),
    Case("mean", lambda x: xp.mean(x, axis=-1), complex=True, theirs=lambda x: x.mean(-1)),
    Case("var", lambda x: xp.var(x, axis=0, correction=1), complex=True, theirs=lambda x: x.var(0)),
    Case("std", lambda x: xp.std(x, axis=0, correction=1), complex=True, theirs=lambda x: x.std(0)),
    Case("max", lambda x: xp.max(x, axis=1), theirs=lambda x: x.amax(1)),
    Case("min", xp.min, theirs=lambda x: x.amin()),
    Case("nansum", lambda x: xp.nansum(x, axis=1), theirs=lambda x: x.nansum(1)),
    Case("nanprod", lambda x: xp.nanprod(x, axis=1)),
    Case("nanmean", lambda x: xp.nanmean(x, axis=1), theirs=lambda x: x.nanmean(1)),
    Case("nanvar", lambda x: xp.nanvar(x, axis=1)),
    Case("nanstd", lambda x: xp.nanstd(x, axis=1)),
    Case("nanmax", lambda x: xp.nanmax(x, axis=1)),
    Case("nanmin", lambda x: xp.nanmin(x)),
    Case("median", lambda x: xp.median(x, axis=1)),
    Case("median", lambda x: xp.median(x, axis=(0, 2)), ((3, 2, 3),)),
    Case("nanmedian", lambda x: xp.nanmedian(x, axis=1), theirs=None),
    Case(
        "quantile",
        lambda x: xp.quantile(x, [0.3, 0.9], axis=1),
        theirs=lambda x: x.quantile(x.new_tensor([0.3, 0.9]), 1),
    ),
    Case("cumulative_sum", lambda x: xp.cumulative_sum(x, axis=1), complex=True, theirs=lambda x: x.cumsum(1)),
    Case("cumulative_sum", lambda x: xp.cumulative_sum(x, axis=0, include_initial=True), complex=True),
    Case("cumulative_prod", lambda x: xp.cumulative_prod(x, axis=1), complex=True, theirs=lambda x: x.cumprod(1)),
    Case("nancumsum", lambda x: xp.nancumsum(x, axis=1)),
    Case("nancumprod", xp.nancumprod),
    Case("discounted_cumsum", lambda x: xp.nn.discounted_cumsum(x, 0.9, axis=1)),
    Case("softmax", xp.nn.softmax, theirs=lambda x: x.softmax(-1)),
    Case("log_softmax", lambda x: xp.nn.log_softmax(x, axis=0), theirs=lambda x: x.log_softmax(0)),
    Case("vector_norm", xp.linalg.vector_norm, complex=True, theirs=torch.linalg.vector_norm),
    Case(
        "vector_norm",
        lambda x: xp.linalg.vector_norm(x, axis=1, ord=1),
        complex=True,
        theirs=lambda x: torch.linalg.vector_norm(x, 1, 1),
    ),
    Case(
        "vector_norm",
        lambda x: xp.linalg.vector_norm(x, axis=1, ord=3.5),
        complex=True,
        theirs=lambda x: torch.linalg.vector_norm(x, 3.5, 1),
    ),
    Case(
        "vector_norm",
        lambda x: xp.linalg.vector_norm(x, axis=1, ord=float("inf")),
        complex=True,
        theirs=lambda x: torch.linalg.vector_norm(x, float("inf"), 1),
    ),
    Case("matrix_norm", xp.linalg.matrix_norm, complex=True, theirs=torch.linalg.matrix_norm),
    Case(
        "matrix_norm",
        lambda x: xp.linalg.matrix_norm(x, ord=1),
        complex=True,
        theirs=lambda x: torch.linalg.matrix_norm(x, 1),
    ),
    Case(
        "matrix_norm",
        lambda x: xp.linalg.matrix_norm(x, ord="nuc"),
        complex=True,
        theirs=lambda x: torch.linalg.matrix_norm(x, "nuc"),
    ),
]


def beside(x: Any, values: list[int]) -> Any:
    """An xpops array on the device of a tensor; for others on the default device."""
    return xp.asarray(values, device=x.device if isinstance(x, torch.Tensor) else None)


MOVEMENT = [
    Case("astype", lambda x: xp.astype(x, xp.complex128 if "float64" in str(x.dtype) else xp.complex64)),
    Case(
        "concat", lambda a, b: xp.concat([a, b], axis=1), ((2, 3), (2, 1)), "", True, lambda a, b: torch.cat([a, b], 1)
    ),
    Case("concat", lambda a, b: xp.concat([a, b], axis=None), ((2, 3), (2, 1)), "", True),
    Case(
        "stack", lambda a, b: xp.stack([a, b], axis=1), ((2, 3), (2, 3)), "", True, lambda a, b: torch.stack([a, b], 1)
    ),
    Case("repeat", lambda x: xp.repeat(x, 2, axis=1), complex=True, theirs=lambda x: x.repeat_interleave(2, 1)),
    Case("repeat", lambda x: xp.repeat(x, 3), complex=True),
    Case("repeat", lambda x: xp.repeat(x, beside(x, [1, 0, 2]), axis=0), complex=True, sized_by_values=True),
    Case("tile", lambda x: xp.tile(x, (2, 1, 3)), complex=True, theirs=lambda x: x.tile((2, 1, 3))),
    Case("roll", lambda x: xp.roll(x, (1, -2), axis=(0, 1)), complex=True, theirs=lambda x: x.roll((1, -2), (0, 1))),
    Case("roll", lambda x: xp.roll(x, 5), complex=True, theirs=lambda x: x.roll(5)),
    Case("flip", lambda x: xp.flip(x, axis=1), complex=True, theirs=lambda x: x.flip(1)),
    Case("pad", lambda x: xp.pad(x, ((1, 2), (0, 3)), constant_values=2.0), complex=True),
    Case("pad", lambda x: xp.pad(x, 2, "reflect"), complex=True),
    Case("pad", lambda x: xp.pad(x, ((1, 2), (0, 3)), constant_values=((1.0, 2.0), (3.0, 4.0))), complex=True),
    Case("tril", lambda x: xp.tril(x, k=1), complex=True, theirs=lambda x: x.tril(1)),
    Case("triu", lambda x: xp.triu(x, k=-1), complex=True, theirs=lambda x: x.triu(-1)),
    Case("diff", lambda x: xp.diff(x, n=2), complex=True, theirs=lambda x: x.diff(n=2)),
    Case("diff", lambda x, y: xp.diff(x, axis=0, append=y), ((3, 2), (1, 2)), "", True),
    Case(
        "take",
        lambda x: xp.take(x, constant(x, [2, 0, -1, 2]), axis=0),
        complex=True,
        theirs=lambda x: x[[2, 0, -1, 2]],
    ),
    Case("take", lambda x: xp.take(x, constant(x, [2, 0, -1, 2]), axis=1), ((2, 3, 2),), "", True),
    Case("take", lambda x: xp.take(x, -2, axis=1), complex=True, theirs=lambda x: x[:, -2]),
    Case("take_along_axis", lambda x: xp.take_along_axis(x, constant(x, _ALONG), axis=0), complex=True),
    Case("take_along_axis", lambda x: xp.take_along_axis(x, constant(x, [[1, -1]]), axis=1), complex=True),
    Case("sort", xp.sort, theirs=lambda x: x.sort()[0]),
    Case("sort", lambda x: xp.sort(x, axis=0, descending=True), theirs=lambda x: x.sort(0, descending=True)[0]),
    Case("topk", lambda x: xp.nn.topk(x, 2)[0], theirs=lambda x: x.topk(2)[0]),
    Case("reshape", lambda x: xp.reshape(x, (2, 6)), complex=True),
    Case("permute_dims", lambda x: xp.permute_dims(x, (1, 0)), complex=True),
    Case("matrix_transpose", xp.matrix_transpose, complex=True),
    Case("moveaxis", lambda x: xp.moveaxis(x, 0, 1), complex=True),
    Case("expand_dims", lambda x: xp.expand_dims(x, axis=1), complex=True),
    Case("squeeze", lambda x: xp.squeeze(x, axis=1), ((3, 1),), "", True),
    Case("unstack", lambda x: xp.unstack(x)[1], complex=True),
    Case("broadcast_to", lambda x: xp.broadcast_to(x, (2, 3, 4)), complex=True),
    Case("diagonal", xp.linalg.diagonal, complex=True, theirs=torch.diagonal),
]

PRODUCTS = [
    Case("matmul", xp.matmul, ((2, 3, 4), (4, 2)), "", True, torch.matmul),
    Case("matmul", xp.matmul, ((4,), (2, 4, 3)), "", True, torch.matmul),
    Case("matmul", xp.matmul, ((2, 3, 4), (4,)), "", True, torch.matmul),
    Case("matmul", xp.matmul, ((4,), (4,)), "", True, torch.matmul),
    Case("vecdot", xp.vecdot, ((3, 4), (4,)), "", True, torch.linalg.vecdot),
    Case("tensordot", lambda x, y: xp.tensordot(x, y, axes=1), ((2, 3), (3, 2)), "", True),
    Case("tensordot", lambda x, y: xp.tensordot(x, y, axes=((0, 2), (1, 0))), ((2, 3, 4), (4, 2, 2)), "", True),
    Case("einsum", lambda a, b: xp.einsum("i...j,j...->i", a, b), ((2, 3), (3,)), "", True),
    Case("einsum", lambda x, y: xp.einsum("ij,kj->ik", x, y), ((2, 3), (4, 3)), "", True),
    Case("einsum", lambda x: xp.einsum("ii->i", x), ((3, 3),), "", True),
    Case("einsum", lambda x: xp.einsum("iij->", x), ((3, 3, 2),), "", True),
    Case("einsum", lambda x, y: xp.einsum("i...j,j...->...i", x, y), ((2, 3, 4), (4, 2, 3)), "", True),
    Case("einsum", lambda x, y, z: xp.einsum("ij,jk,k->i", x, y, z), ((2, 3), (3, 2), (2,)), "", True),
    Case("outer", xp.linalg.outer, ((3,), (4,)), "", True, torch.outer),
    Case("cross", xp.linalg.cross, ((4, 3), (3,)), "", True),
    Case("trace", xp.linalg.trace, ((3, 3),), "", True),
]

MATRICES = [
    Case("inv", xp.linalg.inv, ((2, 3, 3),), "", True, torch.linalg.inv),
    Case("det", xp.linalg.det, ((2, 3, 3),), "", True, torch.linalg.det),
    Case("slogdet", lambda x: xp.linalg.slogdet(x), ((3, 3),), "", True, lambda x: tuple(torch.linalg.slogdet(x))),
    Case("solve", xp.linalg.solve, ((3, 3), (2, 3, 2)), "", True),
    Case("solve", xp.linalg.solve, ((3, 3), (3,)), "", True, torch.linalg.solve),
    Case("cholesky", lambda x: xp.linalg.cholesky(_hermitian(x)), ((3, 3),), "", True),
    Case("cholesky", lambda x: xp.linalg.cholesky(_hermitian(x), upper=True), ((3, 3),), "", True),
    Case("qr", lambda x: tuple(xp.linalg.qr(x)), ((4, 3),), "", True),
    Case("qr", lambda x: tuple(xp.linalg.qr(x)), ((2, 3),), "", True),
    Case("eigvalsh", lambda x: xp.linalg.eigvalsh(_hermitian(x)), ((3, 3),), "", True),
    Case("eigh", lambda x: (lambda w, v: (w, abs(v)))(*xp.linalg.eigh(_hermitian(x))), ((3, 3),), "", True),
    Case("eigvals", lambda x: abs(xp.linalg.eigvals(x)), ((3, 3),), "", True),
    Case("eig", lambda x: (lambda w, v: (abs(w), abs(v)))(*xp.linalg.eig(x)), ((3, 3),), "", True),
    Case("svdvals", xp.linalg.svdvals, ((4, 3),), "", True, torch.linalg.svdvals),
    Case(
        "svd",
        lambda x: (lambda u, s, vh: (abs(u), s, abs(vh)))(*xp.linalg.svd(x, full_matrices=False)),
        ((4, 3),),
        "",
        True,
    ),
    Case(
        "svd",
        lambda x: (lambda u, s, vh: (abs(u), s, (u * s[..., None, :]) @ vh))(*xp.linalg.svd(x, full_matrices=False)),
        ((3, 4),),
        "",
        True,
    ),
    Case("svd", _svd, ((4, 3),), "", True),
    Case("svd", _svd, ((3, 4),), "", True),
    Case("pinv", xp.linalg.pinv, ((4, 3),), "", True, torch.linalg.pinv),
    Case("matrix_power", lambda x: xp.linalg.matrix_power(x, 3), ((3, 3),), "", True),
    Case("matrix_power", lambda x: xp.linalg.matrix_power(x, -2), ((3, 3),), "", True),
]

TRANSFORMS = [
    Case("fft", xp.fft.fft, complex=True, theirs=torch.fft.fft),
    Case("fft", lambda x: xp.fft.fft(x, n=6, axis=0, norm="forward"), complex=True),
    Case("ifft", lambda x: xp.fft.ifft(x, n=2, norm="ortho"), complex=True),
    Case("fftn", xp.fft.fftn, complex=True),
    Case("ifftn", lambda x: xp.fft.ifftn(x, s=(4, 3), axes=(1, 0)), complex=True),
    Case("rfft", xp.fft.rfft, theirs=torch.fft.rfft),
    Case("rfft", lambda x: xp.fft.rfft(x, n=7, axis=0, norm="forward")),
    Case("rfftn", xp.fft.rfftn),
    Case("irfft", xp.fft.irfft, complex=True),
    Case("irfft", lambda x: xp.fft.irfft(x, n=5), complex=True),
    Case("irfftn", lambda x: xp.fft.irfftn(x, s=(4, 5), axes=(0, 1), norm="ortho"), complex=True),
    Case("hfft", xp.fft.hfft, complex=True),
    Case("ihfft", xp.fft.ihfft),
    Case("fftshift", xp.fft.fftshift, complex=True),
    Case("ifftshift", xp.fft.ifftshift, complex=True),
]

NETWORKS = [
    Case("upsample_nearest2d", lambda x: xp.nn.upsample_nearest2d(x, scale=2), ((1, 2, 2, 3),)),
    Case("upsample_nearest2d", lambda x: xp.nn.upsample_nearest2d(x, size=(5, 4), layout="NHWC"), ((1, 2, 3, 2),)),
    Case("upsample_nearest2d_backward", lambda x: xp.nn.upsample_nearest2d_backward(x, 2, scale=2), ((1, 1, 4, 4),)),
    Case("scatter_add", lambda x, s: xp.nn.scatter_add(x, constant(x, _PLACES), s), ((3, 4), (3, 4))),
    Case("index_add", lambda x, s: xp.nn.index_add(x, constant(x, [1, 0, 1]), s, axis=1), ((2, 3), (2, 3))),
    *(
        Case(
            "scatter_reduce",
            lambda x, s, how=how, own=own: xp.nn.scatter_reduce(x, constant(x, _PLACES), s, how, include_self=own),
            ((3, 4), (2, 4)),
            "positive positive",
            False,
            lambda x, s, how=how, own=own: x.scatter_reduce(
                0, constant(x, _PLACES), s, {"min": "amin", "max": "amax"}.get(how, how), include_self=own
            ),
        )
        for how in ("sum", "mean", "min", "max", "prod")
        for own in (True, False)
    ),
    Case("embedding_backward", lambda g: xp.nn.embedding_backward(g, constant(g, [2, 0, 2]), 4), ((3, 2),)),
    Case(
        "embedding_backward",
        lambda g: xp.nn.embedding_backward(g, constant(g, [2, 0, 2]), 4, padding_index=0),
        ((3, 2),),
    ),
]

# Of every public function with a gradient.
CASES = [*ELEMENTWISE, *COLLECTIVE, *MOVEMENT, *PRODUCTS, *MATRICES, *TRANSFORMS, *NETWORKS, *SPECIAL]
