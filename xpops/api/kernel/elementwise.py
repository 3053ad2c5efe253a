"""Elementwise operators in a line of C++."""

from __future__ import annotations

import functools
from operator import index
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from xpops.api.devices import default_device
from xpops.api.kernel.gpu import require_gpu
from xpops.core.layouts import Layout, layout_of
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch import Tensor, state
from xpops.dispatch.operands import Operands
from xpops.dispatch.primitives import compute
from xpops.dispatch.state import launches
from xpops.engine import engine_of
from xpops.engine.protocol import Engine, Program
from xpops.frameworks.registry import adapter_of
from xpops.plan.overlap import overlaps_itself
from xpops.plan.result import result_layout
from xpops.plan.signature import Operand, Signature
from xpops.plan.user import Operation, bound, call_shape, parameters

if TYPE_CHECKING:
    from xpops.core.devices import Device
    from xpops.engine.cuda.engine import CudaEngine
    from xpops.engine.cuda.user_operands import UserCall

_SCALARS = (*SCALAR_TYPES, np.generic)


class ElementwiseKernel:
    """An operator of one's own on elements, from statements of C++.

    It broadcasts, takes arrays of any framework, layout and dtype, and scalars, and is compiled at the first call of a
    kind.

    Parameters
    ----------
    in_params, out_params : str
        Parameters with a dtype each, like ``"float32 x, T y, raw T z"``. A letter is any dtype, the same wherever it
        stands. A ``raw`` array is not broadcast: the operation indexes it, ``z[k]`` being the element number ``k`` in C
        order, and knows ``z.size()`` and ``z.shape()[axis]``.
    operation : str
        Statements that assign the parameters of `out_params`. They may use ``i``, the number of the element in C order,
        and ``n`` or ``_ind.size()``, how many there are.
    name : str
        What errors call it.
    preamble : str
        What stands before the operation in the source: functions, includes.

    Notes
    -----
    float16, bfloat16 and float8 are float in the operation, and their letters mean float. Complex numbers have ``re``
    and ``im``. A result that the operation does not assign is 0, or what was in the array that was given for it; raw
    results, which have the shape of the elements unless they are given, are not set beforehand. Scalars are converted
    as C++ does it: 2.5 to an integer parameter is 2, and -1 to an unsigned one the largest.

    Raises
    ------
    ValueError
        If a text is not as above.

    Examples
    --------
    >>> squared_difference = xp.kernel.ElementwiseKernel(
    ...     "T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference"
    ... )
    >>> squared_difference(xp.ones(3, device="cpu"), 2.0)
    Traceback (most recent call last):
    xpops.core.errors.DeviceError: squared_difference: the arrays are on cpu; kernels of one's own need a GPU
    """

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel", *, preamble: str = ""
    ) -> None:
        if not name.isidentifier():
            raise ValueError(f"ElementwiseKernel: name is {name!r}; accepted: a name as C++ has them")
        ins, outs = parameters(in_params, "in_params", name), parameters(out_params, "out_params", name)
        if not outs or not {each.name for each in ins}.isdisjoint(each.name for each in outs):
            raise ValueError(f"{name}: out_params is {out_params!r}; accepted: at least one, by a name of its own")
        self._operation, self._name = Operation(name, ins, outs, operation, preamble), name
        # Equal and hashed by identity: they are keys of plans.
        self._plan = functools.partial(_plan, self._operation)

    def __call__(self, *args: Any, size: int | None = None, out: Any = None) -> Any:
        """The results, each an array: several as a tuple.

        Parameters
        ----------
        *args : array or scalar
            For each of `in_params`; arrays for `out_params` may follow. Scalars become the dtype of the parameter.
        size : int, optional
            How many elements there are, where all arrays are raw.
        out : array or tuple of array, optional
            Written and returned.

        Raises
        ------
        TypeError
            If there are too few arguments, or dtypes do not fit.
        ValueError
            If shapes do not fit, or a result is read-only or partly overlaps an operand.
        OverflowError
            If a number for an integer parameter has more than 64 bits.
        DeviceError
            If the arrays are on the CPU.
        CompileError
            If the operation is no C++.
        """
        ins, outs = self._divided(args, out)
        size = None if size is None else self._size(size)
        given, cls = bool(outs), state.array_class
        arguments = (*ins, *outs)
        launch = launches.get(
            (self._plan, *[x._layout if x.__class__ is cls else x.__class__ for x in arguments], size, given)
        )
        if launch is not None and all(x._writable for x in outs):
            made = launch(*[x._data if x.__class__ is cls else x for x in arguments])
        elif all(isinstance(x, _SCALARS) for x in arguments):
            made = self._of_scalars(arguments, size)
        else:
            if given:
                self._require_writable(outs)
            names = tuple(each.name for each in (*self._operation.ins, *self._operation.outs))[: len(arguments)]
            made = compute(self._plan, self._name, names, arguments, size, given, steady=True)
        if not given:
            return made
        return outs if len(outs) > 1 else outs[0]

    def __repr__(self) -> str:
        return f"<elementwise kernel {self._name}>"

    def _divided(self, args: tuple[Any, ...], out: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The operands, and the arrays that were given for results."""
        count, results = len(self._operation.ins), len(self._operation.outs)
        outs = () if out is None else out if isinstance(out, tuple) else (out,)
        if len(args) == count + results and out is None:
            args, outs = args[:count], args[count:]
        if len(args) != count or len(outs) not in (0, results):
            raise TypeError(
                f"{self._name}: {len(args)} arguments and {len(outs)} in out; accepted: {count}, and {results} or none"
            )
        return args, outs

    def _size(self, size: Any) -> int:
        try:
            found = index(size)
        except TypeError:
            found = -1
        if found < 0:
            raise ValueError(f"{self._name}: size is {size!r}; accepted: an integer, 0 or more")
        return found

    def _require_writable(self, outs: tuple[Any, ...]) -> None:
        """ValueError if a result is read-only; frameworks are told that it is written."""
        names = tuple(each.name for each in self._operation.outs)
        operands = Operands(self._name, names, outs)
        operands.release()
        for name, out, writable in zip(names, outs, operands.writable, strict=True):
            if not writable:
                raise ValueError(f"{self._name}: {name} is read-only; accepted: a writable array")
            adapter = adapter_of(type(out)) if not isinstance(out, Tensor) else None
            if adapter is not None:
                adapter.written(out)

    def _of_scalars(self, arguments: tuple[Any, ...], size: int | None) -> Any:
        """The results of scalars alone, on the default device."""
        engine = engine_of(default_device())
        values = [each.item() if isinstance(each, np.generic) else each for each in arguments]
        require_gpu(default_device(), self._name)
        program = _plan(self._operation, engine, tuple(map(type, values)), size, False, default_device())
        made = state.steady_of_several(engine, *program)(*values)
        return made if len(made) > 1 else made[0]


def _plan(
    operation: Operation,
    engine: Engine,
    specs: tuple[Operand, ...],
    size: int | None,
    given: bool,
    device: Device | None = None,
) -> Program:
    from xpops.engine.cuda.user import elementwise

    place = device or next(spec.device for spec in specs if isinstance(spec, Layout))
    require_gpu(place, operation.name)
    call = user_call(operation, specs, size, given, place)
    return Program(() if given else call.outs, elementwise(cast("CudaEngine", engine), call))


def user_call(
    operation: Operation, specs: tuple[Operand, ...], size: int | None, given: bool, device: Device
) -> UserCall:
    """What the operation does to operands, and to results behind them if these are given."""
    from xpops.engine.cuda.user_operands import UserCall

    ins, results = specs[: len(operation.ins)], specs[len(operation.ins) :]
    types, shape = bound(operation, ins, results), call_shape(operation, ins, results, size)
    if given:
        outs = tuple(each for each in results if isinstance(each, Layout))
        for parameter, layout in zip(operation.outs, outs, strict=True):
            if not parameter.raw and overlaps_itself(layout):
                raise ValueError(
                    f"{operation.name}: {parameter.name} may have several elements at one address; accepted: an array "
                    "without repeats"
                )
    else:
        full = tuple(spec for spec, each in zip(ins, operation.ins, strict=True) if not each.raw)
        outs = tuple(
            layout_of(dtype, shape, None, device)
            if parameter.raw
            else result_layout(Signature((), dtype, shape), full, device)
            for parameter, dtype in zip(operation.outs, types.outs, strict=True)
        )
    return UserCall(operation, types, ins, outs, given, shape)
