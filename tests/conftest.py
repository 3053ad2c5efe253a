"""Fixtures of every test."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.devices import DEVICES


@pytest.fixture(params=DEVICES, ids=str)
def device(request: pytest.FixtureRequest) -> Any:
    """Each device that is there."""
    return request.param
