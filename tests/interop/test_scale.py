"""`conformance.scale` reduces files as NumPy does, computes the same on one worker and on two, and reports failures."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from conformance.fingerprint import fingerprint
from conformance.scale.__main__ import main

pytestmark = pytest.mark.skipif(
    not all(map(find_spec, ("cubed", "distributed", "zarr", "psutil"))), reason="needs cubed, distributed and zarr"
)
TINY = [
    "--device",
    "cpu",
    "--gigabytes",
    "0.02",
    "--block",
    "2",
    "--allowed",
    "0.5",
    "--size",
    "64",
    "--seconds",
    "0.2",
]


def report_of(folder: Path, *more: str) -> dict[str, Any]:
    path = folder / "scale.json"
    code = main([*TINY, "--report", str(path), "--folder", str(folder), *more])
    report: dict[str, Any] = json.loads(path.read_text())
    assert code == int(any("error" in report[part] for part in ("job", "reduction") if part in report)), report
    return report


def test_two_workers(tmp_path: Path) -> None:
    report = report_of(tmp_path, "--devices", "2")
    assert report["fingerprint"] == fingerprint()
    reduction, job = report["reduction"], report["job"]
    assert reduction["equals NumPy's"], reduction
    assert (reduction["bytes"], reduction["blocks"]) == (9 * 2**21, 9)
    assert reduction["host copies between read and write"] == 0
    assert reduction["conversions to write"] > reduction["blocks"]
    assert 2**20 < reduction["peak host bytes of one worker"] < reduction["peak host bytes of all processes"]
    assert job["the same numbers"]
    assert job["speed-up"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["scale.json"]


def test_a_part_that_takes_too_long(tmp_path: Path) -> None:
    for _ in range(2):
        report = report_of(tmp_path, "--parts", "job", "--limit", "0.1")
        assert report["job"] == {"error": "not done after 0.1 seconds"}


def test_a_part_that_fails(tmp_path: Path) -> None:
    report = report_of(tmp_path, "--allowed", "0.001", "--parts", "reduction")
    assert "exceeds allowed_mem" in report["reduction"]["error"]
