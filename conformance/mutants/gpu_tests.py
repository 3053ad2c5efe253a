"""The tests of a mutant on a GPU: the files that share the most words with its file, in their names and their text."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from conformance.mutants.covering import including
from conformance.mutants.mutant import Mutant
from conformance.mutants.ranking import words

FOLDERS = ("tests/engine", "tests/interop")
# At most so many files are run. Words are compared by so many first letters.
MOST, LETTERS = 6, 4


def related_files(mutant: Mutant, tree: Path) -> list[str]:
    """The files of tests nearest to a mutant's file and to the headers that include it; all files if none is near."""
    names = [mutant.file]
    if mutant.file.endswith(".cuh"):
        names += including(tree, mutant.file.removeprefix("native/"))
    own, family = _stems(names[0]), frozenset[str]().union(*map(_stems, names))
    files = [path for folder in FOLDERS for path in sorted((tree / folder).glob("test_*.py"))]
    nearness = {path: (*_nearness(path, own), *_nearness(path, family)) for path in files}
    related = [path for path in files if any(nearness[path])]
    order = sorted(related, key=lambda path: nearness[path], reverse=True)[:MOST]
    return [path.relative_to(tree).as_posix() for path in order or files]


def _nearness(path: Path, family: frozenset[str]) -> tuple[int, int]:
    """How many words of a family are in a file's name, and how often they are in its text."""
    text = Counter(word[:LETTERS] for word in re.findall("[a-z]+", path.read_text().lower()))
    return len(_stems(path.name) & family), sum(text[word] for word in family)


def _stems(name: str) -> frozenset[str]:
    """The first letters of the words of a file's name: those of ``reduce`` and ``reductions`` are equal."""
    return frozenset(word[:LETTERS] for word in words(Path(name).stem))
