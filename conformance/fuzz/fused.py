"""Fused functions, and kernels of a user's own."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import xpops as xp
from conformance.fuzz import errors
from conformance.fuzz.forms import Drawn, Function, Spec, common, draw_shape
from conformance.fuzz.reductions import along_axis
from conformance.fuzz.values import COMPLEX, FLOATS, DType

WIDE_FLOATS = tuple(map(np.dtype, ("float32", "float64")))


def _fusing(count: int, domain: str = "finite") -> Callable[[Random, DType], Drawn]:
    def draw(random: Random, dtype: DType) -> Drawn:
        shape = draw_shape(random, 1)
        while 0 in shape:
            shape = draw_shape(random, 1)
        return tuple(Spec(dtype, shape, domain=domain) for _ in range(count)), {}

    return draw


# Expressions, for xpops and for NumPy.


def _swish(ns: Any, x: Any) -> Any:
    return x / (1 + ns.exp(-x))


def _scaled(ns: Any, x: Any, y: Any) -> Any:
    return ns.maximum(x * 2 + y, y - 1)


def _squares(ns: Any, x: Any, y: Any) -> Any:
    difference = x - y
    return ns.sum(difference * difference, axis=-1)


def _normalised(ns: Any, x: Any) -> Any:
    weights = ns.exp(x - ns.max(x, axis=-1, keepdims=True))
    return weights / ns.sum(weights, axis=-1, keepdims=True)


def _conjugates(ns: Any, x: Any, y: Any) -> Any:
    return x * y + x


def _fused(expression: Any, count: int, dtypes: Any, bound: Any) -> Function:
    # One fused function for all calls: it remembers what it made.
    functions: dict[int, Callable[..., Any]] = {
        1: lambda x: expression(xp, x),
        2: lambda x, y: expression(xp, x, y),
    }
    return Function(
        f"fuse({expression.__name__})",
        _fusing(count),
        dtypes,
        lambda *operands: expression(np, *operands),
        common,
        bound,
        call=xp.fuse(functions[count]),
    )


def _rounded_terms(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    """Some roundings of the terms, which may cancel."""
    sizes = sum(np.abs(each) for each in operands)
    return 16 * errors.eps(dtype) * (1 + sizes + sizes**2)


def _of_exponents(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    """The error of an exponent is a relative one of the result; a large power overflows."""
    (x,) = operands
    return (16 + 2 * np.max(np.abs(x), initial=0.0)) * (
        errors.eps(dtype) * np.abs(exact) + float(np.finfo(np.float32).tiny)
    )


def _squares_bound(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    x, y = (np.abs(each) for each in operands)
    return (errors.share(dtype) + 8 * errors.eps(dtype)) * np.sum((x + y) ** 2, axis=-1)


FUNCTIONS = [
    _fused(_swish, 1, FLOATS[2:], _of_exponents),
    _fused(_scaled, 2, FLOATS[2:], _rounded_terms),
    _fused(_conjugates, 2, COMPLEX, _rounded_terms),
    _fused(_squares, 2, WIDE_FLOATS, _squares_bound),
    _fused(_normalised, 1, FLOATS[2:], _of_exponents),
]


def _kernel(name: str, make: Callable[[], Callable[..., Any]], draw: Any, oracle: Any, bound: Any) -> Function:
    """A kernel that is made in the first call, since there are none without a GPU."""
    made: list[Callable[..., Any]] = []

    def call(*operands: Any, **named: Any) -> Any:
        if not made:
            made.append(make())
        return made[0](*operands, **named)

    return Function(name, draw, WIDE_FLOATS, oracle, common, bound, call=call, gradient="refused")


def _running_bound(operands: Any, exact: Any, dtype: DType, parameters: dict[str, Any]) -> Any:
    """A rounding for each element."""
    (x,), axis = operands, parameters["axis"]
    return x.shape[axis] * errors.eps(dtype) * (1 + np.cumsum(np.abs(x), axis=axis))


# Of CUDA alone.
KERNELS = [
    _kernel(
        "ElementwiseKernel",
        lambda: xp.kernel.ElementwiseKernel("T x, T y", "T z", "z = x * x - y", "fuzz_squares"),
        _fusing(2),
        lambda x, y: x * x - y,
        _rounded_terms,
    ),
    _kernel(
        "ReductionKernel",
        lambda: xp.kernel.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "fuzz_dot"),
        _fusing(2),
        lambda x, y: np.sum(x * y),
        errors.of_sums(lambda x, y: np.sum(x * y)),
    ),
    _kernel(
        "ScanKernel",
        lambda: xp.kernel.ScanKernel("T x", "T y", "x / 2", "a + b", "y = a - 1", "fuzz_running"),
        along_axis("finite", empty=False),
        lambda x, axis: np.cumsum(x / 2, axis=axis) - 1,
        _running_bound,
    ),
]
