"""Compiling ahead, without a GPU."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from xpops.core import dtypes as dt
from xpops.core.errors import CompileError
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
        assert f"<{OPERATORS[name].functor}, " in source


def test_all_sources_hold_every_dtype_and_cast() -> None:
    names = [name for name, _ in warmup.all_sources(90)]
    for op in OPERATORS.values():
        complexes = len(dt.COMPLEX_FLOATS)
        casts = len(dt.INFO) ** 2 - complexes * (len(dt.INFO) - complexes)
        assert names.count(op.name) == (casts if op is IDENTITY else len(dt.CATEGORIES[op.accepts]))


def test_the_first_import_compiles_and_the_second_does_not(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.compilations
    warmup.at_import()
    assert cache.compilations - before == len(warmup.core_sources(90))
    monkeypatch.setattr(warmup, "compile_all", lambda *_: pytest.fail("a warm import compiles"))
    monkeypatch.setattr(cache, "nvrtc_version", lambda: pytest.fail("a warm import loads NVRTC"))
    warmup.at_import()


@pytest.mark.parametrize(
    "error",
    [CompileError("key", (), "source", "log"), OSError(28, "No space left"), RuntimeError("no NVRTC")],
    ids=repr,
)
def test_an_import_never_fails(error: Exception, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(warmup, "compile_all", fail)
    with pytest.warns(UserWarning, match="xpops: the core kernels could not be prepared"):
        warmup.at_import()


def test_without_a_gpu_nothing_is_done(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup, "visible_gpus", tuple)
    monkeypatch.setattr(warmup, "disk", lambda: pytest.fail("the disk was read"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warmup.at_import()
    assert list(directory.iterdir()) == []
