"""Tuning numbers, by compute capability. Each says on what it was measured."""

from __future__ import annotations

from xpops.core.dtypes import COMPLEX_FLOATS, DType, float64
from xpops.ops.operator import Operator
from xpops.plan.elementwise import Policy

WIDE_FLOATS = (float64, *COMPLEX_FLOATS)

# Threads of a block of `arange`, and packs that a thread writes: one H200, 2026-11.
ARANGE_BLOCK, ARANGE_UNROLL = 128, 2

# From the lowest compute capability that they are good for. Measured on one H200 (9.0) in 2026-11, over blocks of 128
# to 512 threads, 1 to 8 packs a thread, and tiles of 32 and 64.
_ELEMENTWISE: tuple[tuple[int, Policy], ...] = ((0, Policy()),)


# Elements that a thread computes of operators whose functors are long. Fewer are compiled sooner: the first call of an
# operator waits for it.
_ELEMENTS = {"pow": 4, "remainder": 4, "floor_divide": 4, "divide": 8, "hypot": 8, "identity": 8}
_TRANSCENDENTAL_ELEMENTS = 4


def elementwise_policy(op: Operator, loop: DType, capability: int) -> Policy:
    """The elementwise family's numbers for an operator with a loop of dtype `loop`, on a compute capability (90 for
    9.0).
    """
    policy = max((entry for entry in _ELEMENTWISE if entry[0] <= capability), key=lambda entry: entry[0])[1]
    if op.transcendental and loop in WIDE_FLOATS:
        return policy._replace(elements_per_thread=1)
    elements = _ELEMENTS.get(op.name, _TRANSCENDENTAL_ELEMENTS if op.transcendental else policy.elements_per_thread)
    return policy._replace(elements_per_thread=elements)
