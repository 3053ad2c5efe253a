"""The namespace has a function for every row of operators, and the reverse."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import xpops
import xpops.api
from tests.helpers.rows import PUBLIC
from xpops.ops.elementwise import OPERATORS
from xpops.ops.operator import Operator

# Packages whose functions are attributes of the package, not of `xpops`; and the types.
NAMESPACES = ("fft.", "kernel.", "linalg.", "nn.", "random.", "signatures.", "special.")


@pytest.mark.parametrize("op", [op for op in PUBLIC if op.name == op.public], ids=str)
def test_every_row_has_a_public_function(op: Operator) -> None:
    name, namespace = ("xp", xpops) if op.name in OPERATORS else ("xp.nn", xpops.nn)
    function = getattr(namespace, op.name)
    assert op.name in namespace.__all__
    arguments = inspect.signature(function).parameters
    assert arguments["out"].kind is inspect.Parameter.KEYWORD_ONLY
    assert [argument for argument in arguments if argument in op.arguments] == list(op.arguments)
    assert op.domain.count(" ") + 1 + op.parameters == op.arity == len(op.arguments)
    names = op.arguments[op.arity - op.parameters :]
    assert tuple(arguments[each].default for each in names) == op.defaults
    assert f">>> {name}.{op.name}" in (function.__doc__ or "")


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
