"""The order of a mutant's tests: the nearest first, and one case of each test function before the second of any."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from conformance.mutants.coverage_map import CoverageMap
from conformance.mutants.covering import including, struct_at
from conformance.mutants.mutant import Mutant

# The number of files of the first stage, and the limits of the stages: seconds that their tests took for the map.
NEAREST_FILES, FIRST_SECONDS, ALL_SECONDS = 4, 40.0, 150.0
# The least seconds that a test is assumed to take.
_LEAST = 0.02


class Stages(NamedTuple):
    """The tests of a mutant.

    Attributes
    ----------
    first, then : list of str
        The tests to run first, and those to run if they pass.
    covering : int
        The number of covering tests, including those that the time limit leaves out.
    """

    first: list[str]
    then: list[str]
    covering: int


def staged(mutant: Mutant, tests: set[str], tree: Path, known: CoverageMap) -> Stages:
    """The tests of a mutant in two stages, each within its time limit."""
    order = ranked(mutant, tests, tree, known)
    files = list(dict.fromkeys(_file(test) for test in order))[:NEAREST_FILES]
    first = _affordable([test for test in order if _file(test) in files], FIRST_SECONDS, known)
    chosen = set(first)
    then = _affordable([test for test in order if test not in chosen], ALL_SECONDS - FIRST_SECONDS, known)
    return Stages(first, then, len(tests))


def ranked(mutant: Mutant, tests: Iterable[str], tree: Path, known: CoverageMap) -> list[str]:
    """The tests of a mutant, the nearest first."""
    nearness = _Nearness(mutant, tree, known)
    functions: dict[str, list[str]] = defaultdict(list)
    for test in sorted(tests):
        functions[test.partition("[")[0]].append(test)
    order = sorted(functions, key=lambda function: min(nearness.of_function(test) for test in functions[function]))
    rounds: list[tuple[int, int, str]] = []
    for place, function in enumerate(order):
        cases = sorted(functions[function], key=nearness.of_case)
        rounds += [(turn, place, test) for turn, test in enumerate(cases)]
    return [test for _, _, test in sorted(rounds)]


class _Nearness:
    """How near tests are to a mutant; smaller is nearer."""

    def __init__(self, mutant: Mutant, tree: Path, known: CoverageMap) -> None:
        self._known = known
        self._family = words(Path(mutant.file).stem) | words(Path(mutant.file).parent.name)
        self._line = words(mutant.before)
        self._distances = {} if mutant.file.endswith(".py") else including(tree, mutant.file.removeprefix("native/"))
        self._struct = struct_at(tree, mutant) if self._distances else None

    def of_function(self, test: str) -> tuple[float, ...]:
        """The nearness of a test function: by its name and its file's, the includes of its kernels, and seconds."""
        record = self._known.tests[test]
        distance = min((self._distances.get(header, 9) for header in record.headers), default=9)
        is_by_name = self._struct in record.names
        file, _, function = test.partition("[")[0].partition("::")
        related = 2 * _common(self._family, words(Path(file).stem)) + _common(self._family, words(function))
        related += _common(self._line, words(function)) > 0
        return -3 * is_by_name - related + 2 * bool(self._distances) * distance, record.seconds

    def of_case(self, test: str) -> tuple[float, ...]:
        """The nearness of a case: by the names of its parameters, and seconds."""
        record = self._known.tests[test]
        is_by_name = self._struct in record.names
        return -is_by_name, -_common(self._line, words(test.partition("[")[2])), record.seconds


def words(text: str) -> frozenset[str]:
    """The words of names in lower case, with at least three letters: ``test_scans`` -> ``test``, ``scan``."""
    found = re.findall(r"[A-Za-z][a-z]{2,}[0-9]*|[A-Z]{3,}", text.replace("_", " "))
    return frozenset(word.lower().removesuffix("s") for word in found) - {"test", "xpop", "emulated", "compile", "self"}


def _common(one: frozenset[str], other: frozenset[str]) -> int:
    return len(one & other)


def _file(test: str) -> str:
    return test.partition("::")[0]


def _affordable(tests: list[str], seconds: float, known: CoverageMap) -> list[str]:
    found = list[str]()
    for test in tests:
        cost = max(known.tests[test].seconds, _LEAST)
        if cost <= seconds or not found:
            found.append(test)
            seconds -= cost
    return found
