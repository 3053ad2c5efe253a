"""``python -m conformance.gpu_report``: runs the test suite on a GPU, and writes ``reports/gpu.json``.

``--seconds S``  after so many seconds the suite is interrupted, and the report has the tests that ended.
``...``          arguments for pytest, such as ``-n 25``.

It leaves out the tests that compile kernels for the CPU, and for GPUs that need not be there: this one changes nothing
for them.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence

import pytest

from conformance.fingerprint import ROOT, fingerprint
from conformance.reporting import REPORTS, Case, available, counts, heading, run_pytest, write

# Tests that fill the GPU's memory, so that no other tests may run at the same time.
ALONE = ("tests/engine/test_memory_in_company.py", "tests/engine/test_sorting.py::test_more_than_2_to_the_31_elements")
COMPILED = ("tests/unit/test_*_emulated.py", "tests/unit/test_*_compile.py", "tests/native/test_headers_compile.py")


def main(arguments: list[str]) -> int:
    """Run, write the report, and return pytest's exit code."""
    if not available("cuda"):
        print("gpu_report: no GPU here")
        return 2
    parser = argparse.ArgumentParser("python -m conformance.gpu_report", description="Runs the test suite on a GPU.")
    parser.add_argument("--seconds", type=float, default=math.inf, metavar="S", help="how long (default: as long)")
    options, for_pytest = parser.parse_known_args(arguments)
    before, end = fingerprint(), time.monotonic() + options.seconds
    ignored = [f"--ignore-glob={each}" for each in COMPILED]
    left_out = [f"--deselect={each}" for each in ALONE]
    first, alone = run_pytest(["-n", "0", *ALONE], ROOT, seconds=options.seconds)
    code, cases = run_pytest([*for_pytest, *left_out, *ignored], ROOT, seconds=end - time.monotonic())
    cases += alone
    failed = sorted(case.name for case in cases if case.outcome == "failed")
    found = {**counts(cases), "modules": count_by_module(cases), "failed_tests": failed}
    finished = pytest.ExitCode.INTERRUPTED not in (first, code)
    write(REPORTS / "gpu.json", {**heading("cuda"), "finished": finished, **found, "fingerprint": before})
    return max(first, code)


def count_by_module(cases: Sequence[Case]) -> dict[str, dict[str, int]]:
    """The counts of each test module, by its name without packages."""
    modules: dict[str, list[Case]] = {}
    for case in cases:
        modules.setdefault(case.name.partition("::")[0].rpartition(".")[2], []).append(case)
    return {module: counts(of_module) for module, of_module in sorted(modules.items())}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
