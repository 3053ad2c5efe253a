"""Tuning numbers. A GPU takes the row of `table` that is nearest to its compute capability.

A number that depends on the number of multiprocessors is given for one multiprocessor.
"""

from __future__ import annotations

from xpops.core.dtypes import COMPLEX_FLOATS, FLOAT8, HALVES, DType, int8, int16, uint8, uint16
from xpops.engine.cuda.runtime.entry import PORTABLE
from xpops.engine.cuda.tuning.policies import Tuning
from xpops.engine.cuda.tuning.table import ROWS
from xpops.ops.operator import Operator
from xpops.plan.elementwise import Policy
from xpops.plan.reduce.parameters import ReducePolicy
from xpops.plan.scan.parameters import ScanPolicy
from xpops.plan.softmax.parameters import SoftmaxPolicy
from xpops.plan.staging import StagingPolicy

# Integers for which the functors of every operator are short: they divide by one approximate reciprocal.
_SHORT = frozenset((int8, uint8, int16, uint16))

# The first compute capability that has clusters of blocks, and those that have clusters of more than `PORTABLE` blocks.
CLUSTERS, LARGE_CLUSTERS = 90, (90, 100, 103)

# The compute capabilities that add and multiply float64 at half the rate of float32, others at a 32nd or less.
FAST_FLOAT64 = (80, 90, 100)


def measured(capability: int) -> int:
    """The capability of the nearest row.

    Examples
    --------
    >>> measured(90), measured(80)
    (90, 90)
    """
    return min(ROWS, key=lambda row: abs(row - capability))


def tuning_of(capability: int) -> Tuning:
    """The tuning numbers for a compute capability."""
    return ROWS[measured(capability)]


def elementwise_policy(op: Operator, loop: DType, capability: int) -> Policy:
    """The policy of elementwise kernels for `op` with loop dtype `loop`, on a compute capability (90 for 9.0)."""
    tuning = tuning_of(capability)
    policy = tuning.elementwise
    is_long = op.long == "always" and loop not in _SHORT
    if loop in COMPLEX_FLOATS:
        is_long = is_long or op.transcendental or op.long == "complex"
    if is_long or op.cost != "memory" or loop in FLOAT8:
        policy = policy._replace(elements_per_thread=tuning.long_elements)
    is_called = is_long and not (op.narrow and loop in HALVES)
    return policy._replace(outlined=is_called)


def reduce_policy(capability: int, multiprocessors: int) -> ReducePolicy:
    """The policy of reduce kernels on a GPU with so many multiprocessors."""
    return tuning_of(capability).reduce._replace(multiprocessors=multiprocessors)


def scan_policy(capability: int, multiprocessors: int) -> ScanPolicy:
    """The policy of scan kernels on a GPU with so many multiprocessors."""
    policy = tuning_of(capability).scan
    return policy._replace(rows=policy.rows * multiprocessors)


def softmax_policy(capability: int) -> SoftmaxPolicy:
    """The policy of softmax kernels on a compute capability."""
    policy = tuning_of(capability).softmax
    return policy._replace(shapes=usable(policy.shapes, capability))


def usable(shapes: tuple[tuple[int, int], ...], capability: int) -> tuple[tuple[int, int], ...]:
    """The shapes (threads of a block, blocks of a cluster) that a compute capability has."""
    return tuple(shape for shape in shapes if shape[1] == 1 or capability >= CLUSTERS)


def staging_policy(capability: int, multiprocessors: int, shared: int) -> StagingPolicy:
    """The policy of kernels that keep rows in shared memory, on a GPU with so many multiprocessors, and at most so many
    bytes of shared memory for a block.
    """
    policy = tuning_of(capability).staging
    most = PORTABLE if capability not in LARGE_CLUSTERS else policy.clusters[-1]
    clusters = tuple(each for each in policy.clusters if each <= (most if capability >= CLUSTERS else 1))
    return policy._replace(clusters=clusters, multiprocessors=multiprocessors, shared=shared)
