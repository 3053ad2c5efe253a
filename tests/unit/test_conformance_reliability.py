"""The page of reliability, made from the reports."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

from conformance import reliability
from conformance.fingerprint import ROOT
from conformance.reliability import PAGE, ROWS, page
from conformance.reporting import REPORTS

REPORT = {
    "device": "GPU",
    "fingerprint": "0123456789",
    "runs": [
        {"tool": "memcheck", "seed": 1, "tests": 5, "errors": 0, "failed": []},
        {"tool": "memcheck", "seed": 2, "tests": 6, "errors": 1, "failed": ["a"]},
        {"tool": "racecheck", "seed": 1, "tests": 7, "errors": 0, "failed": []},
    ],
}


def test_a_row_says_what_its_report_says(tmp_path: Path) -> None:
    (tmp_path / "sanitizer.json").write_text(json.dumps(REPORT))
    lines = [line for line in page(ROWS, tmp_path).splitlines() if "check of tests" in line]
    assert "| GPU | [11 tests: 1 findings, 1 failed](" in lines[0]
    assert "[7 tests: 0 findings, 0 failed](" in lines[1]
    assert all("01234567 |" in line for line in lines)


def test_without_a_report_it_says_so(tmp_path: Path) -> None:
    lines = page(ROWS, tmp_path).removeprefix(reliability.HEAD).splitlines()
    assert len(lines) == len(ROWS)
    assert all("not run yet" in line for line in lines)


def test_every_report_can_be_shown() -> None:
    page(ROWS, REPORTS)


def test_the_page_has_these_rows_and_their_commands_exist() -> None:
    text = PAGE.read_text()
    assert text.startswith(reliability.HEAD)
    shown = re.findall(r"^\| (.*?) \| .*`(.*?)`", text.removeprefix(reliability.HEAD), re.MULTILINE)
    assert shown == [(row.what, row.command) for row in ROWS]
    for row in ROWS:
        module = re.match(r"python -m (conformance\S*)", row.command)
        if module is None:
            assert (ROOT / row.command.split()[-1]).exists()
        else:
            assert importlib.util.find_spec(module[1]) is not None
