"""User-defined reductions, from expressions of C++."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xpops.api.compilation import offer
from xpops.api.kernel.compiled import CompiledKernel, compile_call, specs_on_gpu
from xpops.api.kernel.gpu import gpu_unless_traced
from xpops.api.kernel.results import require_no_repeats, require_writable, split_arguments
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.primitives import call, freeze
from xpops.engine.program import Data, Kernel, Program
from xpops.engine.protocol import Engine
from xpops.engine.shapes import compute_nothing
from xpops.plan.signature import Operand
from xpops.plan.strides import views
from xpops.plan.strides.overlap import elements_apart
from xpops.plan.user import (
    RESERVED,
    Operation,
    Types,
    UserReduction,
    bind_dtypes,
    call_shape,
    parse_definitions,
    parse_parameters,
)

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine

_ARRAY = "an array that is not raw"
_REFUSED = ("_in_ind", "_out_ind", "_i", "_j", "_J")


class ReductionKernel:
    """A user-defined reduction along any axes, from expressions of C++.

    It is one kernel, which reads every array once. In three cases a separate kernel writes the values of `map_expr`
    first: an array is transposed relative to another, an array is raw, or `map_expr` uses ``i``, ``n`` or ``_ind``.

    Parameters
    ----------
    in_params, out_params : str
        As for `ElementwiseKernel`; there is one result.
    map_expr : str
        The expression that is reduced: of the elements, and of ``i``, ``n`` and ``_ind`` as for `ElementwiseKernel`.
    reduce_expr : str
        An expression of ``a`` and ``b`` that combines two values. Associative and commutative, except for rounding.
    post_map_expr : str
        Statements that assign the result, from ``a``.
    identity : str or number
        The value that changes no other value when combined with it. Empty or None: there is none, and reducing no
        elements is an error.
    name : str
        The name in errors.
    reduce_type : str, optional
        The type of ``a`` and ``b``: a dtype's name, a letter, or a type of C++, such as a structure of the
        preamble. It is trivial, with up to 32 bytes, or 24 without an identity. By default that of the result, or float
        if this is narrower.
    reduce_dims : bool
        Accepted for CuPy's kernels, without effect: raw arrays always have all axes.
    preamble : str
        C++ before the expressions: functions, structures, includes.
    options : sequence of str
        Definitions of macros, like ``"-DN=4"``.

    Raises
    ------
    ValueError
        If a text does not have the form described above.

    Examples
    --------
    >>> norm = xp.kernel.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    >>> norm(xp.ones((3, 4), device="cpu"), axis=1)
    Traceback (most recent call last):
    xpops.core.errors.DeviceError: norm: the arrays are on cpu; kernels of one's own need a GPU
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: Sequence[str] = (),
    ) -> None:
        if not name.isidentifier():
            raise ValueError(f"ReductionKernel: name is {name!r}; accepted: a name as C++ has them")
        ins, outs = parse_parameters(in_params, "in_params", name), parse_parameters(out_params, "out_params", name)
        if len(outs) != 1 or outs[0].raw or not {each.name for each in ins}.isdisjoint(("a", "b", outs[0].name)):
            raise ValueError(
                f"{name}: out_params is {out_params!r}; accepted: one that is not raw, and no parameter called a or b"
            )
        known = "" if identity is None else str(identity).strip()
        self._operation = Operation(name, ins, outs, map_expr, preamble, definitions=parse_definitions(options, name))
        whole = self._operation._replace(body=f"{map_expr}\n{reduce_expr}\n{post_map_expr}")
        for word in filter(whole.mentions, _REFUSED):
            raise ValueError(f"{name}: {word} is not known here; accepted: i, n and _ind in map_expr")
        self.__name__ = name
        # A key of plans: equal only to itself.
        self._names = tuple(each.name for each in (*self._operation.ins, *self._operation.outs))
        self._plan = functools.partial(
            _plan, UserReduction(self._operation, reduce_expr, post_map_expr, known, reduce_type)
        )
        offer(self)

    def __call__(
        self, *args: Any, out: Any = None, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
    ) -> Any:
        """Compute the result.

        Parameters
        ----------
        *args : array or scalar
            One for each of `in_params`; an array for the result may follow.
        out : array, optional
            The result is written to it and it is returned.
        axis : int or tuple of int, optional
            The axes to reduce; by default all axes of the broadcast shape.
        keepdims : bool
            Whether the result keeps the reduced axes, with length 1.

        Raises
        ------
        TypeError
            If the number of arguments is wrong, or dtypes do not fit.
        ValueError, IndexError
            If the arrays do not broadcast, or have no such axes; if there are no elements and no identity; if the
            result that was passed has another shape, is read-only, or overlaps an operand.
        DeviceError
            If the arrays are on the CPU.
        CompileError
            If an expression does not compile.
        """
        ins, outs = split_arguments(args, out, self._operation)
        axes = axis if axis is None or axis.__class__ is int else freeze(axis, self.__name__)
        arguments, parameters = (*ins, *outs), (axes, bool(keepdims))
        require_writable(self._operation, outs)
        made = call(self._plan, self.__name__, self._names[: len(arguments)], arguments, *parameters)
        return outs[0] if outs else made

    def compile(
        self, capability: int, /, *args: Any, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
    ) -> tuple[CompiledKernel, ...]:
        """The kernels of a call with such arguments, compiled for GPUs of a compute capability. Needs no GPU.

        Parameters
        ----------
        capability : int
            90 means sm_90.
        *args, axis, keepdims
            As for a call. Arrays may be on the CPU: only their dtypes, shapes, strides and alignment count.

        Returns
        -------
        tuple of CompiledKernel
            In most cases one. Two if the mapped values have to be written to memory first.

        Examples
        --------
        >>> norm = xp.kernel.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
        >>> (made,) = norm.compile(90, xp.ones((100, 100)), axis=1)
        >>> made.resources.local_bytes
        0
        """
        ins, outs = split_arguments(args, None, self._operation)
        arguments = (*ins, *outs)
        specs = specs_on_gpu(self.__name__, self._names[: len(arguments)], arguments)
        return compile_call(capability, self.__name__, self._plan, specs, freeze(axis, self.__name__), bool(keepdims))

    def __repr__(self) -> str:
        return f"<reduction kernel {self.__name__}>"


