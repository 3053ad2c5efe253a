"""The text of a Python module: the places of its nodes, and which of them may be changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# Calls whose arguments are text for people, or types.
_UNTOUCHED_CALLS = ("warn", "print", "TypeVar", "cast", "NewType", "NamedTuple")
_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict, ast.Set)


Placed = ast.expr | ast.stmt | ast.keyword


class PythonSource:
    """A module's text and syntax tree.

    Parameters
    ----------
    text : str
    """

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.tree = ast.parse(text)

    def span(self, node: Placed) -> tuple[int, int, int] | None:
        """The line of a node and its columns in characters; None if it spans several lines."""
        if node.end_lineno != node.lineno or node.end_col_offset is None:
            return None
        return node.lineno, self._column(node.lineno, node.col_offset), self._column(node.lineno, node.end_col_offset)

    def _column(self, line: int, offset: int) -> int:
        """A column in characters, from one in bytes."""
        return len(self.lines[line - 1].encode()[:offset].decode())

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The source of a node of one line."""
        span = self.span(node)
        assert span is not None
        line, start, stop = span
        return self.lines[line - 1][start:stop]

    def operand(self, node: ast.expr) -> str:
        """The source of a node, in parentheses if it has parts."""
        return self.text(node) if isinstance(node, _ATOMS) else f"({self.text(node)})"

    def nodes(self) -> Iterator[ast.AST]:
        """The nodes that may be changed.

        Left out are docstrings, annotations, type aliases, imports, ``__all__``, ``if TYPE_CHECKING:``, f-strings
        (Python 3.11 does not record the places of their parts), and what is raised, warned or printed.
        """
        yield from _nodes(self.tree, is_module=True)

    def docstring_lines(self) -> set[int]:
        """The lines of strings that are statements."""
        found = set[int]()
        for node in ast.walk(self.tree):
            if _is_text(node):
                assert isinstance(node, ast.Expr)
                found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        return found

    def code_lines(self) -> int:
        """The number of lines with code."""
        text = self.docstring_lines()
        code = (number not in text and line.strip()[:1] not in ("", "#") for number, line in enumerate(self.lines, 1))
        return sum(code)


def _nodes(node: ast.AST, is_module: bool = False) -> Iterator[ast.AST]:
    for child in _children(node):
        if _is_untouched(child) or (is_module and _is_alias(child)):
            continue
        yield child
        yield from _nodes(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The fields of a node, except annotations and error messages."""
    left_out = {"annotation", "returns", "type_params", "type_comment"}
    if isinstance(node, ast.Raise):
        return
    if isinstance(node, ast.Assert):
        left_out.add("msg")
    for name, value in ast.iter_fields(node):
        if name not in left_out:
            yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST))


def _is_untouched(node: ast.AST) -> bool:
    if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)) or _is_text(node):
        return True
    if isinstance(node, ast.If):
        return ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Name) and node.targets[0].id in ("__all__", "__slots__", "__version__")
    if isinstance(node, ast.keyword):
        return node.arg == "strict"  # an argument of zip, which only checks that lengths are equal
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).rpartition(".")[2] in _UNTOUCHED_CALLS
    return False


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_alias(node: ast.AST) -> bool:
    """Whether a statement of a module names a type: ``Key = int | slice``, ``Strides = tuple[int, ...]``."""
    if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
        return False
    name, value = node.targets[0].id, node.value
    is_union = isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr)
    return (is_union or isinstance(value, ast.Subscript)) and name.lstrip("_")[:1].isupper() and not name.isupper()
