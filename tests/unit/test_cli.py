"""``python -m xpops``."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpops
import xpops.cli.warmup
from xpops.cli import bench, main, pipeline
from xpops.cli.pipeline import STEPS
from xpops.engine.cuda.runtime import cache
from xpops.engine.cuda.runtime.driver import Gpu
from xpops.engine.cuda.warmup import core_sources

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "xpops", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=170, check=False
    )


def test_info_says_what_is_here() -> None:
    done = run("info")
    assert done.returncode == 0, done.stderr
    names = [line.split()[0] for line in done.stdout.splitlines()]
    for name in (
        "python",
        "system",
        "xpops",
        "numpy",
        "ml_dtypes",
        "cuda-bindings",
        "nvidia-cuda-nvrtc",
        "GPU",
        "driver",
    ):
        assert name in names
    assert f"numpy {np.__version__}" in " ".join(done.stdout.split())
    assert "kernel cache" in done.stdout
    assert "frameworks" in done.stdout


def test_bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table of every row for each device, and a page with a bar for each time."""
    monkeypatch.setattr(bench, "SIDES", dict.fromkeys(bench.SIDES, 40))
    monkeypatch.setattr(bench, "BENCHES", (*bench.BENCHES, bench.Bench("<no>", lambda ns, x, y: x.nothing, 1)))
    page = tmp_path / "bench.html"
    assert main(["bench", "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    devices = [device for device in ("cpu", "cuda:0") if f"\n{device}: float32 of 40 x 40" in printed]
    assert "cpu" in devices
    for row in bench.BENCHES:
        assert printed.count(f"\n{row.name} ") == len(devices)
    for line in printed.splitlines():
        if line.startswith("<no>"):
            assert set(line.split()[2:]) == {"nan"}
    text = page.read_text()
    headers = [line.split() for line in printed.splitlines() if line.split()[:2] == ["floor", "xpops"]]
    assert text.count(">xpops ") == len(devices) * (len(bench.BENCHES) - 1) + 2  # the titles
    assert len(headers) == len(devices)
    assert "numpy" in headers[-1]  # the CPU's table is the last
    assert "&lt;no&gt;" in text
    assert text.count("<tr>") == text.count("</tr>") == len(devices) * len(bench.BENCHES)
    assert main(["bench"]) == 0
    with pytest.raises(SystemExit):
        main(["info", "--html", "page.html"])
    assert "--html belongs to bench, not to info" in capsys.readouterr().err


def test_info_as_json() -> None:
    found = json.loads(run("info", "--json").stdout)
    assert found["numpy"] == np.__version__
    assert found["python"] == platform.python_version()
    refused = run("warmup", "--json")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--json belongs to info, not to warmup" in refused.stderr


def test_the_version() -> None:
    assert run("--version").stdout == f"xpops {xpops.__version__}\n"


def test_the_main_job_on_a_file(tmp_path: Path) -> None:
    path = tmp_path / "images.npy"
    np.save(path, np.random.default_rng(0).random((2, 3, 8, 9)))
    done = run("--input", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "batch (2, 3, 8, 9) float32 on cpu" in done.stdout
    assert "kernel cache" in done.stdout
    for framework in ("xpops", "numpy"):
        for step in STEPS:
            assert any(line.startswith(f"{framework:10}cpu") and step.name in line for line in done.stdout.splitlines())
    assert done.stdout.rstrip().endswith("All results agree with the frameworks' own.")


@pytest.mark.parametrize("value", [np.nan, 1.0])
def test_a_result_that_is_off_in_one_copy_is_found(value: float) -> None:
    line = pipeline.Pipeline(np.ones((2, 3, 4, 5), np.float32))
    batch = line.batch(3)
    assert {name: array.shape for name, array in batch.items()} == {
        "x": (6, 3, 4, 5),
        "residual": (6, 4, 5, 3),
        "mean": (1, 3, 1, 1),
        "std": (1, 3, 1, 1),
    }
    assert [row.error for row in line.rows("numpy", "cpu", batch)] == [0.0] * len(STEPS)
    batch["x"][5, 2, 3, 4] += value
    assert not next(line.rows("numpy", "cpu", batch)).error < pipeline.TOLERANCE


def test_a_slow_row_is_not_timed_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def timer(device: str) -> Any:
        return lambda work: calls.append(work) or 6e4

    monkeypatch.setattr(pipeline, "timer", timer)
    line = pipeline.Pipeline(np.ones((1, 3, 4, 5), np.float32))
    assert [row.microseconds for row in line.rows("numpy", "cpu", line.batch(1))] == [6e4] * len(STEPS)
    assert len(calls) == 2 * len(STEPS)


def test_a_nan_is_no_agreement(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    images = np.ones((1, 3, 4, 5), np.float32)
    images[0, 1, 2, 3] = np.nan
    monkeypatch.setattr(pipeline, "_images", lambda path: images)
    assert main([]) == 1
    assert capsys.readouterr().out.endswith("\nA result is off.\n")


@pytest.mark.parametrize("shape", [(3,), (2, 4, 8, 8), (3, 8, 8)], ids=str)
def test_images_of_another_shape_are_refused(shape: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "images.npy"
    np.save(path, np.zeros(shape))
    with pytest.raises(SystemExit) as caught:
        main(["--input", str(path)])
    assert str(caught.value) == f"--input: {path} has shape {shape}; accepted: (n, 3, height, width)"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--input", str(tmp_path / "none.npy")])
    assert "--input" in str(caught.value)


def test_a_file_of_something_else(tmp_path: Path) -> None:
    several, words, huge, empty = (tmp_path / name for name in ("a.npz", "b.npy", "c.npy", "d.npy"))
    np.savez(several, np.ones(3))
    np.save(words, np.array(["a", "b"]))
    np.save(huge, np.ones(3))
    huge.write_bytes(huge.read_bytes().replace(b"(3,), }" + b" " * 14, b"(999999999999999,), }"))
    empty.write_bytes(b"")
    wrong = ((several, "several arrays"), (words, "dtype <U1"), (huge, "cannot be read"), (empty, "cannot be read"))
    for path, message in wrong:
        with pytest.raises(SystemExit, match=message):
            main(["--input", str(path)])


def test_an_unknown_command(capsys: Any) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["fly"])
    assert caught.value.code == 2
    assert "warmup" in capsys.readouterr().err


def test_warmup_without_a_gpu(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xpops.cli.warmup, "visible_gpus", tuple)
    assert main(["warmup"]) == 0
    assert capsys.readouterr().out == "No GPU here: there is nothing to compile.\n"


def test_warmup_compiles_what_is_missing(capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XPOPS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(xpops.cli.warmup, "visible_gpus", lambda: (Gpu("pretended", 90, "0"),))
    monkeypatch.setattr(xpops.cli.warmup, "all_sources", lambda capability: core_sources(capability)[:3])
    monkeypatch.setattr(cache, "compilations", 0)
    cache.disk.cache_clear()
    total = len(core_sources(90))
    try:
        assert main(["warmup"]) == 0
    finally:
        cache.disk.cache_clear()
    printed = capsys.readouterr().out
    assert f"[{'#' * 40}] {total}/{total}" in printed
    assert printed.endswith(f"sm_90: {total} kernels in {tmp_path}, {total} compiled now\n")


def test_the_job_needs_no_writable_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environment = {**os.environ, "XPOPS_CACHE_DIR": str(tmp_path / "file" / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "xpops", "info"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "file" / "cache") in done.stdout
