"""Docstring examples run on the CPU, with the namespace as ``xp``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import xpops
from xpops.frameworks import registry

ROOT = Path(__file__).parent


def imported_modules(path: Path) -> Iterator[str]:
    """The packages and modules that a module of xpops cannot be imported without."""
    yield ".".join(path.parent.relative_to(ROOT).parts)
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules_without_their_packages() -> list[Path]:
    """Modules of xpops that need, or import a module that needs, a package that is missing here."""
    paths = {module_name(path): path for path in (ROOT / "xpops").rglob("*.py")}
    imports = {name: set(imported_modules(path)) for name, path in paths.items()}
    packages = {module.partition(".")[0] for named in imports.values() for module in named}
    missing = {package for package in packages if find_spec(package) is None}
    found = {name for name, named in imports.items() if any(module.partition(".")[0] in missing for module in named)}
    while more := {name for name, named in imports.items() if named & found} - found:
        found |= more
    return [paths[name] for name in found]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


# Adapters of frameworks, and the CUDA engine without cuda-python.
collect_ignore = modules_without_their_packages()


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
