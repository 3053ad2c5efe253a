"""A child process that runs programs, seen from the one that asks it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from threading import Timer
from typing import Any

import xpops as xp
from conformance.fingerprint import ROOT

# Seconds for a program, and for the kernels that are compiled first.
TIME_LIMIT, START_LIMIT = 120.0, 600.0


class Process:
    """One child process.

    Parameters
    ----------
    options : argparse.Namespace
        device, seed and kernels.
    part, parts : int
        The share of the kernels that it compiles first: none if `parts` is 0. The GPUs take turns by `part`.
    """

    def __init__(self, options: Any, part: int, parts: int) -> None:
        share = f"{part}/{parts}" if parts else f"{options.kernels}/1"
        command = [sys.executable, "-m", "conformance.fuzz", f"--device={options.device}", f"--seed={options.seed}"]
        command += [f"--kernels={options.kernels}", f"--child={share}"]
        pipe = subprocess.PIPE
        # JAX would take most of the GPU's memory, in each process. It also leaves the last GPU current, and cupy makes
        # its arrays there; so a process sees one.
        environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "CUDA_VISIBLE_DEVICES": _gpu(part)}
        self._child = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )
        self._read(START_LIMIT)

    @classmethod
    def ask_once(cls, options: Any, number: int, only: Sequence[int]) -> dict[str, Any]:
        """What a new process says of a program, or of some of its actions."""
        process = cls(options, 0, 0)
        outcome = process.ask(number, only)
        process.close()
        return outcome

    def ask(self, number: int, only: Sequence[int] = ()) -> dict[str, Any]:
        """Have a program run. A process that ends or hangs is a fault of it."""
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(" ".join(map(str, (number, *only))) + "\n")
            self._child.stdin.flush()
            line = self._read(TIME_LIMIT)
        except BrokenPipeError:
            line = ""
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        _, errors = self._child.communicate()
        fault = f"the process ended: {self._child.returncode}: {errors[-3000:]}"
        return {"number": number, "actions": 0, "fault": fault, "kind": "the process ended"}

    @property
    def has_ended(self) -> bool:
        """Whether it is there no more."""
        return self._child.poll() is not None

    def close(self) -> None:
        """Let it end."""
        if not self.has_ended:
            self._child.communicate()

    def _read(self, seconds: float) -> str:
        """A line of its output; empty if it ended, or was ended after so many seconds."""
        assert self._child.stdout is not None
        timer = Timer(seconds, self._child.kill)
        timer.start()
        try:
            return self._child.stdout.readline()
        finally:
            timer.cancel()


def _gpu(number: int) -> str:
    """One of the GPUs that this process sees, as CUDA names it; "" if there is none."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    count = sum(device.type == "cuda" for device in xp.__array_namespace_info__().devices())
    names = named.split(",")[:count] if named else [str(each) for each in range(count)]
    return names[number % count] if names else ""
