"""User-defined reductions as kernels of the reduce family."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.glue import NARROW, wire_of
from xpops.engine.cuda.kernels.reduce import (
    STATE_BYTES,
    ReduceSource,
    array_source,
    ending,
    entry_point,
    launched,
    reduce_header,
)
from xpops.engine.cuda.tuning import reduce_policy, tuning_of
from xpops.engine.cuda.user.arguments import TYPES
from xpops.engine.cuda.user.elementwise import elementwise, method, opening, with_scalars, within
from xpops.engine.cuda.user.operands import UserCall, c_type, computed
from xpops.engine.program import Kernel
from xpops.plan.fused.reduce import FusedReducePlan, plan_fused_reduce
from xpops.plan.reduce import plan_reduce
from xpops.plan.reduce.parameters import ReducePolicy
from xpops.plan.result import result_layout
from xpops.plan.signature import Operand, Signature
from xpops.plan.strides.coalesce import Strides
from xpops.plan.transpose import plan_transpose
from xpops.plan.user import Parameter, Types, UserReduction

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime


def mapped(runtime: Runtime, reduction: UserReduction, types: Types, ins: tuple[Operand, ...], made: Layout) -> Kernel:
    """The kernel ``(stream, made, *ins)`` that maps the operands to an array of states, for `reduced`."""
    operation = reduction.map
    target = Parameter("xpops_state", made.dtype, False)
    before = f"xpops_state = {conversion(reduction, types)}("
    each = operation._replace(outs=(target,), parts=((before, "map_expr", operation.body, ");"),))
    return elementwise(runtime, UserCall(each, types._replace(outs=(made.dtype,)), ins, (made,), False, made.shape))


def reduced(
    runtime: Runtime,
    reduction: UserReduction,
    types: Types,
    x: Layout,
    axes: tuple[int, ...],
    strides: Strides,
    maps: bool,
) -> Kernel:
    """The kernel ``(stream, out, x)`` that reduces `axes` of `x`, which is not empty. If `maps`, it maps first."""
    policy = reduce_policy(runtime.context.capability, runtime.context.multiprocessors)
    found = reduce_source(reduction, types, x, axes, strides, maps, policy)
    return launched(runtime, reduction.map.name, found)


def in_one(
    runtime: Runtime,
    reduction: UserReduction,
    types: Types,
    ins: tuple[Operand, ...],
    value: Layout,
    axes: tuple[int, ...],
    strides: Strides,
) -> Kernel:
    """The kernel ``(stream, out, *ins)`` that maps operands of any strides and reduces `axes` of the mapped values.

    Parameters
    ----------
    value : Layout
        The layout that the mapped values would have in memory; see `value_of`.
    """
    operation = reduction.map
    policy = reduce_policy(runtime.context.capability, runtime.context.multiprocessors)
    found = in_one_source(reduction, types, ins, value, axes, strides, policy)
    launch = launched(runtime, operation.name, found)
    return with_scalars(launch, operation, ins, types.ins, 1)


def value_of(ins: tuple[Operand, ...], shape: tuple[int, ...]) -> Layout:
    """The layout that the mapped values would have in memory, with the widest operand's dtype."""
    arrays = [spec for spec in ins if isinstance(spec, Layout)]
    widest = max((each.dtype for each in arrays), key=lambda dtype: dtype.itemsize)
    return result_layout(Signature((), widest, shape), ins, arrays[0].device)


def transposed(runtime: Runtime, value: Layout, ins: tuple[Operand, ...]) -> bool:
    """Whether an operand is transposed to another: then another kernel should write the mapped values to an array."""
    return plan_transpose(value, ins, tuning_of(runtime.context.capability).elementwise) is not None


def of_nothing(runtime: Runtime, reduction: UserReduction, types: Types, out: Layout) -> Kernel:
    """The kernel ``(stream, out)`` for a reduction of no elements: it writes the finished identity."""
    operation = reduction.map
    before = f"{state_type(reduction, types)} a = {conversion(reduction, types)}("
    parts = ((before, "identity", reduction.identity, ");"), ("", "post_map_expr", reduction.finish, ";"))
    fill = operation._replace(ins=(), body=state_text(reduction), parts=parts)
    return elementwise(runtime, UserCall(fill, types._replace(ins=()), (), (out,), False, out.shape))


def state_dtype(reduction: UserReduction, types: Types) -> DType | None:
    """The dtype of states; None if the user defines their type."""
    if reduction.state is None:
        found: DType | None = types.outs[0]
    else:
        found = dict(types.letters).get(reduction.state) or _NAMES.get(reduction.state) or TYPES.get(reduction.state)
    return dt.float32 if found in NARROW else found


def state_type(reduction: UserReduction, types: Types) -> str:
    """The C++ type of states."""
    dtype = state_dtype(reduction, types)
    return computed(dtype) if dtype is not None else str(reduction.state)


