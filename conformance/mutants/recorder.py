"""A pytest plugin that records what every test runs: lines of `xpops/`, headers of `native/`, seconds, the outcome.

`coverage_map` loads it by ``PYTEST_PLUGINS``. With ``-p``, workers of pytest-xdist would load it only after the
conftests have imported the package. A worker writes ``lines.<worker>``, which coverage.py reads, and
``tests.<worker>``, with a line of JSON for each test.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.mutants.plans import forget_plans

FOLDER = "XPOPS_MUTANTS_MAP"
_INCLUDE = re.compile(r'#include [<"](xpops/[\w/]+\.cuh)[">]')
_NAME = re.compile(r"\b[A-Z][A-Za-z0-9]+\b")


class Recorder:
    """The recorder of one worker.

    Parameters
    ----------
    folder : Path
    worker : str
    """

    def __init__(self, folder: Path, worker: str) -> None:
        import coverage

        self._coverage = coverage.Coverage(str(folder / f"lines.{worker}"), include=["xpops/*"], config_file=False)
        self._coverage.set_option("run:relative_files", True)
        self._coverage.start()
        self._coverage.switch_context("")
        self._tests = (folder / f"tests.{worker}").open("w")
        self._headers, self._names, self._outcome = set[str](), set[str](), "passed"
        _watch_compilers(self)

    def compiled(self, source: str) -> None:
        """Record that the current test compiles C++ source, or calls a function compiled from it."""
        self._headers.update(_INCLUDE.findall(source))
        self._names.update(_NAME.findall(source))

    def called(self, library: Path, symbol: str) -> None:
        """Record that the current test looks up a function of a shared object."""
        if "xpops-host-" in library.parent.name and not symbol.startswith("_"):
            source = library.with_suffix(".cpp").read_text()
            self._headers.update(_INCLUDE.findall(source))
            # A library of tests/native has hundreds of functors; the symbol says which one is called.
            self._names.update(_NAME.findall(source) if symbol == "emulate_kernel" else [symbol.partition("_")[0]])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record a test."""
        forget_plans()
        self._headers, self._names, self._outcome = set(), set(), "passed"
        self._coverage.switch_context(item.nodeid)
        start = time.monotonic()
        try:
            return (yield)
        finally:
            seconds = round(time.monotonic() - start, 3)
            self._coverage.switch_context("")
            found = {"outcome": self._outcome, "seconds": seconds, "headers": sorted(self._headers)}
            self._tests.write(json.dumps({"test": item.nodeid, **found, "names": sorted(self._names)}) + "\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst outcome of setup, call and teardown."""
        if report.failed or (report.skipped and self._outcome == "passed"):
            self._outcome = report.outcome

    def pytest_sessionfinish(self) -> None:
        """Write the remaining records."""
        self._coverage.stop()
        self._coverage.save()
        self._tests.close()


def _watch_compilers(recorder: Recorder) -> None:
    """Let the recorder know of shared objects, and of the sources that NVRTC compiles."""

    class Library(ctypes.CDLL):
        def __getattribute__(self, name: str) -> Any:
            recorder.called(Path(super().__getattribute__("_name") or "/"), name)
            return super().__getattribute__(name)

    ctypes.CDLL = Library  # type: ignore[misc]
    from cuda.bindings import nvrtc

    from xpops.engine.cuda.runtime.compiler import Compilers

    create, compile_request = nvrtc.nvrtcCreateProgram, Compilers.compile

    def recorded_create(source: bytes, *rest: Any) -> Any:
        recorder.compiled(source.decode())
        return create(source, *rest)

    def recorded_compile(self: Compilers, request: Any) -> Any:
        recorder.compiled(request.source)
        return compile_request(self, request)

    nvrtc.nvrtcCreateProgram = recorded_create
    Compilers.compile = recorded_compile  # type: ignore[method-assign]


def _register() -> Callable[[pytest.Config], None]:
    """Register a recorder. Coverage starts now, so that it includes the import of the package."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None or FOLDER not in os.environ:  # pytest-xdist's controller, or no map is being made
        return lambda config: None
    os.environ.pop("PYTEST_PLUGINS")  # so that a pytest run by a test does not load this
    recorder = Recorder(Path(os.environ.pop(FOLDER)), worker)
    return lambda config: (config.pluginmanager.register(recorder), None)[1]


pytest_configure = _register()
