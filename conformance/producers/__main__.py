"""``python -m conformance.producers --device cpu|cuda``: tries random, often malformed producers in child processes.

``--count N``   how many (default 20000).
``--seed S``    another seed draws other producers (default 0).
``--first I``   the number of the first one, to repeat a fault (default 0).
``--batch B``   how many for each child process (default 500).
``-j J``        this many processes at a time (default 1).

Each producer is drawn from the seed and its number. xpops must read it correctly or refuse it with a clear error, and
call its deleter once; the process must not crash. On the CPU the memory is between inaccessible pages. On CUDA, run the
command under ``compute-sanitizer --target-processes all`` to detect reads beyond the memory. The command prints a
summary, and ends with status 1 if there was a fault.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from conformance.fingerprint import ROOT, fingerprint
from conformance.reporting import REPORTS, available, heading, write

TIME_LIMIT = 300


def main(arguments: list[str]) -> int:
    """Try all producers, print the summary, and return 1 if there was a fault."""
    options = _parser().parse_args(arguments)
    if options.child:
        _try(options)
        return 0
    if not available(options.device):
        print(f"conformance.producers: no {options.device} device here")
        return 2
    before, last = fingerprint(), options.first + options.count
    ranges = [(first, min(first + options.batch, last)) for first in range(options.first, last, options.batch)]
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for found in pool.map(lambda each: _batch(options, *each), ranges):
            for index, outcome in found:
                outcomes[outcome.partition(":")[0] if outcome.startswith("fault") else outcome] += 1
                if outcome.startswith("fault"):
                    faults.append(f"{index}: {outcome}")
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:7} {outcome}")
    print(f"{outcomes.total():7} producers on {options.device}, seed {options.seed}: {len(faults)} faults")
    print(*faults[:50], sep="\n", end="\n" if faults else "")
    run = {"seed": options.seed, "producers": outcomes.total(), "outcomes": dict(outcomes), "faults": faults[:50]}
    write(REPORTS / f"producers-{options.device}.json", {**heading(options.device), **run, "fingerprint": before})
    return int(bool(faults) or outcomes.total() != options.count)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m conformance.producers", description="Tries malformed producers.")
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    parser.add_argument("--count", type=int, default=20000, metavar="N", help="how many (default 20000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="other ones (default 0)")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="the number of the first one (default 0)")
    parser.add_argument("--batch", type=int, default=500, metavar="B", help="how many a process (default 500)")
    parser.add_argument("-j", dest="jobs", type=int, default=1, metavar="J", help="processes at a time (default 1)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser


def _batch(options: Any, first: int, last: int) -> list[tuple[int, str]]:
    """The outcomes of a range. If a child process dies, the next one continues after the case that killed it."""
    found: list[tuple[int, str]] = []
    while first < last:
        lines, end = _child(options, first, last)
        done = [line.split(" ", 1) for line in lines]
        found += [(int(index), outcome) for index, outcome in done]
        first += len(done)
        if first < last:
            found.append((first, f"fault: the process ended: {end}"))
            first += 1
    return found


def _child(options: Any, first: int, last: int) -> tuple[list[str], str]:
    """The lines that a child process wrote, one for each case, and how it ended."""
    command = [sys.executable, "-m", "conformance.producers", "--child", f"--device={options.device}"]
    command += [f"--seed={options.seed}", f"--first={first}", f"--count={last - first}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, cwd=ROOT, check=False)
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode().splitlines(), f"no end after {TIME_LIMIT} s"
    return done.stdout.splitlines(), f"status {done.returncode}: {done.stderr[-2000:]}"


def _try(options: Any) -> None:
    """In a child process: try a range, and print a line for each producer."""
    import numpy as np

    from conformance.producers.cases import draw
    from conformance.producers.memory import DeviceMemory, GuardedPages
    from conformance.producers.trial import run

    faulthandler.enable()
    memory = GuardedPages() if options.device == "cpu" else DeviceMemory()
    for index in range(options.first, options.first + options.count):
        case = draw(options.seed, index, memory.start, memory.device)
        outcome = run(case, memory, np.random.default_rng((options.seed, index)))
        if outcome.startswith("fault"):
            outcome = f"{outcome} | {case}"
        print(index, " ".join(outcome.split()), flush=True)
    # Do not run the interpreter's shutdown: arrays that are left would free memory then, which is not tested here.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
