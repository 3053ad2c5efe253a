"""The operands of a user's operation as template arguments of elementwise kernels."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cuda.kernels.glue import NARROW, array_operand, params_of, scalar_operand, truth, wire_of
from xpops.plan.elementwise import STRIDED, ElementwisePlan
from xpops.plan.signature import Operand
from xpops.plan.user import Operation, Types


class UserCall(NamedTuple):
    """One call of an operation.

    Attributes
    ----------
    operation : Operation
    types : Types
    ins : tuple of Layout or type
    outs : tuple of Layout
    given : bool
        Whether the caller gave the results, as arguments behind the operands. Then the operation may read them.
    shape : tuple of int
    headers : tuple of str
        What the operation needs besides ``kernels/user/user``.
    pairs : tuple of str
        The lines of a C++ structure that computes two elements at once; empty if the operation does not.
    """

    operation: Operation
    types: Types
    ins: tuple[Operand, ...]
    outs: tuple[Layout, ...]
    given: bool
    shape: tuple[int, ...]
    headers: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()


class Declared(NamedTuple):
    """The template arguments of a call, and its parameters.

    Attributes
    ----------
    outs : list of str
        The results that are not raw.
    operands : list of str
        The arguments with which the kernel calls the operation.
    slots : str
        The `struct` format of the slots that change from call to call.
    facts : list of int
        The constant values of the slots behind those.
    params : str
        The type of the kernel's parameters.
    """

    outs: list[str]
    operands: list[str]
    slots: str
    facts: list[int]
    params: str


class _Writer:
    """Writes template arguments in the order of a plan's modes; counts the lines of strides, and collects the facts."""

    def __init__(self, plan: ElementwisePlan, first_fact: int, pairs: bool) -> None:
        self._seen = "{}" if pairs else "compute_t<{}>"
        self._plan, self._modes, self._first = plan, list(plan.modes), first_fact
        self.line, self.facts = 0, list[int]()

    def array(self, dtype: DType, slot: int) -> str:
        mode, name = self._modes.pop(0), c_type(dtype)
        line = self.line
        self.line += self._plan.transposes or mode in STRIDED
        return array_operand(f"{name}, {name}, {self._seen.format(name)}", self._plan, mode, slot, line)

    def index(self) -> str:
        mode, line = self._modes.pop(0), self.line
        self.line += mode in STRIDED
        return f"IndexOperand<Mode::{mode}, {line}>"

    def raw(self, layout: Layout, slot: int) -> str:
        first = self._first + len(self.facts)
        self.facts += (layout.size, *layout.shape, *(stride * layout.dtype.itemsize for stride in layout.strides))
        return f"RawOperand<{c_type(layout.dtype)}, {layout.ndim}, {truth(layout.contiguous)}, {slot}, {first}>"

    def scalar(self, dtype: DType, slot: int) -> str:
        self._modes.pop(0)
        name = c_type(dtype)
        return scalar_operand(f"{wire_of(dtype)[0]}, {name}, {self._seen.format(name)}", self._plan, slot)

    def lengths(self, shape: tuple[int, ...]) -> str:
        first = self._first + len(self.facts)
        self.facts += shape
        return f"LengthsOperand<{first}>"

    def fact(self, value: int) -> str:
        self.facts.append(value)
        return scalar_operand("int64, int64, int64", self._plan, self._first + len(self.facts) - 1)


def declare(call: UserCall, plan: ElementwisePlan) -> Declared:
    """The template arguments of planned and raw operands, in the order of the operation's arguments."""
    operation, indexed = call.operation, call.operation.needs_index
    ins, outs = _slots(call)
    used = sum(len(form) for _, form in (*ins, *outs))
    writer = _Writer(plan, used, bool(call.pairs) and not plan.transposes)
    results = [
        None if parameter.raw else writer.array(layout.dtype, slot)
        for parameter, layout, (slot, _) in zip(operation.outs, call.outs, outs, strict=True)
    ]
    index = [writer.index()] if indexed or not any(results) else []
    operands = []
    for parameter, spec, dtype, (slot, _) in zip(operation.ins, call.ins, call.types.ins, ins, strict=True):
        if not isinstance(spec, Layout):
            operands.append(writer.scalar(dtype, slot))
        else:
            operands.append(writer.raw(spec, slot) if parameter.raw else writer.array(dtype, slot))
    for result, layout, (slot, _) in zip(results, call.outs, outs, strict=True):
        if result is None or call.given:
            operands.append(result or writer.raw(layout, slot))
    operands += index * indexed
    if counts(operation):
        operands.append(writer.fact(prod(call.shape)))
    if operation.needs_coordinates:
        operands.append(writer.lengths(call.shape))
    slots = "".join(form for _, form in sorted((*ins, *outs)))
    params = params_of(used + len(writer.facts), writer.line, plan)
    return Declared([each for each in results if each], operands, slots, writer.facts, params)


def counts(operation: Operation) -> bool:
    """Whether the operation needs the number of elements."""
    return operation.mentions("n") or operation.mentions("_ind")


def computed(dtype: DType) -> str:
    """The C++ type in which a user's code computes: float for narrower floating-point types."""
    return "float" if dtype in NARROW else c_type(dtype)


def c_type(dtype: DType) -> str:
    """The C++ type, with the namespace if it is ours."""
    name = dt.INFO[dtype].c_type
    return name if name in ("bool", "float", "double") else f"xpops::{name}"


def _slots(call: UserCall) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """The first slot and the `struct` format of each operand and of each result; given results come last."""
    ins = [
        "Q" if isinstance(spec, Layout) else wire_of(dtype)[1]
        for spec, dtype in zip(call.ins, call.types.ins, strict=True)
    ]
    outs = ["Q"] * len(call.outs)
    found, slot = list[tuple[int, str]](), 0
    for form in (*ins, *outs) if call.given else (*outs, *ins):
        found.append((slot, form))
        slot += len(form)
    cut = len(ins) if call.given else len(outs)
    return (found[:cut], found[cut:]) if call.given else (found[cut:], found[:cut])
