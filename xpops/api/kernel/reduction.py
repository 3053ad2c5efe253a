"""Reductions in a few lines of C++."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, cast

from xpops.api.kernel.gpu import require_gpu
from xpops.core.layouts import Layout, contiguous_strides, layout_of
from xpops.dispatch import state
from xpops.dispatch.primitives import compute
from xpops.dispatch.state import launches
from xpops.engine.protocol import Data, Engine, Program
from xpops.plan import views
from xpops.plan.signature import Operand
from xpops.plan.user import Operation, UserReduction, bound, call_shape, parameters

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine

_REFUSED = re.compile(r"\b(_in_ind|_out_ind|_i|_j|_J)\b")


class ReductionKernel:
    """A reduction of one's own along any axes, from expressions of C++.

    Of one array it is one kernel, which reads the array once. Of several operands, raw ones, or where `map_expr` has
    ``i`` or ``n``, a kernel of its own writes the values of `map_expr` first.

    Parameters
    ----------
    in_params, out_params : str
        As for `ElementwiseKernel`; there is one result.
    map_expr : str
        An expression of the elements: what is reduced.
    reduce_expr : str
        An expression of ``a`` and ``b``: one value of two. It is associative and commutative, but for rounding.
    post_map_expr : str
        Statements that assign the result, made of ``a``.
    identity : str or number
        What changes nothing when it is reduced with something.
    name : str
        What errors call it.
    reduce_type : str, optional
        The type of ``a`` and ``b``: a dtype's name, a letter, or a type of C++, which may be a structure of the
        preamble's: trivial, of up to 32 bytes. By default that of the result; float where this is narrower.
    preamble : str
        What stands before the expressions in the source.

    Raises
    ------
    ValueError
        If a text is not as above.

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
        *,
        reduce_type: str | None = None,
        preamble: str = "",
    ) -> None:
        if not name.isidentifier():
            raise ValueError(f"ReductionKernel: name is {name!r}; accepted: a name as C++ has them")
        ins, outs = parameters(in_params, "in_params", name), parameters(out_params, "out_params", name)
        if len(outs) != 1 or outs[0].raw or not {each.name for each in ins}.isdisjoint(("a", "b", outs[0].name)):
            raise ValueError(
                f"{name}: out_params is {out_params!r}; accepted: one that is not raw, and no parameter called a or b"
            )
        for text in (map_expr, reduce_expr, post_map_expr):
            found = _REFUSED.search(text)
            if found:
                raise ValueError(f"{name}: {found[0]} is not known here; accepted: i and n in map_expr")
        if identity is None or not str(identity).strip():
            raise ValueError(f"{name}: identity is {identity!r}; accepted: an expression")
        operation = Operation(name, ins, outs, map_expr, preamble)
        self._name = name
        # Equal and hashed by identity: they are keys of plans.
        self._plan = functools.partial(
            _plan, UserReduction(operation, reduce_expr, post_map_expr, str(identity), reduce_type)
        )
        self._ins = tuple(each.name for each in ins)

    def __call__(self, *args: Any, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
        """The result.

        Parameters
        ----------
        *args : array or scalar
            For each of `in_params`.
        axis : int or tuple of int, optional
            By default all axes of what the arrays broadcast to.
        keepdims : bool
            Whether reduced axes stay, of length 1.

        Raises
        ------
        TypeError
            If there are too few arguments, or dtypes do not fit.
        ValueError, IndexError
            If the arrays do not broadcast, or have no such axes.
        DeviceError
            If the arrays are on the CPU.
        CompileError
            If an expression is no C++.
        """
        if len(args) != len(self._ins):
            raise TypeError(f"{self._name}: {len(args)} arguments; accepted: {len(self._ins)}")
        cls, axes = state.array_class, tuple(axis) if isinstance(axis, list) else axis
        key = (self._plan, *[x._layout if x.__class__ is cls else x.__class__ for x in args], axes, bool(keepdims))
        launch = launches.get(key)
        if launch is not None:
            return launch(*[x._data if x.__class__ is cls else x for x in args])
        return compute(self._plan, self._name, self._ins, args, axes, bool(keepdims), steady=True)

    def __repr__(self) -> str:
        return f"<reduction kernel {self._name}>"


def _plan(reduction: UserReduction, engine: Engine, specs: tuple[Operand, ...], axis: Any, keepdims: bool) -> Program:
    from xpops.engine.cuda.user_reduce import of_nothing, reduced

    operation = reduction.map
    (device, *_) = (spec.device for spec in specs if isinstance(spec, Layout))
    require_gpu(device, operation.name)
    on_gpu, types, shape = (
        cast("CudaEngine", engine),
        bound(operation, specs, ()),
        call_shape(operation, specs, (), None),
    )
    axes = tuple(range(len(shape))) if axis is None else views.axes_of(axis, len(shape), operation.name)
    kept = tuple(1 if i in axes else length for i, length in enumerate(shape))
    strides = tuple(0 if i in axes else stride for i, stride in enumerate(contiguous_strides(kept)))
    final = kept if keepdims else tuple(length for i, length in enumerate(shape) if i not in axes)
    out = layout_of(types.outs[0], final, None, device)
    if 0 in shape:
        fill = of_nothing(on_gpu, reduction, types, out)
        return Program((out,), lambda stream, out, *_: fill(stream, out))
    (x, *others), words = specs, ("i", "n", "_ind")
    alone = not others and isinstance(x, Layout) and not any(map(operation.mentions, words))
    if alone:
        return Program((out,), reduced(on_gpu, reduction, types, cast("Layout", x), axes, strides, True))
    return Program((out,), _in_two(on_gpu, reduction, specs, shape, axes, strides))


def _in_two(
    engine: CudaEngine,
    reduction: UserReduction,
    specs: tuple[Operand, ...],
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    strides: tuple[int, ...],
) -> Any:
    """The kernel ``(stream, out, *operands)`` that writes what is to be reduced, and then reduces it."""
    from xpops.engine.cuda.user_reduce import mapped, reduced, state_dtype

    types, name = bound(reduction.map, specs, ()), reduction.map.name
    dtype = state_dtype(reduction, types)
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
