"""``python -m conformance.interrupts``: SIGINTs at random moments, with an empty kernel cache; writes a report.

``--seconds S``  how long each run lasts (default 120).
``--runs R``     how many processes run at the same time (default 5).
``--seed N``     the seed of the first run; each other run has the next seed (default 0).

Each run calls random functions on xpops arrays and torch tensors, including fused functions and user-defined kernels.
Many of them must be compiled. Every result is compared with NumPy's, during the interrupts and after them. A run fails
if the process dies, hangs or returns a wrong result.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from conformance.fingerprint import ROOT, fingerprint
from conformance.reporting import REPORTS, available, heading, write

# The mean seconds between two signals; the calls after the last signal, and the time limit for them in seconds.
INTERVAL, AFTERWARDS, GRACE = 0.01, 300, 120.0


def main(arguments: list[str]) -> int:
    """Run, write the report; returns 1 if a run failed."""
    parser = argparse.ArgumentParser("python -m conformance.interrupts", description="Interrupts calls at random.")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if not available("cuda"):
        print("interrupts: no GPU here")
        return 2
    before, results = fingerprint(), list[dict[str, Any]]()
    threads = [
        threading.Thread(target=lambda seed=seed: results.append(_run(seed, options.seconds)))
        for seed in range(options.seed, options.seed + options.runs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        print(json.dumps(result))
    failed = sum(result["status"] != 0 for result in results)
    write(REPORTS / "interrupts.json", {**heading("cuda"), "runs": results, "failed": failed, "fingerprint": before})
    return int(failed > 0)


def _run(seed: int, seconds: float) -> dict[str, Any]:
    """Interrupt one process. Returns what it printed, and how it ended."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XPOPS_CACHE_DIR": cache, "XPOPS_PREPARE": "0"}
        command = [
            sys.executable,
            "-X",
            "faulthandler",
            "-m",
            "conformance.interrupts",
            "child",
            str(seed),
            str(seconds),
        ]
        pipe = subprocess.PIPE
        child = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
        assert child.stdout is not None
        child.stdout.readline()  # the child prints a line when it is ready
        end, sent = time.monotonic() + seconds, 0
        while time.monotonic() < end and child.poll() is None:
            time.sleep(draw.expovariate(1 / INTERVAL))
            child.send_signal(signal.SIGINT)
            sent += 1
        try:
            output, errors = child.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired:
            child.kill()
            output, errors = child.communicate()
            errors += "\nhangs"
    found = json.loads(output.splitlines()[-1]) if child.returncode == 0 else {"errors": errors[-2000:]}
    return {"seed": seed, "seconds": seconds, "status": child.returncode, "signals": sent, **found}


Call = tuple[str, Callable[[], Any], Callable[[], Any]]


class Calls:
    """Random calls, each with a function that computes the result with NumPy."""

    def __init__(self, seed: int) -> None:
        import numpy as np
        import torch

        import xpops as xp

        self.random, self.np, self.torch, self.xp = random.Random(seed), np, torch, xp
        generator = np.random.default_rng(seed)
        self.host = {
            name: (generator.standard_normal((37, 530)) * 50).astype(name)
            for name in ("float32", "float64", "float16", "int32", "int16")
        }
        self.makers = [self._elementwise, self._sum, self._sort, self._mask, self._fused, self._kernel, self._scan]

    def draw(self) -> Call:
        """A random call: its name, a function that computes our result, and one that computes NumPy's."""
        dtype = self.random.choice(list(self.host))
        host = self.host[dtype].reshape(self.random.choice([(37, 530), (530, 37), (10, 37, 53), (19610,)]))
        x = self.xp.asarray(host, device="cuda:0")
        if self.random.random() < 0.5:
            x = self.torch.from_dlpack(x)
        return self.random.choice(self.makers)(self.xp, x, host)

    def _axis(self, host: Any) -> int:
        return self.random.randrange(host.ndim)

    def _elementwise(self, xp: Any, x: Any, host: Any) -> Call:
        number = self.random.randrange(1, 9)
        return "add", lambda: xp.add(xp.multiply(x, number), x), lambda: host * host.dtype.type(number) + host

    def _sum(self, xp: Any, x: Any, host: Any) -> Call:
        axis = self._axis(host)
        return "sum", lambda: xp.mean(xp.astype(x, xp.float64), axis=axis), lambda: host.astype("f8").mean(axis)

    def _sort(self, xp: Any, x: Any, host: Any) -> Call:
        axis = self._axis(host)
        return "sort", lambda: xp.sort(x, axis=axis), lambda: self.np.sort(host, axis)

    def _mask(self, xp: Any, x: Any, host: Any) -> Call:
        number = self.random.randrange(-20, 20)
        return "mask", lambda: xp.asarray(x)[xp.asarray(xp.greater(x, number))], lambda: host[host > number]

    def _fused(self, xp: Any, x: Any, host: Any) -> Call:
        number = self.random.randrange(10**6) / 64  # a constant of the kernel, so that nearly every call compiles
        fused = xp.fuse(lambda a: xp.sum(xp.astype(a, xp.float64) * number + 1, axis=-1))
        return "fuse", lambda: fused(x), lambda: (host.astype("f8") * number + 1).sum(-1)

    def _kernel(self, xp: Any, x: Any, host: Any) -> Call:
        number = self.random.randrange(10**6)
        kernel = xp.kernel.ElementwiseKernel("T x", "float64 y", f"y = (double)x + {number}", "shifted")
        return "kernel", lambda: kernel(x), lambda: host.astype("f8") + number

    def _scan(self, xp: Any, x: Any, host: Any) -> Call:
        axis = self._axis(host)
        return (
            "scan",
            lambda: (
                xp.cumulative_sum(xp.astype(x, xp.float64), axis=axis)
                if host.ndim > 1
                else xp.cumulative_sum(xp.astype(x, xp.float64))
            ),
            lambda: host.astype("f8").cumsum(axis),
        )

    def check(self, call: Call) -> None:
        """Make the call. Raises AssertionError if the result differs from NumPy's."""
        name, ours, theirs = call
        result = ours()
        found = result.to_numpy() if hasattr(result, "to_numpy") else result.cpu().numpy()
        self.np.testing.assert_allclose(found, theirs(), rtol=1e-9, err_msg=name)


def child(seed: int, seconds: float) -> None:
    """Make calls while interrupted, then without interrupts; print the counts."""
    from xpops.engine.cuda.runtime import cache

    calls, done, interrupted, is_calling = Calls(seed), 0, 0, False
    calls.np.seterr(all="ignore")

    def interrupt(*arguments: object) -> None:
        nonlocal interrupted, is_calling
        if is_calling:
            interrupted, is_calling = interrupted + 1, False
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    print("ready", flush=True)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            is_calling = True
            calls.check(calls.draw())
            is_calling = False
            done += 1
        except KeyboardInterrupt:
            pass
    for _ in range(AFTERWARDS):
        calls.check(calls.draw())
    counts = {"interrupted": interrupted, "calls": done, "calls_after": AFTERWARDS, "compilations": cache.compilations}
    print(json.dumps(counts))


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(int(sys.argv[2]), float(sys.argv[3]))
    else:
        sys.exit(main(sys.argv[1:]))
