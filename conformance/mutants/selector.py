"""A pytest plugin that runs chosen tests in a chosen order, and logs them to a file, the account.

`trial` loads it by ``PYTEST_PLUGINS``. The order is a JSON file: ``tests``, or null for all that are collected;
``left_out``, the tests not to run; and ``limits``, the seconds after which a test counts as hanging.
"""

from __future__ import annotations

import faulthandler
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance.mutants.plans import forget_plans

ORDER, ACCOUNT = "XPOPS_MUTANTS_ORDER", "XPOPS_MUTANTS_ACCOUNT"
LIMIT = 120.0
_EXCERPT = 3000


@cache
def _order() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(os.environ[ORDER]).read_text())
    return found


def _write(**entry: Any) -> None:
    """Add an entry to the account. With pytest-xdist, only the controller does."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(os.environ[ACCOUNT]).open("a") as file:
            file.write(json.dumps(entry) + "\n")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose the tests, and sort them."""
    order = _order()
    left_out = set(order["left_out"])
    if order["tests"] is None:
        items[:] = [item for item in items if item.nodeid not in left_out]
        return
    found = {item.nodeid: item for item in items}
    items[:] = [found[test] for test in order["tests"] if test in found and test not in left_out]


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Log a file that cannot be imported as failed."""
    if report.failed:
        _write(test=report.nodeid or "collection", outcome="failed", text=str(report.longrepr)[-_EXCERPT:])


def pytest_runtest_logstart(nodeid: str) -> None:
    """Log which test starts, in case the process ends."""
    _write(test=nodeid, outcome="started")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Log failures, and the end of a test."""
    if report.failed:
        _write(
            test=report.nodeid, outcome="failed", text=report.longreprtext[:_EXCERPT] + report.longreprtext[-_EXCERPT:]
        )
    elif report.when == "teardown":
        _write(test=report.nodeid, outcome="ended")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    """End the process if a test hangs."""
    os.environ.pop("PYTEST_PLUGINS", None)  # so that a pytest run by a test does not load this
    forget_plans()
    faulthandler.dump_traceback_later(_order()["limits"].get(item.nodeid, LIMIT), exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
