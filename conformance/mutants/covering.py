"""The tests that run a mutant's line, or compile its header."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeGuard

from conformance.mutants.coverage_map import CoverageMap
from conformance.mutants.header_source import HeaderSource
from conformance.mutants.mutant import Mutant

_INCLUDE = re.compile(r'#include [<"](xpops/[\w/]+\.cuh)[">]')
Statement = ast.stmt | ast.excepthandler


def covering(mutant: Mutant, tree: Path, known: CoverageMap) -> set[str]:
    """The tests that cover a mutant and pass without it."""
    if mutant.file.endswith(".py"):
        return _of_module(mutant, tree, known)
    distances = including(tree, mutant.file.removeprefix("native/"))
    return {
        test
        for test, record in known.tests.items()
        if known.is_of_use(test) and any(header in distances for header in record.headers)
    }


def _of_module(mutant: Mutant, tree: Path, known: CoverageMap) -> set[str]:
    """The tests that run the statement of the line.

    A line that runs only when the module is imported is covered by the tests of what uses it: of the function for a
    default value, of the class for a field, of the functions that name it for a constant. If there are none, the tests
    of the module cover it; if there are none either, those of the modules that import it.
    """
    module = ast.parse((tree / mutant.file).read_text())
    around = surrounding(module, mutant.line)
    lines = known.lines(mutant.file)
    own = _lines_of(around[-1:])
    places = [own]
    if known.imported(mutant.file).isdisjoint(own):
        return set().union(*(lines.get(line, set()) for line in own))
    places += [_lines_of([each], whole=True) for each in reversed(around) if _is_definition(each)]
    places.append(_lines_of(_users(module, around[0]), whole=True))
    for place in places:
        if found := set().union(*(lines.get(line, set()) for line in place)):
            return found
    if found := set().union(*lines.values()):
        return found
    importers = _importers(tree, mutant.file)
    return set().union(*(tests for file in importers for tests in known.lines(file).values()))


def surrounding(module: ast.Module, line: int) -> list[Statement]:
    """The statements that hold a line, the outermost first."""
    found = [each for each in ast.walk(module) if isinstance(each, Statement)]
    return sorted((each for each in found if _first(each) <= line <= (each.end_lineno or 0)), key=_span)


def _span(node: Statement) -> tuple[int, int]:
    return _first(node), -(node.end_lineno or 0)


def _first(node: Statement) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _is_definition(node: Statement) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _lines_of(nodes: Iterable[Statement], whole: bool = False) -> set[int]:
    """The lines of statements. Unless `whole`, only the head of a statement that has a body."""
    found = set[int]()
    for node in nodes:
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body and not whole else node.end_lineno or node.lineno
        found.update(range(_first(node), max(last, node.lineno) + 1))
    return found


def _users(module: ast.Module, statement: Statement) -> list[Statement]:
    """The definitions of a module that use a name that a statement sets."""
    stored = [each for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    names = {statement.name} if _is_definition(statement) else {each.id for each in stored}
    return [
        node
        for node in module.body
        if _is_definition(node) and any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))
    ]


@cache
def _importers(tree: Path, file: str) -> list[str]:
    """The modules that import a module by its name."""
    name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package, _, last = name.rpartition(".")
    pattern = rf"^\s*(?:import {name}|from {name}|from {package} import .*\b{last})\b"
    paths = sorted((tree / "xpops").rglob("*.py"))
    return [each.relative_to(tree).as_posix() for each in paths if re.search(pattern, each.read_text(), re.MULTILINE)]


@cache
def including(tree: Path, header: str) -> dict[str, int]:
    """The headers that include a header, directly or indirectly, with the distance: 1 if directly."""
    included = {
        path.relative_to(tree / "native").as_posix(): set(_INCLUDE.findall(path.read_text()))
        for path in sorted((tree / "native").rglob("*.cuh"))
    }
    found, distance = {header: 0}, 0
    while nearest := [each for each, names in included.items() if each not in found and not names.isdisjoint(found)]:
        distance += 1
        found |= dict.fromkeys(nearest, distance)
    return found


def struct_at(tree: Path, mutant: Mutant) -> str | None:
    """The smallest struct that contains the line of a mutant."""
    structs = HeaderSource((tree / mutant.file).read_text()).structs()
    around = [(len(lines), name) for name, lines in structs.items() if mutant.line in lines]
    return min(around)[1] if around else None
