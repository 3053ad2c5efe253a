"""User-defined operations as kernels of the elementwise family."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.elementwise import empty_kernel
from xpops.engine.cuda.kernels.glue import entry_point, family_of, truth
from xpops.engine.cuda.runtime.compile import PRELUDE
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.cuda.user.operands import UserCall, c_type, computed, counts, declare
from xpops.engine.program import Kernel
from xpops.plan.elementwise import ElementwisePlan, Policy, plan_elementwise
from xpops.plan.signature import Operand
from xpops.plan.strides.overlap import elements_apart, safe_distance
from xpops.plan.transpose import plan_transpose
from xpops.plan.user import Operation, Parameter, Types

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# Names that a user's code can use without the namespace.
USING = tuple(f"using xpops::{name};" for name in ("bfloat16", "complex", "float16", "float8_e4m3fn", "float8_e5m2"))
_INTEGERS, _COMPLEX = dt.CATEGORIES["integer"], dt.CATEGORIES["complex floating-point"]


class UserSource(NamedTuple):
    """The plan and source of a kernel, the `struct` format of its slots, and the parameters behind the slots."""

    plan: ElementwisePlan
    source: str
    slots: str
    tail: bytes


def elementwise(runtime: Runtime, call: UserCall) -> Kernel:
    """The kernel ``(stream, *arguments)``: results, then operands. If the caller gave the results, they come last."""
    if 0 in call.shape:
        return empty_kernel
    operation, policy = call.operation, tuning_of(runtime.context.capability).elementwise
    plan, source, slots, tail = user_source(call, policy)
    launch = runtime.launcher(operation.name, source, plan.blocks, plan.block, slots, tail)
    launch = with_scalars(launch, operation, call.ins, call.types.ins, 0 if call.given else len(call.outs))
    return _apart(launch, call) if call.given else launch


def user_source(call: UserCall, policy: Policy) -> UserSource:
    """The plan and the source. Needs no GPU."""
    operation = call.operation
    plan = _plan(call, policy)
    declared = declare(call, plan)
    pairs = call.pairs if not plan.transposes else ()
    lines = opening(operation, call.types, family_of(plan), *call.headers, *["kernels/user/pairs"] * bool(pairs))
    _functor(lines, call)
    lines += pairs
    functor, params = ("::XpopsPairs", f"Pairs<{declared.params}>") if pairs else ("::XpopsOperation", declared.params)
    lines += within(entry_point(functor, declared.outs, declared.operands, params, plan))
    tail = struct.pack(f"<{len(declared.facts)}q", *declared.facts) + plan.tail
    return UserSource(plan, "\n".join(lines), declared.slots, tail)


def opening(operation: Operation, types: Types, header: str, *more: str, state: str = "") -> list[str]:
    """The lines before the user's statements: headers, the family's first, names, macros, and the preamble.

    Parameters
    ----------
    operation : Operation
    types : Types
    header, *more : str
    state : str
        More text of the user; it is only searched for "complex".
    """
    texts = (*operation.definitions, operation.preamble, operation.before, operation.body, operation.after, state)
    dtypes = (*types.ins, *types.outs, *(dtype for _, dtype in types.letters))
    complexes = not _COMPLEX.isdisjoint(dtypes) or any("complex" in text for text in texts)
    headers = [header, "kernels/user/user", *more, *["math/complex"] * complexes]
    lines = [f"#include <{PRELUDE}>", *(f"#include <xpops/{each}.cuh>" for each in headers)]
    lines += [*USING, *(f"using {letter} = {computed(dtype)};" for letter, dtype in types.letters)]
    lines += operation.definitions
    located(lines, operation.preamble, "preamble", operation.name, ";")
    return lines


def within(lines: list[str]) -> list[str]:
    """Put the lines of an entry point in our namespace, so that the user's names cannot hide ours."""
    return ["namespace xpops {", *lines, "}  // namespace xpops", "using xpops::xpops_kernel;", ""]


def located(lines: list[str], text: str, part: str, name: str, end: str) -> None:
    """Add a user's text to the lines of a source, with ``#line``, so that errors have the text's own line numbers.

    `end` follows the text. To the compiler it is on the text's last line, where it finds what the text lacks.
    """
    own = text.rstrip().splitlines()
    if own:
        place = f'"{name}.{part}"'
        lines += [f"#line 1 {place}", *own, f"#line {len(own)} {place}"]
    lines.append(end)
    if own:
        lines.append(f'#line {len(lines) + 2} "{name}.cu"')


