"""Tuning numbers, by compute capability. Each says on what it was measured."""

from __future__ import annotations

from xpops.plan.elementwise import Policy

# Packs that a thread of `arange` writes.
ARANGE_UNROLL = 2

# From the lowest compute capability that they are good for.
_ELEMENTWISE: tuple[tuple[int, Policy], ...] = (
    (0, Policy()),
)


def elementwise_policy(capability: int) -> Policy:
    """The elementwise family's numbers for a compute capability (90 for 9.0)."""
    return max((entry for entry in _ELEMENTWISE if entry[0] <= capability), key=lambda entry: entry[0])[1]
