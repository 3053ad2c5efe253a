"""Work whose blocks are made on the GPUs: Fourier transforms and singular values, on one GPU and on all."""

from __future__ import annotations

import os
import time
from typing import Any

from tests.helpers.examples import example

# Tasks for each GPU, so that no GPU waits long for the last one.
_TASKS = 8
_SMALL = 64


def compute(seed: int, size: int, repeats: int) -> float:
    """A task: make a matrix on the default device, transform it again and again, and take its singular values."""
    import xpops as xp

    x = xp.random.Generator(seed).normal(size=(size, size), dtype=xp.float32)
    for _ in range(repeats):
        x = xp.fft.irfftn(xp.fft.rfftn(x), s=x.shape, axes=(0, 1))
    return float(xp.max(xp.linalg.svdvals(x[:_SMALL, :_SMALL])))


def identity() -> tuple[int, str]:
    """A worker's process and what GPUs it sees."""
    return os.getpid(), os.environ.get("CUDA_VISIBLE_DEVICES", "")


def measure(size: int, seconds: float, devices: int) -> dict[str, Any]:
    """Run the same tasks on one worker and, if there are more GPUs, on one worker for each."""
    found: dict[str, Any] = {}
    repeats, results = 0, []
    for count in sorted({1, devices}):
        with example("out_of_core").start_cluster(count, memory_limit=0) as cluster:
            repeats = repeats or _calibrate(cluster, size, seconds)
            name = f"{count} worker" + "s" * (count > 1)
            found[name], values = _run(cluster, size, repeats, devices)
            results.append(values)
    same = all(values == results[0] for values in results)
    found.update({"repeats of a task": repeats, "tasks": _TASKS * devices, "the same numbers": same})
    if devices > 1:
        found["speed-up"] = found["1 worker"]["seconds"] / found[f"{devices} workers"]["seconds"]
    return found


def _calibrate(cluster: Any, size: int, seconds: float) -> int:
    """How often a task must repeat its transforms so that the tasks of a GPU take so many seconds."""
    from distributed import Client

    with Client(cluster.scheduler_address) as client:
        times = []
        for repeats in (10, 10, 110):
            start = time.perf_counter()
            client.submit(compute, 0, size, repeats, pure=False).result()
            times.append(time.perf_counter() - start)
    return max(int(seconds / _TASKS / max((times[2] - times[1]) / 100, 1e-6)), 1)


def _run(cluster: Any, size: int, repeats: int, devices: int) -> tuple[dict[str, Any], list[float]]:
    from distributed import Client

    with Client(cluster.scheduler_address) as client:
        workers = sorted(client.run(identity).values())
        for address in client.run(identity):  # compiles the kernels
            client.submit(compute, 0, size, 1, workers=[address], pure=False).result()
        start = time.perf_counter()
        tasks = [client.submit(compute, seed, size, repeats, pure=False) for seed in range(_TASKS * devices)]
        values = client.gather(tasks)
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "visible GPUs": [gpu for _, gpu in workers]}, values
