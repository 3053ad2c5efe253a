"""User-defined elementwise operators, from statements of C++."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from xpops.api.compilation import offer
from xpops.api.devices import default_device
from xpops.api.kernel.backward import set_backward
from xpops.api.kernel.compiled import CompiledKernel, compile_call, specs_on_gpu
from xpops.api.kernel.gpu import gpu_unless_traced, require_cuda
from xpops.api.kernel.results import SCALARS, require_no_repeats, require_writable, split_arguments
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.gradients.calls import require_no_gradient
from xpops.dispatch.keys import way_of
from xpops.dispatch.primitives import call
from xpops.dispatch.steady import launches, make_launch_on
from xpops.engine import engine_of
from xpops.engine.program import Program
from xpops.engine.protocol import Engine
from xpops.engine.shapes import compute_nothing
from xpops.plan.result import result_layout
from xpops.plan.signature import Operand, Signature
from xpops.plan.user import Operation, bind_dtypes, call_shape, parse_definitions, parse_parameters

if TYPE_CHECKING:
    from xpops.core.devices import Device
    from xpops.engine.cuda.user.operands import UserCall


class ElementwiseKernel:
    """A user-defined elementwise operator, from statements of C++.

    It broadcasts, and takes scalars and arrays of any framework, layout and dtype. A kernel is compiled when
    a call first needs it, for the dtypes and layouts of this call.

    Parameters
    ----------
    in_params, out_params : str
        Parameters with dtypes, like ``"float32 x, T y, raw T z"``. A letter means any dtype, the same one wherever the
        letter occurs. A ``raw`` array does not broadcast: the operation indexes it. ``z[k]`` is element ``k`` in C
        order, and ``z[_ind.get()]`` the element at the same position along all axes. ``z.size()``, ``z.shape()[axis]``
        and ``z.strides()[axis]``, in bytes, are available, too.
    operation : str
        Statements that assign the parameters of `out_params`. They may use ``i``, the number of the element in C order,
        ``_ind.get()[axis]``, its position along an axis, and ``n`` or ``_ind.size()``, the number of elements.
    name : str
        The name in errors.
    preamble : str
        C++ before the operation: functions, includes.
    loop_prep, after_loop : str
        Statements before and after the operation. They can use raw parameters. A thread runs them for each element.
    options : sequence of str
        Definitions of macros, like ``"-DN=4"``.
    return_tuple : bool
        Whether a single result is returned as a tuple.
    no_return : bool
        Whether calls return None.
    reduce_dims : bool
        Accepted for CuPy's kernels, without effect: ``_ind`` and raw arrays always have all axes.
    backward : callable, optional
        The gradient, for torch: ``backward(g, *operands)`` takes the cotangent of the result (a tuple if there are
        several), and returns that of each operand (None if it has none; a tuple if there are several operands). It may
        use any functions of arrays. If these have gradients, there are second derivatives.

    Notes
    -----
    float16, bfloat16 and float8 are float in the operation, and a letter for them means float. Complex numbers have
    ``re`` and ``im``. A result that the operation does not assign is 0, or keeps the value in the array that was passed
    for it. A raw result that is not passed has the broadcast shape, and is uninitialised. Scalars are converted as in
    C++: for an integer parameter 2.5 is 2, and for an unsigned one -1 is the largest value.

    Raises
    ------
    ValueError
        If a text does not have the form described above.

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
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        *,
        loop_prep: str = "",
        after_loop: str = "",
        options: Sequence[str] = (),
        backward: Callable[..., Any] | None = None,
    ) -> None:
        if not name.isidentifier():
            raise ValueError(f"ElementwiseKernel: name is {name!r}; accepted: a name as C++ has them")
        ins, outs = parse_parameters(in_params, "in_params", name), parse_parameters(out_params, "out_params", name)
        if not outs or not {each.name for each in ins}.isdisjoint(each.name for each in outs):
            raise ValueError(f"{name}: out_params is {out_params!r}; accepted: at least one, by a name of its own")
        macros = parse_definitions(options, name)
        self._operation = Operation(name, ins, outs, operation, preamble, loop_prep, after_loop, macros)
        self.__name__ = name
        self._form = _return_none if no_return else _as_tuple if return_tuple else None
        # A key of plans: equal only to itself.
        self._names = tuple(each.name for each in (*self._operation.ins, *self._operation.outs))
        self._plan = functools.partial(_plan, self._operation)
        set_backward(self._plan, name, backward)
        offer(self)

    def __call__(self, *args: Any, size: int | None = None, out: Any = None, block_size: int | None = None) -> Any:
        """Compute the results: an array, or a tuple of arrays.

        Parameters
        ----------
        *args : array or scalar
            One for each of `in_params`; arrays for `out_params` may follow. Scalars get the dtype of the parameter.
        size : int, optional
            The number of elements, if all arrays are raw.
        out : array, or tuple or list of array, optional
            The results are written to it and it is returned.
        block_size : int, optional
            Accepted for CuPy's kernels, without effect: the plan chooses the block.

        Raises
        ------
        TypeError
            If the number of arguments is wrong, or dtypes do not fit.
        ValueError
            If shapes do not fit, or a result is read-only, overlaps another one, or partly overlaps an operand.
        OverflowError
            If an integer for an integer parameter has more than 64 bits.
        DeviceError
            If the arrays are on the CPU.
        CompileError
            If the operation does not compile.
        """
        ins, outs = split_arguments(args, out, self._operation)
        if size is not None:
            size = self._count(size, "size", 0)
        if block_size is not None:
            self._count(block_size, "block_size", 1)
        given, arguments = bool(outs), (*ins, *outs)
        if given:
            require_no_gradient(self.__name__, arguments)
        require_writable(self._operation, outs)
        if all(isinstance(x, SCALARS) for x in arguments):
            made = self._call_with_scalars(arguments, size)
        else:
            made = call(self._plan, self.__name__, self._names[: len(arguments)], arguments, size, given)
        if self._form is not None:
            return self._form(outs or made)
        return made if not given else outs if len(outs) > 1 else outs[0]

    def compile(self, capability: int, /, *args: Any, size: int | None = None, out: Any = None) -> CompiledKernel:
        """The kernel of a call with such arguments, compiled for GPUs of a compute capability. Needs no GPU.

        Parameters
        ----------
        capability : int
            90 means sm_90.
        *args, size, out
            As for a call. Arrays may be on the CPU: only their dtypes, shapes, strides and alignment count.

        Examples
        --------
        >>> double = xp.kernel.ElementwiseKernel("T x", "T y", "y = x + x", "double_it")
        >>> made = double.compile(90, xp.ones(1000, dtype=xp.float32))
        >>> made.capability, made.resources.local_bytes
        (90, 0)
        """
        ins, outs = split_arguments(args, out, self._operation)
        arguments = (*ins, *outs)
        specs = specs_on_gpu(self.__name__, self._names[: len(arguments)], arguments)

        (made,) = compile_call(capability, self.__name__, self._plan, specs, size, bool(outs))
        return made

    def __repr__(self) -> str:
        return f"<elementwise kernel {self.__name__}>"

    def _count(self, given: Any, argument: str, least: int) -> int:
        with suppress(TypeError):
            if index(given) >= least:
                return index(given)
        raise ValueError(f"{self.__name__}: {argument} is {given!r}; accepted: an integer, {least} or more")

    def _call_with_scalars(self, arguments: tuple[Any, ...], size: int | None) -> Any:
        """The results of a call without arrays, on the default device."""
        device = default_device()
        values = [each.item() if isinstance(each, np.generic) else each for each in arguments]
        kinds = tuple(map(type, values))
        key = (way_of(self._plan, (size, device)), *kinds)
        launch = launches.get(key)
        if launch is None:
            engine = require_cuda(engine_of(device), device, self.__name__)
            program = _plan(self._operation, engine, kinds, size, False, device)
            launch = launches[key] = make_launch_on(engine, *program, None, engine.current_stream)
        return launch(*values)


