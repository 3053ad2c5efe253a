"""The fuzzer of malformed producers: a few hundred cases of each seed, and that it detects planted faults."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.lib.array_utils import byte_bounds

from conformance.fingerprint import ROOT
from conformance.producers import __main__ as runner
from conformance.producers.cases import draw, elements
from conformance.producers.memory import SIZE, GuardedPages
from conformance.producers.trial import run
from xpops.frameworks import capsule, memory

HOST = (1, 0)


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for reports."""
    monkeypatch.setattr(runner, "REPORTS", tmp_path)
    return tmp_path


def test_a_few_hundred(capsys, reports):
    assert runner.main(["--device=cpu", "--count=400", "--batch=200", "--seed=7"]) == 0
    report = json.loads((reports / "producers-cpu.json").read_text())
    assert (report["seed"], report["producers"], report["faults"]) == (7, 400, [])
    assert "400 producers on cpu, seed 7: 0 faults" in capsys.readouterr().out


def test_cases_are_drawn_from_their_number():
    for index in range(50):
        first, again = (repr(draw(3, index, 4096, HOST)._replace(answer=None)) for _ in range(2))
        assert first == again
    gpu = [draw(3, index, 4096, (2, 0)) for index in range(200)]
    assert {case.interface for case in gpu} == {False, True}
    assert any("host memory" in case.faults for case in gpu)


@pytest.mark.parametrize("at", [-1, SIZE], ids=["before", "after"])
def test_nobody_reads_beyond_the_pages(at):
    """A process that reads beyond the memory ends, so that the fuzzer detects it."""
    program = (
        "import ctypes\n"
        "from conformance.producers.memory import GuardedPages, SIZE\n"
        "pages = GuardedPages()\n"
        "assert len(ctypes.string_at(pages.start, SIZE)) == SIZE\n"
        f"ctypes.string_at(pages.start + {at}, 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert done.returncode < 0


def test_sound_cases_fill_their_memory_to_either_end():
    image = np.zeros(SIZE, np.uint8)
    start, ends = image.ctypes.data, [0, 0]
    for index in range(300):
        low, high = byte_bounds(elements(draw(5, index, start, HOST), image))  # NumPy raises if any is outside
        ends[0] += low == start
        ends[1] += high == start + SIZE
    assert min(ends) > 80


def tried(seed, count):
    pages = GuardedPages()
    cases = [draw(seed, index, pages.start, HOST) for index in range(count)]
    return [run(case, pages, np.random.default_rng(index)) for index, case in enumerate(cases)]


def test_wrong_answers_are_faults(monkeypatch):
    monkeypatch.setattr(memory, "MAX_NDIM", -1)
    assert any(outcome.startswith("fault: refused though sound") for outcome in tried(1, 30))
    monkeypatch.undo()
    monkeypatch.setattr(capsule, "VERSION", (2**32, 0))
    assert "fault: accepted though impossible" in tried(1, 200)


def test_a_deleter_that_is_called_twice_is_a_fault(monkeypatch):
    once = capsule.Owner.__del__

    def twice(self):
        once(self)
        once(self)

    monkeypatch.setattr(capsule.Owner, "__del__", twice)
    assert any("2 calls of the deleter for 1" in outcome for outcome in tried(1, 30))


def test_a_process_that_ends_is_a_fault(monkeypatch, capsys):
    """The next process continues after the case that ended it."""
    ends = [(["0 read", "1 refused: BufferError"], "status -11"), (["3 read"], "status 0")]
    monkeypatch.setattr(runner, "_child", lambda options, first, last: ends.pop(0))
    assert runner.main(["--device=cpu", "--count=4"]) == 1
    out = capsys.readouterr().out
    assert "2: fault: the process ended: status -11" in out
    assert "4 producers on cpu, seed 0: 1 faults" in out
