"""A workload: one row of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
        For each library, a function of these inputs, which are arrays of that library. "kps" is a kernel made of kernel
        primitives, on torch tensors.
    bytes : int
        Bytes that must be moved: each input is read once, each result is written once.
    ceiling : {"copy", "write"}
        The bandwidth that limits it.
    target : float
        The most microseconds that xpops may take, from the issue; 0 if the limit is a multiple. This limit and the
        others are those of "kps" if there is one.
    ratio : float
        The most that xpops may take as a multiple of torch's time; 0 if there is another limit.
    best : float
        The same, as a multiple of the best time of the other libraries.
    share : float
        The least share of the ceiling's bandwidth.
    """

    name: str
    setup: Callable[[], dict[str, Any]]
    compute: Mapping[str, Callable[..., Any]]
    bytes: int
    ceiling: str = "copy"
    target: float = 0.0
    ratio: float = 0.0
    best: float = 0.0
    share: float = 0.0
