"""A pytest plugin that puts the shim in the place of cupy's classes, and deselects what `LEFT_OUT` names."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import PurePath

import pytest

from conformance.userkernels.left_out import LEFT_OUT
from conformance.userkernels.shim import KINDS


def pytest_configure() -> None:
    """Replace the classes. The tests look them up when they run."""
    import cupy

    for kind in KINDS:
        setattr(cupy, kind.__name__, kind)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that are left out."""
    config.hook.pytest_deselected(items=[item for item in items if is_left_out(item.nodeid)])
    items[:] = [item for item in items if not is_left_out(item.nodeid)]


def is_left_out(nodeid: str) -> bool:
    """Whether `LEFT_OUT` names a test."""
    path, _, test = nodeid.partition("::")
    # Brackets mean characters to fnmatch.
    name = f"{PurePath(path).name}::{test}".replace("[", "(").replace("]", ")")
    return any(fnmatchcase(name, pattern) for pattern in LEFT_OUT)
