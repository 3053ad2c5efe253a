"""The arguments of a call of a user's kernel, for the driver."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.dispatch import Tensor
from xpops.dispatch.operands import Operands
from xpops.engine.cuda.user.accessors import packed_accessor
from xpops.engine.cuda.user.arguments import Parameter, check_array, scalar
from xpops.engine.cuda.user.raw import Function
from xpops.frameworks.registry import adapter_of


def pack_arguments(
    name: str,
    parameters: tuple[Parameter, ...] | None,
    arguments: tuple[Any, ...],
    layouts: Mapping[int, Layout],
    operands: Operands | None,
) -> tuple[list[Any], tuple[int, ...]]:
    """The arguments as ctypes values, after checks; and the places of the arrays that the kernel may write.

    Tells frameworks which of their arrays these are.

    Parameters
    ----------
    name : str
        The kernel's name, for errors.
    parameters : tuple of Parameter or None
        None if the source does not say them.
    arguments : tuple
    layouts : mapping of int to Layout
        The layouts of the arguments that are arrays, by place: those of `operands`, in order.
    operands : Operands or None
    """
    if operands is None:
        return pack(name, parameters, layouts, arguments), ()
    written = _require_arrays(name, parameters, layouts, operands)
    addresses = dict(zip(layouts, operands.values, strict=True))
    packed = pack(name, parameters, layouts, [addresses.get(i, each) for i, each in enumerate(arguments)])
    for i in written:
        adapter = None if isinstance(arguments[i], Tensor) else adapter_of(type(arguments[i]))
        if adapter is not None:
            adapter.written(arguments[i])
    return packed, written


def pack(
    name: str, parameters: tuple[Parameter, ...] | None, layouts: Mapping[int, Layout], values: Sequence[Any]
) -> list[Any]:
    """The arguments as ctypes values. `values` are the addresses of arrays, and other arguments as they are."""
    packed: list[Any] = []
    for i, value in enumerate(values):
        parameter = parameters[i] if parameters is not None else None
        layout = layouts.get(i)
        if layout is None:
            packed.append(scalar(value, parameter, _what(name, i, parameter)))
        elif parameter is None or parameter.accessor is None:
            packed.append(ctypes.c_uint64(value))
        else:
            what = _what(name, i, parameter)
            packed.append(scalar(packed_accessor(parameter.accessor, layout, value, what), None, what))
    return packed


def require_sizes(name: str, function: Function, packed: Sequence[Any]) -> None:
    """TypeError if the parameters of the compiled kernel have other sizes."""
    given = tuple(ctypes.sizeof(each) for each in packed)
    if given != function.sizes:
        raise TypeError(f"{name}: the arguments have {given} bytes; accepted: {function.sizes}, as the kernel has")


def _require_arrays(
    name: str, parameters: tuple[Parameter, ...] | None, layouts: Mapping[int, Layout], operands: Operands
) -> tuple[int, ...]:
    """Check the arguments that are arrays. Returns the places of those that the kernel may write."""
    written = []
    for (i, layout), writable in zip(layouts.items(), operands.writable, strict=True):
        parameter = parameters[i] if parameters is not None else None
        what = _what(name, i, parameter)
        check_array(layout.dtype, parameter, what)
        if parameter is not None and not parameter.const:
            if not writable:
                raise ValueError(f"{what} is read-only; accepted: a writable array, or a pointer to const")
            written.append(i)
    return tuple(written)


def _what(name: str, place: int, parameter: Parameter | None) -> str:
    """An argument, for errors."""
    return f"{name}: args[{place}]" + (f" ({parameter.name})" if parameter and parameter.name else "")


def template_dtypes(
    name: str, parameters: tuple[Parameter, ...], arguments: tuple[Any, ...], layouts: Mapping[int, Layout]
) -> dict[str, DType]:
    """The dtypes that arrays and NumPy scalars give the parameters of a template.

    Parameters
    ----------
    name : str
    parameters : tuple of Parameter
    arguments : tuple
    layouts : mapping of int to Layout
        The layouts of the arguments that are arrays, by place.

    Raises
    ------
    TypeError
        If two arguments give a parameter two dtypes.
    """
    found: dict[str, DType] = {}
    for i, (parameter, argument) in enumerate(zip(parameters, arguments, strict=False)):
        each: DType | None = layouts[i].dtype if i in layouts else getattr(argument, "dtype", None)
        if not parameter.template or each is None:
            continue
        if found.setdefault(parameter.template, each) != each:
            raise TypeError(
                f"{name}: args[{i}] has dtype {each}, but {parameter.template} is {found[parameter.template]} before "
                f"it; accepted: one dtype for {parameter.template}"
            )
    return found
