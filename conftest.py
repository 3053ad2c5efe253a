"""Docstring examples run on the CPU, with the namespace as ``xp``."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

import xpops

# An adapter imports its framework, which need not be there.
collect_ignore = [f"xpops/frameworks/{name}.py" for name in ("cupy", "jax", "torch") if find_spec(name) is None]


@pytest.fixture(autouse=True)
def _examples(doctest_namespace: dict[str, Any], request: pytest.FixtureRequest) -> Any:
    if isinstance(request.node, pytest.DoctestItem):
        doctest_namespace["xp"] = xpops
        xpops.set_default_device("cpu")
    yield
    xpops.set_default_device(None)
