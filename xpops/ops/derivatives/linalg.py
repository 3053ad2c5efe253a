"""The derivatives of functions of matrices."""

from __future__ import annotations

import math
from typing import Any

from xpops.ops.derivatives.axes import identity_matrix, kept


def _adjoint(xp: Any, x: Any) -> Any:
    return xp.conj(xp.matrix_transpose(x))


def _diagonal_matrices(xp: Any, x: Any) -> Any:
    """Matrices with the elements of the last axis on their diagonals."""
    return xp.multiply(xp.expand_dims(x, axis=-1), identity_matrix(xp, x, xp.facts(x).shape[-1]))


def _differences(xp: Any, x: Any) -> Any:
    """The matrices ``x[j] - x[i]``, with 1 on the diagonals."""
    apart = xp.subtract(xp.expand_dims(x, axis=-2), xp.expand_dims(x, axis=-1))
    return xp.add(apart, identity_matrix(xp, x, xp.facts(x).shape[-1]))


def vector_norm(
    xp: Any, g: Any, x: Any, y: Any, x_shape: tuple[int, ...], axis: Any, ord: float | None, operands: tuple[Any, ...]
) -> Any:
    """As torch's: a norm of 0 has the derivative 0, and of equal extremes each gets the same share."""
    given, norm = kept(xp, g, x_shape, axis), kept(xp, y, x_shape, axis)
    power = operands[1] if ord is None else ord
    if power == 0:
        return xp.where(xp.equal(x, 0), 0.0, 0.0)
    if power == 1:
        return xp.multiply(given, xp.sign(x))
    size = xp.abs(x)
    if math.isinf(power):
        mask = xp.equal(size, norm)
        share = xp.divide(given, xp.count_nonzero(mask, axis=axis, keepdims=True))
        return xp.multiply(xp.where(mask, share, 0), xp.sign(x))
    is_zero = xp.equal(norm, 0)
    ratio = xp.divide(size, xp.where(is_zero, 1, norm))
    slope = ratio if power == 2 else xp.where(xp.equal(size, 0), 0, xp.pow(ratio, power - 1))
    return xp.multiply(xp.multiply(xp.where(is_zero, 0, given), slope), xp.sign(x))


def inv(xp: Any, g: Any, y: Any) -> Any:
    adjoint = _adjoint(xp, y)
    return xp.negative(xp.matmul(adjoint, xp.matmul(g, adjoint)))


def slogdet(xp: Any, g: Any, x: Any, y: Any) -> Any:
    (by_sign, by_logarithm), (sign, _) = g, y
    if xp.is_complex(x):
        turn = xp.imag(xp.multiply(xp.conj(by_sign), sign))
        by_logarithm = xp.subtract(by_logarithm, xp.multiply(turn, 1j))
    return xp.multiply(xp.expand_dims(by_logarithm, axis=(-2, -1)), _adjoint(xp, xp.linalg.inv(x)))


def solve_second(xp: Any, g: Any, x1: Any) -> Any:
    return xp.linalg.solve(_adjoint(xp, x1), g)


def solve_first(xp: Any, g: Any, x1: Any, y: Any, x2_shape: tuple[int, ...]) -> Any:
    found = solve_second(xp, g, x1)
    if len(x2_shape) == 1:
        found, y = xp.expand_dims(found, axis=-1), xp.expand_dims(y, axis=-1)
    return xp.negative(xp.matmul(found, _adjoint(xp, y)))


def cholesky(xp: Any, g: Any, y: Any, upper: bool) -> Any:
    factor, given = (_adjoint(xp, y), _adjoint(xp, g)) if upper else (y, g)
    inner = xp.tril(xp.matmul(_adjoint(xp, factor), given))
    inner = xp.subtract(inner, xp.multiply(_diagonal_matrices(xp, xp.linalg.diagonal(inner)), 0.5))
    inner = xp.multiply(xp.add(inner, _adjoint(xp, inner)), 0.5)
    above = _adjoint(xp, factor)
    return _adjoint(xp, xp.linalg.solve(above, _adjoint(xp, xp.linalg.solve(above, inner))))


def eigh(xp: Any, g: Any, x: Any, y: Any, vectors: bool) -> Any:
    if not vectors:
        _, columns = xp.linalg.eigh(x)
        inner = xp.expand_dims(g, axis=-2)
        return xp.matmul(xp.multiply(columns, inner), _adjoint(xp, columns))
    (by_values, by_vectors), (values, columns) = g, y
    turn = xp.divide(xp.matmul(_adjoint(xp, columns), by_vectors), _differences(xp, values))
    turn = xp.subtract(turn, _diagonal_matrices(xp, xp.linalg.diagonal(turn)))
    inner = xp.add(turn, _diagonal_matrices(xp, by_values))
    return xp.matmul(columns, xp.matmul(inner, _adjoint(xp, columns)))