def method(lines: list[str], head: str, before: str, text: tuple[str, str, str], end: str) -> None:
    """Add a method that contains a user's text. `text` has three arguments of `located`."""
    lines += [f"  XPOPS_DEVICE {head} {{", f"    {before}"]
    located(lines, *text, end)
    lines.append("  }")


def _plan(call: UserCall, policy: Policy) -> ElementwisePlan:
    arrays = _walked(call.operation.ins, call.ins)
    outs = tuple(each for each in _walked(call.operation.outs, call.outs) if isinstance(each, Layout))
    raw = any(each.raw for each in (*call.operation.ins, *call.operation.outs))
    indexed = call.operation.needs_index
    if len(outs) == 1 and not raw and not indexed and not _declares_shared_memory(call.operation):
        plan = plan_transpose(outs[0], arrays, policy)
        if plan is not None:
            return plan
    if indexed or not outs:
        index = layout_of(dt.int8, call.shape, None, call.outs[0].device)  # its offset is the element's index
        outs = (*outs, index) if outs else (index,)
    # Code that indexes raw arrays itself mostly reads neighbouring elements. One element per thread coalesces these
    # reads.
    policy = policy._replace(elements_per_thread=1) if raw else policy
    return plan_elementwise(outs[0], (*outs[1:], *arrays), policy)


def _declares_shared_memory(operation: Operation) -> bool:
    """Whether the user's code does. Transposing kernels may take all that a block has."""
    texts = *operation.definitions, operation.preamble, operation.before, operation.body, operation.after
    return any("__shared__" in text for text in texts)


