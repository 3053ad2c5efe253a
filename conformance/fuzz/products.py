"""Products of matrices, and transforms."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

import xpops as xp
from conformance.fuzz import errors
from conformance.fuzz.forms import Drawn, Function, Spec, common, draw_shape
from conformance.fuzz.values import COMPLEX, DType

WIDE_FLOATS = tuple(map(np.dtype, ("float32", "float64")))


def _multiplying(random: Random, dtype: DType) -> Drawn:
    rows, inner, columns = (random.choice([1, 3, 16, 37]) for _ in range(3))
    batch = random.choice([(), (3,)])
    return (
        Spec(dtype, (*batch, rows, inner), domain="finite"),
        Spec(dtype, (inner, columns), domain="finite"),
    ), {}


def _summing_products(random: Random, dtype: DType) -> Drawn:
    x = Spec(dtype, draw_shape(random, 1), domain="finite")
    return (x, x), {}


def _contracting(random: Random, dtype: DType) -> Drawn:
    (x, y), _ = _multiplying(random, dtype)
    assert isinstance(x, Spec)
    assert isinstance(y, Spec)
    return (Spec(dtype, x.shape[-2:], domain="finite"), y), {}


def _contract(x: Any, y: Any) -> Any:
    return xp.einsum("ij,jk->ik", x, y)


def _transforming(random: Random, dtype: DType) -> Drawn:
    length = random.choice([1, 8, 37, 64, 130])
    return (Spec(dtype, (3, length), domain="finite"),), {"axis": random.choice([-1, 0, 1])}


def _products_bound(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    x, y = (np.abs(each) for each in operands)
    return errors.share(dtype) * np.asarray(x @ y)


def _of_dot(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    x, y = (np.abs(each) for each in operands)
    return errors.share(dtype) * np.sum(x * y, axis=-1)


FUNCTIONS = [
    Function("matmul", _multiplying, (*WIDE_FLOATS, *COMPLEX), np.matmul, common, _products_bound),
    Function(
        "einsum",
        _contracting,
        WIDE_FLOATS,
        np.matmul,
        common,
        _products_bound,
        call=lambda x, y: xp.einsum("ij,jk->ik", x, y),
    ),
    Function(
        "vecdot",
        _summing_products,
        (*WIDE_FLOATS, *COMPLEX),
        lambda x, y: np.sum(np.conj(x) * y, -1),
        common,
        _of_dot,
    ),
    Function("fft.fft", _transforming, COMPLEX, np.fft.fft, common, errors.of_largest(64)),
    Function("fft.ifft", _transforming, COMPLEX, np.fft.ifft, common, errors.of_largest(64)),
]
