"""Reductions of a user's own as kernels of the reduce family."""

from __future__ import annotations

import struct
from math import prod
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.arguments import TYPES
from xpops.engine.cuda.glue import NARROW
from xpops.engine.cuda.reduce import STATE_BYTES, launched, reduce_glue
from xpops.engine.cuda.tuning import reduce_policy
from xpops.engine.cuda.user import USING, elementwise, letters, located, method
from xpops.engine.cuda.user_operands import UserCall, computed
from xpops.engine.protocol import Kernel
from xpops.plan.coalesce import Strides
from xpops.plan.reduce import ReducePlan, plan_reduce
from xpops.plan.signature import Operand
from xpops.plan.user import Parameter, Types, UserReduction

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine


def mapped(
    engine: CudaEngine, reduction: UserReduction, types: Types, ins: tuple[Operand, ...], made: Layout
) -> Kernel:
    """The kernel ``(stream, made, *ins)`` that writes what is to be reduced, of the states' dtype."""
    operation = reduction.map
    target = Parameter("xpops_state", made.dtype, False)
    each = operation._replace(outs=(target,), body=f"xpops_state = {operation.body}")
    return elementwise(engine, UserCall(each, types._replace(outs=(made.dtype,)), ins, (made,), False, made.shape))


def reduced(
    engine: CudaEngine,
    reduction: UserReduction,
    types: Types,
    x: Layout,
    axes: tuple[int, ...],
    strides: Strides,
    maps: bool,
) -> Kernel:
    """The kernel ``(stream, out, x)`` that reduces `axes` of `x`, which is not empty, and maps its elements first."""
    found = reduce_source(reduction, types, x, axes, strides, maps, engine.context.multiprocessors)
    return launched(engine, reduction.map.name, "Q", *found)


def of_nothing(engine: CudaEngine, reduction: UserReduction, types: Types, out: Layout) -> Kernel:
    """The kernel ``(stream, out)`` that writes what is made of the identity."""
    operation = reduction.map
    state = state_type(reduction, types)
    made = f"{conversion(reduction, types)}({reduction.identity})"
    body = f"{state} a = {made};\n{reduction.finish}"
    fill = operation._replace(ins=(), body=body)
    return elementwise(engine, UserCall(fill, types._replace(ins=()), (), (out,), False, out.shape))


def state_dtype(reduction: UserReduction, types: Types) -> DType | None:
    """The dtype of states; None where they are of a type of the user's."""
    if reduction.state is None:
        found: DType | None = types.outs[0]
    else:
        found = dict(types.letters).get(reduction.state) or _NAMES.get(reduction.state) or TYPES.get(reduction.state)
    return dt.float32 if found in NARROW else found


def state_type(reduction: UserReduction, types: Types) -> str:
    """The type of states in C++."""
    dtype = state_dtype(reduction, types)
    return computed(dtype) if dtype is not None else str(reduction.state)


def conversion(reduction: UserReduction, types: Types) -> str:
    """What makes a state of an expression's value."""
    state = state_type(reduction, types)
    return state if state_dtype(reduction, types) is None else f"xpops::cast<{state}>"


_NAMES = {dtype.name: dtype for dtype in dt.INFO}


def reduce_source(
    reduction: UserReduction,
    types: Types,
    x: Layout,
    axes: tuple[int, ...],
    strides: Strides,
    maps: bool,
    multiprocessors: int,
) -> tuple[ReducePlan, str, bytes]:
    """The plan, the source and the parameters after the slots. Needs no GPU."""
    plan = plan_reduce(x, axes, strides, reduce_policy(multiprocessors))
    count = prod(x.shape[axis] for axis in axes)
    lines = ["#include <xpops/kernels/reduce.cuh>", "#include <xpops/kernels/user.cuh>"]
    if not dt.CATEGORIES["complex floating-point"].isdisjoint((x.dtype, *types.outs)):
        lines.append("#include <xpops/math/complex.cuh>")
    lines += [*USING, *letters(types), *reduction.map.definitions]
    located(lines, reduction.map.preamble, "preamble", reduction.map.name)
    _reducer(lines, reduction, types, x.dtype, maps)
    reducer = "XpopsReducer"
    if not reduction.identity:
        reducer = "XpopsNonempty"
        lines += ["template <class T>", f"using {reducer} = xpops::Nonempty<XpopsReducer<T>>;"]
        lines.append(_limit(f"{reducer}<int>::State"))
    lines.append(reduce_glue(reducer, "reduction", x.dtype, x.dtype, types.outs[0], plan, 1))
    return plan, "\n".join(lines), struct.pack("<dd", count, count) + plan.tail


def _limit(state: str) -> str:
    return f'static_assert(sizeof({state}) <= {STATE_BYTES}, "states of up to {STATE_BYTES} bytes");'


def _reducer(lines: list[str], reduction: UserReduction, types: Types, dtype: DType, maps: bool) -> None:
    """Add the reducer; see ``math/reduction.cuh``."""
    operation = reduction.map
    (out,), name = operation.outs, operation.name
    result, made = computed(types.outs[0]), f"return {conversion(reduction, types)}("
    lines += [
        "template <class>",
        "struct XpopsReducer {",
        f"  using State = {state_type(reduction, types)};",
        f"  {_limit('State')}",
        "  static constexpr bool kShifts = false;",
    ]
    if reduction.identity:
        method(lines, "static State identity()", made, (reduction.identity, "identity", name), ");")
    taken = operation.ins[0].name if maps else "xpops_state"
    mapping = operation.body if maps else taken
    head = f"static State lift({computed(dtype)} {taken}, xpops::int64)"
    method(lines, head, made, (mapping, "map_expr", name), ");")
    method(lines, "static State combine(State a, State b)", made, (reduction.combine, "reduce_expr", name), ");")
    head, after = f"static {result} finish(State a, const xpops::Ending&)", f"; return {out.name};"
    method(lines, head, f"{result} {out.name}{{}};", (reduction.finish, "post_map_expr", name), after)
    lines.append("};")
