"""Rows in shared memory: how many blocks keep a row, each a part of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

# The bytes of shared memory that the driver takes for each resident block.
RESERVED = 1024
# More blocks gain nothing if each has fewer packs.
_PACKS = 2048


class StagingPolicy(NamedTuple):
    """Tuning numbers of kernels that keep rows in shared memory, and what they need to know of the device.

    Attributes
    ----------
    clusters : tuple of int
        The numbers of blocks that may share a row, powers of two.
    residents : tuple of int
        The blocks of clusters that a multiprocessor should have, best first: while one waits for the others of its
        cluster, the next one loads. A block without a cluster does not wait.
    threads : int
        The threads of all blocks that a multiprocessor has at once; this limits the registers of a thread.
    multiprocessors : int
    shared : int
        The most bytes of shared memory of a block.
    own : int
        The most bytes of shared memory of a kernel's own variables.
    """

    clusters: tuple[int, ...]
    residents: tuple[int, ...]
    threads: int
    multiprocessors: int = 0
    shared: int = 0
    own: int = 1024


class Staging(NamedTuple):
    """The threads of a block, the blocks that share a row, the packs of a row that a block keeps, and the blocks that a
    multiprocessor has at once.
    """

    block: int
    cluster: int
    packs: int
    resident: int


def plan_staging(packs: int, width: int, rows: int, policy: StagingPolicy) -> Staging | None:
    """How to keep `rows` rows of at most `packs` packs of `width` bytes each; None if they are too long.

    If there are few rows, more blocks than needed share each, as long as multiprocessors would have none.

    Examples
    --------
    >>> policy = StagingPolicy((1, 2, 4, 8, 16), (4, 2), 1024, 132, 227 << 10)
    >>> plan_staging(6251, 16, 1342, policy)
    Staging(block=512, cluster=1, packs=6251, resident=2)
    >>> plan_staging(16384, 16, 1024, policy)
    Staging(block=256, cluster=8, packs=2048, resident=4)
    >>> plan_staging(65536, 16, 256, policy)
    Staging(block=512, cluster=16, packs=4096, resident=2)
    >>> plan_staging(12500, 16, 10, policy)
    Staging(block=256, cluster=4, packs=3125, resident=4)
    """

    def fitting(cluster: int) -> int:
        """How many blocks fit on a multiprocessor if so many share a row."""
        return (policy.shared + RESERVED) // (-(-packs // cluster) * width + RESERVED + policy.own)

    cluster = 1 if fitting(1) else _cluster(fitting, policy)
    if not cluster:
        return None
    most = min(policy.clusters[-1], packs // _PACKS)
    while 2 * cluster <= most and 2 * cluster * rows <= policy.multiprocessors:
        cluster *= 2
    preferred = policy.residents[-1:] if cluster == 1 else policy.residents
    resident = next((each for each in preferred if fitting(cluster) >= each), 1)
    return Staging(policy.threads // resident, cluster, -(-packs // cluster), resident)


def _cluster(fitting: Callable[[int], int], policy: StagingPolicy) -> int:
    """The fewest blocks that must share a row so that enough blocks fit on a multiprocessor; 0 if no number does."""
    pairs = ((resident, cluster) for resident in policy.residents for cluster in policy.clusters)
    return next((cluster for resident, cluster in pairs if fitting(cluster) >= resident), 0)
