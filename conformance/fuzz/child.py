"""A process that runs programs: it reads ranges of numbers, and writes a line for each program."""

from __future__ import annotations

import faulthandler
import json
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from conformance.fuzz.machine import Mismatch, homes_on
from conformance.fuzz.program import Group, draw_pool, draw_program, warm_up
from xpops.testing import Framework


def serve(device: str, seed: int, kernels: int, first: int, step: int) -> None:
    """Compile the kernels of every `step`-th group from the `first` on, say so, and run programs.

    Each line of the input has the number of a program, and those of its actions, if not all are wanted. Each line of
    the output is the number and how many calls were made, or what went wrong.
    """
    faulthandler.enable()
    warnings.simplefilter("ignore")
    places = homes_on("cpu" if device == "cpu" else "cuda:0")
    pool = draw_pool(seed, kernels, device)
    for group in pool[first::step] if device == "cuda" else ():
        _warm_up(group, places)
    print("ready", flush=True)
    for line in sys.stdin:
        number, *only = map(int, line.split())
        print(json.dumps(_run(seed, number, only or None, pool, places)), flush=True)


def _warm_up(group: Group, places: dict[str, Framework]) -> None:
    # A fault shows when a program makes the call.
    try:
        warm_up(group, places)
    except Exception:
        return


def _run(
    seed: int, number: int, only: Sequence[int] | None, pool: Sequence[Group], places: dict[str, Framework]
) -> dict[str, Any]:
    program = draw_program(seed, number, pool, places)
    outcome: dict[str, Any] = {"number": number, "actions": len(program.actions)}
    try:
        program.run(places, only)
    except Mismatch as error:
        outcome |= {"fault": str(error), "kind": error.kind, "program": program.show(only)}
    except Exception as error:
        trace = traceback.format_exc()
        outcome |= {"fault": trace[-3000:], "kind": f"{type(error).__name__}", "program": program.show(only)}
    return outcome
