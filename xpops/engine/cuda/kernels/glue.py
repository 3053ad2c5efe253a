"""Glue: the few lines of source that instantiate a kernel template. The templates are in ``native/``."""

from __future__ import annotations

from typing import NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.runtime.entry import kernel_text, launch_bounds
from xpops.ops.operator import Operator
from xpops.plan.elementwise import STRIDED, ElementwisePlan, Mode
from xpops.plan.selection import AssignPlan
from xpops.plan.signature import Operand, Signature

_COMPLEX = dt.CATEGORIES["complex floating-point"]
NARROW = frozenset((*dt.HALVES, *dt.FLOAT8))


class Glue(NamedTuple):
    """The source of one kernel.

    Attributes
    ----------
    source : str
    slots : str
        The `struct` format of the parameters that change from call to call: the result's address, then the operands'
        addresses and scalars.
    """

    source: str
    slots: str


def elementwise_glue(
    op: Operator, signature: Signature, out: Layout, operands: tuple[Operand, ...], plan: ElementwisePlan
) -> Glue:
    """The glue of an elementwise kernel.

    Examples
    --------
    >>> from xpops.core.devices import Device
    >>> from xpops.core.layouts import layout_of
    >>> from xpops.engine.cuda.tuning import tuning_of
    >>> from xpops.ops.elementwise import OPERATORS
    >>> from xpops.plan.elementwise import plan_elementwise
    >>> from xpops.plan.signature import signature_of
    >>> x = layout_of(dt.float32, (8,), None, Device("cuda"))
    >>> op, operands = OPERATORS["add"], (x, float)
    >>> plan = plan_elementwise(x, operands, tuning_of(90).elementwise)
    >>> glue = elementwise_glue(op, signature_of(op, operands), x, operands, plan)
    >>> glue.slots
    'QQd'
    """
    functor, raw = functor_of(op, signature.loop, out.dtype)
    declared = _declare_operands(out, operands, signature.loop, raw, plan)
    headers = [family_of(plan), f"math/{op.header}"]
    if not _COMPLEX.isdisjoint((*signature.loop, out.dtype)):
        headers.append("math/complex")
    functor = f"Outlined<{functor}>" if plan.outlined else functor
    source = [
        *(f"#include <xpops/{header}.cuh>" for header in headers),
        "using namespace xpops;",
        *entry_point(functor, declared.names[:1], declared.names[1:], declared.params, plan),
    ]
    return Glue("\n".join(source), declared.slots)


def assign_glue(x: Layout, mask: Layout, value: Operand, found: AssignPlan) -> Glue:
    """The glue of ``x[mask] = value``."""
    plan = found.elementwise
    declared = _declare_operands(x, (mask, value), (dt.bool, x.dtype), True, plan)
    out, *operands = declared.names
    arguments = ", ".join([out, *map(str, (plan.block, plan.pack, found.mask_pack, plan.unroll)), *operands])
    source = [
        "#include <xpops/kernels/assign.cuh>",
        "using namespace xpops;",
        kernel_text(launch_bounds(plan.block), declared.params, f"assign<{arguments}>"),
    ]
    return Glue("\n".join(source), declared.slots)


def _declare_operands(
    out: Layout, operands: tuple[Operand, ...], loops: tuple[DType, ...], raw: bool, plan: ElementwisePlan
) -> Declared:
    """The template arguments of a result and its operands, which are converted to `loops`."""
    given = [(_types(out.dtype, out.dtype, raw), "Q")]
    for operand, loop in zip(operands, loops, strict=True):
        if isinstance(operand, Layout):
            given.append((_types(operand.dtype, loop, raw), "Q"))
        else:
            wire, form, _ = wire_of(loop)
            given.append((f"{wire}, {_types(loop, loop, raw).partition(', ')[2]}", form))
    return declare(given, plan)


class Declared(NamedTuple):
    """Results and operands among the arguments of an elementwise template.

    Attributes
    ----------
    names : list of str
    slots : str
    params : str
        The type of the kernel's parameters.
    """

    names: list[str]
    slots: str
    params: str


def declare(given: list[tuple[str, str]], plan: ElementwisePlan) -> Declared:
    """The template arguments; `given` has the three types and the slots' `struct` format of each result and operand."""
    names, slots, lines = [], "", 0
    for (types, form), mode in zip(given, plan.modes, strict=True):
        if mode is Mode.SCALAR:
            names.append(scalar_operand(types, plan, len(slots)))
        else:
            names.append(array_operand(types, plan, mode, len(slots), lines))
            lines += plan.transposes or mode in STRIDED
        slots += form
    return Declared(names, slots, params_of(len(slots), lines, plan))


