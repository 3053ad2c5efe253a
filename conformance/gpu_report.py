"""``python -m conformance.gpu_report``: runs the whole suite where there is a GPU, and writes ``reports/gpu.json``."""

from __future__ import annotations

import sys

from conformance.fingerprint import ROOT, fingerprint
from conformance.reporting import REPORTS, available, counts, heading, run_pytest, write

# Tests that fill the GPU's memory, so that no others may run beside them.
ALONE = "tests/engine/test_memory_in_company.py"


def main(arguments: list[str]) -> int:
    """Run, write the report, and return pytest's exit code. `arguments` go to pytest."""
    if not available("cuda"):
        print("gpu_report: no GPU here")
        return 2
    before = fingerprint()
    code, cases = run_pytest([*arguments, f"--deselect={ALONE}"], ROOT)
    last, others = run_pytest(["-n", "0", ALONE], ROOT)
    code, cases = max(code, last), cases + others
    failed = sorted(case.name for case in cases if case.outcome == "failed")
    write(REPORTS / "gpu.json", {**heading("cuda"), **counts(cases), "failed_tests": failed, "fingerprint": before})
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
