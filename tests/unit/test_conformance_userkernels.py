"""The command that runs cupy's tests of kernels, on a small fake cupy."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.reporting import Case
from conformance.userkernels import __main__ as runner
from conformance.userkernels.plugin import is_left_out
from conformance.userkernels.shim import ElementwiseKernel, RawKernel, RawModule, ReductionKernel

TESTS = """
import cupy
import pytest

class TestRaw:
    @pytest.mark.parametrize("way", [0, 1], ids=["NVRTC (no-jitify)", "NVRTC (jitify)"])
    def test_basic(self, way):
        assert way == 0
        assert cupy.RawKernel.__module__ == "conformance.userkernels.shim"

def test_failing():
    assert cupy.ElementwiseKernel is None

def test_skipped():
    pytest.skip("slow")
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with four files of tests, beside an importable cupy."""
    folder = tmp_path / "tests" / runner.FOLDER
    folder.mkdir(parents=True)
    for name in runner.FILES:
        (folder / f"{name}.py").write_text(TESTS if name == "test_raw" else "def test_one(): pass\n")
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "cupy.py").write_text("ElementwiseKernel = ReductionKernel = RawKernel = RawModule = None\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(tmp_path / "fake"), os.getenv("PYTHONPATH")))))
    monkeypatch.setattr(runner, "REPORTS", tmp_path)
    return tmp_path


def test_a_report(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("available", lambda device: True), ("heading", lambda device: {}), ("_cupy", lambda: True)):
        monkeypatch.setattr(runner, name, value)
    assert runner.main(["--checkout", str(checkout)]) == 1
    report: dict[str, Any] = json.loads((checkout / "userkernels.json").read_text())
    one, raw = {"passed": 1, "failed": 0, "skipped": 0, "xfailed": 0}, report["kinds"].pop("RawKernel, RawModule")
    assert report["kinds"] == dict.fromkeys((runner.FILES[name] for name in runner.FILES if name != "test_raw"), one)
    assert raw == {"passed": 1, "failed": 1, "skipped": 1, "xfailed": 0}
    assert [name.rpartition("::")[2] for name in report["failed_tests"]] == ["test_failing"]
    assert len(report["left_out"]) > 20


def test_what_is_missing(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runner.main(["--checkout", str(tmp_path / "fake")]) == 2
    assert "has no test_userkernel.py; accepted: a checkout of cupy" in capsys.readouterr().out
    monkeypatch.setattr(runner, "available", lambda device: False)
    assert runner.main(["--checkout", str(checkout)]) == 2
    assert "no cuda device here" in capsys.readouterr().out
    assert not (checkout / "userkernels.json").exists()


def test_kinds() -> None:
    cases = [Case("tests.cupy_tests.core_tests.test_raw.TestRaw::test_basic", "passed"), Case("other::x", "failed")]
    found = runner.by_kind(cases)
    assert found["RawKernel, RawModule"]["passed"] == 1
    assert found["others"]["failed"] == 1


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("test_raw.py::TestRaw::test_basic[NVRTC (no-jitify)]", False),
        ("test_raw.py::TestRaw::test_basic[NVRTC (in-memory cache, no-jitify)]", False),
        ("test_raw.py::TestRaw::test_basic[NVRTC (jitify)]", True),
        ("test_raw.py::TestRaw::test_basic[NVRTC (in-memory cache, re-compile, jitify)]", True),
        ("test_raw.py::TestRaw::test_basic[NVCC (no-jitify)]", True),
        ("test_raw.py::TestRawGridSync::test_grid_sync_rawkernel[64-10]", False),
        ("test_reduction.py::TestReductionKernel::test_shape1", False),
        ("test_reduction.py::TestReductionKernelCachedCode::test_cached_code", True),
        ("test_userkernel.py::TestUserkernel::test_manual_indexing", False),
    ],
)
def test_what_is_left_out(name: str, left_out: bool) -> None:
    assert is_left_out(f"cupy_tests/core_tests/{name}") == left_out


def test_the_shim_takes_what_cupy_takes() -> None:
    """All four kinds, with cupy's signatures; they compile without a GPU."""
    x = np.ones(10, np.float32)
    each = ElementwiseKernel("T x, T y", "T z", "z = x + y", "each", doc="a sum", no_return=False)
    assert each._kernel.compile(90, x, x).resources.registers > 0
    total = ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    assert total._kernel.compile(90, x)[0].resources.registers > 0
    source = r'extern "C" __global__ void fill(float* x) { *x = VALUE; }'
    raw = RawKernel(source, "fill", ("-DVALUE=1",), "nvrtc", enable_cooperative_groups=True, jitify=False)
    assert raw._kernel.compile(90).resources.registers > 0
    module = RawModule(code=source, options=("-DVALUE=1",), backend="nvcc", name_expressions=None)
    assert module.get_function("fill")._kernel.compile(90).resources.registers > 0
    with pytest.raises(ValueError, match=r"^Invalid kernel name"):
        ElementwiseKernel("T x", "T y", "", "1")
    with pytest.raises(ValueError, match=r"^Invalid kernel name"):
        ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", name="1")


def test_the_shim_says_what_cupy_says(pretended: Any) -> None:
    x = pretended.array(np.ones(2, np.float32))
    raw = ElementwiseKernel("raw float32 x", "float32 y", "y = x[i]", "raw_kernel")
    plain = ElementwiseKernel("float32 x", "float32 y", "y = x", "plain")
    with pytest.raises(ValueError, match=r"^Loop size is undecided\."):
        raw(x)
    with pytest.raises(ValueError, match=r"^Specified 'size' can"):
        plain(x, size=2)
    with pytest.raises(ValueError, match="Out shape is mismatched"):
        plain(x, pretended.array(np.ones(3, np.float32)))


def test_the_shim_loads_no_files() -> None:
    source = 'extern "C" __global__ void fill(float* x) { *x = 1; }'
    with pytest.raises(TypeError, match="compiles code, and loads no files"):
        RawModule(path="some.cubin")
    with pytest.raises(ValueError, match="jitify is True; accepted: False"):
        RawKernel(source, "fill", jitify=True)
