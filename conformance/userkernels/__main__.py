"""``python -m conformance.userkernels --checkout DIR``: runs cupy's own tests of user-defined kernels on xpops.

DIR is a checkout of cupy, of the version that is installed. Its tests run with the classes of `shim` in the place of
cupy's, on cupy's arrays. Writes ``reports/userkernels.json``. `left_out` names the tests that ask for something that
xpops decides otherwise.

``-n W``   with this many worker processes (default 0: none).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.fingerprint import ROOT, fingerprint
from conformance.reporting import REPORTS, Case, available, counts, heading, run_pytest, write
from conformance.userkernels.left_out import LEFT_OUT

FOLDER = Path("cupy_tests") / "core_tests"
# The kind of kernel that each file tests.
FILES = {
    "test_userkernel": "ElementwiseKernel",
    "test_elementwise": "ElementwiseKernel, its errors",
    "test_reduction": "ReductionKernel",
    "test_raw": "RawKernel, RawModule",
}


def main(arguments: list[str]) -> int:
    """Run the tests, write the report, and return pytest's exit code; 2 if the machine or the checkout lacks a part."""
    parser = argparse.ArgumentParser("python -m conformance.userkernels", description="Runs cupy's tests of kernels.")
    parser.add_argument("--checkout", type=Path, required=True, metavar="DIR", help="a checkout of cupy")
    parser.add_argument("-n", dest="workers", type=int, default=0, metavar="W", help="worker processes (default none)")
    options = parser.parse_args(arguments)
    tests = options.checkout.resolve() / "tests"
    missing = _missing(tests)
    if missing:
        print(f"userkernels: {missing}")
        return 2
    before = fingerprint()
    with TemporaryDirectory() as folder:
        code, cases = run_pytest(_arguments(tests, options.workers), Path(folder), _environment())
    report = {
        **heading("cuda"),
        "kinds": by_kind(cases),
        "failed_tests": sorted(case.name for case in cases if case.outcome == "failed"),
        "left_out": LEFT_OUT,
        "fingerprint": before,
    }
    write(REPORTS / "userkernels.json", report)
    return code


def by_kind(cases: list[Case]) -> dict[str, dict[str, int]]:
    """The counts of outcomes for each kind of kernel."""
    found = defaultdict(list)
    for case in cases:
        file = next((each for each in case.name.replace("::", ".").split(".") if each in FILES), "")
        found[FILES.get(file, "others")].append(case)
    return {kind: counts(each) for kind, each in found.items()}


def _missing(tests: Path) -> str:
    """What the machine or the checkout lacks."""
    absent = [name for name in FILES if not (tests / FOLDER / f"{name}.py").exists()]
    if absent:
        return f"{tests / FOLDER} has no {absent[0]}.py; accepted: a checkout of cupy"
    if not available("cuda"):
        return "no cuda device here"
    return "" if _cupy() else "cupy is missing"


def _cupy() -> bool:
    for name in ("cupy", "cupy-cuda13x", "cupy-cuda12x"):
        try:
            return bool(version(name))
        except PackageNotFoundError:
            continue
    return False


def _arguments(tests: Path, workers: int) -> list[str]:
    plugins = ["-p", "conformance.userkernels.plugin", "-p", "no:cacheprovider", "-n", str(workers)]
    files = [str(tests / FOLDER / f"{name}.py") for name in FILES]
    return [*files, f"--rootdir={tests}", "-q", "-W", "ignore", *plugins]


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "XPOPS_DEFAULT_DEVICE": "cuda"}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
