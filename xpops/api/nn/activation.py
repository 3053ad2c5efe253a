"""Activations."""

from __future__ import annotations

from numbers import Real
from typing import Any

from numpy.typing import DTypeLike

from xpops.api.signatures import array_function
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType, as_dtype
from xpops.dispatch import elementwise, unary
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.ops.activation import ACTIVATIONS as op

__all__ = ["gelu", "leaky_relu", "relu", "sigmoid", "silu", "softplus"]

_RESULTS = (*dt.REAL_FLOATS, *dt.FLOAT8)


@array_function
def relu(x: Any, /, *, dtype: DTypeLike | None = None, out: Any = None) -> Any:
    """``max(x, 0)``: 0 where `x` is negative.

    Parameters
    ----------
    x : array
        Real-valued. Integers keep their dtype, as in torch.
    dtype : numpy.dtype, optional
        The dtype of the result: real floating-point or float8, by default that of `x`. The result is computed in the
        dtype of `x`, and converted in the same pass.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        Has the shape of `x`.

    Raises
    ------
    TypeError
        If the dtype of `x`, or `dtype`, is not accepted.

    Notes
    -----
    NaN stays NaN, and -0.0 becomes 0.0, as on CUDA in torch.

    Examples
    --------
    >>> xp.nn.relu(xp.asarray([-1.0, 2.0]))
    Array([0., 2.], dtype=float64, device='cpu')
    """
    if dtype is None:
        return unary(op["relu"], x, out)
    return elementwise(op["relu"], (x,), out, result_dtype(dtype, "relu"))


@array_function
def leaky_relu(x: Any, /, *, negative_slope: float = 0.01, dtype: DTypeLike | None = None, out: Any = None) -> Any:
    """`x` where it is positive, else ``negative_slope * x``.

    Parameters
    ----------
    x : array
        Real floating-point. Half types are computed in float32, and rounded once.
    negative_slope : float
        Other values use the same kernel.
    dtype : numpy.dtype, optional
        The dtype of the result: real floating-point or float8, by default that of `x`. The result is computed in the
        dtype of `x`, and converted in the same pass.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        Has the shape of `x`.

    Raises
    ------
    TypeError
        If the dtype of `x`, or `dtype`, is not accepted, or `negative_slope` is not a real number.

    Examples
    --------
    >>> xp.nn.leaky_relu(xp.asarray([-1.0, 2.0]))
    Array([-0.01,  2.  ], dtype=float64, device='cpu')
    """
    slope = _number(negative_slope, "leaky_relu", "negative_slope")
    return elementwise(op["leaky_relu"], (x, slope), out, result_dtype(dtype, "leaky_relu"))


