"""``python -m conformance --device cpu|cuda``: runs the official test suite, and writes ``reports/array-api-*.json``.

``--max-examples N``  how many examples each test draws (default 100).
``--seeds A,B,C``     runs the suite once with each of these hypothesis seeds (default 0).
``-n W``              with this many worker processes (default 0: none).
``-- ...``            more arguments for pytest, such as ``-k matmul``; then no report is written.

The suite is the checkout that ``ARRAY_API_TESTS`` names, or a clone in the cache directory. No test is
skipped or expected to fail, except by the suite itself; `conformance.faults` has the faults of the suite.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from typing import Any

from conformance import faults
from conformance.checkout import commit_of, suite
from conformance.fingerprint import ROOT, fingerprint
from conformance.reporting import REPORTS, Case, available, counts, heading, run_pytest, write

VERSION = "2025.12"
BY_BADNESS = ("passed", "skipped", "xfailed", "failed")


def main(arguments: list[str]) -> int:
    """Run the suite with every seed, write the report, and return the worst of pytest's exit codes."""
    options = _parser().parse_args(arguments)
    if not available(options.device):
        print(f"conformance: no {options.device} device here")
        return 2
    folder, before = suite(), fingerprint()
    left_out = faults.deselected(folder, options.device)
    runs, code = [], 0
    for seed in options.seeds:
        command = [*_command(options, seed), *(f"--deselect={each['test']}" for each in left_out)]
        found, cases = run_pytest([*command, *options.pytest], folder, _environment(options.device))
        runs.append(cases)
        code = max(code, found)
    if not options.pytest:
        report = _report(options, runs, left_out, commit_of(folder))
        write(REPORTS / f"array-api-{options.device}.json", {**report, "fingerprint": before})
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m conformance", description="Runs the official array API test suite.")
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    parser.add_argument("--max-examples", type=int, default=100, metavar="N", help="examples a test (default 100)")
    parser.add_argument("--seeds", type=_seeds, default=(0,), metavar="A,B,C", help="hypothesis seeds (default 0)")
    parser.add_argument("-n", dest="workers", type=int, default=0, metavar="W", help="worker processes (default none)")
    parser.add_argument("pytest", nargs="*", help="after --: more arguments for pytest; then no report is written")
    return parser


def _seeds(text: str) -> tuple[int, ...]:
    return tuple(int(seed) for seed in text.split(","))


def _command(options: argparse.Namespace, seed: int) -> list[str]:
    plugin = ["-p", faults.__name__, "-p", "no:cacheprovider"]
    examples = [f"--max-examples={options.max_examples}", f"--hypothesis-seed={seed}", "--disable-deadline"]
    return ["array_api_tests", "-q", "-o", "xfail_strict=true", "-n", str(options.workers), *plugin, *examples]


def _environment(device: str) -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    suite = {"ARRAY_API_TESTS_MODULE": "xpops", "ARRAY_API_TESTS_VERSION": VERSION, "PYTHONPATH": path}
    return {**os.environ, **suite, "XPOPS_DEFAULT_DEVICE": device}


def _report(
    options: argparse.Namespace, runs: list[list[Case]], left_out: list[dict[str, str]], commit: str
) -> dict[str, Any]:
    """The report. A test counts once over all seeds, with its worst outcome."""
    cases = _merged(runs)
    return {
        **heading(options.device),
        **counts(cases),
        "examples": options.max_examples,
        "seeds": list(options.seeds),
        "standard": VERSION,
        "suite_commit": commit,
        "failed_tests": sorted(case.name for case in cases if case.outcome == "failed"),
        "skipped_for": dict(sorted(Counter(case.reason for case in cases if case.outcome == "skipped").items())),
        "deselected": left_out,
        "corrected": [faults.CAN_CAST],
    }


def _merged(runs: list[list[Case]]) -> list[Case]:
    worst: dict[str, Case] = {}
    for case in (case for cases in runs for case in cases):
        before = worst.get(case.name)
        if before is None or BY_BADNESS.index(case.outcome) > BY_BADNESS.index(before.outcome):
            worst[case.name] = case
    return list(worst.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
