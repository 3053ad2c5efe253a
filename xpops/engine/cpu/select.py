"""Selection on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.core.layouts import Layout, layout_of
from xpops.engine.program import Measure, Program
from xpops.plan.selection import require_count

NDArray = np.ndarray[Any, Any]


def nonzero(x: Layout) -> Measure:
    """See `xpops.engine.protocol.Engine.nonzero`."""

    def measure(stream: int, x: NDArray) -> Program:
        return _found(*np.nonzero(x.astype(bool)))

    return measure


def compress(x: Layout, mask: Layout) -> Measure:
    """See `xpops.engine.protocol.Engine.compress`."""

    def measure(stream: int, x: NDArray, mask: NDArray) -> Program:
        return _found(x[mask])

    return measure


def masked_scatter(x: Layout, mask: Layout, value: Layout) -> Measure:
    """See `xpops.engine.protocol.Engine.masked_scatter`."""

    def kernel(stream: int, x: NDArray, mask: NDArray, value: NDArray) -> None:
        x[mask] = value

    def measure(stream: int, x: NDArray, mask: NDArray, value: NDArray) -> Program:
        require_count(int(np.count_nonzero(mask)), value.shape[0])
        return Program((), kernel)

    return measure


def runs(x: Layout, wanted: tuple[str, ...]) -> Measure:
    """See `xpops.engine.protocol.Engine.runs`."""

    def measure(stream: int, x: NDArray, *order: NDArray) -> Program:
        first = np.ones(x.shape, np.bool_)
        np.not_equal(x[1:], x[:-1], out=first[1:])
        results = []
        for each in wanted:
            if each == "groups":
                groups = np.empty(x.shape, dt.int64)
                groups[order[0]] = np.cumsum(first) - 1
                results.append(groups)
            else:
                results.append(x[first] if each == "values" else np.flatnonzero(first))
        return _found(*results)

    return measure


def _found(*results: NDArray) -> Program:
    """The program that copies results that are already computed."""
    layouts = tuple(layout_of(result.dtype, result.shape, None, CPU) for result in results)

    def kernel(stream: int, *data: NDArray) -> None:
        for out, result in zip(data, results, strict=False):
            out[...] = result

    return Program(layouts, kernel)
