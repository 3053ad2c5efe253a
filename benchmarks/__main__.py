"""``python -m benchmarks``: prints times. ``--help`` names the tables."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from conformance.fingerprint import fingerprint
from conformance.reporting import heading


def main(arguments: list[str]) -> int:
    """Measure and print. Returns the exit code: 2 if the machine lacks what it needs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rows", default="", help="only the rows whose name contains this")
    parser.add_argument("--rounds", type=int, default=15, help="how often each work is timed; the median counts")
    parser.add_argument("--json", type=Path, help="write everything here, too")
    parser.add_argument("--grid", action="store_true", help="instead of the tables, the grid of shapes")
    parser.add_argument("--lengths", action="store_true", help="instead of the tables, rows of many lengths")
    parser.add_argument("--training", action="store_true", help="instead of the tables, gradients and training steps")
    parser.add_argument("--special", action="store_true", help="instead of the tables, special functions")
    parser.add_argument("--drawn", type=int, metavar="SEED", help="instead of the tables, calls drawn at random")
    parser.add_argument("--seconds", type=float, default=300.0, help="how long to draw calls (default 300)")
    parser.add_argument("--host", action="store_true", help="instead of the tables, the host's time of every function")
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), help="of --host and --training (default: cuda where there is a GPU)"
    )
    options = parser.parse_args(arguments)
    if options.host:
        report = host_calls(options.device, options.rows, options.rounds)
    elif options.training:
        report = training(options.device, options.rows, options.rounds)
    elif missing := _missing():
        print(f"benchmarks: {missing}")
        return 2
    elif options.drawn is not None:
        report = drawn(options.drawn, options.seconds)
    else:
        chapter = "lengths" if options.lengths else "special" if options.special else ""
        report = grid() if options.grid else measure(options.rows, options.rounds, chapter)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


def _missing() -> str:
    """What this machine lacks for tables of times on a GPU."""
    try:
        import cupy  # noqa: F401
        import jax  # noqa: F401
        import torch
    except ImportError as error:
        return f"{error.name} is missing; they need torch, cupy and jax beside a GPU"
    return "" if torch.cuda.is_available() else "no GPU here"


def host_calls(device: str | None, only: str, rounds: int) -> dict[str, Any]:
    """The time of calls on small arrays of every framework; on the CPU also of large ones, on one thread."""
    one_thread = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    os.environ.update(dict.fromkeys(one_thread, "1"))  # before NumPy and torch are imported
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import numpy as np

    from benchmarks.host.report import report
    from conformance.reporting import available

    device = device or ("cuda" if available("cuda") else "cpu")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # about values outside a function's domain, and about what is slow
        sections = report(device, only, rounds)
    return {**heading(device), "rounds": rounds, **sections, "fingerprint": fingerprint()}


def training(device: str | None, only: str, rounds: int) -> dict[str, Any]:
    """Gradients and training steps. On the CPU arrays are small: that shows only that everything runs."""
    from benchmarks.training import Sizes, measure
    from conformance.reporting import available

    if device == "cpu" or not available("cuda"):
        return {**heading("cpu"), "rows": measure(only, "cpu", Sizes(2**16, 2, 2, 5)), "fingerprint": fingerprint()}
    from benchmarks.ceilings import ceilings

    limits = ceilings(rounds)
    found = measure(only, "cuda", Sizes(rounds=rounds), limits["copy"])
    return {**heading("cuda"), "ceilings (bytes per us)": limits, "rows": found, "fingerprint": fingerprint()}


def grid() -> dict[str, Any]:
    """Measure the grid of shapes, and print each result at once."""
    from benchmarks.grid import measure

    return {**heading("cuda"), "calls": measure(), "fingerprint": fingerprint()}


def drawn(seed: int, seconds: float) -> dict[str, Any]:
    """Calls drawn by a seed; prints a table at the end."""
    from benchmarks.drawn.run import measure

    return {**heading("cuda"), **measure(seed, seconds), "fingerprint": fingerprint()}


def measure(only: str, rounds: int, chapter: str) -> dict[str, Any]:
    """Measure every row whose name contains `only`, and the host times; print each result at once.

    With the name of a chapter, only its rows. A row that fails is reported, and the others go on.
    """
    from benchmarks import algebra, collective, elementwise, fusion, lengths, movement, neural, primitives, special
    from benchmarks.ceilings import ceilings
    from benchmarks.host import table
    from benchmarks.timing import host_times

    limits = ceilings(rounds)
    report: dict[str, Any] = {
        **heading("cuda"),
        "rounds": rounds,
        "ceilings (bytes per us)": limits,
        "rows": [],
        "host": {},
        "fingerprint": fingerprint(),
    }
    print(f"{report['device']}; " + ", ".join(f"{name} {value / 1e6:.2f} TB/s" for name, value in limits.items()))
    columns = "".join(f"{name:>8}" for name in ("floor", "xpops", "torch", "cupy", "jax", "kps"))
    print(f"{'microseconds':26}{columns}{'at most':>9}  ratio to floor")
    tables = (elementwise, collective, movement, algebra, neural, fusion, primitives)
    chapters = {"lengths": (lengths,), "special": (special,)}.get(chapter, tables)
    for row in (row for each in chapters for row in each.rows()):
        if only in row.name:
            report["rows"].append(_try_row(row, limits, rounds))
    for name, works in table.works().items():
        if only in name and not chapter:
            report["host"][name] = times = host_times(works)
            print(f"{name:34}" + "".join(f"  {library} {value:.2f}" for library, value in times.items()))
    return report


def _try_row(row: Any, limits: dict[str, float], rounds: int) -> dict[str, Any]:
    try:
        return _measure_row(row, limits, rounds)
    except Exception as error:
        print(f"{row.name:26} failed: {type(error).__name__}: {error}", flush=True)
        return {"name": row.name, "error": f"{type(error).__name__}: {error}"}


def _measure_row(row: Any, limits: dict[str, float], rounds: int) -> dict[str, Any]:
    import cupy
    import jax
    import torch

    import xpops as xp
    from benchmarks.timing import device_times

    inputs = row.setup()
    convert = {
        "xpops": xp.asarray, "torch": lambda t: t, "cupy": cupy.from_dlpack, "jax": jax.dlpack.from_dlpack,
        "kps": lambda t: t,
    }  # fmt: skip
    works: dict[str, Callable[[], object]] = {}
    for library, function in row.compute.items():
        arguments = [convert[library](tensor) for tensor in inputs.values()]
        works[library] = partial(function, *arguments)
    times = device_times(works, rounds)
    floor = row.bytes / limits[row.ceiling]
    ours = "kps" if "kps" in times else "xpops"
    best = min((time for library, time in times.items() if library not in ("kps", "xpops")), default=math.inf)
    most = row.target or (row.ratio * times["torch"] if row.ratio else row.best * best)
    if row.share:
        most = floor / row.share
    peers = "".join(f"{times[library]:8.0f}" if library in times else " " * 8 for library in convert)
    verdict = "" if times[ours] <= most else "  OVER"
    print(f"{row.name:26}{floor:8.0f}{peers}{most:9.0f}  {times[ours] / floor:.3f}{verdict}", flush=True)
    del works, inputs
    torch.cuda.empty_cache()
    cupy.get_default_memory_pool().free_all_blocks()
    return {"name": row.name, "floor": floor, "at most": most, **times}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