def array_operand(types: str, plan: ElementwisePlan, mode: Mode, slot: int, line: int) -> str:
    """The template argument for an array, from its three types, its slot, and its line of strides."""
    if plan.boxes:
        return f"BoxedOperand<{types}, {slot}, {line}, {_part_of(plan)}, {plan.boxes.orders[line]}>"
    if plan.tile:
        along = "kColumns" if mode is Mode.GATHER else str(mode)
        return f"TiledOperand<{types}, Along::{along}, {slot}, {line}, {_part_of(plan)}>"
    return f"Operand<{types}, Mode::{mode}, {slot}, {line}>"


def scalar_operand(types: str, plan: ElementwisePlan, slot: int) -> str:
    """The template argument for a scalar; the first of its three types is the type of its slot."""
    return f"TransposedScalar<{types}, {slot}>" if plan.transposes else f"Operand<{types}, Mode::kScalar, {slot}>"


def _part_of(plan: ElementwisePlan) -> str:
    """What a block computes, as template arguments: a box, a tile, or packs."""
    if plan.boxes:
        return f"Box<{plan.boxes.steps}, {plan.unroll}, {plan.boxes.shared}>"
    if plan.tile:
        return f"Tile<{', '.join(map(str, (*plan.tile, plan.block, plan.pack)))}>"
    return f"{plan.block}, {plan.pack}, {plan.unroll}"


def params_of(slots: int, lines: int, plan: ElementwisePlan) -> str:
    """The type of the kernel's parameters."""
    if plan.boxes:
        numbers = slots, plan.rank, plan.boxes.axes, lines, len(set(plan.boxes.orders)), plan.unroll
        return f"BoxedParams<{', '.join(map(str, numbers))}, uint{plan.index_bits}>"
    family = "Tiled" if plan.tile else "Elementwise"
    return f"{family}Params<{slots}, {plan.rank}, {lines}, uint{plan.index_bits}>"


def family_of(plan: ElementwisePlan) -> str:
    """The header of the template."""
    if plan.boxes:
        return "kernels/transpose/boxed"
    return "kernels/transpose/tiled" if plan.tile else "kernels/elementwise"


def entry_point(functor: str, outs: list[str], operands: list[str], params: str, plan: ElementwisePlan) -> list[str]:
    """The lines of the kernel itself."""
    out = outs[0] if len(outs) == 1 else f"Outputs<{', '.join(outs)}>"
    arguments = ", ".join([functor, out, _part_of(plan), *operands])
    template = "elementwise" + ("_boxed" if plan.boxes else "_tiled" if plan.tile else "")
    return [kernel_text(launch_bounds(plan.block), params, f"{template}<{arguments}>")]


def functor_of(op: Operator, loop: tuple[DType, ...], dtype: DType) -> tuple[str, bool]:
    """The functor for a result of `dtype`, and whether it takes 16- and 8-bit floats without conversion to float32."""
    if op.narrow and dtype in NARROW and (loop[0] in NARROW or (op.result == "given" and loop[0] != dt.float64)):
        return f"Narrow{op.functor}<{dt.INFO[dtype].c_type}>", True
    return op.functor, op.own_halves


def _types(dtype: DType, loop: DType, raw: bool) -> str:
    """The three types of an operand: in memory, of the loop, and of the functor's argument; the loop's own if `raw`."""
    stored, looped = dt.INFO[dtype].c_type, dt.INFO[loop].c_type
    return f"{stored}, {looped}, {looped if raw else f'compute_t<{looped}>'}"


def truth(value: bool) -> str:
    """A truth value in C++."""
    return "true" if value else "false"


def wire_of(loop: DType) -> tuple[str, str, int]:
    """The parameter type of a Python scalar: its C++ type, its `struct` format, and its number of 8-byte slots.

    The kernel rounds it to the loop's dtype, once.
    """
    if loop in _COMPLEX:
        return "complex<double>", "dd", 2
    if loop in dt.UNSIGNED_INTEGERS:
        return "uint64", "Q", 1
    return ("double", "d", 1) if loop not in dt.CATEGORIES["integer or boolean"] else ("int64", "q", 1)
