"""The common parts of reports: pytest's counts, versions, the machine, and writing the file."""

from __future__ import annotations

import datetime
import json
import math
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

REPORTS = Path(__file__).parent / "reports"
OUTCOMES = ("passed", "failed", "skipped", "xfailed")
PACKAGES = ("cuda-bindings", "cuda-core", "nvidia-cuda-nvrtc", "numpy", "ml_dtypes", "torch", "cupy-cuda13x", "jax")

# Seconds in which an interrupted pytest has to write its report.
_GRACE = 30


class Case(NamedTuple):
    """One test: its name, its outcome (one of `OUTCOMES`), and why it was skipped."""

    name: str
    outcome: str
    reason: str = ""


def run_pytest(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
    seconds: float = math.inf,
) -> tuple[int, list[Case]]:
    """Run pytest in `folder`. Returns its exit code and its cases; no cases if it ended before it wrote a report.

    After so many seconds it is interrupted, and returns the cases that ended.
    """
    with TemporaryDirectory() as temporary:
        junit = Path(temporary) / "junit.xml"
        # zarr's plugin imports cupy, in whose place a run may have put another module.
        options = [f"--junitxml={junit}", "-o", "junit_logging=no", "-p", "no:zarr"]
        command = [python, "-m", "pytest", *options, *arguments]
        # One thread for each worker: with one for each core, many workers would slow each other down.
        one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        given = {**one_thread, **(os.environ if environment is None else environment)}
        code = _wait(subprocess.Popen(command, cwd=folder, env=given), seconds)
        cases = list(ElementTree.parse(junit).getroot().iter("testcase")) if junit.exists() else []
    return code, [_case(each) for each in cases]


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int:
    """The exit code. After so many seconds interrupt pytest, which then writes its report; else kill it."""
    for limit, stop in ((seconds, process.send_signal), (_GRACE, lambda _: process.kill())):
        try:
            return process.wait(None if math.isinf(limit) else limit)
        except subprocess.TimeoutExpired:
            stop(signal.SIGINT)
    return process.wait()


def _case(element: ElementTree.Element) -> Case:
    name = f"{element.get('classname')}::{element.get('name')}"
    if element.find("failure") is not None or element.find("error") is not None:
        return Case(name, "failed")
    skipped = element.find("skipped")
    if skipped is None:
        return Case(name, "passed")
    outcome = "xfailed" if skipped.get("type") == "pytest.xfail" else "skipped"
    return Case(name, outcome, skipped.get("message", ""))


def counts(cases: Iterable[Case]) -> dict[str, int]:
    """How many there are of each outcome."""
    found = Counter(case.outcome for case in cases)
    return {outcome: found[outcome] for outcome in OUTCOMES}


def installed(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """The versions of those packages that are installed."""
    found = {"python": sys.version.split()[0]}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def heading(device: str) -> dict[str, Any]:
    """The date, the device and its driver, and the versions: the first keys of every report."""
    from xpops.engine.cuda.runtime.driver import visible_gpus

    gpu = visible_gpus()[0] if device == "cuda" else None
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "device": device if gpu is None else gpu.name,
        "driver": None if gpu is None else gpu.driver,
        "versions": installed(),
    }


def available(device: str) -> bool:
    """Whether this machine has such a device."""
    from xpops.engine.cuda.runtime.driver import visible_gpus

    return device == "cpu" or bool(visible_gpus())


def write(path: Path, report: dict[str, Any]) -> None:
    """Write a report, and print it."""
    text = json.dumps(report, indent=1)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text + "\n")
    print(text)
