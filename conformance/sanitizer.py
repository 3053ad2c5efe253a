"""``python -m conformance.sanitizer``: runs random tests of the GPU suite under ``compute-sanitizer``; writes a report.

``--tool T``     memcheck or racecheck (default memcheck).
``--seconds S``  how long (default 300).
``--seed N``     the seed of the random order of tests (default 0).

It runs tests of ``tests/engine`` in batches until the time is over. It counts the errors that the sanitizer reports
and the tests that fail under it. The report collects the runs of the same code, one entry for each tool and seed.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from conformance.fingerprint import ROOT, fingerprint
from conformance.reporting import REPORTS, available, heading, write

# The tests of one process, and its time limit in seconds. Under the sanitizer, kernels are some 20 times slower, and
# the start of a process takes seconds.
BATCH, TIME_LIMIT = 24, 240
# These tests need gigabytes of memory or other processes, or count things that the sanitizer changes.
LEFT_OUT = ("test_kernels_large", "test_memory_in_company", "test_graphs", "test_determinism")


def main(arguments: Sequence[str]) -> int:
    """Run, write the report; returns 1 if something was found."""
    parser = argparse.ArgumentParser("python -m conformance.sanitizer", description="Runs tests under a sanitizer.")
    parser.add_argument("--tool", choices=("memcheck", "racecheck"), default="memcheck")
    parser.add_argument("--seconds", type=float, default=300.0, metavar="S", help="how long (default 300)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draw (default 0)")
    options = parser.parse_args(arguments)
    if not available("cuda"):
        print("conformance.sanitizer: no GPU here")
        return 2
    before, end = fingerprint(), time.monotonic() + options.seconds
    tests = _collected()
    random.Random(options.seed).shuffle(tests)
    run: dict[str, Any] = {"tool": options.tool, "seed": options.seed, "tests": 0, "errors": 0, "failed": []}
    while tests and time.monotonic() < end:
        batch, tests = tests[:BATCH], tests[BATCH:]
        found = _sanitize(options.tool, batch)
        run["tests"] += len(batch)
        run["errors"] += found["errors"]
        run["failed"] += found["failed"]
        print(f"{run['tests']} tests, {run['errors']} errors", flush=True)
    _add(before, run)
    return int(bool(run["errors"] or run["failed"]))


def _collected() -> list[str]:
    """The tests of the GPU suite that a sanitizer can run."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "tests/engine"]
    command += ["-o", "addopts="]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    tests = [line for line in lines if "::" in line and "cpu" not in line.partition("::")[2]]
    return [test for test in tests if not any(name in test for name in LEFT_OUT)]


def _sanitize(tool: str, tests: Sequence[str]) -> dict[str, Any]:
    """Run tests under a tool. Returns what it found."""
    command = ["compute-sanitizer", f"--tool={tool}", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *tests], cwd=ROOT, capture_output=True, text=True, timeout=TIME_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return {"errors": 0, "failed": [f"no end after {TIME_LIMIT} s: {tests[0]} and {len(tests) - 1} more"]}
    return read(done.stdout + done.stderr)


def read(output: str) -> dict[str, Any]:
    """The number of errors in a sanitizer's output, and the tests that failed.

    Without a summary the sanitizer did not finish: a failure.
    """
    summaries = re.findall(r"(?:ERROR SUMMARY|RACECHECK SUMMARY): (\d+)", output)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    if not summaries:
        failed.append(f"no summary: {output[-500:]}")
    return {"errors": sum(map(int, summaries)), "failed": failed}


def _add(before: str, run: dict[str, Any]) -> None:
    path = REPORTS / "sanitizer.json"
    old = json.loads(path.read_text()) if path.exists() else {}
    runs = old["runs"] if old.get("fingerprint") == before else []
    runs = [each for each in runs if (each["tool"], each["seed"]) != (run["tool"], run["seed"])]
    write(path, {**heading("cuda"), "runs": [*runs, run], "fingerprint": before})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
