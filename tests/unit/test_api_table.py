"""The namespace and the rows of the operators belong together."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import xpops
import xpops.api
from xpops.ops.elementwise import INTERNAL, OPERATORS
from xpops.ops.operator import Operator

# Packages whose functions are attributes of the package, not of `xpops`; and the types.
NAMESPACES = ("fft.", "kernel.", "linalg.", "nn.", "random.", "signatures.")
PUBLIC = [op for op in OPERATORS.values() if op not in INTERNAL]


@pytest.mark.parametrize("op", PUBLIC, ids=lambda op: op.name)
def test_every_row_has_a_public_function(op: Operator) -> None:
    function = getattr(xpops, op.name)
    assert op.name in xpops.__all__
    parameters = inspect.signature(function).parameters
    assert parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY
    positional = [name for name in parameters if name != "out"]
    assert len(positional) == op.arity
    assert ">>> xp." + op.name in (function.__doc__ or "")


def test_the_table_of_exports_is_whole() -> None:
    assert len(xpops.__all__) == len(set(xpops.__all__))
    for name in xpops.__all__:
        assert hasattr(xpops, name), name
    api = f"{xpops.api.__name__}."
    for _, chapter, is_package in pkgutil.walk_packages(xpops.api.__path__, api):
        if is_package or chapter.removeprefix(api).startswith(NAMESPACES):
            continue
        module = importlib.import_module(chapter)
        functions = {name for name in getattr(module, "__all__", ()) if inspect.isfunction(getattr(module, name))}
        assert functions <= set(xpops.__all__), chapter


def test_every_export_has_a_docstring_with_an_example() -> None:
    for name in xpops.__all__:
        thing = getattr(xpops, name)
        if inspect.isfunction(thing):
            assert ">>> " in (thing.__doc__ or ""), name


def test_import_brings_no_framework() -> None:
    code = "import sys, xpops; print([name for name in ('torch', 'jax', 'cupy') if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_what_completion_offers() -> None:
    assert dir(xpops) == sorted(xpops.__all__)
