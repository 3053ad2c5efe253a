"""The types that users' checkers see: every expectation in ``tests/types`` holds in mypy and in pyright.

A wrong call there has a ``type: ignore`` comment, which both checkers report if nothing is wrong.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECKERS = {
    "mypy": ["--strict", "--config-file="],
    "basedpyright": ["-p", "tests/types"],
}


def checked(checker: str, file: str) -> str:
    """What a checker says of a file; empty if nothing is wrong."""
    command = [sys.executable, "-m", checker, *CHECKERS[checker], file]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return run.stdout + run.stderr if run.returncode else ""


@pytest.mark.parametrize("checker", CHECKERS)
def test_plain_arrays(checker: str) -> None:
    assert not checked(checker, "tests/types/plain.py")


@pytest.mark.parametrize("checker", CHECKERS)
def test_tensors_of_torch_and_arrays_of_jax(checker: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    assert not checked(checker, "tests/types/frameworks.py")
