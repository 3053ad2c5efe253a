"""Linear algebra and Fourier transforms of other frameworks' arrays: results are correct arrays of that framework."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.interop.test_frameworks import FRAMEWORKS, host, made

la, ft = xp.linalg, xp.fft
CALLS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "cholesky": (lambda x: la.cholesky(xp.matmul(x, xp.matrix_transpose(x))), lambda x: np.linalg.cholesky(x @ x.T)),
    "cross": (lambda x: la.cross(x, x[0]), lambda x: np.cross(x, x[0])),
    "det": (la.det, np.linalg.det),
    "diagonal": (lambda x: la.diagonal(x, offset=1), lambda x: np.diagonal(x, 1)),
    "eig": (lambda x: la.eig(x).eigenvalues, lambda x: np.linalg.eigvals(x).astype(np.complex64)),
    "eigh": (lambda x: la.eigh(x).eigenvalues, np.linalg.eigvalsh),
    "inv": (la.inv, np.linalg.inv),
    "matrix_norm": (
        lambda x: la.matrix_norm(x, ord=2, keepdims=True),
        lambda x: np.linalg.matrix_norm(x, ord=2, keepdims=True),
    ),
    "matrix_power": (lambda x: la.matrix_power(x, 3), lambda x: np.linalg.matrix_power(x, 3)),
    "matrix_power 0": (lambda x: la.matrix_power(x, 0), lambda x: np.eye(3, dtype=x.dtype)),
    "matrix_rank": (la.matrix_rank, np.linalg.matrix_rank),
    "outer": (lambda x: la.outer(x[0], x[1]), lambda x: np.outer(x[0], x[1])),
    "pinv": (lambda x: la.pinv(x[:2]), lambda x: np.linalg.pinv(x[:2])),
    "qr": (lambda x: xp.abs(la.qr(x).R), lambda x: abs(np.linalg.qr(x).R)),
    "slogdet": (lambda x: la.slogdet(x).logabsdet, lambda x: np.linalg.slogdet(x).logabsdet),
    "solve": (lambda x: la.solve(x, x[0]), lambda x: np.linalg.solve(x, x[0])),
    "svd": (lambda x: xp.abs(la.svd(x).U), lambda x: abs(np.linalg.svd(x).U)),
    "trace": (la.trace, np.trace),
    "vector_norm": (lambda x: la.vector_norm(x, axis=0), lambda x: np.linalg.norm(x, axis=0)),
    "fft": (lambda x: ft.fft(x, axis=0, norm="ortho"), lambda x: np.fft.fft(x, axis=0, norm="ortho")),
    "rfftn": (lambda x: ft.rfftn(x, s=(4, 2), axes=(1, 0)), lambda x: np.fft.rfftn(x, (4, 2), (1, 0))),
    "irfft": (lambda x: ft.irfft(x, n=5), lambda x: np.fft.irfft(x, 5)),
    "hfft": (ft.hfft, np.fft.hfft),
    "ihfft": (ft.ihfft, np.fft.ihfft),
    "fftshift": (ft.fftshift, np.fft.fftshift),
}  # fmt: skip


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_of_the_framework_of_the_operands(framework: str, name: str, device: Any) -> None:
    source = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]], np.float32)
    x = made(framework, source, device)
    function, oracle = CALLS[name]
    result, wanted = function(x), np.asarray(oracle(source))
    assert type(result) is type(x)
    found = host(result)
    assert (found.dtype.kind, found.shape) == (wanted.dtype.kind, wanted.shape)  # JAX may use a narrower dtype
    if name == "eig":
        found, wanted = np.sort(found), np.sort(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 0.5, np.inf])
@pytest.mark.parametrize("dtype", [np.float16, np.complex64])
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_norms_read_the_dtype_of_any_framework(framework: str, dtype: Any, order: float, device: Any) -> None:
    """Complex numbers have a modulus, and squares of halves would overflow."""
    source = np.array([[300, -200, 0], [1, 250, 9]]).astype(dtype)
    source = source * dtype(1j) if source.dtype.kind == "c" else source
    wanted = np.linalg.vector_norm(abs(source).astype(np.float64), axis=1, ord=order)
    found = host(la.vector_norm(made(framework, source, device), axis=1, ord=order))
    assert found.dtype == abs(source).dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-3)
    if order == 2:
        norm = host(la.matrix_norm(made(framework, source, device)))
        np.testing.assert_allclose(norm, np.linalg.norm(wanted), rtol=1e-3)
