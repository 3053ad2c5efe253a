"""Docstring examples run on the CPU, with the namespace as ``xp``."""

from __future__ import annotations

from typing import Any

import pytest

import xpops


@pytest.fixture(autouse=True)
def _examples(doctest_namespace: dict[str, Any], request: pytest.FixtureRequest) -> Any:
    if isinstance(request.node, pytest.DoctestItem):
        doctest_namespace["xp"] = xpops
        xpops.set_default_device("cpu")
    yield
    xpops.set_default_device(None)
