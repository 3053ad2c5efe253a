"""Linear algebra: functions whose results are unique.

Matrices are drawn with elements between -1 and 1, and `DOMINANCE` times their side is added to the diagonal. So they
are far from singular: the norm of a matrix and that of its inverse have a product below 6.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import xpops as xp
from conformance.fuzz import errors
from conformance.fuzz.forms import Drawn, Function, Spec, common, draw_shape, of_parts, of_sums
from conformance.fuzz.values import COMPLEX, FLOATS, INTEGERS, DType

WIDE_FLOATS = tuple(map(np.dtype, ("float32", "float64")))
NUMBERS = (*INTEGERS, *FLOATS, *COMPLEX)
DOMINANCE = 2


def _draw_matrix(random: Random, dtype: DType) -> Drawn:
    side, batch = random.choice([1, 3, 8, 17]), random.choice([(), (4,)])
    return (Spec(dtype, (*batch, side, side), domain="unit"),), {}


def _draw_equations(random: Random, dtype: DType) -> Drawn:
    (x,), _ = _draw_matrix(random, dtype)
    assert isinstance(x, Spec)
    return (x, Spec(dtype, (*x.shape[:-1], 2), domain="unit")), {}


def _draw_half(random: Random, dtype: DType) -> Drawn:
    operands, _ = _draw_matrix(random, dtype)
    return operands, {"upper": random.random() < 0.5}


def _draw_norm(random: Random, dtype: DType) -> Drawn:
    shape = draw_shape(random, 2)
    while 0 in shape:
        shape = draw_shape(random, 2)
    order = random.choice(["fro", 1, -1, np.inf, -np.inf])
    return (Spec(dtype, shape, domain="finite"),), {"ord": order, "keepdims": random.random() < 0.3}


def _draw_trace(random: Random, dtype: DType) -> Drawn:
    return (Spec(dtype, draw_shape(random, 2), domain="finite"),), {"offset": random.choice([0, 1, -2])}


def _draw_vectors(random: Random, dtype: DType) -> Drawn:
    return tuple(Spec(dtype, (random.choice([1, 7, 130]),), domain="finite") for _ in range(2)), {}


def _draw_contraction(random: Random, dtype: DType) -> Drawn:
    axes = random.choice([0, 1, 2])
    shared, left, right = (5, 17)[:axes], random.choice([(), (3,), (4, 6)]), random.choice([(), (33,), (2, 3)])
    return (
        Spec(dtype, (*left, *shared), domain="finite"),
        Spec(dtype, (*shared, *right), domain="finite"),
    ), {"axes": axes}


# References, in higher precision.


def _diagonal(x: Any, factor: int) -> Any:
    return np.eye(x.shape[-1], dtype=x.dtype) * (factor * x.shape[-1])


def _eliminate(x: Any, y: Any) -> tuple[Any, Any]:
    """The pivots and the solution; the diagonal dominates, so that no row is exchanged."""
    x, y = x + _diagonal(x, DOMINANCE), np.array(np.broadcast_to(y, (*x.shape[:-1], y.shape[-1])))
    for pivot in range(x.shape[-1]):
        factors = x[..., :, pivot] / x[..., pivot, pivot, None]
        factors[..., pivot] = 0
        y -= factors[..., None] * y[..., pivot, None, :]
        x -= factors[..., None] * x[..., pivot, None, :]
    pivots = np.diagonal(x, axis1=-2, axis2=-1)
    return pivots, y / pivots[..., None]


def _hermitian(x: Any) -> Any:
    return x + np.conj(np.swapaxes(x, -1, -2)) + _diagonal(x, 2 * DOMINANCE)


def _cholesky(x: Any, upper: bool) -> Any:
    """Column by column; each leaves a smaller matrix."""
    rest = _hermitian(x)
    result = np.zeros_like(rest)
    for column in range(rest.shape[-1]):
        found = rest[..., column] / np.sqrt(rest[..., column, column, None].real)
        found[..., :column] = 0
        result[..., column] = found
        rest = rest - found[..., None] * np.conj(found[..., None, :])
    return np.conj(np.swapaxes(result, -1, -2)) if upper else result


def _matrix_norm(x: Any, ord: Any, keepdims: bool) -> Any:
    size = np.abs(x)
    if ord == "fro":
        return np.sqrt(np.sum(size**2, axis=(-2, -1), keepdims=keepdims))
    rows = abs(ord) == np.inf
    sums = np.sum(size, axis=-1 if rows else -2, keepdims=True)
    pick = np.max if ord > 0 else np.min
    return pick(sums, axis=(-2, -1), keepdims=keepdims)


def _trace(x: Any, offset: int) -> Any:
    return np.trace(x.astype(of_sums([x.dtype])) if x.dtype.kind in "iu" else x, offset, axis1=-2, axis2=-1)


# Calls of matrices with a larger diagonal.


def _add_diagonal(x: Any, factor: int) -> Any:
    x = xp.asarray(x)
    return xp.add(x, xp.asarray(_diagonal(x, factor), device=str(x.device)))


def _with_dominance(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*operands: Any) -> Any:
        arrays = [xp.asarray(each) for each in operands]
        # As operands of a call, arrays of NumPy go to the device of the others.
        device = next((each.device for each in arrays if each.device.type == "cuda"), arrays[0].device)
        x, *others = (each.to_device(device) for each in arrays)
        return function(_add_diagonal(x, DOMINANCE), *others)

    return call


def _call_cholesky(x: Any, upper: bool) -> Any:
    x = xp.asarray(x)
    symmetric = xp.add(x, xp.conj(xp.matrix_transpose(x)))
    return xp.linalg.cholesky(_add_diagonal(symmetric, 2 * DOMINANCE), upper=upper)


# Errors.


def _of_elimination(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    """Each of n^3 steps on n^2 elements rounds; condition numbers and growth are below 16. For each matrix its own."""
    side = operands[0].shape[-1]
    matrices = tuple(range(operands[0].ndim - 2, exact.ndim))
    return 16 * side**2 * errors.eps(dtype) * np.max(np.abs(exact), axis=matrices, keepdims=True)


def _of_products(product: Callable[..., Any]) -> errors.Bound:
    """A share of the sum of absolute products; of integers none."""

    def bound(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
        return errors.share(dtype) * np.asarray(product(*map(np.abs, operands), **parameters))

    return bound


def _of_norms(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    """Norms are sums of absolute values, or their roots."""
    return (errors.share(dtype) + 4 * errors.eps(dtype)) * np.abs(exact)


_MATRICES = (*WIDE_FLOATS, *COMPLEX)


def _solving(name: str, draw: Any, oracle: Callable[..., Any]) -> Function:
    function = getattr(xp.linalg, name)
    call = _with_dominance(function)
    return Function(f"linalg.{name}", draw, _MATRICES, oracle, common, _of_elimination, call=call, gradient="refused")


FUNCTIONS = [
    _solving("solve", _draw_equations, lambda x, y: _eliminate(x, y)[1]),
    _solving("inv", _draw_matrix, lambda x: _eliminate(x, np.eye(x.shape[-1], dtype=x.dtype))[1]),
    _solving("det", _draw_matrix, lambda x: np.prod(_eliminate(x, x)[0], axis=-1)),
    Function(
        "linalg.cholesky",
        _draw_half,
        _MATRICES,
        _cholesky,
        common,
        _of_elimination,
        call=_call_cholesky,
        gradient="refused",
    ),
    Function("linalg.matrix_norm", _draw_norm, _MATRICES, _matrix_norm, of_parts, _of_norms),
    Function("linalg.trace", _draw_trace, NUMBERS, _trace, of_sums, errors.of_sums(_trace)),
    Function("linalg.outer", _draw_vectors, NUMBERS, np.multiply.outer, common, errors.ulps(1, 4)),
    Function("tensordot", _draw_contraction, (*INTEGERS, *_MATRICES), np.tensordot, common, _of_products(np.tensordot)),
]
