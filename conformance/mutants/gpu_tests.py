"""The tests of a mutant on a GPU: files of the same family, by their names and by the words in them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from conformance.mutants.covering import including
from conformance.mutants.mutant import Mutant
from conformance.mutants.ranking import words

FOLDERS = ("tests/engine", "tests/interop")
# So many files are named by the family or speak of it most; a word is known by so many letters.
MOST, LETTERS = 6, 4


def related_files(mutant: Mutant, tree: Path) -> list[str]:
    """The files of tests that are nearest to a mutant's file and the headers that include it; all if none is near."""
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
    """How many words of a family a file's name has, and how often they are in its text."""
    text = Counter(word[:LETTERS] for word in re.findall("[a-z]+", path.read_text().lower()))
    return len(_stems(path.name) & family), sum(text[word] for word in family)


def _stems(name: str) -> frozenset[str]:
    """The first letters of the words of a file's name: ``reduce`` is of the family of ``reductions``."""
    return frozenset(word[:LETTERS] for word in words(Path(name).stem))
