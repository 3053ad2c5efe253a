"""Fused functions drawn at random, with reductions along rows, in float64 against NumPy; without a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import xpops as xp
from tests.helpers.drawn_rows import assert_near, drawn_function, drawn_operands
from tests.unit.test_fused_emulated import fused


@pytest.mark.parametrize("round_each", [True, False])
@pytest.mark.parametrize("seed", range(21))
def test_functions_drawn_at_random(seed: int, round_each: bool) -> None:
    function, source = drawn_function(seed)
    operands = drawn_operands(seed)
    wanted = function(np, *operands)

    def ours(*given: xp.Array) -> tuple[xp.Array, ...] | xp.Array:
        found = function(xp, *given)
        return found if len(found) > 1 else found[0]

    got = fused(ours, *operands, round_each=round_each)
    for each, other in zip(got if len(wanted) > 1 else [got], wanted, strict=True):
        assert_near(each, other, source)
