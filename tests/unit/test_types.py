"""The types that users' type checkers see: every expectation in ``tests/types`` holds in mypy and in pyright.

A wrong call there has a ``type: ignore`` comment, which both checkers report if nothing is wrong.
"""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import xpops as xp
from xpops.api import signatures
from xpops.api.signatures import results

ROOT = Path(__file__).parents[2]
# As for users: the checkers do not check xpops' own code.
CHECKERS = {
    "mypy": ["--strict", "--config-file=", "--follow-imports=silent", "--cache-dir=.mypy_cache/types"],
    "basedpyright": ["-p", "tests/types"],
}


def checked(checker: str, file: str) -> str:
    """The errors that a checker reports for a file; empty if there are none. Skips if the checker is not installed."""
    pytest.importorskip(checker)
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


DECORATORS = {"keeps_framework", *signatures.__all__, *vars(results)}


def public_functions() -> Iterator[Callable[..., Any]]:
    for module in (xp, xp.linalg, xp.fft, xp.nn, xp.special):
        yield from (each for name in module.__all__ if inspect.isfunction(each := getattr(module, name)))


@pytest.mark.parametrize("function", dict.fromkeys(public_functions()), ids=lambda function: function.__name__)
def test_a_function_has_a_type(function: Callable[..., Any]) -> None:
    """If a result is annotated as Any, a decorator must declare the type that callers see."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    assert definition.returns is not None
    if "Any" in ast.unparse(definition.returns):
        assert {ast.unparse(each) for each in definition.decorator_list} & DECORATORS
