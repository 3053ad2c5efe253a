"""Mutations of a line of Python: for each class of node, a function that yields the possible changes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from conformance.mutants.mutant import Change
from conformance.mutants.python_source import Placed, PythonSource

COMPARISONS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "is not": "is", "is": "is not", "not in": "in", "in": "not in",
}  # fmt: skip
OPERATORS = {
    "+": "-", "-": "+", "*": "+", "//": "%", "/": "//", "%": "//", "**": "*",
    "&": "|", "|": "&", "^": "&", "<<": ">>", ">>": "<<",
}  # fmt: skip
WIDTHS = {
    "int64": "int32", "uint64": "uint32", "int32": "int16", "uint32": "uint16", "float64": "float32",
    "float32": "float16", "complex128": "complex64", "c_int64": "c_int32", "c_uint64": "c_uint32",
    "c_void_p": "c_uint32", "c_longlong": "c_int", "int16": "int8", "uint16": "uint8",
}  # fmt: skip
ROUNDINGS = {"floor": "ceil", "ceil": "floor", "rint": "trunc", "trunc": "floor", "round": "floor"}
FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}
_NOT_COMMUTATIVE = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.MatMult)
_COMMUTATIVE = ("min", "max", "isinstance", "maximum", "minimum")
_TERMS = (ast.Add, ast.Sub, ast.Mult, ast.BitOr, ast.BitAnd)


def changes(source: PythonSource, strings: bool = True) -> Iterator[Change]:
    """Every change of a module.

    Parameters
    ----------
    strings : bool
        Whether to change strings. The strings of the command line are text for people, and stay.
    """
    for node in source.nodes():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not strings:
            continue
        for operator, place, text in _makers(node)(source, node):
            span = place if isinstance(place, tuple) else source.span(place)
            if span is not None:
                line, start, stop = span
                yield Change(operator, line, start, stop, text)


# The kind of change; the node, or a line and columns; and the new text.
Made = Iterator[tuple[str, Placed | tuple[int, int, int], str]]


def _makers(node: ast.AST) -> Callable[[PythonSource, Any], Made]:
    return _MAKERS.get(type(node), lambda source, node: iter(()))


def _condition(source: PythonSource, node: ast.If | ast.While | ast.IfExp | ast.Assert) -> Made:
    if source.span(node.test) is None:
        return
    yield "negated condition", node.test, f"not ({source.text(node.test)})"
    if isinstance(node, ast.If | ast.IfExp):
        yield "dropped guard", node.test, "False"
        yield "dropped condition", node.test, "True"


def _filter(source: PythonSource, node: ast.comprehension) -> Made:
    for each in node.ifs:
        if source.span(each) is not None:
            yield "negated condition", each, f"not ({source.text(each)})"
            yield "dropped condition", each, "True"


def _between(
    source: PythonSource, left: ast.expr, right: ast.expr, table: dict[str, str]
) -> Iterator[tuple[tuple[int, int, int], str]]:
    """The place of the operator between two operands, and its replacements in the table."""
    first, second = source.span(left), source.span(right)
    if first is None or second is None or first[0] != second[0]:
        return
    line, start, stop = first[0], first[2], second[1]
    found = re.search(r"[^\s()]+(?:\s+(?:not|in)\b)?", source.lines[line - 1][start:stop])
    if found and found[0] in table:
        yield (line, start + found.start(), start + found.end()), table[found[0]]


def _compare(source: PythonSource, node: ast.Compare) -> Made:
    for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
        for place, text in _between(source, left, right, COMPARISONS):
            yield "wrong comparison", place, text


def _binary(source: PythonSource, node: ast.BinOp) -> Made:
    for place, text in _between(source, node.left, node.right, OPERATORS):
        yield "wrong operator", place, text
    if source.span(node) is None:
        return
    left, right = source.operand(node.left), source.operand(node.right)
    if isinstance(node.op, _TERMS):
        yield "dropped term", node, left
        yield "dropped term", node, right
    if isinstance(node.op, _NOT_COMMUTATIVE):
        ((_, start, stop),) = [place for place, _ in _between(source, node.left, node.right, OPERATORS)] or [(0, 0, 0)]
        yield "swapped operands", node, f"{right} {source.lines[node.lineno - 1][start:stop] or '@'} {left}"
    if isinstance(node.op, ast.FloorDiv):
        yield "wrong rounding", node, f"-(-{left} // {right})"


def _boolean(source: PythonSource, node: ast.BoolOp) -> Made:
    words = {"and": "or", "or": "and"}
    for left, right in zip(node.values, node.values[1:], strict=False):
        for place, text in _between(source, left, right, words):
            yield "wrong operator", place, text
    if source.span(node) is None:
        return
    word = " and " if isinstance(node.op, ast.And) else " or "
    for dropped in range(len(node.values)):
        kept = [source.operand(each) for i, each in enumerate(node.values) if i != dropped]
        yield "dropped term", node, kept[0] if len(kept) == 1 else f"({word.join(kept)})"


def _unary(source: PythonSource, node: ast.UnaryOp) -> Made:
    if source.span(node) is not None and not isinstance(node.op, ast.UAdd):
        yield "dropped negation", node, source.operand(node.operand)


def _call(source: PythonSource, node: ast.Call) -> Made:
    if source.span(node) is None:
        return
    name = ast.unparse(node.func).rpartition(".")[2]
    if name == "len":
        yield "off by one", node, f"({source.text(node)} - 1)"
    plain = [each for each in node.args if not isinstance(each, ast.Starred | ast.GeneratorExp)]
    if len(plain) == len(node.args) == 1 and not node.keywords and isinstance(node.func, ast.Name):
        yield "dropped call", node, source.operand(plain[0])
    if len(node.args) > 1 and plain[:2] == node.args[:2] and name not in _COMMUTATIVE:
        (line, start, _), (_, _, stop) = source.span(plain[0]) or (0, 0, 0), source.span(plain[1]) or (0, 0, 0)
        yield "swapped arguments", (line, start, stop), f"{source.text(plain[1])}, {source.text(plain[0])}"
    given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    for previous, each in pairwise(given):
        before, place = source.span(previous), source.span(each)
        if before and place and isinstance(each, ast.keyword) and each.arg not in (None, "strict"):
            yield "dropped argument", (place[0], before[2], place[2]), ""


def _statement(source: PythonSource, node: ast.stmt) -> Made:
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call):
        return
    yield "dropped call" if isinstance(node, ast.Expr) else "dropped statement", node, "pass"


def _assignment(source: PythonSource, node: ast.Assign) -> Made:
    """Remove assignments to attributes and elements only: a name that is never set is an error."""
    if all(isinstance(each, ast.Attribute | ast.Subscript) for each in node.targets):
        yield "dropped statement", node, "pass"


def _return(source: PythonSource, node: ast.Return) -> Made:
    if node.value is not None:
        yield "dropped result", node, "return None"


def _constant(source: PythonSource, node: ast.Constant) -> Made:
    value = node.value
    if isinstance(value, bool):
        yield "wrong truth value", node, str(not value)
    elif isinstance(value, int):
        yield "off by one", node, str(value + 1)
        yield "off by one", node, str(value - 1) if value > 0 else "-1"
    elif isinstance(value, str) and value in WIDTHS and source.span(node) is not None:
        yield "wrong width", node, source.text(node).replace(value, WIDTHS[value])


def _name(source: PythonSource, node: ast.Name | ast.Attribute) -> Made:
    name = node.id if isinstance(node, ast.Name) else node.attr
    if source.span(node) is None or not isinstance(node.ctx, ast.Load):
        return
    head = source.text(node).removesuffix(name)
    for operator, table in ("wrong width", WIDTHS), ("wrong rounding", ROUNDINGS), ("wrong function", FUNCTIONS):
        if name in table:
            yield operator, node, head + table[name]
    if name in ("stream", "_stream"):
        yield "wrong stream", node, "0"


def _slice(source: PythonSource, node: ast.Slice) -> Made:
    for bound in (node.lower, node.upper):
        if bound is not None:
            yield "dropped bound", bound, ""


_MAKERS: dict[type[ast.AST], Callable[[PythonSource, Any], Made]] = {
    **dict.fromkeys((ast.If, ast.While, ast.IfExp, ast.Assert), _condition),
    **dict.fromkeys((ast.Expr, ast.Raise, ast.AugAssign, ast.Break, ast.Continue, ast.Delete), _statement),
    **dict.fromkeys((ast.Name, ast.Attribute), _name),
    ast.comprehension: _filter,
    ast.Compare: _compare,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.UnaryOp: _unary,
    ast.Call: _call,
    ast.Assign: _assignment,
    ast.Return: _return,
    ast.Constant: _constant,
    ast.Slice: _slice,
}
