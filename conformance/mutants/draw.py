"""Draws random mutants: a file, weighted by its lines of code; a line of it; a kind of change; a change."""

from __future__ import annotations

import ast
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from conformance.mutants import header_operators, python_operators
from conformance.mutants.header_source import HeaderSource
from conformance.mutants.mutant import Mutant, mutant_of
from conformance.mutants.python_source import PythonSource

FOLDERS = ("native", "xpops")


class Candidates(NamedTuple):
    """The possible changes of a file.

    Attributes
    ----------
    code_lines : int
        The number of lines with code: the file's weight.
    by_line : dict
        The mutants, by line and kind of change.
    """

    code_lines: int
    by_line: dict[int, dict[str, list[Mutant]]]


def candidates(file: str, text: str) -> Candidates:
    """Every mutant of a file, by line and kind of change."""
    source: PythonSource | HeaderSource
    if file.endswith(".py"):
        source = PythonSource(text)
        changes = python_operators.changes(source, strings=not file.startswith("xpops/cli/"))
    else:
        source = HeaderSource(text)
        changes = header_operators.changes(source)
    by_line: dict[int, dict[str, list[Mutant]]] = {}
    for change in changes:
        mutant = mutant_of(file, source.lines, change)
        if mutant.after != mutant.before:
            by_line.setdefault(mutant.line, {}).setdefault(mutant.operator, []).append(mutant)
    return Candidates(source.code_lines(), by_line)


def draw(tree: Path, seed: int, fingerprint: str) -> Iterator[Mutant]:
    """One mutant for each line of a tree, in an order that depends only on the seed and the fingerprint."""
    texts = {path.relative_to(tree).as_posix(): path.read_text() for path in _files(tree)}
    files = {file: candidates(file, text) for file, text in texts.items()}
    left = {file: list(found.by_line) for file, found in files.items() if found.by_line}
    chance = random.Random(f"{seed} {fingerprint}")
    while left:
        (file,) = chance.choices(list(left), [files[each].code_lines for each in left])
        lines = left[file]
        line = lines.pop(chance.randrange(len(lines)))
        if not lines:
            del left[file]
        kinds = files[file].by_line[line]
        mutant = chance.choice(kinds[chance.choice(sorted(kinds))])
        if not file.endswith(".py") or compiles(mutant, texts[file]):
            yield mutant


def _files(tree: Path) -> list[Path]:
    found = [path for folder in FOLDERS for ending in ("*.py", "*.cuh") for path in (tree / folder).rglob(ending)]
    return sorted(found)


def compiles(mutant: Mutant, text: str) -> bool:
    """Whether a changed module is valid Python, and its syntax tree differs from before."""
    changed = mutant.changed(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as those about ``1 is x``
            compile(changed, mutant.file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))
