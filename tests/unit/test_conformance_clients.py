"""The runner of clients' tests, on a small fake client."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.clients import __main__ as runner
from conformance.clients import left_out
from conformance.clients.plugin import _left_out
from conformance.fingerprint import fingerprint

TESTS = """
import os
import numpy as np
import xpops

def test_environment():
    assert os.environ["XPOPS_CLIENT"] == "numpy"
    assert os.environ["MORE"] == "1"
    assert xpops.default_device() == "cpu"

def test_host_copies_are_allowed():
    assert np.asarray(xpops.zeros(2)).tolist() == [0, 0]

def test_failing():
    assert False
"""


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed client, and one that is not installed; the report goes to a folder next to the tests."""
    files = tuple(tmp_path / name for name in ("test_few.py", "test_one.py"))
    for file, text in zip(files, (TESTS, "def test_one(): pass\n"), strict=True):
        file.write_text(text)
    few = runner.Client("numpy", tuple(map(str, files)), ("-W", "ignore"), (("MORE", "1"),))
    monkeypatch.setattr(runner, "CLIENTS", (few, few._replace(name="no-such-client")))
    monkeypatch.setattr(runner, "REPORTS", tmp_path)
    return tmp_path


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_report_of_clients(client: Path, jobs: int) -> None:
    assert runner.main(["--device", "cpu", "-j", str(jobs)]) == 1
    report: dict[str, Any] = json.loads((client / "clients-cpu.json").read_text())
    assert set(report["clients"]) == {"numpy"}
    numpy = report["clients"]["numpy"]
    assert (numpy["device"], numpy["fingerprint"]) == ("cpu", fingerprint())
    assert (numpy["passed"], numpy["failed"], numpy["skipped"]) == (3, 1, 0)
    assert [name.rpartition("::")[2] for name in numpy["failed_tests"]] == ["test_failing"]
    assert (numpy["left_out"], numpy["version"] is not None) == ({}, True)


def test_failures_and_conversions_have_names(client: Path) -> None:
    (client / "plain.py").write_text("import numpy as np\ndef convert(x): return np.asarray(x)\n")
    (client / "test_one.py").write_text("import plain, xpops\ndef test_one(): plain.convert(xpops.ones(2))\n")
    for _ in range(2):
        runner.main(["--device", "cpu"])
        report = json.loads((client / "clients-cpu.json").read_text())["clients"]["numpy"]
        assert report["converted_to_numpy_by"] == {"plain.convert": 1}
        (failure,) = (client / "clients-cpu.failures.txt").read_text().splitlines()
        assert "test_few.py::test_failing: " in failure
        assert "assert False" in failure


@pytest.mark.parametrize("workers", ["0", "1"])
def test_an_interrupted_run_keeps_what_ended(client: Path, workers: str) -> None:
    slow = "import time\ndef test_quick(): assert 0\ndef test_slow(): time.sleep(90)\n"
    (client / "test_few.py").write_text(slow)
    runner.main(["--device", "cpu", "--seconds", "30", "-n", workers])
    report = json.loads((client / "clients-cpu.json").read_text())["clients"]["numpy"]
    assert report["failed"] == 1
    assert report["not_finished"][0] == str(client / "test_few.py")
    assert "test_quick" in (client / "clients-cpu.failures.txt").read_text()


def test_some_clients_replace_their_part_of_the_report(client: Path) -> None:
    path = client / "clients-cpu.json"
    path.write_text(json.dumps({"clients": {"numpy": {"passed": 0}, "other": {"passed": 7}}}))
    for asked, passed in (("no-such-client", 0), ("numpy", 3)):
        runner.main(["--device", "cpu", "--clients", asked])
        clients = json.loads(path.read_text())["clients"]
        assert {name: found["passed"] for name, found in clients.items()} == {"numpy": passed, "other": 7}


def test_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "available", lambda device: False)
    assert runner.main(["--device", "cuda"]) == 2


def test_tests_are_found_in_packages() -> None:
    import numpy as np

    root = Path(np.__file__).parent
    assert runner._located("numpy/linalg") == [str(root / "linalg"), f"--rootdir={root}", f"--confcutdir={root}"]
    assert runner._located("/somewhere/test.py") == ["/somewhere/test.py"]


def test_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.clients.plugin.CLIENT", "client")
    monkeypatch.setitem(left_out.LEFT_OUT, "client", {"a.b::TestC::*": "why", "fixture devices": "why"})

    def item(module: str, test: str, *fixtures: str) -> Any:
        return SimpleNamespace(
            module=SimpleNamespace(__name__=module), nodeid=f"b.py::{test}", fixturenames=list(fixtures)
        )

    assert _left_out(item("a.b", "TestC::test_x[1]"))
    assert _left_out(item("z", "test_y", "xp", "devices"))
    assert not _left_out(item("a.b", "TestD::test_x", "xp"))