def _plan(reduction: UserReduction, engine: Engine, specs: tuple[Operand, ...], axis: Any, keepdims: bool) -> Program:
    operation = reduction.map
    ins, given = specs[: len(operation.ins)], specs[len(operation.ins) :]
    (device, *_) = (spec.device for spec in specs if isinstance(spec, Layout))
    gpu = gpu_unless_traced(engine, device, operation.name)
    types, shape = bind_dtypes(operation, ins, given), call_shape(operation, ins, (), None, _ARRAY)
    axes = tuple(range(len(shape))) if axis is None else views.axes_of(axis, len(shape), operation.name)
    final = tuple(1 if i in axes else length for i, length in enumerate(shape) if keepdims or i not in axes)
    out = next((each for each in given if isinstance(each, Layout)), layout_of(types.outs[0], final, None, device))
    if out.shape != final:
        raise ValueError(f"{operation.name}: out has shape {out.shape}; accepted: {final}")
    kernel = _kernel(gpu, reduction, types, ins, shape, axes, out) if gpu else compute_nothing
    if not given:
        return Program((out,), kernel)
    require_no_repeats(operation, (out,))
    return Program((), _kernel_for_out(kernel, operation, ins, out))


def _kernel(
    engine: CudaEngine,
    reduction: UserReduction,
    types: Types,
    ins: tuple[Operand, ...],
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    out: Layout,
) -> Kernel:
    """The kernel ``(stream, out, *ins)`` of a call."""
    from xpops.engine.cuda.user.reduce import in_one, of_nothing, reduced, state_dtype, transposed, value_of

    operation, steps = reduction.map, iter(out.strides)
    if 0 in shape:
        if out.size and not reduction.identity:
            raise ValueError(
                f"{operation.name}: nothing is reduced, of shape {shape} along the axes {axes}; accepted: that only "
                "where there is an identity"
            )
        fill = of_nothing(engine, reduction, types, out)
        return lambda stream, out, *_: fill(stream, out)
    if len(out.shape) == len(shape):  # reduced axes are kept
        strides = tuple(0 if i in axes else stride for i, stride in enumerate(out.strides))
    else:
        strides = tuple(0 if i in axes else next(steps) for i in range(len(shape)))
    if any(each.raw for each in operation.ins) or any(map(operation.mentions, RESERVED)):
        return _two_step_kernel(engine, reduction, types, ins, shape, axes, strides)
    (x, *others), value = ins, value_of(ins, shape)
    if isinstance(x, Layout) and not others:
        return reduced(engine, reduction, types, x, axes, strides, True)
    if transposed(engine, value, ins) and state_dtype(reduction, types) is not None:
        return _two_step_kernel(engine, reduction, types, ins, shape, axes, strides)
    return in_one(engine, reduction, types, ins, value, axes, strides)


def _kernel_for_out(kernel: Kernel, operation: Operation, ins: tuple[Operand, ...], out: Layout) -> Kernel:
    """`kernel` with the result as the last argument. ValueError if the result overlaps an operand."""
    apart = [
        (place, elements_apart(out, spec), parameter.name)
        for place, (parameter, spec) in enumerate(zip(operation.ins, ins, strict=True))
        if isinstance(spec, Layout) and not parameter.raw
    ]

    def check_and_launch(stream: int, *values: Any) -> None:
        *given, target = values
        for place, holds, name in apart:
            if not holds(given[place] - target):
                raise ValueError(f"{operation.name}: {operation.outs[0].name} overlaps {name}; accepted: memory apart")
        kernel(stream, target, *given)

    return check_and_launch


def _two_step_kernel(
    engine: CudaEngine,
    reduction: UserReduction,
    types: Types,
    specs: tuple[Operand, ...],
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    strides: tuple[int, ...],
) -> Kernel:
    """The kernel ``(stream, out, *operands)`` that writes the values of `map_expr`, and then reduces them."""
    from xpops.engine.cuda.user.reduce import mapped, reduced, state_dtype

    name, dtype = reduction.map.name, state_dtype(reduction, types)
    if dtype is None:
        raise ValueError(
            f"{name}: reduce_type is {reduction.state!r}; accepted where map_expr is a kernel of its own: a dtype"
        )
    device = next(spec.device for spec in specs if isinstance(spec, Layout))
    made = layout_of(dtype, shape, None, device)
    write = mapped(engine, reduction, types, specs, made)
    reduce, allocate = reduced(engine, reduction, types, made, axes, strides, False), engine.allocator(made)

    def kernel(stream: int, out: Data, *operands: Any) -> None:
        data, owner = allocate(stream)
        write(stream, data, *operands)
        reduce(stream, out, data)
        del owner  # kept until the kernels were launched; the pool is ordered on the stream

    return kernel
