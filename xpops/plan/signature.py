"""The signature of an elementwise call: loop dtypes, result dtype, result shape. It needs no device and no data."""

from __future__ import annotations

from typing import NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.core.promotion import promote, scalar_dtype
from xpops.ops.operator import Operator
from xpops.plan.strides.broadcast import broadcast_shapes

# The layout of an array, or the type of a Python scalar (its value is a run-time parameter).
Operand = Layout | type
_BITS = dt.CATEGORIES["integer or boolean"]


class Signature(NamedTuple):
    """The types and the shape of one elementwise call.

    Attributes
    ----------
    loop : tuple of numpy.dtype
        The dtype to which each operand is converted before the functor takes it.
    dtype : numpy.dtype
        The result's dtype.
    shape : tuple of int
        The result's shape.
    """

    loop: tuple[DType, ...]
    dtype: DType
    shape: tuple[int, ...]


def signature_of(op: Operator, operands: tuple[Operand, ...], dtype: DType | None = None) -> Signature:
    """The signature of calling `op` on `operands`. `dtype` is the result's dtype if ``op.result`` is "given" (casts).

    Raises
    ------
    TypeError
        If the operator does not take the operands' dtypes.
    ValueError
        If the shapes do not broadcast.
    """
    kinds = tuple(operand.dtype if isinstance(operand, Layout) else operand for operand in operands)
    if op.condition:
        if kinds[0] not in (dt.bool, bool):
            raise TypeError(f"{op.public}: the condition has dtype {_name(kinds[0])}; accepted: bool")
        kinds = kinds[1:]
    kinds = kinds[: len(kinds) - op.parameters]
    if op.result == "given" and dtype is not None and isinstance(kinds[0], type):
        return Signature((_fill_dtype(kinds[0], dtype),), dtype, ())
    if op.wide_integers:
        kinds = tuple(dt.DEFAULT_FLOAT if kind in _BITS else kind for kind in kinds)
    common = promote(kinds, op.public)
    if op.floating and common in _BITS:
        common = dt.DEFAULT_FLOAT
    if common not in dt.CATEGORIES[op.accepts]:
        given = ", ".join(_name(kind) for kind in kinds)
        raise TypeError(f"{op.public}: dtype {given} is not accepted; accepted: {_accepted_dtypes(op)}")
    loop = dt.bool if op.logical else common
    if op.result == "bool":
        result = dt.bool
    elif op.result == "real":
        result = dt.REAL_OF.get(common, common)
    else:
        result = dtype if op.result == "given" and dtype is not None else common
    computed = dt.float64 if common == dt.float64 else dt.float32
    loops = (dt.bool,) * op.condition + (loop,) * len(kinds) + (computed,) * op.parameters
    shapes = [operand.shape for operand in operands if isinstance(operand, Layout)]
    return Signature(loops, result, broadcast_shapes(*shapes, function=op.public))


def _fill_dtype(kind: type, dtype: DType) -> DType:
    """The loop dtype of filling an array of `dtype` with a Python scalar: `dtype` itself, to round only once."""
    if scalar_dtype(kind, dt.float32 if dtype in dt.FLOAT8 else dtype) != (dt.float32 if dtype in dt.FLOAT8 else dtype):
        raise TypeError(f"assignment: a Python {kind.__name__} does not fit {dtype}; convert the value first")
    return dtype


def _name(kind: DType | type) -> str:
    return f"Python {kind.__name__}" if isinstance(kind, type) else kind.name


def _accepted_dtypes(op: Operator) -> str:
    accepted = dt.CATEGORIES[op.accepts]
    names = ", ".join(dtype.name for dtype in dt.INFO if dtype in accepted)
    return f"{op.accepts} dtypes ({names})" if op.accepts not in ("arithmetic", "any") else names
