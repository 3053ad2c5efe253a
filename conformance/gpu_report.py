"""``python -m conformance.gpu_report``: runs the whole suite where there is a GPU, and writes ``reports/gpu.json``."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.fingerprint import ROOT, fingerprint

REPORT = Path(__file__).parent / "reports" / "gpu.json"
PACKAGES = ("cuda-bindings", "cuda-core", "nvidia-cuda-nvrtc", "numpy", "ml_dtypes", "torch", "cupy-cuda13x", "jax")


def run_suite(arguments: list[str]) -> tuple[int, dict[str, int]]:
    """pytest's exit code and its counts."""
    with TemporaryDirectory() as folder:
        junit = Path(folder) / "junit.xml"
        command = [sys.executable, "-m", "pytest", f"--junitxml={junit}", "-o", "junit_logging=no", *arguments]
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        suite = ElementTree.parse(junit).getroot().find("testsuite")
    assert suite is not None
    cases = list(suite.iter("testcase"))
    xfailed = sum(case.find("skipped[@type='pytest.xfail']") is not None for case in cases)
    failed = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases) - xfailed
    counts = {"failed": failed, "skipped": skipped, "xfailed": xfailed}
    return code, {"passed": len(cases) - sum(counts.values()), **counts}


def installed() -> dict[str, str]:
    """The versions that matter, of what is installed."""
    found = {"python": sys.version.split()[0]}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def main(arguments: list[str]) -> int:
    """Run, write the report, and return pytest's exit code. `arguments` go to pytest."""
    from xpops.engine.cuda.driver import visible_gpus

    gpus = visible_gpus()
    if not gpus:
        print("gpu_report: no GPU here")
        return 2
    before = fingerprint()
    code, counts = run_suite(arguments)
    report = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "device": gpus[0].name,
        "driver": gpus[0].driver,
        "versions": installed(),
        **counts,
        "fingerprint": before,
    }
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
