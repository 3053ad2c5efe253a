"""The arguments of a call of a user's kernel, for the driver."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Mapping
from typing import Any

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.dispatch import Tensor
from xpops.dispatch.operands import Operands
from xpops.engine.cuda.user.accessors import packed_accessor
from xpops.engine.cuda.user.arguments import Parameter, check_array, scalar
from xpops.frameworks.registry import adapter_of


def pack_arguments(
    name: str,
    parameters: tuple[Parameter, ...] | None,
    arguments: tuple[Any, ...],
    arrays: Collection[int],
    operands: Operands | None,
) -> list[Any]:
    """The arguments as ctypes values. Tells frameworks which of their arrays the kernel writes.

    Parameters
    ----------
    name : str
        The kernel's name, for errors.
    parameters : tuple of Parameter or None
        None if the source does not say them.
    arguments : tuple
    arrays : collection of int
        The places of the arguments that are arrays, in order: those of `operands`.
    operands : Operands or None
    """
    packed: list[Any] = []
    places = {i: place for place, i in enumerate(arrays)}
    for i, argument in enumerate(arguments):
        parameter = parameters[i] if parameters is not None else None
        what = f"{name}: args[{i}]" + (f" ({parameter.name})" if parameter and parameter.name else "")
        if i not in places or operands is None:
            packed.append(scalar(argument, parameter, what))
            continue
        place = places[i]
        layout, address = operands.specs[place], operands.values[place]
        assert isinstance(layout, Layout)
        check_array(layout.dtype, parameter, what)
        if parameter is not None and not parameter.const:
            if not operands.writable[place]:
                raise ValueError(f"{what} is read-only; accepted: a writable array, or a pointer to const")
            adapter = None if isinstance(argument, Tensor) else adapter_of(type(argument))
            if adapter is not None:
                adapter.written(argument)
        if parameter is None or parameter.accessor is None:
            packed.append(ctypes.c_uint64(address))
        else:
            packed.append(scalar(packed_accessor(parameter.accessor, layout, address, what), None, what))
    return packed


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
