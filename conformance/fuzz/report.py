"""The report: runs of the same code, by seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from conformance.reporting import REPORTS, heading, write


def programs_done(device: str, fingerprint: str, seed: int, kernels: int) -> int:
    """How many programs of a seed ran on this code: the number of the next one."""
    return sum(each["programs"] for each in _runs(device, fingerprint) if _key(each) == (seed, kernels))


def add(device: str, fingerprint: str, run: dict[str, Any]) -> None:
    """Add a run to those of the same code and device; to that of the same seed if there is one."""
    runs = _runs(device, fingerprint)
    same = next((each for each in runs if _key(each) == _key(run)), None)
    if same is None:
        runs.append(run)
    else:
        same.update({name: same[name] + run[name] for name in ("seconds", "programs", "actions", "failed")})
    total = {name: sum(each[name] for each in runs) for name in ("programs", "actions")}
    failed = sum(len(each["failed"]) for each in runs)
    write(_path(device), {**heading(device), **total, "failed": failed, "runs": runs, "fingerprint": fingerprint})


def _path(device: str) -> Path:
    return REPORTS / f"fuzz-{device}.json"


def _runs(device: str, fingerprint: str) -> list[dict[str, Any]]:
    """Those of the same code."""
    path = _path(device)
    report: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return list(report["runs"]) if report.get("fingerprint") == fingerprint else []


def _key(run: dict[str, Any]) -> tuple[int, int]:
    return run["seed"], run["kernels"]
