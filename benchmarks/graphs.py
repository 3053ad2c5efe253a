"""20 calls on 64x64 float32, recorded by `xp.graph` and by torch. ``python -m benchmarks.graphs`` prints the times."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

import xpops as xp

Rows = dict[str, dict[str, Callable[[], Any]]]
# So few calls that the launches of all fit the driver's queue: the host does not wait for the GPU.
SHORT = 20


def _chain(x: Any, y: Any) -> Any:
    for _ in range(10):
        x = x + y
        x = x * 0.5
    return x


def rows() -> Rows:
    """For each kind of arrays, a call without arguments for each library. Torch's replay overwrites its result."""
    x, y = (torch.randn(64, 64, device="cuda") for _ in range(2))
    ours = xp.asarray(x), xp.asarray(y)
    step, graph = xp.graph(_chain), torch.cuda.CUDAGraph()
    _chain(x, y)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        static = _chain(x, y)
    copies = [x.clone() for _ in range(64)]

    def replay() -> Any:
        graph.replay()
        return static

    def call_with_new(call: Callable[[Any], Any], number: list[int]) -> Any:
        number[0] = (number[0] + 1) % len(copies)
        return call(copies[number[0]])

    def replay_copied(new: Any) -> Any:
        x.copy_(new)
        graph.replay()
        return static.clone()

    places = [0], [0]
    return {
        "20 calls, recorded": {"xpops": lambda: step(*ours), "torch": replay},
        "20 calls of torch's, recorded": {"xpops": lambda: step(x, y), "torch": replay},
        "20 calls, recorded, new arrays": {
            "xpops": lambda: call_with_new(lambda new: step(new, y), places[0]),
            "torch": lambda: call_with_new(replay_copied, places[1]),
        },
    }


def until_done(work: Callable[[], object], calls: int = 2000) -> float:
    """Microseconds of one of many calls, until the GPU has done them all."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / calls * 1e6


def main() -> None:
    """Print the microseconds of a call: on the host, on the device, and of many calls in a row until the last is done.

    The queue takes a thousand of torch's replays, but only fifty of ours: the host's time of many calls says nothing.
    """
    from benchmarks.timing import device_times, host_times

    for name, works in rows().items():
        for work in works.values():
            for _ in range(200):
                work()
        times = {
            "host": host_times(works, calls=SHORT, rounds=101),
            "device": device_times(works, rounds=101),
            "many calls": {library: until_done(work) for library, work in works.items()},
        }
        for kind, found in times.items():
            print(f"{name:32}{kind:12}" + "".join(f"  {library} {value:.2f}" for library, value in found.items()))


if __name__ == "__main__":
    main()
