"""The commands that look for leaks, and that run tests under a sanitizer."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conformance import leaks, sanitizer

COMMAND = ["--device", "cpu", "--calls", "300"]


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Few programs and rounds, and the report in another folder."""
    monkeypatch.setattr(leaks, "REPORTS", tmp_path)
    monkeypatch.setattr(leaks, "PROGRAMS", 3)
    # Earlier tests in this process have left gaps in its memory.
    monkeypatch.setattr(leaks, "SLACK", 10**6)
    return tmp_path / "leaks-cpu.json"


def test_nothing_is_left_behind(few: Path) -> None:
    assert leaks.main(COMMAND) == 0
    report = json.loads(few.read_text())
    assert report["actions"] >= 300
    assert not report["leaks"]


@pytest.mark.parametrize("kind", ["objects", "host"])
def test_a_leak_is_found(kind: str, few: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, kept = leaks._run, list[Any]()

    def run(*arguments: Any) -> int:
        kept.extend([[] for _ in range(20)] if kind == "objects" else [b"1" * (64 << 20)])
        return plain(*arguments)

    monkeypatch.setattr(leaks, "_run", run)
    monkeypatch.setattr(leaks, "SLACK", 10**6 if kind == "objects" else 1000)
    assert leaks.main(COMMAND) == 1
    assert json.loads(few.read_text())["grown"][kind] > 0


def test_what_a_sanitizer_says() -> None:
    assert sanitizer.read("1 passed\n========= ERROR SUMMARY: 0 errors\n") == {"errors": 0, "failed": []}
    assert sanitizer.read("========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)\n")["errors"] == 2
    assert sanitizer.read("FAILED tests/a.py::b[1] - x\n= ERROR SUMMARY: 1 error\n")["failed"] == ["tests/a.py::b[1]"]
    (failed,) = sanitizer.read("the driver is gone")["failed"]
    assert "no summary" in failed


def test_runs_of_a_sanitizer_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: Any, **named: Any) -> Any:
        lines = "tests/engine/test_a.py::test_b[cuda:0]\ntests/engine/test_a.py::test_b[cpu]\n"
        output = lines if "--collect-only" in command else "========= ERROR SUMMARY: 1 error\n"
        return subprocess.CompletedProcess(command, 0, output, "")

    monkeypatch.setattr(sanitizer, "REPORTS", tmp_path)
    monkeypatch.setattr(sanitizer, "available", lambda device: True)
    monkeypatch.setattr(sanitizer, "heading", lambda device: {})
    monkeypatch.setattr(sanitizer.subprocess, "run", run)
    for seed in ("1", "2", "2"):
        assert sanitizer.main(["--seconds", "5", "--seed", seed]) == 1
    runs = json.loads((tmp_path / "sanitizer.json").read_text())["runs"]
    assert [(each["seed"], each["tests"], each["errors"]) for each in runs] == [(1, 1, 1), (2, 1, 1)]
