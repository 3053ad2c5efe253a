"""Tries one mutant: its tests run in a copy of the repository with the line changed."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from pathlib import Path
from typing import Any, NamedTuple

from conformance.mutants import selector
from conformance.mutants.mutant import Mutant
from conformance.mutants.tree import Workshop, host_compiler

# Time limits: seconds for the start of pytest; for a test, LEAST seconds plus TIMES times what it took before.
START, LEAST, TIMES = 120.0, 30.0, 10.0
# The expected seconds of test files without a map.
WITHOUT_MAP = 120.0
# Error messages of NVRTC and of host compilers.
_REFUSED = re.compile(r"\.(cuh|cpp|cu)[:(]\d+[^\n]*\berror\b")


class Batch(NamedTuple):
    """The tests to run.

    Attributes
    ----------
    files : list of str
    chosen : list of str or None
        The tests in order; None for all tests of the files.
    seconds : dict
        The seconds that tests took before, if known.
    arguments : list of str
        More arguments for pytest.
    """

    files: list[str]
    chosen: list[str] | None
    seconds: dict[str, float]
    arguments: list[str]


class Verdict(NamedTuple):
    """The result of a mutant.

    Attributes
    ----------
    status : {"killed", "survived", "invalid"}
    test : str or None
        The first test that failed, or a file that cannot be imported; None if no test could run.
    how : str or None
        ``"fails"``, ``"hangs"``, ``"crashes"`` or, if no test could run, ``"stops pytest"``.
    """

    status: str
    test: str | None = None
    how: str | None = None


class Bench:
    """Tries mutants, and remembers which tests fail without a mutant.

    Parameters
    ----------
    workshop : Workshop
    """

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._lock = threading.Lock()
        self.sound, self.unsound = set[str](), set[str]()

    def try_mutant(self, mutant: Mutant, stages: list[Batch]) -> Verdict:
        """Run stages of tests on a mutant until one of them fails."""
        if not mutant.file.endswith(".py") and not self._compiles(mutant):
            return Verdict("invalid")
        for tests in stages:
            verdict = self._try_stage(mutant, tests)
            if verdict.status != "survived":
                return verdict
        return Verdict("survived")

    def _compiles(self, mutant: Mutant) -> bool:
        """Whether NVRTC and a host compiler accept the header alone. Errors in templates show only in tests."""
        from xpops.engine.cuda.runtime.nvrtc import Request, compile_here

        with self._workshop.copy() as tree:
            mutant.apply(tree)
            source = f"#include <{mutant.file.removeprefix('native/')}>\n"
            options = ("-arch=sm_90", "-std=c++17", f"-I{tree / 'native'}")
            if compile_here(Request("mutant", source, options, ())).log is not None:
                return False
            host = [host_compiler(), "-std=c++17", "-fsyntax-only", "-w", f"-I{tree / 'native'}"]
            host += ["-include", str(tree / "tests/helpers/emulator.hpp"), "-xc++", "-"]
            return subprocess.run(host, input=source.encode(), capture_output=True, check=False).returncode == 0

    def _try_stage(self, mutant: Mutant, tests: Batch) -> Verdict:
        while tests.files:
            with self._workshop.copy() as tree:
                mutant.apply(tree)
                verdict, text = _judge(self._run(tree, tests._replace(arguments=[*tests.arguments, "-x"])))
            if verdict.status == "killed" and not mutant.file.endswith(".py") and _REFUSED.search(text):
                return Verdict("invalid", verdict.test)
            if verdict.status == "survived" or self._is_sound(verdict.test, tests):
                return verdict
            tests = tests._replace(files=[file for file in tests.files if file != verdict.test])
        return Verdict("survived")

    def _is_sound(self, test: str | None, tests: Batch) -> bool:
        """Whether a test that failed passes without the mutant. It is run once.

        Raises
        ------
        RuntimeError
            If no test ran, and pytest does not start without the mutant either.
        """
        if test is None:
            verdict, text = _judge(self._run(self._workshop.template, tests._replace(arguments=["--collect-only"])))
            if verdict.status == "killed":
                raise RuntimeError(f"pytest fails without a mutant:\n{text}")
            return True
        if test not in self.sound:
            alone = Batch([test.partition("::")[0]], [test], tests.seconds, [])
            failed = _judge(self._run(self._workshop.template, alone))[0].status == "killed"
            with self._lock:
                (self.unsound if failed else self.sound).add(test)
        return test in self.sound

    def _run(self, tree: Path, tests: Batch) -> list[dict[str, Any]]:
        """Run tests in a tree. Returns the plugin's account, and as its last entry how pytest ended."""
        chosen = tests.chosen
        limits = {test: LEAST + TIMES * tests.seconds.get(test, 0.0) for test in chosen or ()}
        expected = sum(tests.seconds.get(test, 0.0) for test in chosen) if chosen is not None else WITHOUT_MAP
        order = {"tests": chosen, "left_out": sorted(self.unsound), "limits": limits}
        folder = self._workshop.scratch()
        (folder / "order.json").write_text(json.dumps(order))
        account = folder / "account"
        account.touch()
        environment = {
            "PYTEST_PLUGINS": selector.__name__,
            selector.ORDER: str(folder / "order.json"),
            selector.ACCOUNT: str(account),
        }
        ended = self._workshop.pytest(tree, [*tests.arguments, *tests.files], environment, START + 5 * expected)
        entries: list[dict[str, Any]] = [json.loads(line) for line in account.read_text().splitlines()]
        return [*entries, {"test": None, "outcome": "end", "status": ended.status, "text": ended.output[-4000:]}]


def _judge(account: list[dict[str, Any]]) -> tuple[Verdict, str]:
    """The verdict of an account, and the text of the failure."""
    *entries, end = account
    for entry in entries:
        if entry["outcome"] == "failed":
            return Verdict("killed", entry["test"], "fails"), entry["text"]
    running = [entry["test"] for entry in entries if entry["outcome"] == "started"]
    over = {entry["test"] for entry in entries if entry["outcome"] == "ended"}
    unfinished = [test for test in running if test not in over]
    status = end["status"]
    if unfinished:
        hangs = status in (None, 1)  # 1: `selector` ended it; a negative status is a signal
        return Verdict("killed", unfinished[-1], "hangs" if hangs else "crashes"), end["text"]
    if status in (0, 5):  # 5: no tests were left to run
        return Verdict("survived"), ""
    return Verdict("killed", None, "hangs" if status is None else "stops pytest"), end["text"]