def eig(xp: Any, g: Any, x: Any, y: Any, vectors: bool) -> Any:
    if not vectors:
        _, columns = xp.linalg.eig(x)
        inner = xp.matmul(_diagonal_matrices(xp, g), _adjoint(xp, columns))
        return xp.linalg.solve(_adjoint(xp, columns), inner)
    (by_values, by_vectors), (values, columns) = g, y
    adjoint = _adjoint(xp, columns)
    product = xp.matmul(adjoint, by_vectors)
    lengths = xp.real(xp.linalg.diagonal(product))
    product = xp.subtract(product, xp.multiply(xp.matmul(adjoint, columns), xp.expand_dims(lengths, axis=-2)))
    turn = xp.divide(product, xp.conj(_differences(xp, values)))
    turn = xp.subtract(turn, _diagonal_matrices(xp, xp.linalg.diagonal(turn)))
    inner = xp.add(turn, _diagonal_matrices(xp, by_values))
    return xp.linalg.solve(adjoint, xp.matmul(inner, adjoint))


def svd(xp: Any, g: Any, x: Any, y: Any, full: bool | None) -> Any:
    if full is None:
        u, _, vh = xp.linalg.svd(x, full_matrices=False)
        return xp.matmul(xp.multiply(u, xp.expand_dims(g, axis=-2)), vh)
    rows, columns = xp.facts(x).shape[-2:]
    if full and rows != columns:
        raise NotImplementedError("svd: full_matrices has no derivative; accepted: full_matrices=False")
    (by_u, by_s, by_vh), (u, s, vh) = g, y
    left = xp.matmul(_adjoint(xp, u), by_u)
    right = xp.matmul(vh, _adjoint(xp, by_vh))
    gaps = _differences(xp, xp.square(s))
    skew = xp.subtract(left, _adjoint(xp, left))
    inner = xp.multiply(xp.divide(skew, gaps), xp.expand_dims(s, axis=-2))
    if xp.is_complex(x):
        inner = _without_diagonal(xp, inner)
        turned = xp.divide(xp.linalg.diagonal(skew), xp.multiply(s, 2))
        inner = xp.add(inner, _diagonal_matrices(xp, turned))
    other = xp.divide(xp.subtract(right, _adjoint(xp, right)), gaps)
    if xp.is_complex(x):
        other = _without_diagonal(xp, other)
    inner = xp.add(inner, xp.multiply(xp.expand_dims(s, axis=-1), other))
    inner = xp.add(inner, _diagonal_matrices(xp, by_s))
    found = xp.matmul(u, xp.matmul(inner, vh))
    if rows > columns:
        outside = xp.subtract(by_u, xp.matmul(u, left))
        found = xp.add(found, xp.matmul(xp.divide(outside, xp.expand_dims(s, axis=-2)), vh))
    if columns > rows:
        outside = xp.subtract(by_vh, xp.matmul(_adjoint(xp, right), vh))
        found = xp.add(found, xp.matmul(u, xp.divide(outside, xp.expand_dims(s, axis=-1))))
    return found


def _without_diagonal(xp: Any, x: Any) -> Any:
    return xp.subtract(x, _diagonal_matrices(xp, xp.linalg.diagonal(x)))


def qr(xp: Any, g: Any, x: Any, y: Any, complete: bool) -> Any:
    (by_q, by_r), (q, r) = g, y
    rows, columns = xp.facts(x).shape[-2:]
    if complete and rows > columns:
        raise NotImplementedError("qr: mode='complete' has no derivative for tall matrices; accepted: mode='reduced'")
    if rows >= columns:
        return _qr_of_tall(xp, by_q, by_r, q, r)
    # The first columns are Q times a square factor; the others are Q times the rest of the factor.
    left, right = (..., slice(None, rows)), (..., slice(rows, None))
    by_q = xp.add(by_q, xp.matmul(x[right], _adjoint(xp, by_r[right])))
    first = _qr_of_tall(xp, by_q, by_r[left], q, r[left])
    return xp.concat([first, xp.matmul(q, by_r[right])], axis=-1)


def _qr_of_tall(xp: Any, by_q: Any, by_r: Any, q: Any, r: Any) -> Any:
    inner = xp.subtract(xp.matmul(r, _adjoint(xp, by_r)), xp.matmul(_adjoint(xp, by_q), q))
    if xp.is_complex(inner):
        diagonal = xp.astype(xp.real(xp.linalg.diagonal(inner)), xp.facts(inner).dtype)
        inner = xp.add(_without_diagonal(xp, inner), _diagonal_matrices(xp, diagonal))
    inner = xp.add(xp.tril(inner), _adjoint(xp, xp.tril(inner, k=-1)))
    found = xp.add(by_q, xp.matmul(q, inner))
    return _adjoint(xp, xp.linalg.solve(r, _adjoint(xp, found)))
