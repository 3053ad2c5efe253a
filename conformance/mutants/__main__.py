"""``python -m conformance.mutants --seed N --count C``: changes lines of code at random; a test should notice each.

``--seed N``               another seed draws other mutants (default 0).
``--count C``              how many (default 50); mutants that do not compile do not count.
``-j J``                   this many mutants at a time; on CUDA one at a time, with J workers of pytest (default 1).
``--device cpu|cuda``      where the tests run (default cpu).
``--survivors``            try the mutants that survived on the CPU again, instead of new ones.

A file is drawn with a probability proportional to its lines of code; then a line of it, a kind of change, and a change.
On the CPU, the tests that run the line or compile the header are run. They are known from one run of all tests with
coverage.py, which the extra ``mutants`` installs; after a change of code or tests, only the affected tests run again to
update this map. The nearest tests run first, until one fails, for at most 150 seconds. On CUDA, the files of
tests/engine and tests/interop run that share the most words with the changed file. A failure counts only if the test
passes without the mutant.

The report ``reports/mutants-<device>.json`` is written after each mutant; the same command continues where it was
stopped. Survivors that behave like the original are in ``equivalent.json``, with the reason. The exit status is 1 if
some mutants survived.
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