def _as_tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def _return_none(results: Any) -> None:
    """Return None. The result of a kernel with `no_return`."""


def _plan(
    operation: Operation,
    engine: Engine,
    specs: tuple[Operand, ...],
    size: int | None,
    given: bool,
    device: Device | None = None,
) -> Program:
    from xpops.engine.cuda.user.elementwise import elementwise

    target = device or next(spec.device for spec in specs if isinstance(spec, Layout))
    gpu = gpu_unless_traced(engine, target, operation.name)
    call = user_call(operation, specs, size, given, target)
    return Program(() if given else call.outs, elementwise(gpu, call) if gpu else compute_nothing)


def user_call(
    operation: Operation, specs: tuple[Operand, ...], size: int | None, given: bool, device: Device
) -> UserCall:
    """The description of a call on operands, followed by results if these are `given`."""
    from xpops.engine.cuda.user.operands import UserCall

    ins, results = specs[: len(operation.ins)], specs[len(operation.ins) :]
    types, shape = bind_dtypes(operation, ins, results), call_shape(operation, ins, results, size)
    if given:
        outs = tuple(each for each in results if isinstance(each, Layout))
        require_no_repeats(operation, outs)
    else:
        full = tuple(spec for spec, each in zip(ins, operation.ins, strict=True) if not each.raw)
        outs = tuple(
            layout_of(dtype, shape, None, device)
            if parameter.raw
            else result_layout(Signature((), dtype, shape), full, device)
            for parameter, dtype in zip(operation.outs, types.outs, strict=True)
        )
    return UserCall(operation, types, ins, outs, given, shape)
