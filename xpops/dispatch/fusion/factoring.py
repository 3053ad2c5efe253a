"""Sums along rows of products: factors that the elements of a row share multiply the sum, not each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xpops.dispatch.fusion.recorder import Recorder
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.ops.elementwise import OPERATORS
from xpops.ops.operator import Operator

_ADD, _SUBTRACT, _NEGATIVE = OPERATORS["add"], OPERATORS["subtract"], OPERATORS["negative"]
_MULTIPLY, _DIVIDE, _WHERE = OPERATORS["multiply"], OPERATORS["divide"], OPERATORS["where"]
# The reductions that factors may be computed from. Rows are divided by their maximum so that squares do not overflow.
_SCALELESS = frozenset(("sum", "mean", "var", "std"))
# The most terms of a sum that become sums of their own.
_MOST = 4


class _Term(NamedTuple):
    """A value for each element, and what one element for each row does to it: operators and second operands."""

    value: Traced
    factors: tuple[tuple[Operator, Traced], ...] = ()
    is_negative: bool = False


def factored(trace: Recorder, x: Traced, total: Callable[[Traced], Traced]) -> Traced | None:
    """The sum along rows of `x`, if each of its terms has a factor that the elements of a row share; else None.

    The differences from the row's mean need no sum: it is 0, or NaN if the mean is infinite or NaN.

    Parameters
    ----------
    total : callable
        The sum along rows of a value, which keeps the axis.
    """
    terms = _terms(trace, x, _MOST)
    if not all(term.factors for term in terms):
        return None
    found: Traced | None = None
    for term in terms:
        mean = _subtracted_mean(trace, term.value)
        made = total(term.value) if mean is None else trace.apply(_SUBTRACT, (mean, mean))
        for op, factor in term.factors:
            made = trace.apply(op, (made, factor))
        if found is None:
            found = trace.apply(_NEGATIVE, (made,)) if term.is_negative else made
        else:
            found = trace.apply(_SUBTRACT if term.is_negative else _ADD, (found, made))
    return found


def _terms(trace: Recorder, x: Traced, most: int) -> list[_Term]:
    """The terms of `x`, at most `most`."""
    op, operands = _made(trace, x)
    if op is _NEGATIVE:
        return [_negated(term) for term in _terms(trace, operands[0], most)]
    if op in (_ADD, _SUBTRACT) and most > 1 and all(each.shape == x.shape for each in operands):
        left = _terms(trace, operands[0], most - 1)
        right = _terms(trace, operands[1], most - len(left))
        return left + (right if op is _ADD else [_negated(term) for term in right])
    if op in (_MULTIPLY, _DIVIDE):
        return [_scaled(trace, x, op, *(_of_row(trace, each) for each in operands))]
    return [_Term(x)]


def _made(trace: Recorder, x: Traced) -> tuple[Operator | None, list[Traced]]:
    """The operator that makes `x` of arrays that have its dtype, and these; None if there is none."""
    node = trace.node(x)
    if node is None or node.dtype != x.dtype or any(each != x.dtype for each in node.loop):
        return None, []
    operands = [array for array in map(trace.value, node.operands) if array is not None and array.dtype == x.dtype]
    return (node.op, operands) if len(operands) == len(node.operands) else (None, [])


def _subtracted_mean(trace: Recorder, x: Traced) -> Traced | None:
    """The mean of a row if `x` is the differences from it; else None."""
    op, operands = _made(trace, x)
    if op is not _SUBTRACT or not _is_factor(trace, operands[1], x):
        return None
    return operands[1] if trace.is_reduced(operands[1], "mean", operands[0]) else None


def _negated(term: _Term) -> _Term:
    return term._replace(is_negative=not term.is_negative)


def _scaled(trace: Recorder, x: Traced, op: Operator, first: Traced, second: Traced) -> _Term:
    """A product or a quotient as one term."""
    if op is _MULTIPLY and _is_factor(trace, first, x):
        first, second = second, first
    if first.shape != x.shape:
        return _Term(x)
    (term,) = _terms(trace, first, 1)
    if _is_factor(trace, second, x):
        return term._replace(factors=(*term.factors, (op, second)))
    if op is _DIVIDE or second.shape != x.shape:
        return _Term(x)
    (other,) = _terms(trace, second, 1)
    if bool(term.factors) == bool(other.factors):
        return _Term(x)
    product = trace.apply(_MULTIPLY, (term.value, other.value))
    return _Term(product, (*term.factors, *other.factors), term.is_negative != other.is_negative)


def _is_factor(trace: Recorder, x: Traced, whole: Traced) -> bool:
    """Whether `x` has one element for each row of `whole`, and may leave a sum: a maximum may not."""
    is_row = x.shape == (*whole.shape[:-1], 1) and x.shape != whole.shape
    return is_row and trace.reductions_of(x) <= _SCALELESS


def _of_row(trace: Recorder, x: Traced) -> Traced:
    """The value of all elements of a row if `x` is ``where(condition, value, value)`` or twice that; else `x`."""
    op, operands = _made(trace, x)
    if op is _ADD and operands[0].place == operands[1].place:
        half = _of_row(trace, operands[0])
        return trace.apply(_ADD, (half, half)) if half.place != operands[0].place else x
    node = trace.node(x)
    same = node is not None and node.op is _WHERE and node.operands[1] == node.operands[2]
    value = trace.value(node.operands[1]) if node is not None and same else None
    return x if value is None else value
