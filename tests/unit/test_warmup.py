"""Compiling ahead, without a GPU."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from xpops.core import config
from xpops.core import dtypes as dt
from xpops.engine.cuda import cache, warmup
from xpops.engine.cuda.driver import Gpu
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
        assert f"<{OPERATORS[name].functor}, " in source or f"<Outlined<{OPERATORS[name].functor}>, " in source


def test_all_sources_hold_every_dtype_and_cast() -> None:
    names = [name for name, _ in warmup.all_sources(90)]
    for op in OPERATORS.values():
        complexes = len(dt.COMPLEX_FLOATS)
        casts = len(dt.INFO) ** 2 - complexes * (len(dt.INFO) - complexes)
        assert names.count(op.name) == (casts if op is IDENTITY else len(dt.CATEGORIES[op.accepts]))


def test_the_first_import_compiles_and_the_second_does_not(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warmup.at_import()
    before = cache.compilations
    for name, source in warmup.core_sources(90):
        cache.cubin_for(name, source, 90)
    assert cache.compilations == before  # they are on disk, though another process compiled them
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a warm import compiles"))
    monkeypatch.setattr(cache, "nvrtc_version", lambda: pytest.fail("a warm import loads NVRTC"))
    warmup.at_import()


def test_an_import_never_fails(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "Traceback\nRuntimeError: no NVRTC\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.warns(UserWarning, match="xpops: the core kernels could not be prepared: RuntimeError: no NVRTC"):
        warmup.at_import()


def test_an_import_may_be_told_to_prepare_nothing(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "prepare", False)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it compiles"))
    warmup.at_import()


def test_without_a_gpu_nothing_is_done(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "visible_gpus", tuple)
    monkeypatch.setattr(warmup, "disk", lambda: pytest.fail("the disk was read"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warmup.at_import()
    assert list(directory.iterdir()) == []
