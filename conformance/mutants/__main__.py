"""``python -m conformance.mutants --seed N --count C``: changes lines of code at random; a test should notice each.

``--seed N``               other mutants (default 0).
``--count C``              how many (default 50); those that do not compile are drawn again.
``-j J``                   this many mutants at a time; on CUDA one, with as many workers of pytest (default 1).
``--device cpu|cuda``      where the tests run (default cpu).
``--survivors``            instead of new mutants, try those that survived on the CPU once more.

A file is drawn by how much code it holds, then a line of it, then a kind of change, then a change. On the CPU the tests
that run the line, or compile the header, are known from one run of all tests with coverage.py, which the extra
``mutants`` installs; later only what a change of code or tests concerns is run again. The nearest run first, until one
fails, and no longer than 150 seconds. On CUDA the nearest files of tests/engine and tests/interop run, by the words in
them. A test counts only if it passes without the mutant.

Writes ``reports/mutants-<device>.json`` after each mutant; the same command goes on where it was stopped. Survivors
that no test can tell from the original stand in ``equivalent.json``, with the reason. Status 1: some survived.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.fingerprint import ROOT, fingerprint
from conformance.mutants.draw import draw
from conformance.mutants.mutant import Mutant
from conformance.mutants.results import Results, counts, load
from conformance.mutants.run import Run, chooser
from conformance.mutants.tree import Workshop
from conformance.mutants.trial import Bench
from conformance.reporting import REPORTS, available
from xpops.core.config import cache_directory


def main(arguments: list[str]) -> int:
    """Try mutants, write the report, and return 1 if some survived."""
    options = _parser().parse_args(arguments)
    if not available(options.device):
        print(f"conformance.mutants: no {options.device} device here")
        return 2
    if options.device == "cpu" and find_spec("coverage") is None:
        print("conformance.mutants: coverage.py is not installed; pip install -e '.[test]'")
        return 2
    source, kept = fingerprint(), cache_directory() / "mutants"
    results = Results(REPORTS / f"mutants-{options.device}.json", options.device, source)
    survivors = [entry for entry in load(REPORTS / "mutants-cpu.json", source) if entry["status"] == "survived"]
    with TemporaryDirectory(prefix="xpops-mutants-") as folder:
        workshop = Workshop(ROOT, Path(folder), kept / "objects", limited=options.device == "cpu")
        choose = chooser(options.device, workshop, kept / "map", options.jobs)
        run = Run(Bench(workshop), results, choose, 1 if options.device == "cuda" else options.jobs)
        if options.survivors:
            done = run.try_all([(entry["seed"], Mutant.of(entry)) for entry in survivors])
        else:
            done = run.try_drawn(options.seed, draw(workshop.template, options.seed, source), options.count)
    results.write()
    found = counts(done)
    share = found.pop("share_killed")
    print(", ".join(f"{count} {status}" for status, count in found.items()))
    print(f"killed of those not equivalent: {'none' if share is None else f'{share:.1%}'}")
    return int(found["survived"] > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m conformance.mutants", description="Changes lines of code at random.")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="other mutants (default 0)")
    parser.add_argument("--count", type=int, default=50, metavar="C", help="how many (default 50)")
    parser.add_argument("-j", dest="jobs", type=int, default=1, metavar="J", help="at a time (default 1)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--survivors", action="store_true", help="try those that survived on the CPU once more")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