def state_text(reduction: UserReduction) -> str:
    """All of the user's text about states."""
    return "\n".join((reduction.state or "", reduction.identity, reduction.combine, reduction.finish))


def conversion(reduction: UserReduction, types: Types) -> str:
    """The C++ function that converts the value of an expression to a state."""
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
    policy: ReducePolicy,
) -> ReduceSource:
    """The plan and the source. Needs no GPU."""
    plan = plan_reduce(x, axes, strides, types.outs[0].itemsize, policy)
    lines = opening(reduction.map, types, reduce_header(plan), state=state_text(reduction))
    reducer = _reducer(lines, reduction, types, x.dtype if maps else None)
    stored = dt.INFO[x.dtype].c_type
    source = array_source(stored, stored, dt.INFO[types.outs[0]].c_type, plan)
    lines += within(entry_point(f"::{reducer}<compute_t<{stored}>>", source, plan, "1"))
    return ReduceSource(plan, "\n".join(lines), "Q", ending(_count(x, axes), 0.0) + plan.tail)


def in_one_source(
    reduction: UserReduction,
    types: Types,
    ins: tuple[Operand, ...],
    value: Layout,
    axes: tuple[int, ...],
    strides: Strides,
    policy: ReducePolicy,
) -> ReduceSource:
    """The plan and the source of one kernel for operands of any strides. Needs no GPU."""
    plan = plan_fused_reduce(value, ins, axes, strides, types.outs[0].itemsize, policy)
    operands, slots = _operands(types, ins, plan)
    lines = opening(
        reduction.map, types, reduce_header(plan.reduce), "kernels/fused/reduce", state=state_text(reduction)
    )
    lines += [f"using XpopsState = {state_type(reduction, types)};", "struct XpopsMap {"]
    given = ", ".join(
        f"{computed(dtype)} {each.name}" for each, dtype in zip(reduction.map.ins, types.ins, strict=True)
    )
    text = (reduction.map.body, "map_expr", reduction.map.name)
    method(lines, f"XpopsState operator()({given}) const", f"return {conversion(reduction, types)}(", text, ");")
    lines.append("};")
    reducer = _reducer(lines, reduction, types, None)
    arguments = ", ".join(["::XpopsMap", "::XpopsState", "::XpopsState", c_type(types.outs[0]), *operands])
    numbers = f"{len(slots)}, {plan.total}"
    entry = entry_point(f"::{reducer}<::XpopsState>", f"ReduceExpression<{arguments}>", plan.reduce, numbers)
    lines += within(entry)
    return ReduceSource(plan.reduce, "\n".join(lines), slots, ending(_count(value, axes), 0.0) + plan.reduce.tail)


def _operands(types: Types, ins: tuple[Operand, ...], plan: FusedReducePlan) -> tuple[list[str], str]:
    """The template arguments of the operands, and the `struct` format of their slots."""
    found, slots = [], ""
    for spec, dtype, mode, line in zip(ins, types.ins, plan.modes, plan.lines, strict=True):
        name = c_type(dtype)
        stored, form = (name, "Q") if isinstance(spec, Layout) else wire_of(dtype)[:2]
        found.append(f"ReduceOperand<{stored}, Mode::{mode}, {len(slots)}, {line}, {name}, {computed(dtype)}>")
        slots += form
    return found, slots


def _count(x: Layout, axes: tuple[int, ...]) -> int:
    return prod(x.shape[axis] for axis in axes)


def _reducer(lines: list[str], reduction: UserReduction, types: Types, dtype: DType | None) -> str:
    """Add the reducer, as ``math/reduction.cuh`` describes it, and return its name.

    Parameters
    ----------
    dtype : numpy.dtype or None
        The dtype of the single operand whose elements the reducer maps. None if its inputs are states.
    """
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
    if dtype is None:
        lines.append("  XPOPS_DEVICE static State lift(State state, xpops::int64) { return state; }")
    else:
        head = f"static State lift({computed(dtype)} {operation.ins[0].name}, xpops::int64)"
        method(lines, head, made, (operation.body, "map_expr", name), ");")
    method(lines, "static State combine(State a, State b)", made, (reduction.combine, "reduce_expr", name), ");")
    head, after = f"static {result} finish(State a, const xpops::Ending&)", f"; return {out.name};"
    method(lines, head, f"{result} {out.name}{{}};", (reduction.finish, "post_map_expr", name), after)
    lines.append("};")
    if reduction.identity:
        return "XpopsReducer"
    lines += ["template <class T>", "using XpopsNonempty = xpops::Nonempty<XpopsReducer<T>>;"]
    lines.append(_limit("XpopsNonempty<int>::State"))
    return "XpopsNonempty"


def _limit(state: str) -> str:
    return f'static_assert(sizeof({state}) <= {STATE_BYTES}, "states of up to {STATE_BYTES} bytes");'
