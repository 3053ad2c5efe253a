"""Docstring examples run on the CPU, with the namespace as ``xp``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import xpops
from xpops.frameworks import registry

ROOT = Path(__file__).parent


@cache
def installed(package: str) -> bool:
    return find_spec(package) is not None


def imported_packages(path: Path) -> Iterator[str]:
    """The packages that a module cannot be imported without."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module.partition(".")[0]


# Modules of xpops for which a package is missing here: adapters of frameworks, and the CUDA engine without cuda-python.
collect_ignore = [path for path in (ROOT / "xpops").rglob("*.py") if not all(map(installed, imported_packages(path)))]


@pytest.fixture(autouse=True)
def _examples(
    doctest_namespace: dict[str, Any], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Any:
    if isinstance(request.node, pytest.DoctestItem):
        doctest_namespace["xp"] = xpops
        xpops.set_default_device("cpu")
        # What an example registers is forgotten after it.
        monkeypatch.setattr(registry, "_registered", ())
        monkeypatch.setattr(registry, "_known", registry.BoundedDict(1024))
    yield
    xpops.set_default_device(None)
