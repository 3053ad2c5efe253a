"""The semantics of user-defined kernels, without a GPU."""

from __future__ import annotations

import pytest

from tests.helpers.kernel_semantics import CASES
from tests.unit.conftest import PretendedEngine


@pytest.mark.parametrize("name", CASES)
def test_semantics(name: str, pretended: PretendedEngine) -> None:
    CASES[name](pretended.array)
