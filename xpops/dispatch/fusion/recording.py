"""The recordings of fused functions, split into kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.dispatch.fusion.results import results_of
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.fusion.tracing import Derived, ReducedInput, Trace
from xpops.plan.fused.expression import Expression, Node, Unsigned
from xpops.plan.result import reduced_layout, result_layout
from xpops.plan.signature import Operand, Signature

# Operators and reductions whose results change by a rounding error if an operand does.
_LINEAR = frozenset(("add", "subtract", "multiply", "divide", "negative", "identity", "sum", "mean"))


class Part(NamedTuple):
    """One kernel, which computes results of one shape.

    Attributes
    ----------
    expression : Expression
    outs : tuple of Layout
    results : tuple of int
        The places of `outs` among the function's results.
    inputs : tuple of int
        The numbers of the inputs that the kernel reads.
    """

    expression: Expression
    outs: tuple[Layout, ...]
    results: tuple[int, ...]
    inputs: tuple[int, ...]


class FusedRecording(NamedTuple):
    """The recording of a function, split into kernels.

    Attributes
    ----------
    name : str
    whole : Expression
    shapes : tuple of tuple of int
        The shape of every value of `whole`.
    given : int
        The number of arguments. They are the first inputs.
    derived : tuple of Derived
        How each input after the arguments is made.
    targets : tuple of int or None
        For each derived input: its place among the function's results, or None if it is no result.
    parts : tuple of Part
        The kernels of all other results.
    layouts : tuple of Layout
        The layouts of all results.
    """

    name: str
    whole: Expression
    shapes: tuple[tuple[int, ...], ...]
    given: int
    derived: tuple[Derived, ...]
    targets: tuple[int | None, ...]
    parts: tuple[Part, ...]
    layouts: tuple[Layout, ...]


def record(
    name: str, function: Callable[..., Any], specs: tuple[Operand, ...], *, exact: bool = True
) -> FusedRecording:
    """Run the function once on traced values, and split the recording into kernels.

    Parameters
    ----------
    exact : bool
        Whether each operator rounds as without fusion. If not, products and sums may contract in functions of halves
        and in those with reductions along rows, and operands that the elements of a row share are prepared.
    """
    (device, *_) = (spec.device for spec in specs if isinstance(spec, Layout))
    trace = Trace(name, specs, device, exact)
    results = results_of(name, function(*trace.arguments()), Traced)
    whole, derived, shapes = trace.expression(results)
    halves = [spec.dtype in dt.HALVES for spec in specs if isinstance(spec, Layout)]
    if not exact and (any(halves) or any(map(_is_along_rows, derived))):
        contracted, prepared = _contracted(whole, derived), _prepared(whole, derived, shapes)
        narrow = all(halves) and all(each.dtype in dt.HALVES for each in results)
        whole = whole._replace(exact=False, narrow=narrow, contracted=contracted, prepared=prepared)
    made = range(len(specs), len(whole.inputs))
    layouts = tuple(
        cast("Layout", whole.inputs[number])
        if number in made
        else result_layout(Signature((), each.dtype, each.shape), specs, device)
        for each, number in zip(results, whole.results, strict=True)
    )
    targets = tuple(whole.results.index(number) if number in whole.results else None for number in made)
    rest = tuple(place for place in range(len(layouts)) if place not in targets)
    checked = tuple(
        each
        if isinstance(each, ReducedInput) or whole.inputs[number] not in (int, Unsigned)
        else _check_bounds(each, f"{name}: arithmetic of scalar arguments gives", *whole.bounds(number))
        for number, each in enumerate(derived, len(specs))
    )
    return FusedRecording(name, whole, shapes, len(specs), checked, targets, parts_of(whole, layouts, rest), layouts)


def _contracted(whole: Expression, derived: tuple[Derived, ...]) -> frozenset[int]:
    """The nodes that may contract.

    Passes over a row then compute other last bits of them. So no comparison may depend on them: an element is found
    by its equality with the maximum that another pass found.
    """
    count = len(whole.inputs)
    strict = [each.place for each in derived if isinstance(each, ReducedInput) and each.op.name not in _LINEAR]
    for node in whole.nodes:
        if node.op.name not in _LINEAR and not _repeats(node):
            strict += [each for each in node.operands if isinstance(each, int)]
    return frozenset(range(count, count + len(whole.nodes))) - whole.needed(tuple(strict))


def _repeats(node: Node) -> bool:
    """Whether a node has the same bits whatever those of its operands are: a choice of one value, or ``x == x``."""
    return (node.op.name, len(set(node.operands[-2:]))) in (("where", 1), ("equal", 1))


def _prepared(whole: Expression, derived: tuple[Derived, ...], shapes: tuple[tuple[int, ...], ...]) -> frozenset[int]:
    """The operands to prepare: those computed from reductions along rows alone, one for all elements of a row."""
    count, found = len(whole.inputs), set()
    of_row = [False] * (count - len(derived)) + [_is_along_rows(each) for each in derived]
    for node, shape in zip(whole.nodes, shapes[count:], strict=True):
        used = [each for each in node.operands if isinstance(each, int) and not _is_scalar(whole, each)]
        of_row.append(bool(used) and all(of_row[each] for each in used))
        last = node.operands[-1]
        if node.op.prepared and isinstance(last, int) and of_row[last] and shapes[last][-1:] != shape[-1:]:
            spec = whole.nodes[last - count] if last >= count else cast("Layout", whole.inputs[last])
            if node.dtype == spec.dtype and node.dtype in (dt.float32, dt.float64):
                found.add(last)
    return frozenset(found)


def _is_scalar(whole: Expression, number: int) -> bool:
    return number < len(whole.inputs) and not isinstance(whole.inputs[number], Layout)


def _is_along_rows(derive: Derived) -> bool:
    """Whether an input is made by a reduction along the last axis."""
    if not isinstance(derive, ReducedInput):
        return False
    axes, *_ = reduced_layout(derive.operand, derive.op, *derive.parameters[:3])
    return axes == (derive.operand.ndim - 1,)


def parts_of(whole: Expression, layouts: tuple[Layout, ...], places: tuple[int, ...]) -> tuple[Part, ...]:
    """The kernels of the results at `places`, one for each shape."""
    parts = []
    for shape in dict.fromkeys(layouts[place].shape for place in places):
        of_shape = tuple(place for place in places if layouts[place].shape == shape)
        part, inputs = whole.prune(tuple(whole.results[place] for place in of_shape))
        parts.append(Part(part, tuple(layouts[place] for place in of_shape), of_shape, inputs))
    return tuple(parts)


def _check_bounds(derive: Callable[..., Any], what: str, low: int, high: int) -> Callable[..., Any]:
    def made(*values: Any) -> Any:
        value = derive(*values)
        require_within(value, what, low, high)
        return value

    return made


def require_within(value: int, what: str, low: int, high: int) -> None:
    """OverflowError if an integer is out of bounds."""
    if not low <= value <= high:
        raise OverflowError(f"{what} {value}; accepted: {low} to {high}")
