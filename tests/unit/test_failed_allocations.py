"""Memory runs out in the middle of a call, without a GPU: the call raises, and the next call is correct."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.emulator import Block, Pool
from tests.unit.conftest import PretendedEngine
from xpops.core.errors import OutOfMemoryError


class Failing(Pool):
    """Allows `left` more allocations, or any number if it is None."""

    left: int | None = None

    def allocator(self, nbytes: int) -> Callable[[int], tuple[int, Block]]:
        allocate = super().allocator(nbytes)

        def limited(stream: int) -> tuple[int, Block]:
            if self.left == 0:
                raise OutOfMemoryError("there is no more")
            self.left = None if self.left is None else self.left - 1
            return allocate(stream)

        return limited


def numbers(*shape: int) -> Any:
    return np.random.default_rng(shape).integers(-8, 9, shape).astype(np.float32)


CALLS: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "add": (numbers(700), lambda ns, x: ns.add(x, x)),
    "overlapping out": (numbers(700), lambda ns, x: ns.add(x[1:], x[:-1], out=x[1:])),
    "split sum": (numbers(9000), lambda ns, x: ns.sum(x)),
    "split columns": (numbers(3000, 3), lambda ns, x: ns.sum(x, axis=0)),
    "scan": (numbers(20000), lambda ns, x: ns.cumulative_sum(x)),
    "sort": (numbers(3000), lambda ns, x: ns.sort(x)),
    "mask": (numbers(2000), lambda ns, x: x[x > 2]),
    "unique": (numbers(2000), lambda ns, x: ns.unique_values(x)),
    "concat": (numbers(30, 7), lambda ns, x: ns.concat([x, x[::-1]], axis=1)),
}


@pytest.mark.parametrize("name", CALLS)
def test_any_allocation_of_a_call_may_fail(name: str, pretended: PretendedEngine) -> None:
    pool = pretended.pool = Failing(pretended.require_stream)
    host, call = CALLS[name]
    wanted, failures = call(np, host.copy()), 0
    for _ in range(20):
        given = pretended.array(host)
        pool.left = failures
        try:
            got = call(xp, given)
        except OutOfMemoryError:
            failures += 1
            pool.left = None
            np.testing.assert_array_equal(given.to_numpy(), host)  # operands and out are unchanged
            np.testing.assert_array_equal(call(xp, pretended.array(host)).to_numpy(), wanted)
        else:
            break
    pool.left = None
    np.testing.assert_array_equal(got.to_numpy(), wanted)
    assert failures > 0