@array_function
def gelu(x: Any, /, *, approximate: str = "none", dtype: DTypeLike | None = None, out: Any = None) -> Any:
    """`x` times the standard normal distribution function of `x`.

    Parameters
    ----------
    x : array
        Real floating-point. Half types are computed in float32, and rounded once.
    approximate : {"none", "tanh"}
        With "tanh" it is ``x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``.
    dtype : numpy.dtype, optional
        The dtype of the result: real floating-point or float8, by default that of `x`. The result is computed in the
        dtype of `x`, and converted in the same pass.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        Has the shape of `x`.

    Raises
    ------
    TypeError
        If the dtype of `x`, or `dtype`, is not accepted.
    ValueError
        If `approximate` is unknown.

    Notes
    -----
    The negative tail has full accuracy: there is no cancellation as in ``1 + erf(x / sqrt(2))``. Minus infinity gives
    NaN, as in torch.

    Examples
    --------
    >>> xp.nn.gelu(xp.asarray([-10.0, 0.0, 1.0]))
    Array([-7.61985302e-23,  0.00000000e+00,  8.41344746e-01], dtype=float64, device='cpu')
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate is {approximate!r}; accepted: 'none', 'tanh'")
    row = op["gelu" if approximate == "none" else "gelu_tanh"]
    return unary(row, x, out) if dtype is None else elementwise(row, (x,), out, result_dtype(dtype, "gelu"))


@array_function
def silu(x: Any, /, *, dtype: DTypeLike | None = None, out: Any = None) -> Any:
    """``x * sigmoid(x)``, which is also called swish.

    Parameters
    ----------
    x : array
        Real floating-point. Half types are computed in float32, and rounded once.
    dtype : numpy.dtype, optional
        The dtype of the result: real floating-point or float8, by default that of `x`. The result is computed in the
        dtype of `x`, and converted in the same pass.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        Has the shape of `x`.

    Raises
    ------
    TypeError
        If the dtype of `x`, or `dtype`, is not accepted.

    Notes
    -----
    Minus infinity gives NaN, as in torch.

    Examples
    --------
    >>> xp.nn.silu(xp.asarray([-1.0, 0.0, 1.0]))
    Array([-0.26894142,  0.        ,  0.73105858], dtype=float64, device='cpu')
    """
    return (
        unary(op["silu"], x, out) if dtype is None else elementwise(op["silu"], (x,), out, result_dtype(dtype, "silu"))
    )


@array_function
def sigmoid(x: Any, /, *, dtype: DTypeLike | None = None, out: Any = None) -> Any:
    """``1 / (1 + exp(-x))``.

    Parameters
    ----------
    x : array
        Real floating-point. Half types are computed in float32, and rounded once.
        Integers and booleans become float64.
    dtype : numpy.dtype, optional
        The dtype of the result: real floating-point or float8, by default that of `x`. The result is computed in the
        dtype of `x`, and converted in the same pass.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        The shape of `x`; float64 for integers and booleans, unless `dtype` says otherwise.

    Raises
    ------
    TypeError
        If the dtype of `x`, or `dtype`, is not accepted.

    Examples
    --------
    >>> xp.nn.sigmoid(xp.asarray([-1000.0, 0.0, 1.0]))
    Array([0.        , 0.5       , 0.73105858], dtype=float64, device='cpu')
    """
    if dtype is None:
        return unary(op["sigmoid"], x, out)
    return elementwise(op["sigmoid"], (x,), out, result_dtype(dtype, "sigmoid"))


@array_function
def softplus(
    x: Any, /, *, beta: float = 1.0, threshold: float = 20.0, dtype: DTypeLike | None = None, out: Any = None
) -> Any:
    """``log(1 + exp(beta * x)) / beta``, a smooth `relu`.

    Parameters
    ----------
    x : array
        Real floating-point. Half types are computed in float32, and rounded once.
    beta : float
    threshold : float
        If ``beta * x`` is above it, the result is `x`.
    dtype : numpy.dtype, optional
        The dtype of the result: real floating-point or float8, by default that of `x`. The result is computed in the
        dtype of `x`, and converted in the same pass.
    out : array, optional
        The result is written to it and it is returned. Has the result's shape, and its dtype or another of its kind.

    Returns
    -------
    array
        Has the shape of `x`.

    Raises
    ------
    TypeError
        If the dtype of `x`, or `dtype`, is not accepted, or `beta` or `threshold` is not a real number.

    Notes
    -----
    No threshold lets intermediate values overflow.

    Examples
    --------
    >>> xp.nn.softplus(xp.asarray([-40.0, 0.0, 30.0]))
    Array([4.24835426e-18, 6.93147181e-01, 3.00000000e+01], dtype=float64, device='cpu')
    """
    parameters = (_number(beta, "softplus", "beta"), _number(threshold, "softplus", "threshold"))
    return elementwise(op["softplus"], (x, *parameters), out, result_dtype(dtype, "softplus"))


def _number(x: Any, function: str, argument: str) -> Any:
    """A parameter as a float, or as it is if it is a scalar argument of a fused function."""
    if x.__class__ is float or isinstance(x, Real):
        return float(x)
    if isinstance(x, TracedScalar) and x.kind is not complex:
        return x
    raise TypeError(f"{function}: {argument} is {x!r}; accepted: a real number")


def result_dtype(dtype: DTypeLike | None, function: str) -> DType | None:
    """The dtype of the result, or None if none is given."""
    if dtype is None:
        return None
    found = as_dtype(dtype, function)
    if found not in _RESULTS:
        raise TypeError(f"{function}: dtype {found} is not accepted; accepted: {', '.join(map(str, _RESULTS))}")
    return found