def _walked(parameters: tuple[Parameter, ...], operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    return tuple(each for parameter, each in zip(parameters, operands, strict=True) if not parameter.raw)


def _functor(lines: list[str], call: UserCall) -> None:
    """Add the functor: a function with the user's statements, and the call operator that calls it."""
    operation, types = call.operation, call.types
    taken = [
        (f"{_raw(spec)}" if parameter.raw else computed(dtype), parameter)
        for parameter, spec, dtype in zip(operation.ins, call.ins, types.ins, strict=True)
    ]
    made = [
        (_raw(layout) if parameter.raw else computed(dtype), parameter)
        for parameter, layout, dtype in zip(operation.outs, call.outs, types.outs, strict=True)
    ]
    extra = [
        *["xpops::int64 i"] * operation.needs_index,
        *["xpops::int64 n"] * counts(operation),
        *["xpops::int64* xpops_lengths"] * operation.needs_coordinates,
    ]
    names = [each.split()[1] for each in extra]
    formal = [
        *(f"{'const ' * each.raw}{kind} {each.name}" for kind, each in taken),
        *(f"{kind} {each.name}" if each.raw else f"{kind}& xpops_{each.name}" for kind, each in made),
        *(f"const {each}" for each in extra),
    ]
    lines += ["struct XpopsOperation {", f"  static XPOPS_DEVICE void run({', '.join(formal)}) {{"]
    if operation.needs_coordinates:
        lines.append(f"    [[maybe_unused]] const xpops::PlaceIndexer<{len(call.shape)}> _ind(n, i, xpops_lengths);")
    elif operation.mentions("_ind"):
        lines.append(f"    [[maybe_unused]] const xpops::Indexer<{len(call.shape)}> _ind{{n}};")
    # The user's text is in its own C++ block, so that it may redeclare i, n and _ind. The results are declared in that
    # block, so that the user cannot redeclare them: values written to such a copy would be lost.
    declared = [f"    [[maybe_unused]] {kind}& {each.name} = xpops_{each.name};" for kind, each in made if not each.raw]
    lines += ["    {", *declared]
    located(lines, operation.before, "loop_prep", operation.name, ";")
    lines += ["    do {", *declared]  # the operation may end with `continue`, as in a loop
    for before, part, text, end in operation.parts or (("", "operation", operation.body, ";"),):
        lines += before.splitlines()
        located(lines, text, part, operation.name, end)
    lines.append("    } while (false);")
    located(lines, operation.after, "after_loop", operation.name, ";")
    lines += ["    }", "  }"]
    held = [(kind, each) for kind, each in made if each.raw or call.given]
    given = [*(f"{kind} {each.name}" for kind, each in (*taken, *held)), *(f"const {each}" for each in extra)]
    lines.append(f"  XPOPS_DEVICE auto operator()({', '.join(given)}) const {{")
    lines += [f"    {kind} {each.name}{{}};" for kind, each in made if not (each.raw or call.given)]
    lines.append(f"    XpopsOperation::run({', '.join([*(each.name for _, each in (*taken, *made)), *names])});")
    results = [
        (each.name, c_type(dtype)) for each, dtype in zip(operation.outs, types.outs, strict=True) if not each.raw
    ]
    if len(results) == 1:
        lines.append(f"    return {results[0][0]};")
    else:
        nested = "{}"
        for name, kind in reversed(results):
            nested = f"{{xpops::cast<{kind}>({name}), {nested}}}"
        lines.append(f"    return xpops::Results<{', '.join(kind for _, kind in results)}>{nested};")
    lines += ["  }", "};"]


def _raw(layout: Operand) -> str:
    assert isinstance(layout, Layout)
    return f"xpops::RawArray<{c_type(layout.dtype)}, {layout.ndim}, {truth(layout.contiguous)}>"


def with_scalars(
    launch: Kernel, operation: Operation, ins: tuple[Operand, ...], dtypes: tuple[DType, ...], first: int
) -> Kernel:
    """Wrap `launch` to convert Python scalars. The operands are its arguments from number `first` on."""
    ways = [
        None if isinstance(spec, Layout) else _travel(spec, dtype, f"{operation.name}: {parameter.name}")
        for spec, dtype, parameter in zip(ins, dtypes, operation.ins, strict=True)
    ]
    if not any(ways):
        return launch

    def converting(stream: int, *values: Any) -> None:
        written: list[Any] = list(values[:first])
        for value, way in zip(values[first:], ways, strict=False):
            written += (value,) if way is None else way(value)
        launch(stream, *written, *values[first + len(ways) :])

    return converting


def _travel(kind: type, dtype: DType, what: str) -> Callable[[Any], tuple[Any, ...]]:
    """The function that converts a Python scalar to slot values, as C++ does: integers modulo a power of 2."""
    if dtype in dt.COMPLEX_FLOATS:
        return lambda value: (_floating(value, what).real, _floating(value, what).imag)
    if kind is complex:
        raise TypeError(f"{what} is a Python complex; accepted: {dtype}")
    if dtype not in _INTEGERS:
        return (lambda value: (bool(value),)) if dtype == dt.bool else (lambda value: (_floating(value, what).real,))
    first = 0 if dtype in dt.UNSIGNED_INTEGERS else -(2**63)

    def whole(value: Any) -> tuple[int]:
        if not -(2**63) <= value < 2**64:
            raise OverflowError(f"{what} is {value}; accepted: numbers of 64 bits")
        return ((int(value) - first) % 2**64 + first,)

    return whole


def _floating(value: Any, what: str) -> complex:
    try:
        return complex(value)
    except OverflowError:
        raise OverflowError(f"{what} is an integer beyond the range of float64") from None


def _apart(launch: Kernel, call: UserCall) -> Kernel:
    """Wrap `launch` to raise ValueError if a result overlaps another result, or partly overlaps an operand."""
    name = call.operation.name
    given = [
        (place, parameter, spec)
        for place, (parameter, spec) in enumerate(
            zip((*call.operation.ins, *call.operation.outs), (*call.ins, *call.outs), strict=True)
        )
        if isinstance(spec, Layout) and not parameter.raw
    ]
    ins, outs = ([each for each in given if (each[0] >= len(call.ins)) is written] for written in (False, True))
    pairs = [
        (k, j, elements_apart(out, spec, safe_distance(out, spec).same),
         f"{name}: {result.name} partly overlaps {operand.name}; accepted: the same elements, or memory apart")
        for k, result, out in outs
        for j, operand, spec in ins
    ] + [
        (k, j, elements_apart(out, spec), f"{name}: {result.name} overlaps {other.name}; accepted: memory apart")
        for (k, result, out), (j, other, spec) in itertools.combinations(outs, 2)
    ]  # fmt: skip

    def checked(stream: int, *values: Any) -> None:
        for out, other, holds, trouble in pairs:
            if not holds(values[other] - values[out]):
                raise ValueError(trouble)
        launch(stream, *values)

    return checked
