"""The runner of the official test suite, on a small fake suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import __main__ as runner
from conformance import checkout, faults, fingerprint, gpu_report, reporting
from conformance.reporting import Case

TESTS = """
import os
import pytest
import xpops
from array_api_tests import dtype_helpers as dh

def test_environment():
    assert os.environ["ARRAY_API_TESTS_MODULE"] == "xpops"
    assert os.environ["ARRAY_API_TESTS_VERSION"] == "2025.12"
    assert xpops.default_device() == os.environ["XPOPS_DEFAULT_DEVICE"] == "cpu"

def test_nothing_found_is_no_dtype():
    assert dh.promotion_table.get("pair") == xpops.float64
    assert not dh.promotion_table.get("another pair") == xpops.float64

def test_options(request):
    option = request.config.option
    assert (option.max_examples, option.disable_deadline, option.hypothesis_seed) == (7, True, SEEDS)

@pytest.mark.skip(reason="flaky")
def test_skipped():
    pass

@pytest.mark.xfail
def test_xfailed():
    assert False

@pytest.mark.xfail
def test_xpassed():
    pass

@pytest.mark.parametrize("x", [1, 2])
def test_failing(x):
    assert x == 1
"""
CONFTEST = """
def pytest_addoption(parser):
    parser.addoption("--max-examples", type=int)
    parser.addoption("--disable-deadline", action="store_true")
    parser.addoption("--hypothesis-seed", type=int)
"""
HELPERS = """
import xpops

class EqualityMapping(dict):
    def __init__(self, pairs):
        super().__init__(pairs)

promotion_table = EqualityMapping([("pair", xpops.float64)])
"""


@pytest.fixture
def fake_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the structure of the suite; reports go to a folder next to it."""
    folder = tmp_path / "suite"
    files = {
        "conftest.py": CONFTEST,
        "array_api_tests/__init__.py": "",
        "array_api_tests/stubs.py": "",
        "array_api_tests/dtype_helpers.py": HELPERS,
        "array_api_tests/_version.py": f'git_full = "{"ab" * 20}"\n',
        "array_api_tests/test_dlpack.py": "",
        "array_api_tests/test_few.py": TESTS.replace("SEEDS", "3"),
        "array-api/src/array_api_stubs/__init__.py": "",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setenv("ARRAY_API_TESTS", str(folder))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # hypothesis defines the same option
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    monkeypatch.setattr(runner, "REPORTS", tmp_path)
    return folder


def report_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder.parent / "array-api-cpu.json").read_text())
    return found


def test_a_report_of_the_suite(fake_suite: Path) -> None:
    code = runner.main(["--device", "cpu", "--max-examples", "7", "--seeds", "3"])
    report = report_of(fake_suite)
    assert code == 1
    assert [report[outcome] for outcome in reporting.OUTCOMES] == [4, 2, 1, 1]
    assert report["failed_tests"] == [
        "array_api_tests.test_few::test_failing[2]",
        "array_api_tests.test_few::test_xpassed",
    ]
    assert report["skipped_for"] == {"flaky": 1}
    assert (report["examples"], report["seeds"], report["suite_commit"]) == (7, [3], "ab" * 20)
    assert (report["device"], report["driver"], report["standard"]) == ("cpu", None, "2025.12")
    assert (report["deselected"], report["corrected"]) == ([], [faults.CAN_CAST])
    assert report["versions"]["numpy"]
    assert report["fingerprint"] == fingerprint.fingerprint()
    assert {"modules", "finished", *report} >= set(json.loads((reporting.REPORTS / "gpu.json").read_text()))


def test_a_test_counts_by_the_worst_of_all_seeds(fake_suite: Path) -> None:
    runner.main(["--device", "cpu", "--max-examples", "7", "--seeds", "3,4"])
    report = report_of(fake_suite)
    assert (report["seeds"], report["passed"], report["failed"]) == ([3, 4], 3, 3)
    assert "array_api_tests.test_few::test_options" in report["failed_tests"]


def test_a_part_of_the_suite_makes_no_report(fake_suite: Path) -> None:
    assert runner.main(["--device", "cpu", "--max-examples", "7", "--", "-k", "environment"]) == 0
    assert not (fake_suite.parent / "array-api-cpu.json").exists()


def test_workers(fake_suite: Path) -> None:
    assert runner.main(["--device", "cpu", "--max-examples", "7", "-n", "1", "--", "-k", "nothing_found"]) == 0


def test_no_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(runner, "available", lambda device: False)
    monkeypatch.setattr(gpu_report, "available", lambda device: False)
    assert runner.main(["--device", "cuda"]) == 2
    assert gpu_report.main([]) == 2
    assert capsys.readouterr().out == "conformance: no cuda device here\ngpu_report: no GPU here\n"


@pytest.mark.parametrize("arguments", [[], ["--device", "tpu"], ["--device", "cpu", "--seeds", "a"]])
def test_wrong_arguments(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        runner.main(arguments)


def test_a_checkout_without_its_submodule(fake_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARRAY_API_TESTS", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"has no array_api_tests/stubs.py; ARRAY_API_TESTS takes a whole"):
        checkout.suite()


def test_the_commit_of_a_copy_is_unknown(fake_suite: Path) -> None:
    (fake_suite / "array_api_tests/_version.py").write_text('git_full = "$Format:%H$"')
    assert checkout.commit_of(fake_suite) == "unknown"


def test_one_test_is_left_out_on_cuda_before_its_correction(fake_suite: Path) -> None:
    assert faults.deselected(fake_suite, "cpu") == []
    assert faults.deselected(fake_suite, "cuda") == [{"test": faults.DLPACK_TEST, "link": faults.DLPACK_LINK}]
    (fake_suite / "array_api_tests/test_dlpack.py").write_text("except BufferError:")
    assert faults.deselected(fake_suite, "cuda") == []


def test_pytest_that_never_starts(tmp_path: Path) -> None:
    code, cases = reporting.run_pytest(["--no-such-option"], tmp_path)
    assert code != 0
    assert cases == []


def test_counts() -> None:
    assert reporting.counts([Case("a", "failed"), Case("b", "passed"), Case("c", "passed")]) == {
        "passed": 2,
        "failed": 1,
        "skipped": 0,
        "xfailed": 0,
    }


def test_counts_of_each_module() -> None:
    names = ("tests.unit.test_a::test_x", "tests.unit.test_a::test_y", "tests.engine.test_b::test_x")
    cases = [Case(name, outcome) for name, outcome in zip(names, ("passed", "failed", "passed"), strict=True)]
    found = gpu_report.count_by_module(cases)
    assert list(found) == ["test_a", "test_b"]
    assert (found["test_a"]["passed"], found["test_a"]["failed"], found["test_b"]["failed"]) == (1, 1, 0)
