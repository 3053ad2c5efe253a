"""``python -m conformance.leaks --device cpu|cuda``: runs the same programs repeatedly; writes a report of what grew.

``--calls C``  the least number of actions (default 200000).
``--seed N``   the seed of the programs (default 0).

The programs are those of ``conformance.fuzz``: calls, views, writes and exchanges on arrays of every framework that is
installed. The first rounds fill all caches. After them the process may gain at most `FEW` Python objects, no GPU
memory, and at most `SLACK` bytes of host memory for each action, because the allocator leaves gaps.
"""

from __future__ import annotations

import argparse
import gc
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from conformance.fingerprint import fingerprint
from conformance.fuzz.machine import homes_on
from conformance.fuzz.program import Program, draw_pool, draw_program
from conformance.reporting import REPORTS, available, heading, write
from xpops.testing import Framework

PROGRAMS, FIRST_ROUNDS, PAGE = 40, 6, 4096
FEW, SLACK = 10, 32


class Held(NamedTuple):
    """What a process holds: Python objects, bytes of host memory, bytes of GPU memory."""

    objects: int
    host: int
    gpu: int


def main(arguments: Sequence[str]) -> int:
    """Run the programs, write the report; returns 1 if there is a leak."""
    parser = argparse.ArgumentParser("python -m conformance.leaks", description="Runs the same programs again.")
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    parser.add_argument("--calls", type=int, default=200_000, metavar="C", help="actions at least (default 200000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the programs (default 0)")
    options = parser.parse_args(arguments)
    if not available(options.device):
        print(f"conformance.leaks: no {options.device} device here")
        return 2
    warnings.simplefilter("ignore")
    before = fingerprint()
    places = homes_on("cpu" if options.device == "cpu" else "cuda:0")
    pool = draw_pool(options.seed, PROGRAMS, options.device)
    programs = [draw_program(options.seed, number, pool, places) for number in range(PROGRAMS)]
    for _ in range(FIRST_ROUNDS):
        _run(programs, places)
    first, done = _held(options.device), 0
    while done < options.calls:
        done += _run(programs, places)
    last = _held(options.device)
    grown = Held(*(after - earlier for after, earlier in zip(last, first, strict=True)))
    leaks = grown.objects > FEW or grown.gpu > 0 or grown.host > SLACK * done
    run = {"seed": options.seed, "actions": done, "frameworks": list(places), "grown": grown._asdict(), "leaks": leaks}
    write(REPORTS / f"leaks-{options.device}.json", {**heading(options.device), **run, "fingerprint": before})
    return int(leaks)


def _run(programs: Sequence[Program], places: dict[str, Framework]) -> int:
    """Run each program once. Returns their number of actions."""
    for program in programs:
        program.run(places)
    return sum(len(program.actions) for program in programs)


def _held(device: str) -> Held:
    """What this process holds now, after a garbage collection."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Held(len(gc.get_objects()), pages * PAGE, _gpu_bytes() if device == "cuda" else 0)


def _gpu_bytes() -> int:
    """Bytes of the GPU that are in use, by all processes."""
    from cuda.bindings import driver

    _, free, total = driver.cuMemGetInfo()
    return int(total - free)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
