"""Solutions of linear equations, inverses, determinants and ranks."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from xpops.api.elementwise.arithmetic import multiply
from xpops.api.elementwise.comparison import greater
from xpops.api.elementwise.complex_numbers import conj
from xpops.api.elementwise.exponential import exp
from xpops.api.elementwise.powers import reciprocal
from xpops.api.linalg.decompositions import svd, svdvals
from xpops.api.linear_algebra import matmul
from xpops.api.manipulation.axes import matrix_transpose
from xpops.api.manipulation.shapes import expand_dims
from xpops.api.searching import count_nonzero, where
from xpops.api.signatures import array_function, binary_function
from xpops.api.signatures.results import SlogdetResult, slogdet_function
from xpops.api.statistics.extremes import max
from xpops.arrays.tensors import array_layout
from xpops.core.dtypes import REAL_OF
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch import linalg
from xpops.dispatch.primitives import call, unary

__all__ = ["det", "inv", "matrix_rank", "pinv", "slogdet", "solve"]


@array_function
def det(x: Any, /) -> Any:
    """The determinants of square matrices.

    Parameters
    ----------
    x : array
        float32, float64, complex64 or complex128, of shape ``(..., M, M)``.

    Returns
    -------
    array
        Of the dtype of `x` and of shape ``(...)``.

    Raises
    ------
    TypeError
        If `x` has another dtype.
    ValueError
        If it has another shape.

    Examples
    --------
    >>> xp.linalg.det(xp.asarray([[2.0, 1.0], [0.0, 4.0]]))
    Array(8., dtype=float64, device='cpu')
    """
    sign, logabsdet = unary(linalg.slogdet, "det", x, "det")
    return multiply(sign, exp(logabsdet))


@array_function
def inv(x: Any, /) -> Any:
    """The inverses of square matrices. Waits for the device.

    Parameters
    ----------
    x : array
        float32, float64, complex64 or complex128, of shape ``(..., M, M)``.

    Returns
    -------
    array
        Has the shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` has another dtype.
    ValueError
        If it has another shape.
    LinAlgError
        If a matrix is singular.

    Examples
    --------
    >>> xp.linalg.inv(xp.asarray([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float64, device='cpu')
    """
    return unary(linalg.inv, "inv", x)


@array_function
def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """The number of singular values that are not negligible.

    Parameters
    ----------
    x : array
        float32, float64, complex64 or complex128, of shape ``(..., M, N)``.
    rtol : float or array, optional
        A singular value up to `rtol` times the largest is negligible. An array broadcasts with the shape ``(...)``.
        By default the larger of M and N, times the dtype's epsilon.

    Returns
    -------
    array
        int64, of shape ``(...)``.

    Raises
    ------
    TypeError
        If `x` has another dtype.
    ValueError
        If it has fewer than two axes.
    LinAlgError
        As for `svd`.

    Examples
    --------
    >>> xp.linalg.matrix_rank(xp.ones((3, 4)))
    Array(1, dtype=int64, device='cpu')
    """
    values = svdvals(x)
    return count_nonzero(_find_significant(x, values, rtol, "matrix_rank"), axis=-1)


@array_function
def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """The Moore-Penrose pseudo-inverses.

    Parameters
    ----------
    x : array
        float32, float64, complex64 or complex128, of shape ``(..., M, N)``.
    rtol : float or array, optional
        As for `matrix_rank`.

    Returns
    -------
    array
        Of the dtype of `x` and of shape ``(..., N, M)``.

    Raises
    ------
    TypeError, ValueError, LinAlgError
        As `matrix_rank`.

    Examples
    --------
    >>> xp.linalg.pinv(xp.asarray([[2.0], [0.0]]))
    Array([[0.5, 0. ]], dtype=float64, device='cpu')
    """
    u, s, vh = svd(x, full_matrices=False)
    inverse = where(_find_significant(x, s, rtol, "pinv"), reciprocal(s), 0.0)
    v, uh = (conj(matrix_transpose(each)) for each in (vh, u))
    return matmul(multiply(v, expand_dims(inverse, axis=-2)), uh)


@slogdet_function
def slogdet(x: Any, /) -> SlogdetResult[Any]:
    """The signs of determinants, and the logarithms of their absolute values.

    Parameters
    ----------
    x : array
        float32, float64, complex64 or complex128, of shape ``(..., M, M)``.

    Returns
    -------
    sign : array
        Of the dtype of `x` and of shape ``(...)``: of absolute value 1, or 0 for singular matrices.
    logabsdet : array
        Real; -inf for singular matrices.

    Raises
    ------
    TypeError
        If `x` has another dtype.
    ValueError
        If it has another shape.

    Examples
    --------
    >>> xp.linalg.slogdet(xp.asarray([[0.0, 1.0], [1.0, 0.0]])).sign
    Array(-1., dtype=float64, device='cpu')
    """
    return SlogdetResult(*unary(linalg.slogdet, "slogdet", x, "slogdet"))


@binary_function
def solve(x1: Any, x2: Any, /) -> Any:
    """The solutions of systems of linear equations, ``x1 @ result = x2``. Waits for the device.

    Parameters
    ----------
    x1 : array
        float32, float64, complex64 or complex128, of shape ``(..., M, M)``.
    x2 : array
        Of shape ``(M,)``, or ``(..., M, K)``, of one of these dtypes. Stacks broadcast.

    Returns
    -------
    array
        Of the promoted dtype, and of the shape of `x2` for each matrix.

    Raises
    ------
    TypeError
        If a dtype is not accepted.
    ValueError
        If a shape is not accepted, or the stacks do not broadcast.
    LinAlgError
        If a matrix is singular.

    Examples
    --------
    >>> xp.linalg.solve(xp.asarray([[2.0, 0.0], [1.0, 1.0]]), xp.asarray([2.0, 3.0]))
    Array([1., 2.], dtype=float64, device='cpu')
    """
    return call(linalg.solve, "solve", ("x1", "x2"), (x1, x2))


def _find_significant(x: Any, values: Any, rtol: Any, function: str) -> Any:
    """A boolean array: which singular values are not negligible."""
    given = array_layout(x, function, "x")
    if 0 in given.shape[-2:]:
        return greater(values, 0.0)  # there is no largest value
    if rtol is None:
        real = REAL_OF.get(given.dtype, given.dtype)
        rtol = builtins.max(given.shape[-2:]) * float(np.finfo(real).eps)
    elif not isinstance(rtol, (*SCALAR_TYPES, np.generic)):
        rtol = expand_dims(rtol, axis=-1)
    return greater(values, multiply(max(values, axis=-1, keepdims=True), rtol))
