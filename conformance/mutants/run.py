"""Chooses the tests of mutants, tries several mutants at a time, and prints a line for each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from conformance.mutants.coverage_map import CoverageMap, gathered
from conformance.mutants.covering import covering
from conformance.mutants.gpu_tests import related_files
from conformance.mutants.mutant import Mutant
from conformance.mutants.ranking import staged
from conformance.mutants.results import Results
from conformance.mutants.tree import Workshop
from conformance.mutants.trial import Batch, Bench

# This test reads every line of source, which the map does not show.
READS_THE_SOURCE = "tests/unit/test_architecture.py"


class Choice(NamedTuple):
    """The tests of a mutant.

    Attributes
    ----------
    stages : list of Batch
    counts : dict
        The number of tests that cover the mutant (``"covering"``), and of those chosen to run (``"chosen"``).
    """

    stages: list[Batch]
    counts: dict[str, int | None]


Choose = Callable[[Mutant], Choice]


def chooser(device: str, workshop: Workshop, kept: Path, jobs: int) -> Choose:
    """A function that chooses the tests of a mutant on a device.

    Parameters
    ----------
    kept : Path
        The folder of the map of tests.
    jobs : int
        Workers of pytest, on CUDA and when the map is made.
    """
    tree = workshop.template
    if device == "cuda":
        workers = ["-n", str(jobs)]
        return lambda mutant: Choice(
            [Batch(related_files(mutant, tree), None, {}, workers)], {"covering": None, "chosen": None}
        )
    known = gathered(kept, workshop, jobs)
    return lambda mutant: choice(mutant, tree, known)


def choice(mutant: Mutant, tree: Path, known: CoverageMap) -> Choice:
    """The tests that cover a mutant, in two stages, then the test that reads the source."""
    stages = staged(mutant, covering(mutant, tree, known), tree, known)
    chosen = []
    for tests in (stages.first, stages.then):
        present = [test for test in tests if (tree / test.partition("::")[0]).exists()]
        files = list(dict.fromkeys(test.partition("::")[0] for test in present))
        if files:
            chosen.append(Batch(files, present, {test: known.tests[test].seconds for test in present}, []))
    if (tree / READS_THE_SOURCE).exists():
        chosen.append(Batch([READS_THE_SOURCE], None, {}, []))
    return Choice(chosen, {"covering": stages.covering, "chosen": len(stages.first) + len(stages.then)})


class Run:
    """Tries mutants.

    Parameters
    ----------
    bench : Bench
    results : Results
    choose : callable
        Takes a mutant, returns its tests.
    jobs : int
        How many mutants to try at the same time.
    """

    def __init__(self, bench: Bench, results: Results, choose: Choose, jobs: int) -> None:
        self._bench, self._results, self._choose, self._jobs = bench, results, choose, jobs

    def try_drawn(self, seed: int, drawn: Iterator[Mutant], count: int) -> list[dict[str, Any]]:
        """Try mutants until `count` are valid. Mutants in the report count, and are not tried again."""
        done: list[dict[str, Any]] = []
        while missing := count - sum(entry["status"] != "invalid" for entry in done):
            batch = [(seed, mutant) for mutant in islice(drawn, missing)]
            if not batch:
                break
            self.try_all([each for each in batch if self._results.get(*each) is None])
            done += [entry for each in batch if (entry := self._results.get(*each)) is not None]
        return done

    def try_all(self, mutants: list[tuple[int, Mutant]]) -> list[dict[str, Any]]:
        """Try mutants, each with its seed. Returns their entries in the report."""
        with ThreadPoolExecutor(self._jobs) as pool:
            return list(pool.map(lambda each: self._try(*each), mutants))

    def _try(self, seed: int, mutant: Mutant) -> dict[str, Any]:
        start = time.monotonic()
        chosen = self._choose(mutant)
        verdict = self._bench.try_mutant(mutant, chosen.stages)
        entry = self._results.add(seed, mutant, verdict, chosen.counts, time.monotonic() - start)
        by = f" by {verdict.test}" if verdict.test else ""
        print(f"{entry['status']:10} {mutant.file}:{mutant.line} {mutant.operator}{by}", flush=True)
        print(f"           - {mutant.before.strip()}\n           + {mutant.after.strip()}", flush=True)
        return entry
