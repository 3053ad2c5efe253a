"""The benchmark of the host's time has every public function, method and property: a row, or a reason why not."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

import pytest

import xpops as xp
from benchmarks.host import functions, methods, namespaces
from benchmarks.host.measure import rows
from benchmarks.host.row import OPERANDS, Row

EXCLUDED = {**functions.EXCLUDED, **namespaces.EXCLUDED, **{f"Array.{name}": "" for name in methods.EXCLUDED}}


def public() -> Iterator[str]:
    for prefix, namespace in (("", xp), ("fft.", xp.fft), ("linalg.", xp.linalg), ("nn.", xp.nn)):
        functions = (name for name in namespace.__all__ if inspect.isroutine(getattr(namespace, name)))
        yield from (prefix + name for name in functions)
    for prefix, cls in (("random.Generator.", xp.random.Generator), ("Array.", xp.Array)):
        yield from (prefix + name for name in dir(cls) if not name.startswith("_") and hasattr(cls, name))


def measured() -> Iterator[str]:
    """What the rows use: ``fft.rfft``, ``Array.sum``, ``random.Generator.normal``."""
    for row in rows():
        for node in ast.walk(ast.parse(row.ours)):
            if isinstance(node, ast.Attribute):
                path = ast.unparse(node)
                root, _, rest = path.partition(".")
                subjects = {"xp": "", "generator": "random.Generator."}
                if root in subjects or root in OPERANDS:
                    yield subjects.get(root, "Array.") + rest


@pytest.mark.parametrize("name", sorted(public()))
def test_every_function_has_a_row_or_a_reason(name: str) -> None:
    assert (name in set(measured())) != (name in EXCLUDED)


def test_nothing_is_excluded_that_does_not_exist() -> None:
    assert set(EXCLUDED) <= set(public())


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.ours)
def test_rows_compile(row: Row) -> None:
    assert len([each for each in rows() if each.ours == row.ours]) == 1
    for source in row:
        compile(source, "row", "exec")
