"""Data type functions of the standard."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike

from xpops.api.creation.conversion import check_parts, convert
from xpops.api.signatures import array_function
from xpops.arrays import Array, adopt_foreign
from xpops.arrays.tensors import array_layout
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType, as_dtype
from xpops.core.layouts import Layout
from xpops.core.limits import FloatInfo, IntegerInfo, float_info, integer_info
from xpops.core.promotion import promote
from xpops.core.symbols import scalar_type
from xpops.dispatch import Tensor, elementwise
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.dispatch.steady import known, launches, spec_of
from xpops.frameworks.adapter import Known
from xpops.frameworks.registry import adapter_of
from xpops.ops.elementwise import IDENTITY

# What the functions have returned, by dtypes.
_float_infos: dict[Any, FloatInfo] = {}
_integer_infos: dict[Any, IntegerInfo] = {}
_casts: dict[tuple[Any, Any], builtins.bool] = {}


@array_function
def astype(x: Any, dtype: DTypeLike, /, *, copy: bool = True, device: str | None = None) -> Any:
    """The elements converted to another dtype.

    Parameters
    ----------
    x : array
        Of any framework and dtype.
    dtype : numpy.dtype
        Any dtype of the namespace, float8 too.
    copy : bool
        If False, `x` itself is returned if it already has the dtype and the device.
    device : Device or str, optional
        Where the result goes; by default where `x` is.

    Returns
    -------
    array
        Has the shape of `x`, and its framework unless `device` is given.

    Raises
    ------
    TypeError
        If `x` is complex and `dtype` is real: choose with `real`, `imag` or `abs`.

    Examples
    --------
    >>> xp.astype(xp.asarray([1.9, -1.9]), xp.int8)
    Array([ 1, -1], dtype=int8, device='cpu')
    """
    target = as_dtype(dtype, "astype")
    if isinstance(x, Array) or device is not None:
        return convert(adopt_foreign(x, "astype", "x"), target, device, True if copy else None, "astype")
    found = x.dtype if isinstance(x, Traced) else array_layout(x, "astype", "x").dtype
    check_parts(found, target, "astype")
    return x if found == target and not copy else elementwise(IDENTITY, (x,), None, target)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether promotion alone can turn a dtype into another.

    Parameters
    ----------
    from_ : array or numpy.dtype
    to : numpy.dtype

    Returns
    -------
    bool
        Whether `from_` and `to` promote to `to`.

    Raises
    ------
    TypeError
        If an argument is no dtype.

    Examples
    --------
    >>> xp.can_cast(xp.int8, xp.int16), xp.can_cast(xp.float64, xp.float32)
    (True, False)
    """
    try:
        return _casts[from_, to]
    except (KeyError, TypeError):
        source, target = _dtype_of(from_, "can_cast"), as_dtype(to, "can_cast")
    found = _casts[source, target] = _can_promote(source, target)
    return found


def _can_promote(source: DType, target: DType) -> builtins.bool:
    with suppress(TypeError):
        return promote((source, target)) == target
    return False


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a floating-point dtype; for a complex dtype, those of its parts.

    Parameters
    ----------
    type : array or numpy.dtype
        Floating-point; float8 too.

    Returns
    -------
    FloatInfo
        With ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal`` and ``dtype``.

    Raises
    ------
    TypeError
        If the dtype is of another kind.

    Examples
    --------
    >>> xp.finfo(xp.float32).bits, xp.finfo(xp.bfloat16).eps
    (32, 0.0078125)
    """
    try:
        return _float_infos[type]
    except (KeyError, TypeError):
        dtype = _dtype_of(type, "finfo")
    found = _float_infos[dtype] = float_info(dt.REAL_OF.get(dtype, dtype))
    return found


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of an integer dtype.

    Parameters
    ----------
    type : array or numpy.dtype
        Integer.

    Returns
    -------
    IntegerInfo
        With ``bits``, ``max``, ``min`` and ``dtype``.

    Raises
    ------
    TypeError
        If the dtype is of another kind.

    Examples
    --------
    >>> xp.iinfo(xp.int8).min, xp.iinfo(xp.int8).max
    (-128, 127)
    """
    try:
        return _integer_infos[type]
    except (KeyError, TypeError):
        dtype = _dtype_of(type, "iinfo")
    found = _integer_infos[dtype] = integer_info(dtype)
    return found


