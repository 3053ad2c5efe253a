"""Softmax and its logarithm."""

from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike

from xpops.api.nn.activation import result_dtype
from xpops.api.signatures import array_function
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.dispatch.dense import plan_on_dense, require_array
from xpops.dispatch.primitives import unary
from xpops.engine.program import Guessing, Program
from xpops.engine.protocol import Engine
from xpops.ops.softmax import LOG_SOFTMAX, SOFTMAX, Softmax
from xpops.plan.result import result_layout
from xpops.plan.signature import Operand, Signature
from xpops.plan.softmax import follows
from xpops.plan.strides.views import axis_of

__all__ = ["log_softmax", "softmax"]


@array_function
def softmax(x: Any, /, *, axis: int = -1, dtype: DTypeLike | None = None) -> Any:
    """``exp(x)`` divided by its sum along an axis.

    Parameters
    ----------
    x : array
        Real floating-point with at least one axis. Half types are computed in float32, and rounded once.
    axis : int
    dtype : numpy.dtype, optional
        The dtype of the result: real floating-point or float8, by default that of `x`. The result is computed in the
        dtype of `x`, and converted in the same pass.

    Returns
    -------
    array
        Has the shape of `x`.

    Raises
    ------
    TypeError
        If the dtype of `x`, or `dtype`, is not accepted, or `axis` is not an integer.
    IndexError
        If there is no such axis.

    Notes
    -----
    The largest element is subtracted first, so that nothing overflows. A line with a NaN or infinity, or with nothing
    but minus infinity, becomes NaN, as in torch. Rows of up to 32,768 elements are read
    once; from compute capability 9.0 on, rows of up to 262,144 elements of float32.

    Examples
    --------
    >>> xp.nn.softmax(xp.asarray([[0.0, 0.0], [1000.0, 0.0]]))
    Array([[0.5, 0.5],
           [1. , 0. ]], dtype=float64, device='cpu')
    """
    return unary(_plan, "softmax", x, SOFTMAX, axis, result_dtype(dtype, "softmax"))


@array_function
def log_softmax(x: Any, /, *, axis: int = -1, dtype: DTypeLike | None = None) -> Any:
    """The logarithm of `softmax`, also finite where `softmax` underflows to 0.

    Parameters
    ----------
    x : array
        Real floating-point with at least one axis. Half types are computed in float32, and rounded once.
    axis : int
    dtype : numpy.dtype, optional
        The dtype of the result: real floating-point or float8, by default that of `x`. The result is computed in the
        dtype of `x`, and converted in the same pass.

    Returns
    -------
    array
        Has the shape of `x`.

    Raises
    ------
    TypeError
        If the dtype of `x`, or `dtype`, is not accepted, or `axis` is not an integer.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.nn.log_softmax(xp.asarray([1000.0, 0.0]))
    Array([    0., -1000.], dtype=float64, device='cpu')
    """
    return unary(_plan, "log_softmax", x, LOG_SOFTMAX, axis, result_dtype(dtype, "log_softmax"))


def _plan(
    engine: Engine, specs: tuple[Operand, ...], op: Softmax, axis: int, dtype: DType | None
) -> Program | Guessing:
    function, log = op.name, op.log
    x = require_array(specs[0], function, "x")
    if x.dtype not in dt.REAL_FLOATS:
        raise TypeError(f"{function}: dtype {x.dtype} is not accepted; accepted: real floating-point dtypes")
    found = axis_of(axis, x.ndim, function)
    out = result_layout(Signature((x.dtype,), dtype or x.dtype, x.shape), (x,), x.device)
    if x.strides == out.strides or x.size == 0:
        return _run(x, engine, found, out, log)
    out = result_layout(Signature((x.dtype,), dtype or x.dtype, x.shape), (), x.device)
    if follows(x, out):
        return _run(x, engine, found, out, log)
    return plan_on_dense(engine, (x,), _run, engine, found, out, log)


def _run(x: Layout, engine: Engine, axis: int, out: Layout, log: bool) -> Program:
    if out.size == 0:
        return Program((out,), lambda stream, out, x: None)
    return Program((out,), engine.softmax(x, axis, out, log))
