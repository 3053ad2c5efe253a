"""What a workload is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

# The libraries' namespaces by name: torch, cupy, jax.numpy and xpops.
Arrays = dict[str, Any]


class Workload(NamedTuple):
    """One row of the table.

    Attributes
    ----------
    name : str
    setup : callable
        Returns the inputs as a dict of torch tensors on the GPU; every library gets them through DLPack, without a
        copy.
    compute : dict of str to callable
        For each library a function of those inputs, in that library's own arrays.
    bytes : int
        What must move through device memory: each input read once, each result written once.
    ceiling : {"copy", "write"}
        The bandwidth that bounds it.
    target : float
        The most microseconds that ours may take, as the issue says; 0 where it says a multiple.
    ratio : float
        The most that ours may take as a multiple of torch's time; 0 where another says it.
    best : float
        The same as a multiple of the best peer's.
    """

    name: str
    setup: Callable[[], dict[str, Any]]
    compute: dict[str, Callable[..., Any]]
    bytes: int
    ceiling: str = "copy"
    target: float = 0.0
    ratio: float = 0.0
    best: float = 0.0
