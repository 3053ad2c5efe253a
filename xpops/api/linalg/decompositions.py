"""Decompositions of matrices."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import array_function
from xpops.api.signatures.results import (
    EighResult,
    EigResult,
    QRResult,
    SVDResult,
    eig_function,
    eigh_function,
    qr_function,
    svd_function,
)
from xpops.dispatch import linalg
from xpops.dispatch.primitives import unary

__all__ = ["cholesky", "eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]


@array_function
def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """The triangular factor of Hermitian positive definite matrices. Waits for the device.

    Parameters
    ----------
    x : array
        float32, float64, complex64 or complex128, of shape ``(..., M, M)``. Only the lower
        triangle is read, or the upper one if `upper`.
    upper : bool

    Returns
    -------
    array
        Has the shape and dtype of `x`: L with ``x = L @ L.H``, or with `upper` U with ``x = U.H @ U``.

    Raises
    ------
    TypeError
        If `x` has another dtype.
    ValueError
        If it has another shape.
    LinAlgError
        If a matrix is not positive definite.

    Examples
    --------
    >>> xp.linalg.cholesky(xp.asarray([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float64, device='cpu')
    """
    return unary(linalg.cholesky, "cholesky", x, bool(upper))


@eig_function
def eig(x: Any, /) -> EigResult[Any]:
    """The eigenvalues and eigenvectors of any square matrices. Waits for the device.

    Parameters
    ----------
    x : array
        float32, float64, complex64 or complex128, of shape ``(..., M, M)``.

    Returns
    -------
    eigenvalues : array
        Complex, of shape ``(..., M)``, in no particular order.
    eigenvectors : array
        Complex, of the shape of `x`. Column i belongs to eigenvalue i, and has norm 1.

    Raises
    ------
    TypeError
        If `x` has another dtype.
    ValueError
        If it has another shape.
    LinAlgError
        If the eigenvalues did not converge.

    Examples
    --------
    >>> xp.linalg.eig(xp.asarray([[2.0, 0.0], [0.0, 3.0]])).eigenvalues
    Array([2.+0.j, 3.+0.j], dtype=complex128, device='cpu')
    """
    return EigResult(*unary(linalg.eig, "eig", x, "eig", True))


@eigh_function
def eigh(x: Any, /) -> EighResult[Any]:
    """The eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    x : array
        float32, float64, complex64 or complex128, of shape ``(..., M, M)``. Only the lower triangle is read.

    Returns
    -------
    eigenvalues : array
        Real, of shape ``(..., M)``, ascending.
    eigenvectors : array
        Has the shape and dtype of `x`; column i belongs to eigenvalue i. The columns are orthonormal.

    Raises
    ------
    TypeError
        If `x` has another dtype.
    ValueError
        If it has another shape.
    LinAlgError
        If the eigenvalues did not converge. A GPU reports this when the host next reads from it, or at once with
        ``XPOPS_DEBUG=1``.

    Examples
    --------
    >>> xp.linalg.eigh(xp.asarray([[3.0, 0.0], [0.0, 1.0]])).eigenvalues
    Array([1., 3.], dtype=float64, device='cpu')
    """
    return EighResult(*unary(linalg.eigh, "eigh", x, "eigh", True))


@array_function
def eigvals(x: Any, /) -> Any:
    """The eigenvalues of any square matrices; see `eig`.

    Examples
    --------
    >>> xp.linalg.eigvals(xp.asarray([[2.0, 1.0], [0.0, 3.0]]))
    Array([2.+0.j, 3.+0.j], dtype=complex128, device='cpu')
    """
    return unary(linalg.eig, "eigvals", x, "eigvals", False)


@array_function
def eigvalsh(x: Any, /) -> Any:
    """The eigenvalues of Hermitian matrices; see `eigh`.

    Examples
    --------
    >>> xp.linalg.eigvalsh(xp.asarray([[3.0, 0.0], [0.0, 1.0]]))
    Array([1., 3.], dtype=float64, device='cpu')
    """
    return unary(linalg.eigh, "eigvalsh", x, "eigvalsh", False)


@qr_function
def qr(x: Any, /, *, mode: str = "reduced") -> QRResult[Any]:
    """The QR decomposition: ``x = Q @ R``, with orthonormal columns in Q, and R upper triangular.

    Parameters
    ----------
    x : array
        float32, float64, complex64 or complex128, of shape ``(..., M, N)``; K is ``min(M, N)``.
    mode : {"reduced", "complete"}

    Returns
    -------
    Q : array
        Of shape ``(..., M, K)``, or ``(..., M, M)`` if complete.
    R : array
        Of shape ``(..., K, N)``, or ``(..., M, N)`` if complete.

    Raises
    ------
    TypeError
        If `x` has another dtype.
    ValueError
        If it has fewer than two axes, or there is no such `mode`.

    Examples
    --------
    >>> found = xp.linalg.qr(xp.ones((3, 2)))
    >>> found.Q.shape, found.R.shape
    ((3, 2), (2, 2))
    """
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode is {mode!r}; accepted: 'reduced' and 'complete'")
    return QRResult(*unary(linalg.qr, "qr", x, mode == "complete"))


@svd_function
def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult[Any]:
    """Singular values and vectors: ``x = U @ diag(S) @ Vh``.

    Waits for the device if K is 192 or more, to compare the product with `x`.

    Parameters
    ----------
    x : array
        float32, float64, complex64 or complex128, of shape ``(..., M, N)``; K is ``min(M, N)``.
    full_matrices : bool
        Whether `U` and `Vh` are square.

    Returns
    -------
    U : array
        Of shape ``(..., M, M)`` or ``(..., M, K)``, with orthonormal columns.
    S : array
        Real, of shape ``(..., K)``, descending.
    Vh : array
        Of shape ``(..., N, N)`` or ``(..., K, N)``, with orthonormal rows.

    Raises
    ------
    TypeError
        If `x` has another dtype.
    ValueError
        If it has fewer than two axes.
    LinAlgError
        If the singular values did not converge. A GPU reports this when the host next reads from it, or at once with
        ``XPOPS_DEBUG=1``.

    Examples
    --------
    >>> xp.linalg.svd(xp.asarray([[0.0, 2.0], [1.0, 0.0]])).S
    Array([2., 1.], dtype=float64, device='cpu')
    """
    return SVDResult(*unary(linalg.svd, "svd", x, "svd", bool(full_matrices)))


@array_function
def svdvals(x: Any, /) -> Any:
    """The singular values of matrices, descending; see `svd`.

    Examples
    --------
    >>> xp.linalg.svdvals(xp.asarray([[0.0, 2.0], [1.0, 0.0]]))
    Array([2., 1.], dtype=float64, device='cpu')
    """
    return unary(linalg.svd, "svdvals", x, "svdvals", None)