def isdtype(dtype: DTypeLike, kind: Any) -> builtins.bool:
    """Whether a dtype is of a kind.

    Parameters
    ----------
    dtype : numpy.dtype
    kind : str or numpy.dtype or tuple of them
        A dtype; or ``"bool"``, ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real floating"``
        (float16 and bfloat16 too), ``"complex floating"``, ``"numeric"``. float8 dtypes are of no kind.

    Returns
    -------
    bool

    Raises
    ------
    TypeError, ValueError
        If `dtype` is not a dtype, or `kind` is neither a kind nor a dtype.

    Examples
    --------
    >>> xp.isdtype(xp.uint8, "integral"), xp.isdtype(xp.uint8, ("bool", xp.int8))
    (True, False)
    """
    try:
        return dtype in dt.KINDS[kind] if dtype in dt.INFO else _is_any_kind(dtype, kind)
    except (KeyError, TypeError):
        return _is_any_kind(dtype, kind)


def _is_any_kind(dtype: DTypeLike, kind: Any) -> builtins.bool:
    found = as_dtype(dtype, "isdtype")
    return any(_is_kind(found, one) for one in (kind if isinstance(kind, tuple) else (kind,)))


def _is_kind(dtype: DType, kind: Any) -> builtins.bool:
    if not isinstance(kind, str):
        return dtype == as_dtype(kind, "isdtype")
    if kind not in dt.KINDS:
        raise ValueError(f"isdtype: kind is {kind!r}; accepted: a dtype, {', '.join(map(repr, dt.KINDS))}")
    return dtype in dt.KINDS[kind]


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that arrays, dtypes and scalars promote to.

    Parameters
    ----------
    *arrays_and_dtypes : array or numpy.dtype or scalar
        At least one of them an array or a dtype.

    Returns
    -------
    numpy.dtype

    Raises
    ------
    TypeError
        If they do not promote to a common dtype, or all are scalars.

    Examples
    --------
    >>> xp.result_type(xp.int8, xp.uint8), xp.result_type(xp.float32, 1j)
    (dtype('int16'), dtype('complex64'))
    """
    found: DType | None = known("result_type", arrays_and_dtypes)
    if found is None:
        found = _common_dtype(*map(_dtype_or_scalar, arrays_and_dtypes))
        specs = tuple(map(spec_of, arrays_and_dtypes))
        if None not in specs:
            launches["result_type", *specs] = _always(found)
    return found


def _always(dtype: DType) -> Callable[..., DType]:
    """A launch that returns a dtype, whatever the operands' data."""
    return lambda *data: dtype


def _common_dtype(*operands: DType | type) -> DType:
    if all(isinstance(operand, type) for operand in operands):
        raise TypeError("result_type: no argument is an array or a dtype; accepted: at least one")
    return promote(operands)


def _dtype_or_scalar(x: Any) -> DType | type:
    spec: Any = spec_of(x)
    if isinstance(spec, (Known, Layout)):
        return spec.layout.dtype if isinstance(spec, Known) else spec.dtype
    if spec is not None:
        return cast("type", spec)
    if isinstance(x, np.dtype):
        return as_dtype(x, "result_type")
    if isinstance(x, TracedScalar):
        return x.kind
    value = x.item() if isinstance(x, np.generic) else x
    return scalar_type(value) or _dtype_of(x, "result_type")


def _dtype_of(x: Any, function: str) -> DType:
    """The dtype of an array of any framework, or the dtype itself."""
    if isinstance(x, Tensor):
        return x._layout.dtype
    if not isinstance(x, (type, np.dtype)) and adapter_of(type(x)) is not None:
        return array_layout(x, function, "argument").dtype
    return as_dtype(x, function)
