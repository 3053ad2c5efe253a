"""``python -m conformance.transforms --device {cpu,cuda}``: every differentiable function under every transform.

The cells of the matrix are derivatives against finite differences and against torch's, torch's own checks of operators,
`torch.compile`, `torch.func.vmap`, and JAX's transforms. Writes ``reports/transforms-DEVICE.json``: for each function
how many cells are right, and why others are left out or differ. Cells that differ are printed at once. After
``--seconds`` the report has the calls that ended, and names the functions of the others.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from multiprocessing import TimeoutError, get_context

from conformance.fingerprint import fingerprint
from conformance.reporting import REPORTS, available, heading, write
from conformance.transforms.filling import LEFT_OUT, Cells, fill, names, start


def main(arguments: list[str]) -> int:
    """Fill all cells, write the report, and return 1 if some differ."""
    parser = argparse.ArgumentParser("python -m conformance.transforms", description="Functions under transforms.")
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    parser.add_argument("-n", type=int, default=os.cpu_count(), help="the number of processes")
    parser.add_argument("--seconds", type=float, default=3600.0, help="how long the calls may run (default 3600)")
    options = parser.parse_args(arguments)
    if not available(options.device):
        print(f"transforms: this machine has no device {options.device!r}")
        return 2
    ended = fill_all(options.device, options.n, options.seconds)
    functions = merged([cell for cells in ended.values() for cell in cells])
    outcomes = Counter(kind_of(text) for cells in functions.values() for text in cells.values())
    report = {
        **heading(options.device),
        "cells": {kind: outcomes[kind] for kind in ("right", "left out", "differ")},
        "functions": {name: summary(cells) for name, cells in sorted(functions.items())},
        "not_finished": [name for place, name in enumerate(names(options.device)) if place not in ended],
        "fingerprint": fingerprint(),
    }
    write(REPORTS / f"transforms-{options.device}.json", report)
    return int(outcomes["differ"] > 0 or bool(report["not_finished"]))


def fill_all(device: str, processes: int, seconds: float) -> dict[int, Cells]:
    """The cells of each call, by its place in the table. A call whose process died is not among them."""
    end, found = time.monotonic() + seconds, {}
    with get_context("spawn").Pool(processes, start) as pool:
        count = len(names(device))
        results = pool.imap_unordered(fill, [(device, place) for place in range(count)])
        for _ in range(count):
            try:
                place, cells = results.next(max(end - time.monotonic(), 0.0))
            except TimeoutError:
                break
            found[place] = cells
            for function, name, text in cells:
                if kind_of(text) == "differ":
                    print(f"{function}, {name}: {text}", flush=True)
    return found


def kind_of(text: str) -> str:
    """What the text of a cell means."""
    return "right" if text == "ok" else "left out" if text.startswith(LEFT_OUT) else "differ"


def merged(cells: list[tuple[str, str, str]]) -> dict[str, dict[str, str]]:
    """The cells of each function. Of several calls the worst counts: a wrong one, then a right one."""
    found: dict[str, dict[str, str]] = {}
    order = ("left out", "right", "differ")
    for function, name, text in cells:
        known = found.setdefault(function, {}).get(name)
        if known is None or order.index(kind_of(text)) > order.index(kind_of(known)):
            found[function][name] = text
    return found


def summary(cells: dict[str, str]) -> dict[str, str | int]:
    """How many cells of a function are right, and the texts of the others."""
    others = {name: text for name, text in sorted(cells.items()) if text != "ok"}
    return {"right": len(cells) - len(others), **others}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
