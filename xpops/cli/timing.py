"""Time calls: by CUDA events on a GPU, by the clock on the CPU."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import xpops as xp

# How many copies are timed. Their median is used.
COPIES = 7


def timer(device: str) -> Callable[[Callable[[], object]], float]:
    """A function that runs some work on `device` and returns its microseconds."""
    return _on_host if device == "cpu" else _between_events


def copy_bandwidth(device: str) -> float:
    """Bytes per microsecond that a copy reads and writes."""
    x = xp.ones(1 << (24 if device == "cpu" else 28), dtype=xp.float32, device=device)
    out, time = xp.empty_like(x), timer(device)
    return 2 * x.size * 4 / statistics.median(time(lambda: xp.positive(x, out=out)) for _ in range(COPIES))


def _on_host(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e6


def _between_events(work: Callable[[], object]) -> float:
    from cuda.bindings import driver

    from xpops.engine.cuda.runtime.driver import check

    start, end = (check(driver.cuEventCreate(0)) for _ in range(2))
    check(driver.cuCtxSynchronize())
    check(driver.cuEventRecord(start, 0))
    result = work()
    check(driver.cuEventRecord(end, 0))
    check(driver.cuEventSynchronize(end))
    microseconds: float = check(driver.cuEventElapsedTime(start, end)) * 1e3
    for event in (start, end):
        check(driver.cuEventDestroy(event))
    del result
    return microseconds
