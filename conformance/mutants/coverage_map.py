"""Which tests run which lines of `xpops/`, and compile which headers of `native/`.

The map is kept in ``<cache directory>/mutants/map``: ``lines``, a data file of coverage.py whose contexts are tests,
and ``tests.json``. To update it, the files of tests run that have changed, or whose tests ran lines of changed modules.
A change of tests' helpers alone is not noticed.
"""

from __future__ import annotations

import json
import shutil
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from conformance.mutants import recorder
from conformance.mutants.tree import Workshop

# Where the tests of `xpops/` and `native/` are. The tests in the package are the examples of docstrings.
FOLDERS = ("tests", "xpops")
# Patterns of tests whose failure says nothing about a mutant, with the reason.
LEFT_OUT = {
    "tests/native/test_headers_compile.py::test_header_alone": "measures time, and a mutant compiles anyway",
    "tests/unit/test_architecture.py": "reads the source; it runs last for every mutant",
    "tests/unit/test_conformance_mutants.py": "tests this tool",
}


class Record(NamedTuple):
    """The record of a test.

    Attributes
    ----------
    outcome : {"passed", "failed", "skipped"}
    seconds : float
    headers : list of str
        The headers that its kernels include directly, such as ``xpops/kernels/scan/scan.cuh``.
    names : list of str
        Words in its kernels that begin with a capital: functors and types.
    """

    outcome: str
    seconds: float
    headers: list[str]
    names: list[str]


class CoverageMap:
    """The map of the tests.

    Parameters
    ----------
    folder : Path
        The folder of its files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = json.loads((folder / "tests.json").read_text())
        self._lines: dict[str, dict[int, set[str]]] = {}
        self.tests = {name: Record(**test) for name, test in kept["tests"].items()}

    @cached_property
    def _data(self) -> Any:
        from coverage import CoverageData

        data = CoverageData(str(self.folder / "lines"))
        data.read()
        return data

    def tests_of(self, file: str) -> set[str]:
        """All tests that run a line of a module."""
        return set().union(*self._data.contexts_by_lineno(file).values()) - {""}

    def imported(self, file: str) -> set[int]:
        """The lines of a module that run when it, or a file of tests, is imported."""
        return {line for line, tests in self._data.contexts_by_lineno(file).items() if "" in tests}

    def lines(self, file: str) -> dict[int, set[str]]:
        """The tests that run each line of a module and passed."""
        if file not in self._lines:
            found: dict[int, list[str]] = self._data.contexts_by_lineno(file)
            self._lines[file] = {
                line: {test for test in tests if self.is_of_use(test)} for line, tests in found.items()
            }
        return self._lines[file]

    def is_of_use(self, test: str) -> bool:
        """Whether a test passed when the map was made, and its failure would say something about a mutant."""
        known = self.tests.get(test)
        return known is not None and known.outcome == "passed" and not test.startswith(tuple(LEFT_OUT))


def digests(tree: Path) -> dict[str, str]:
    """SHA-256 of every module of the package and every file of tests."""
    files = [path for folder in FOLDERS for path in (tree / folder).rglob("*.py")]
    known = [path for path in files if path.name.startswith("test_") or path.is_relative_to(tree / "xpops")]
    return {path.relative_to(tree).as_posix(): sha256(path.read_bytes()).hexdigest() for path in sorted(known)}


def gathered(folder: Path, workshop: Workshop, jobs: int) -> CoverageMap:
    """The map in a folder, after an update.

    Raises
    ------
    RuntimeError
        If pytest does not finish.
    """
    known = json.loads((folder / "tests.json").read_text()) if (folder / "tests.json").exists() else {}
    files = digests(workshop.template)
    changed = {
        file for file in {*files, *known.get("files", ())} if known.get("files", {}).get(file) != files.get(file)
    }
    again = files_to_run(workshop.template, changed, CoverageMap(folder) if known else None)
    if changed:
        print(f"mutants: running {len(again)} files of tests to see which lines each test runs", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        tests = {name: test for name, test in known.get("tests", {}).items() if name.partition("::")[0] not in again}
        with TemporaryDirectory() as temporary:
            environment = {"PYTEST_PLUGINS": recorder.__name__, recorder.FOLDER: temporary}
            if again:
                ended = workshop.pytest(workshop.template, ["-n", str(jobs), *again], environment, limit=None)
                if ended.status not in (0, 1, 5):  # tests passed, tests failed, no tests found
                    raise RuntimeError(f"pytest ended with status {ended.status}")
            tests |= merge(Path(temporary), folder, changed)
        (folder / "tests.json").write_text(json.dumps({"files": files, "tests": tests}))
    return CoverageMap(folder)


def files_to_run(tree: Path, changed: set[str], known: CoverageMap | None) -> list[str]:
    """The files whose tests are new or changed, or ran lines of modules that have changed."""
    ran = {test.partition("::")[0] for file in changed if known for test in known.tests_of(file)}
    present = [file for file in sorted(changed | ran) if (tree / file).exists()]
    return [file for file in present if "/test_" in file or ">>> " in (tree / file).read_text()]


def merge(recorded: Path, folder: Path, changed: set[str]) -> dict[str, dict[str, Any]]:
    """Replace lines of changed files in the map by those that workers recorded. Returns the tests' records."""
    from coverage import CoverageData

    aside = folder / "lines.aside"
    if (folder / "lines").exists():
        shutil.copyfile(folder / "lines", aside)
    data = CoverageData(str(aside))
    data.read()
    if old := changed & data.measured_files():
        data.purge_files(old)
    for part in sorted(recorded.glob("lines.*")):
        more = CoverageData(str(part))
        more.read()
        data.update(more)
    data.write()
    data.close()
    aside.rename(folder / "lines")
    tests = {}
    for part in sorted(recorded.glob("tests.*")):
        for line in part.read_text().splitlines():
            test = json.loads(line)
            tests[test.pop("test")] = test
    return tests
