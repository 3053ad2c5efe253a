"""Timing: all libraries run in one process, in turn; the results are medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch

Work = Callable[[], object]
# Calls that are timed together, so that the GPU has work queued and the host's time is hidden.
CALLS = 6
# Cycles for which the GPU waits before timed calls, about 2 ms: the host queues them meanwhile.
QUEUED = 4_000_000
# Microseconds from which on a call is timed alone: the host's time is hidden.
SLOW = 5000.0


def device_times(works: dict[str, Work], rounds: int) -> dict[str, float]:
    """Microseconds on the device of each work, the median of `rounds`, taken in turn.

    Torch, cupy and xpops run on the legacy default stream and are timed by a pair of events. JAX has its own streams
    and is timed on the host, over several calls.
    """
    for work in works.values():
        work()
    _wait(list(works.values())[-1]())
    calls = {name: 1 if name != "jax" and between_events(work, 1) > SLOW else CALLS for name, work in works.items()}
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(_on_host(work) if name == "jax" else between_events(work, calls[name]))
    return {name: statistics.median(values) for name, values in times.items()}


def host_times(works: dict[str, Work], calls: int = 2000, rounds: int = 15) -> dict[str, float]:
    """Microseconds on the host of one call of each work: the median of `rounds` of `calls`, taken in turn."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        for _ in range(min(calls, 200)):
            result = work()
        _wait(result)
    for _ in range(rounds):
        for name, work in works.items():
            start = time.perf_counter()
            for _ in range(calls):
                work()
            times[name].append((time.perf_counter() - start) / calls * 1e6)
            _wait(work())
    return {name: statistics.median(values) for name, values in times.items()}


def between_events(work: Work, calls: int = CALLS) -> float:
    """Microseconds on the device of one call, averaged over `calls`."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(QUEUED)
    work()
    start.record()
    for _ in range(calls):
        work()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) * 1e3 / calls


def _on_host(work: Work) -> float:
    _wait(work())
    start = time.perf_counter()
    for _ in range(CALLS):
        result = work()
    _wait(result)
    return (time.perf_counter() - start) / CALLS * 1e6


def _wait(result: object) -> None:
    if hasattr(result, "block_until_ready"):
        result.block_until_ready()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
