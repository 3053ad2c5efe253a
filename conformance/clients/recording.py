"""A pytest plugin that writes each failure at once, and counts by place where a client converts arrays to NumPy."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import xpops

# The file that failures are added to. The places go to files in the folder that pytest starts in.
FAILURES = os.environ.get("XPOPS_CLIENT_FAILURES", "")
PLACES = "conversions-{}.json"
_FOLDER, _IS_WORKER = Path.cwd(), "PYTEST_XDIST_WORKER" in os.environ
_REASON = 300

_places: Counter[str] = Counter()


def pytest_configure() -> None:
    """Count conversions in this process."""
    count_conversions(_places)


def count_conversions(places: Counter[str]) -> None:
    """Count the calls of ``Array.__array__`` from now on, by the function that called NumPy. Tests do not count."""
    convert = xpops.Array.__array__

    def counted(self: Any, *arguments: Any, **options: Any) -> Any:
        places.update(filter(None, [_caller()]))
        return convert(self, *arguments, **options)

    replaced: Any = counted
    xpops.Array.__array__ = replaced  # type: ignore[method-assign]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write a failure. Workers send theirs to the main process."""
    _record(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Write a module that could not be collected."""
    _record(report)


def pytest_sessionfinish() -> None:
    """Write the places of this process."""
    (_FOLDER / PLACES.format(os.getpid())).write_text(json.dumps(_places))


def _record(report: Any) -> None:
    if not report.failed or _IS_WORKER or not FAILURES:
        return
    crash = getattr(report.longrepr, "reprcrash", None)
    reason = " ".join((crash.message if crash else str(report.longrepr)[-_REASON:]).split())
    with open(FAILURES, "a") as file:
        file.write(f"{os.environ.get('XPOPS_CLIENT', '')} {report.nodeid}: {reason[:_REASON]}\n")


def _caller() -> str:
    """The function that called NumPy with an array: its module and name. Empty if it is a test."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in ("numpy", "xpops", "conformance"):
            is_test = "test_" in module.rpartition(".")[2] or ".tests" in module or "conftest" in module
            return "" if is_test else f"{module}.{frame.f_code.co_qualname}"
        frame = frame.f_back
    return ""
