"""How far a result may be from the exact one, as ``docs/accuracy.md`` says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from conformance.fuzz.values import COMPLEX, HALVES, DType, NDArray, is_float

# Of the operands in higher precision, the exact result, the dtype and the parameters: the error allowed.
Bound = Callable[[Sequence[Any], NDArray, DType, dict[str, Any]], NDArray]


def eps(dtype: DType) -> float:
    """The distance from 1 to the next number."""
    return float(ml_dtypes.finfo(dtype).eps)


def smallest(dtype: DType) -> float:
    """The smallest positive number."""
    return float(ml_dtypes.finfo(dtype).smallest_subnormal)


def ulps(real: float = 9.0, complex_: float = 40.0) -> Bound:
    """Units in the last place; halves are rounded once, from float32."""

    def bound(operands: Sequence[Any], exact: NDArray, dtype: DType, parameters: dict[str, Any]) -> NDArray:
        number = complex_ if dtype in COMPLEX else 0.52 if dtype in HALVES else real
        return np.asarray(number * (eps(dtype) * np.abs(exact) + smallest(dtype)))

    return bound


# Of the sum of absolute values; those of docs/accuracy.md, where float32 is allowed the wider one.
_SHARES = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-18, "complex64": 2**-17}


def share(dtype: DType) -> float:
    """The error of a sum, as a share of the sum of absolute values, its last rounding included."""
    return _SHARES.get(str(dtype), 2.0**-44)


def of_sums(sum_: Callable[..., Any]) -> Bound:
    """A share of the sum of absolute values, which `sum_` computes as the function does."""

    def bound(operands: Sequence[Any], exact: NDArray, dtype: DType, parameters: dict[str, Any]) -> NDArray:
        sizes = [np.abs(x) if isinstance(x, np.ndarray) and x.dtype.kind in "fc" else x for x in operands]
        return np.asarray(share(dtype) * np.abs(sum_(*sizes, **parameters)) + eps(dtype) * np.abs(exact))

    return bound


def of_largest(factor: float) -> Bound:
    """A share of the largest result, for transforms."""

    def bound(operands: Sequence[Any], exact: NDArray, dtype: DType, parameters: dict[str, Any]) -> NDArray:
        largest = np.max(np.abs(exact), initial=0.0)
        return np.full(exact.shape, factor * eps(dtype) * (1 + float(largest)))

    return bound


def disagreement(got: NDArray, exact: NDArray, dtype: DType, bound: Callable[[NDArray], NDArray] | None) -> str | None:
    """How a result differs from the exact one in dtype, shape or values; None if it does not."""
    if got.dtype != dtype or got.shape != exact.shape:
        return f"is {got.dtype} of shape {got.shape}, not {dtype} of shape {exact.shape}"
    with np.errstate(all="ignore"):
        wrong = _differs(got, exact, dtype, bound)
    if not wrong.any():
        return None
    place = tuple(int(each) for each in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return f"has {wrong.sum()} of {wrong.size} elements wrong; at {place} {got[place]!r} for {exact[place]!r}"


def _differs(got: NDArray, exact: NDArray, dtype: DType, bound: Any) -> NDArray:
    rounded = exact.astype(dtype)
    same = np.asarray((got == rounded) | ((got != got) & (rounded != rounded)))
    if bound is None or not (is_float(dtype) or dtype in COMPLEX):
        return ~same
    wide = got.astype(exact.dtype if exact.dtype.kind in "fc" else np.float64)
    allowed = bound(exact)
    close = np.abs(wide - exact) <= allowed
    # What is beyond the largest number, or nearly so, may be infinite.
    largest = float(ml_dtypes.finfo(dtype).max)
    overflows = ~np.isfinite(wide) & (np.abs(exact) + allowed >= largest * (1 - eps(dtype)))
    return np.asarray(~(same | close | overflows))
