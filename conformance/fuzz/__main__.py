"""``python -m conformance.fuzz --device cpu|cuda``: programs drawn at random, compared with NumPy; writes a report.

``--seconds S``   how long (default 60).
``--seed N``      of the programs and of their kernels; drawn and printed if it is not given.
``--kernels K``   how many groups of calls the programs are made of, each with its kernels (default 400).
``-j J``          processes at a time (default: one for each core).
``--program P``   this one alone, without a report.
``--actions A``   of that program these actions alone: numbers with commas.

A program is a list of calls, views, writes, and arrays handed to other frameworks. Each call is made several times,
with calls that differ in one fact in between: another layout or dtype, a lazy bit, another framework, another mode of
torch, ``out=``. The kernels that the calls need are compiled first. A program that fails is shortened to the actions
that it takes, and printed. Runs of the same code add up in the report; the same seed goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

from conformance.fingerprint import fingerprint
from conformance.fuzz.child import serve
from conformance.fuzz.process import Process
from conformance.fuzz.report import add, programs_done
from conformance.fuzz.shrinking import shrink
from conformance.reporting import available

# The most kinds of faults to show. Of each kind, one program is shortened.
SHOWN = 8


class Numbers:
    """Numbers of programs, for any thread, until the time is over."""

    def __init__(self, first: int) -> None:
        self._next, self._end, self._lock = first, float("inf"), Lock()

    def start(self, seconds: float) -> None:
        """Let the time run, if it does not yet."""
        with self._lock:
            self._end = min(self._end, time.monotonic() + seconds)

    def take(self) -> int | None:
        """The next number; None when the time is over."""
        with self._lock:
            if time.monotonic() > self._end:
                return None
            self._next += 1
            return self._next - 1


def main(arguments: Sequence[str]) -> int:
    """Run programs, write the report; returns 1 if one failed."""
    options = _parser().parse_args(arguments)
    if not available(options.device):
        print(f"conformance.fuzz: no {options.device} device here")
        return 2
    if options.child:
        first, step = map(int, options.child.split("/"))
        serve(options.device, options.seed, options.kernels, first, step)
        return 0
    print(f"conformance.fuzz: seed {options.seed}", flush=True)
    if options.program is not None:
        return _run_one(options)
    before, start = fingerprint(), time.monotonic()
    numbers = Numbers(programs_done(options.device, before, options.seed, options.kernels))
    with ThreadPoolExecutor(options.jobs) as threads:
        parts = list(threads.map(lambda part: _run(options, part, numbers), range(options.jobs)))
    outcomes = [outcome for part in parts for outcome in part]
    faults = sorted((each for each in outcomes if "fault" in each), key=lambda each: each["number"])
    kinds = {each["kind"]: each for each in reversed(faults)}
    with ThreadPoolExecutor(options.jobs) as threads:
        for text in threads.map(lambda fault: _shortened(options, fault), list(kinds.values())[:SHOWN]):
            print(text, flush=True)
    run = {
        "seed": options.seed,
        "kernels": options.kernels,
        "seconds": round(time.monotonic() - start),
        "programs": len(outcomes),
        "actions": sum(each["actions"] for each in outcomes),
        "failed": [each["number"] for each in faults],
    }
    print(*(f"{name}: {value}" for name, value in run.items()), sep=", ")
    add(options.device, before, run)
    return int(bool(faults))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m conformance.fuzz", description="Runs programs drawn at random.")
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="how long (default 60)")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), metavar="N", help="of the programs")
    parser.add_argument("--kernels", type=int, default=400, metavar="K", help="groups of calls (default 400)")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count(), metavar="J", help="processes at a time")
    parser.add_argument("--program", type=int, metavar="P", help="this one alone")
    parser.add_argument("--actions", default="", metavar="A", help="of that program these actions alone")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser


def _run(options: Any, part: int, numbers: Numbers) -> list[dict[str, Any]]:
    """What a process said of its programs; a new one after each fault, which may leave the GPU's context broken."""
    outcomes: list[dict[str, Any]] = []
    process = Process(options, part, options.jobs)
    numbers.start(options.seconds)
    while (number := numbers.take()) is not None:
        outcomes.append(process.ask(number))
        if "fault" in outcomes[-1]:
            process.close()
            process = Process(options, part, 0)
    process.close()
    return outcomes


def _run_one(options: Any) -> int:
    """One program, or some of its actions, as it goes in a process of its own."""
    only = [int(each) for each in options.actions.split(",") if each]
    outcome = Process.ask_once(options, options.program, only)
    print(outcome.get("program", ""), outcome.get("fault", "no fault"), sep="\n")
    return int("fault" in outcome)


def _shortened(options: Any, fault: dict[str, Any]) -> str:
    """A fault, and the actions that it takes."""
    number = fault["number"]
    head = f"\nprogram {number} of seed {options.seed}: {fault['fault']}"
    if "fault" not in Process.ask_once(options, number, []):
        return f"{head}\nIt does not fail alone: programs before it in the same process play a part."
    kept = shrink(fault["actions"], lambda only: "fault" in Process.ask_once(options, number, only))
    outcome = Process.ask_once(options, number, kept)
    command = f"python -m conformance.fuzz --device {options.device} --seed {options.seed} --kernels {options.kernels}"
    command += f" --program {number} --actions {','.join(map(str, kept))}"
    return "\n".join([head, outcome.get("program", ""), outcome.get("fault", ""), f"Again: {command}"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
