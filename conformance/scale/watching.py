"""What runs use: the memory of processes and GPUs, sampled; and copies between the host and GPUs, counted."""

from __future__ import annotations

import subprocess
import threading
from collections import Counter
from contextlib import suppress
from typing import Any

import psutil

from conformance.clients.recording import count_conversions

# Seconds between samples.
_PERIOD = 0.1

_copies: Counter[str] = Counter()
_places: Counter[str] = Counter()


class Memory(threading.Thread):
    """Samples the memory of this process, its children and the GPUs, in a ``with`` block.

    Attributes
    ----------
    of_all, of_one, of_gpu : int
        The most bytes of all processes together, of one of the children, and of one GPU.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.of_all = self.of_one = self.of_gpu = 0
        self._end = threading.Event()

    def __enter__(self) -> Memory:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        self.join()

    def run(self) -> None:
        """Sample until the block ends."""
        this, gpus = psutil.Process(), True
        while True:
            children = [_resident(each) for each in this.children(recursive=True)]
            self.of_all = max(self.of_all, _resident(this) + sum(children))
            self.of_one = max(self.of_one, *children, 0)
            used = _used_of_gpus() if gpus else []
            gpus = bool(used)
            self.of_gpu = max(self.of_gpu, *used, 0)
            if self._end.wait(_PERIOD):
                return

    def report(self) -> dict[str, int]:
        """The attributes, by the names of the report."""
        return {
            "peak host bytes of all processes": self.of_all,
            "peak host bytes of one worker": self.of_one,
            "peak bytes of one GPU": self.of_gpu,
        }


def _resident(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return int(process.memory_info().rss)
    return 0


def _used_of_gpus() -> list[int]:
    """The bytes that are used of each GPU, by anyone."""
    command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
        return [int(line) * 2**20 for line in found.stdout.split()]
    return []


def count_copies() -> None:
    """Begin to count this process' copies between host and GPU, and the calls of ``Array.__array__`` by place."""
    from xpops.engine.cuda.runtime.runtime import Runtime

    count_conversions(_places)
    for name in ("to_host", "from_host"):
        _count(Runtime, name)


def _count(owner: Any, name: str) -> None:
    copy = getattr(owner, name)

    def counted(*arguments: Any, **options: Any) -> Any:
        _copies[name] += 1
        return copy(*arguments, **options)

    setattr(owner, name, counted)


def counted() -> dict[str, dict[str, int]]:
    """What this process has counted."""
    return {"copies": dict(_copies), "conversions": dict(_places)}


def merged(counts: dict[str, dict[str, dict[str, int]]]) -> dict[str, dict[str, int]]:
    """The sums of what workers have counted."""
    return {
        kind: dict(sum((Counter(each[kind]) for each in counts.values()), Counter[str]()))
        for kind in ("copies", "conversions")
    }
