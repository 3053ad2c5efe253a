"""Tuning numbers by compute capability, with the GPU on which they were measured."""

from __future__ import annotations

from xpops.core.dtypes import COMPLEX_FLOATS, FLOAT8, DType, float64
from xpops.ops.operator import Operator
from xpops.plan.elementwise import Policy
from xpops.plan.reduce import ReducePolicy
from xpops.plan.scan import ScanPolicy

# The threads of a block of `arange`, and the packs that a thread writes. Measured on one H200, 2026-11.
ARANGE_BLOCK, ARANGE_UNROLL = 128, 2

# Pairs: the lowest compute capability for a policy, and the policy. Measured on one H200 (9.0) in 2026-11, over blocks
# of 128 to 512 threads, 1 to 8 packs per thread, and tiles of 32 and 64.
_ELEMENTWISE = ((0, Policy(block=128, unroll=2, elements_per_thread=16, tile_block=256, tile=64)),)

# The most elements of a thread for functors that are not memory-bound. More would take too long to compile. Fewer than
# a 16-byte pack of float16 are slower: exp of 2**28 on one H200, 2026-11, takes 328 us with 4, 262 us with 8.
_MOST = 8


def elementwise_policy(op: Operator, loop: DType, capability: int) -> Policy:
    """The policy of elementwise kernels for `op` with loop dtype `loop`, on a compute capability (90 for 9.0)."""
    policy = max((entry for entry in _ELEMENTWISE if entry[0] <= capability), key=lambda entry: entry[0])[1]
    is_long = op.long == "always" or (loop in COMPLEX_FLOATS and (op.transcendental or op.long == "complex"))
    if is_long or op.cost != "memory" or loop in FLOAT8:
        policy = policy._replace(elements_per_thread=_MOST)
    return policy._replace(outlined=is_long or (op.transcendental and loop == float64))


def reduce_policy(multiprocessors: int) -> ReducePolicy:
    """The policy of reduce kernels.

    Measured on one H200, 2026-11, over 2 to 16 blocks for each multiprocessor and 32 to 128 bytes for each thread.
    """
    return ReducePolicy(blocks=4 * multiprocessors)


def scan_policy(multiprocessors: int) -> ScanPolicy:
    """The policy of scan kernels."""
    return ScanPolicy(rows=32 * multiprocessors)
