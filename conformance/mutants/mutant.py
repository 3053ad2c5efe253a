"""A mutant: one line of one file, changed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, NamedTuple


class Change(NamedTuple):
    """Text that replaces a part of a line.

    Attributes
    ----------
    operator : str
        The kind of change, such as ``"off by one"``.
    line : int
        Its number, from 1.
    start, stop : int
        Columns in characters, from 0.
    text : str
    """

    operator: str
    line: int
    start: int
    stop: int
    text: str


class Mutant(NamedTuple):
    """A changed line.

    Attributes
    ----------
    file : str
        Its path in the repository.
    line : int
        Its number, from 1.
    operator : str
    before, after : str
        The whole line.
    """

    file: str
    line: int
    operator: str
    before: str
    after: str

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Mutant:
        """The mutant of an entry in a report."""
        return cls(*(entry[field] for field in cls._fields))

    def apply(self, tree: Path) -> None:
        """Change the line in a copy of the repository."""
        path = tree / self.file
        path.write_text(self.changed(path.read_text()))
        # Python would use the old compiled module if the source has the same size and the same second of change.
        Path(cache_from_source(str(path))).unlink(missing_ok=True)

    def changed(self, text: str) -> str:
        """The text of the file with the line changed.

        Raises
        ------
        ValueError
            If the line is not the one that the mutant changes.
        """
        lines = text.split("\n")
        if lines[self.line - 1] != self.before:
            raise ValueError(f"{self.file}:{self.line} is not {self.before!r}")
        lines[self.line - 1] = self.after
        return "\n".join(lines)


def mutant_of(file: str, lines: list[str], change: Change) -> Mutant:
    """The mutant that a change makes of a file's lines."""
    before = lines[change.line - 1]
    after = (before[: change.start] + change.text + before[change.stop :]).rstrip()
    return Mutant(file, change.line, change.operator, before, after)
