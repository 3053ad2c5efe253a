"""Compiling ahead, without a GPU."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from xpops.core import config, progress
from xpops.core import dtypes as dt
from xpops.engine.cuda import warmup
from xpops.engine.cuda.runtime import cache
from xpops.engine.cuda.runtime.driver import Gpu
from xpops.ops.elementwise import IDENTITY, OPERATORS


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, and a pretended GPU."""
    monkeypatch.setenv("XPOPS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(warmup, "visible_gpus", lambda: (Gpu("pretended", 90, "0"), Gpu("pretended", 90, "0")))
    cache.disk.cache_clear()
    yield tmp_path
    cache.disk.cache_clear()


def test_every_core_source_compiles_once(directory: Path) -> None:
    sources = warmup.core_sources(90)
    assert len(set(sources)) == len(sources)
    assert {name for name, _ in sources} == {*warmup.CORE_OPERATORS, "identity"}
    before, steps = cache.compilations, []
    warmup.compile_all(sources, 90, lambda done, total: steps.append((done, total)))
    assert cache.compilations - before == len(sources)
    assert steps == [(number, len(sources)) for number in range(1, len(sources) + 1)]
    warmup.compile_all(sources, 90)
    assert cache.compilations - before == len(sources)


@pytest.mark.parametrize("capability", [80, 90, 100])
def test_all_sources_are_planned_and_differ(capability: int) -> None:
    sources = list(warmup.all_sources(capability))
    assert len(set(sources)) == len(sources)
    assert {name for name, _ in sources} == set(OPERATORS)
    for name, source in sources:
        functor = OPERATORS[name].functor
        assert any(text in source for text in (f"<{functor}, ", f"<Outlined<{functor}>, ", f"<Narrow{functor}<"))


def test_all_sources_hold_every_dtype_and_cast() -> None:
    names = [name for name, _ in warmup.all_sources(90)]
    for op in OPERATORS.values():
        complexes = len(dt.COMPLEX_FLOATS)
        casts = len(dt.INFO) ** 2 - complexes * (len(dt.INFO) - complexes)
        assert names.count(op.name) == (casts if op is IDENTITY else len(dt.CATEGORIES[op.accepts]))


def test_the_first_import_compiles_and_the_second_does_not(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warmup.prepare_once()
    before = cache.compilations
    for name, source in warmup.core_sources(90):
        cache.cubin_for(name, source, 90)
    assert cache.compilations == before  # another process compiled them, and they are on disk
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a warm import compiles"))
    monkeypatch.setattr(cache, "nvrtc_version", lambda: pytest.fail("a warm import loads NVRTC"))
    warmup.prepare_once()


def test_an_import_never_fails_and_tries_once(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "Traceback\nRuntimeError: no NVRTC\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.warns(UserWarning, match="xpops: the core kernels could not be prepared: RuntimeError: no NVRTC"):
        warmup.prepare_once()
    nothing_happens(monkeypatch)


def test_a_child_that_is_killed_is_said(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], -9, "", ""))
    with pytest.warns(UserWarning, match="the core kernels could not be prepared: exit status -9"):
        warmup.prepare_once()


def test_several_kinds_of_gpus_have_one_child(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [Gpu("pretended", capability, "0") for capability in (90, 120, 90, 70)]
    monkeypatch.setattr(warmup, "visible_gpus", lambda: gpus)
    programs: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        programs.append(command[-1])
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    warmup.prepare_once()
    (program,) = programs
    assert sorted(re.findall(r"\d+", program)) == ["120", "90"]


def nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that an import starts no process and prints nothing."""
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it compiles"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warmup.prepare_once()


def test_an_import_waits_no_longer_than_a_limit(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = directory / "python3"
    hanging.write_text("#!/bin/sh\nexec sleep 30\n")
    hanging.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(hanging))
    monkeypatch.setattr(warmup, "_TIME_LIMIT", 0.2)
    start = time.monotonic()
    with pytest.warns(
        UserWarning, match=r"it took more than 0 s; kernels are compiled at first use, or ahead by python"
    ):
        warmup.prepare_once()
    assert time.monotonic() - start < 20
    nothing_happens(monkeypatch)


@pytest.mark.parametrize("executable", [None, "", "/opt/host/editor", "/usr/bin/uwsgi", "/opt/python/bin/pythonize"])
def test_a_program_that_embeds_python_is_not_started(
    executable: str | None, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    nothing_happens(monkeypatch)


@pytest.mark.parametrize("name", ["python", "python3", "python3.13t", "pypy3", "Python", "pythonw.exe"])
def test_a_python_is_started(name: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(sys, "executable", f"/some/bin/{name}")
    monkeypatch.setattr(subprocess, "run", run)
    warmup.prepare_once()
    assert [command[0] for command in commands] == [f"/some/bin/{name}"]


def test_a_full_disk_is_no_reason_to_compile(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def get(self, key: bytes) -> None:
            return None

        def __setitem__(self, key: bytes, value: bytes) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(warmup, "disk", Full)
    nothing_happens(monkeypatch)


@pytest.mark.parametrize(("terminal", "seconds"), [(True, 0.5), (False, 0.5), (True, 0.0)])
def test_a_terminal_is_told_what_takes_long(terminal: bool, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    monkeypatch.setattr(sys, "stderr", Stream())
    with progress.tell_if_slow("xpops: compiling"):
        time.sleep(seconds)
    time.sleep(0.2)
    assert sys.stderr.getvalue() == ("xpops: compiling\n" if terminal and seconds else "")  # type: ignore[attr-defined]


def test_without_stderr_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with progress.tell_if_slow("xpops: compiling"):
        pass


def test_an_import_may_be_told_to_prepare_nothing(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "prepare", False)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it compiles"))
    warmup.prepare_once()


def test_without_a_gpu_nothing_is_done(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "visible_gpus", tuple)
    monkeypatch.setattr(warmup, "disk", lambda: pytest.fail("the disk was read"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warmup.prepare_once()
    assert list(directory.iterdir()) == []


def test_kernels_are_prepared_at_import() -> None:
    program = """
    import sys
    seen = []
    sys.setprofile(lambda frame, event, _: seen.append(frame.f_code.co_name) if event == "call" else None)
    import xpops
    sys.setprofile(None)
    print(seen.count("at_import"))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1\n"


def test_the_current_directory_is_not_searched(
    tmp_path: Path, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may belong to anybody, and contain a module with the name of one that xpops imports."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name in ("ml_dtypes", "numpy", "pickle"):
        (tmp_path / "here" / f"{name}.py").write_text("open('executed', 'w')")
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warmup._prepare_in_child([])
    assert not (tmp_path / "here" / "executed").exists()
