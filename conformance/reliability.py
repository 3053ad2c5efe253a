"""``python -m conformance.reliability``: writes ``docs/reliability.md`` from the reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from conformance.fingerprint import ROOT
from conformance.reporting import REPORTS

PAGE = ROOT / "docs" / "reliability.md"
HEAD = """# Reliability

What was done to xpops on purpose, or at random, and what came of it. Each row has the command that does it again; a
command writes its report, and `python -m conformance.reliability` writes this page from the
[reports](../conformance/reports). The code of a report is named by its fingerprint
(`python -m conformance.fingerprint`), of which the first digits are given.

| what | where | result | command | code |
|---|---|---|---|---|
"""

Report = dict[str, Any]


class Row(NamedTuple):
    """A row of the page: what was done, its report, what to print of it ("" for nothing), and the command."""

    what: str
    report: str
    result: Callable[[Report], str]
    command: str


def _interrupts(report: Report) -> str:
    runs = report["runs"]
    interrupted, made = (sum(run.get(name, 0) for run in runs) for name in ("interrupted", "compilations"))
    return f"{interrupted:,} interrupted calls, {made:,} compilations: {report['failed']} processes failed"


def _producers(report: Report) -> str:
    return f"{report['producers']:,} producers: {len(report['faults'])} read wrong, crashed, or kept"


def _programs(report: Report) -> str:
    seeds = len({run["seed"] for run in report["runs"]})
    return f"{report['programs']:,} programs, {report['actions']:,} actions, {seeds} seeds: {report['failed']} failed"


def _leaks(report: Report) -> str:
    grown = report["grown"]
    return (
        f"{report['actions']:,} actions: {grown['objects']} objects more, {grown['gpu']:,} bytes of the GPU's memory, "
        f"{grown['host'] / report['actions']:.1f} bytes of the host's for each action"
    )


def _sanitizer(tool: str) -> Callable[[Report], str]:
    def result(report: Report) -> str:
        runs = [run for run in report["runs"] if run["tool"] == tool]
        tests, errors, failed = (sum(_number(run[name]) for run in runs) for name in ("tests", "errors", "failed"))
        return f"{tests:,} tests: {errors} findings, {failed} failed"

    return result


def _number(value: Any) -> int:
    return value if isinstance(value, int) else len(value)


def _suite(report: Report) -> str:
    return f"{report['passed']:,} passed, {report['failed']} failed"


def _module(name: str) -> Callable[[Report], str]:
    def result(report: Report) -> str:
        found = report.get("modules", {}).get(name)
        return _suite(found) if found else ""

    return result


def _mutants(report: Report) -> str:
    outcomes = [mutant["status"] for mutant in report["mutants"]]
    killed, survived, equal = (outcomes.count(each) for each in ("killed", "survived", "equivalent"))
    return f"{killed} noticed, {survived} not, {equal} that change nothing"


ROWS = (
    Row("Ctrl-C at random moments, kernel caches empty", "interrupts", _interrupts, "python -m conformance.interrupts"),
    Row("malformed DLPack producers", "producers-cpu", _producers, "python -m conformance.producers --device cpu"),
    Row("malformed DLPack producers", "producers-cuda", _producers, "python -m conformance.producers --device cuda"),
    Row("programs drawn at random, against NumPy", "fuzz-cpu", _programs, "python -m conformance.fuzz --device cpu"),
    Row("programs drawn at random, against NumPy", "fuzz-cuda", _programs, "python -m conformance.fuzz --device cuda"),
    Row("the same programs again and again", "leaks-cpu", _leaks, "python -m conformance.leaks --device cpu"),
    Row("the same programs again and again", "leaks-cuda", _leaks, "python -m conformance.leaks --device cuda"),
    Row(
        "memcheck of tests drawn from the GPU suite",
        "sanitizer",
        _sanitizer("memcheck"),
        "python -m conformance.sanitizer",
    ),
    Row(
        "racecheck of tests drawn from the GPU suite",
        "sanitizer",
        _sanitizer("racecheck"),
        "python -m conformance.sanitizer --tool racecheck",
    ),
    Row("one-line faults planted in the code", "mutants-cpu", _mutants, "python -m conformance.mutants"),
    Row("the suite on GPUs; some of it:", "gpu", _suite, "python -m conformance.gpu_report"),
    *(
        Row(what, "gpu", _module(Path(file).stem), f"python -m pytest tests/{file}")
        for what, file in {
            "60 reruns beside a busy stream, equal in every bit": "engine/test_determinism.py",
            "arrays of more than 2^31 and 2^32 elements": "engine/test_kernels_large.py",
            "processes at once on an empty cache; damaged caches": "unit/test_cache.py",
            "a GPU whose memory others have filled": "engine/test_memory_in_company.py",
        }.items()
    ),
)


def page(rows: Iterable[Row], folder: Path) -> str:
    """The text of the page, from the reports in a folder."""
    return HEAD + "".join(_line(row, folder / f"{row.report}.json") for row in rows)


def _line(row: Row, path: Path) -> str:
    report: Report = json.loads(path.read_text()) if path.exists() else {}
    result = row.result(report) if report else ""
    if not result:
        return f"| {row.what} | | not run yet | `{row.command}` | |\n"
    link = f"[{result}](../conformance/reports/{path.name})"
    return f"| {row.what} | {report['device']} | {link} | `{row.command}` | {report['fingerprint'][:8]} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(ROWS, REPORTS))
    sys.exit(0)
