"""What the functions of this namespace share: lists become arrays, results go to the framework of the operands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from itertools import islice
from typing import Any

import numpy

from xpops.api.creation.conversion import asarray
from xpops.api.data_types import astype, result_type
from xpops.arrays import Array, adopt_foreign
from xpops.arrays.tensors import array_layout
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch import elementwise
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.dispatch.gradients.calls import RecordedCall, makers, recorder_of
from xpops.frameworks.registry import adapter_of
from xpops.ops.elementwise import IDENTITY, OPERATORS

NDArray = numpy.ndarray[Any, Any]
_HOST_TYPES = (list, tuple, range, *SCALAR_TYPES, numpy.generic)


def given(x: Any) -> Any:
    """`x`; a list, a tuple or a scalar as an array on the default device."""
    return asarray(x) if isinstance(x, _HOST_TYPES) else x


def arrays_of(operands: Iterable[Any], *, scalars: bool = False) -> list[Any]:
    """The operands; lists and tuples as arrays on the device of the first array. With `scalars`, scalars, too."""
    operands = list(operands)
    lists = [isinstance(x, _HOST_TYPES) and (scalars or not is_scalar(x)) for x in operands]
    if not any(lists):
        return operands
    there = next((x for x in operands if not isinstance(x, _HOST_TYPES)), None)
    return [beside(there, x) if is_list else x for x, is_list in zip(operands, lists, strict=True)]


def beside(there: Any, x: Any) -> Any:
    """NumPy's array, a list or a scalar as an array of the framework and on the device of `there`, if it is given."""
    if there is None:
        return asarray(x)
    adapter = adapter_of(type(there))
    if adapter is None:
        return asarray(x, device=adopt_foreign(there, "asarray", "obj").device)
    return adapter.constant(asarray(x, device="cpu"), there)


def on_device_of(there: Any, x: Any) -> Any:
    """`x`; NumPy's array, a list or a scalar as an array beside `there`."""
    return beside(there, x) if isinstance(x, (numpy.ndarray, *_HOST_TYPES)) else x


def is_scalar(x: Any) -> bool:
    """Whether `x` is a Python or NumPy scalar, or a scalar argument of a fused function."""
    return isinstance(x, (*SCALAR_TYPES, numpy.generic, TracedScalar))


def dtype_of(x: Any) -> DType:
    """The dtype of an array of any framework."""
    return x.dtype if isinstance(x, Array) else result_type(x)


def floating(x: Any) -> Any:
    """`x`, also from a list or a scalar; integers and booleans as float64."""
    return as_floating(given(x))


def as_floating(x: Any) -> Any:
    """An array, which may be traced; integers and booleans as float64."""
    return x if dtype_of(x) in dt.CATEGORIES["floating-point"] else astype(x, dt.float64)


def with_dtype(operands: Iterable[Any], dtype: Any) -> list[Any]:
    """The operands, which may be traced; arrays of the dtype."""
    return [x if is_scalar(x) else astype(x, dtype, copy=False) for x in operands]


def as_axes(axis: Any) -> Any:
    """`axis`; a list as a tuple."""
    return tuple(axis) if isinstance(axis, list) else axis


def store(found: Any, out: Any, function: str, mask: Any = True) -> Any:
    """Write a result to `out` where `mask` is True, and return `out`; without `out`, return the result.

    Raises
    ------
    ValueError
        If `out` has another shape, or a dtype of another kind.
    """
    if out is None:
        return found
    if isinstance(found, tuple):
        return tuple(store(each, target, function, mask) for each, target in zip(found, out, strict=True))
    (target,) = out if isinstance(out, tuple) else (out,)
    if mask is not True:
        return elementwise(OPERATORS["where"], (*arrays_of((mask, found)), target), target)
    shape = array_layout(target, function, "out").shape
    if tuple(found.shape) != shape:
        raise ValueError(f"{function}: out has shape {shape}; accepted: {tuple(found.shape)}")
    elementwise(IDENTITY, (found,), target)
    return target


def on_arrays(count: int = 1) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function whose first `count` arguments are xpops arrays accept arrays of any framework, lists and scalars.

    If all arrays are of one framework, so are the results. An argument that is None stays None. A framework that
    records gradients refuses the gradient by these arguments.

    Parameters
    ----------
    count : int
        How many arguments.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        names = tuple(islice(signature(function).parameters, count))

        @wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            operands = dict(zip(names, arguments, strict=False))
            operands.update((name, named.pop(name)) for name in names if name in named)
            arrays = {name: x for name, x in operands.items() if x is not None}
            rest = arguments[count:]
            last = max((names.index(name) for name in operands), default=-1)

            def compute(*found: Any) -> Any:
                whole = dict(zip(arrays, found, strict=True))
                return function(*(whole.get(name) for name in names[: last + 1]), *rest, **named)

            return compute_on_arrays(function.__name__, compute, arrays)

        return call

    return decorate


def compute_on_arrays(function: str, compute: Callable[..., Any], operands: dict[str, Any]) -> Any:
    """Call `compute` with xpops arrays of the operands. Results are of the framework of all arrays, if it is one."""
    foreign = [x for x in operands.values() if not isinstance(x, (Array, *_HOST_TYPES))]
    recorder = recorder_of(tuple(foreign)) if foreign else None
    if recorder is not None:
        values = tuple(arrays_of(operands.values(), scalars=True))
        return recorder.record(_recorded(function, tuple(operands), compute), values)
    arrays = arrays_of(operands.values(), scalars=True)
    found = compute(*(adopt_foreign(x, function, name) for name, x in zip(operands, arrays, strict=True)))
    adapters = {id(adapter): adapter for adapter in (adapter_of(type(x)) for x in foreign)}
    if len(adapters) != 1 or any(isinstance(x, Array) for x in operands.values()):
        return found
    (adapter,) = adapters.values()
    return found if adapter is None else _export(found, adapter.export)


def _recorded(function: str, names: tuple[str, ...], compute: Callable[..., Any]) -> RecordedCall:
    """A call without derivatives. Only this process can read its name, because `compute` holds the parameters."""

    def compute_on_values(*values: Any) -> Any:
        return compute_on_arrays(function, compute, dict(zip(names, values, strict=True)))

    return RecordedCall(function, names, {}, None, compute_on_values, ("composed", function, names, compute))


makers["composed"] = _recorded


def _export(found: Any, export: Callable[[Any], Any]) -> Any:
    """Export the arrays of a result, which may be a sequence."""
    if isinstance(found, Array):
        return export(found)
    if isinstance(found, (tuple, list)):
        parts = [_export(each, export) for each in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    return found
