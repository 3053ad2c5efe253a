"""``python -m xpops bench``: a few operators on large arrays, beside the libraries that are here."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import xpops as xp
from xpops.cli.info import installed
from xpops.cli.timing import copy_bandwidth, timer

REPEATS = 7
# The rows and columns of the arrays: much larger than caches, and on the CPU small enough for a few seconds.
SIDES = {"cpu": 2048, "cuda:0": 8192}
# The libraries beside xpops on a kind of device: their namespaces by the names of the standard.
PEERS = {"cpu": ("numpy", "torch"), "cuda:0": ("torch", "cupy")}
COLOURS = {"xpops": "#0b6e4f", "torch": "#d1495b", "cupy": "#8d96a3", "numpy": "#4c6085"}


class Bench(NamedTuple):
    """A row: a function of a namespace and of two square float32 arrays, and the arrays' sizes that it must move."""

    name: str
    compute: Callable[[Any, Any, Any], Any]
    arrays: float


BENCHES = (
    Bench("x + y", lambda ns, x, y: ns.add(x, y), 3),
    Bench("x + y[0]", lambda ns, x, y: ns.add(x, y[0, :]), 2),
    Bench("x.T + y", lambda ns, x, y: ns.add(x.T, y), 3),
    Bench("tanh(x)", lambda ns, x, y: ns.tanh(x), 2),
    Bench("x < y", lambda ns, x, y: ns.less(x, y), 2.25),
    Bench("astype(x, int32)", lambda ns, x, y: ns.astype(x, ns.int32), 2),
    Bench("sum(x)", lambda ns, x, y: ns.sum(x), 1),
    Bench("sum(x, axis=0)", lambda ns, x, y: ns.sum(x, axis=0), 1),
    Bench("argmax(x, axis=1)", lambda ns, x, y: ns.argmax(x, axis=1), 1),
    Bench("cumulative_sum(x, axis=1)", lambda ns, x, y: ns.cumulative_sum(x, axis=1), 2),
    Bench("concat([x, y], axis=1)", lambda ns, x, y: ns.concat([x, y], axis=1), 4),
    Bench("x[x > 0]", lambda ns, x, y: x[x > 0], 1.5),
    Bench("sort(x, axis=1)", lambda ns, x, y: ns.sort(x, axis=1), 2),
)


class Result(NamedTuple):
    """A row's name, its floor, and the microseconds of each library; NaN where a library refuses it."""

    name: str
    floor: float
    times: dict[str, float]


def bench(page: Path | None) -> int:
    """Measure on every device, print tables, and write them as a page with bars; returns the exit code."""
    devices = [device for device in SIDES if device in xp.__array_namespace_info__().devices()]
    tables: dict[str, list[Result]] = {}
    for device in reversed(devices):
        peers = [name for name in PEERS[device] if installed(name) and _offers(name, device)]
        side = SIDES[device]
        print(
            f"\n{device}: float32 of {side} x {side}, microseconds, the median of {REPEATS} calls. The floor is the"
            "\ntime of a copy of the bytes that the call must read and write."
        )
        print(f"\n{'':28}{'floor':>9}" + "".join(f"{name:>10}" for name in ("xpops", *peers)))
        tables[device] = []
        for result in _measure(device, peers):
            times = "".join(f"{time:10.1f}" for time in result.times.values())
            print(f"{result.name:28}{result.floor:9.1f}{times}", flush=True)
            tables[device].append(result)
    if page is not None:
        page.write_text(html(tables))
        print(f"\nBars: {page}")
    return 0


def _offers(library: str, device: str) -> bool:
    """Whether an installed library computes on the device."""
    if device == "cpu" or library != "torch":
        return True
    import torch

    return bool(torch.cuda.is_available())


def _measure(device: str, peers: list[str]) -> Iterator[Result]:
    side, generator = SIDES[device], np.random.default_rng(0)
    hosts = [generator.standard_normal((side, side), dtype=np.float32) for _ in range(2)]
    time, bandwidth = timer(device), copy_bandwidth(device)
    libraries: dict[str, tuple[Any, list[Any]]] = {"xpops": (xp, [xp.asarray(host, device=device) for host in hosts])}
    for name in peers:
        namespace = import_module(f"array_api_compat.{name}")
        options = {"device": "cuda" if device != "cpu" else "cpu"} if name == "torch" else {}
        libraries[name] = namespace, [namespace.asarray(host, **options) for host in hosts]
    for row in BENCHES:
        times = {}
        for name, (namespace, arrays) in libraries.items():
            times[name] = _median(time, partial(row.compute, namespace, *arrays))
        yield Result(row.name, row.arrays * hosts[0].nbytes / bandwidth, times)


def _median(time: Callable[[Callable[[], object]], float], work: Callable[[], object]) -> float:
    """The median time of a call after the first; NaN if the library refuses it."""
    try:
        work()
    except (AttributeError, NotImplementedError, TypeError):
        return float("nan")
    return statistics.median(time(work) for _ in range(REPEATS))


def html(tables: dict[str, list[Result]]) -> str:
    """A page with a bar for each library and row: the share of the floor's speed that it reaches."""
    rows = []
    for device, results in tables.items():
        rows.append(f"<h2>{escape(device)}</h2>\n<table>")
        for result in results:
            bars = "".join(
                f'<div style="background:{COLOURS[library]};width:{min(1.2, result.floor / time) * 30:.1f}em">'
                f"{escape(library)} {time:.1f}</div>"
                for library, time in result.times.items()
                if time == time
            )
            rows.append(f"<tr><th>{escape(result.name)}</th><td>{result.floor:.1f}</td><td>{bars}</td></tr>")
        rows.append("</table>")
    style = (
        "body{font:14px sans-serif;margin:2em}th{text-align:right;font-weight:normal;padding:.3em 1em}"
        "td div{color:white;padding:0 .3em;margin:1px 0;white-space:nowrap;overflow:visible}"
        "td:last-child{border-left:1px solid #999;background:linear-gradient(90deg,transparent 30em,#999 30em,"
        "transparent calc(30em + 1px))}"
    )
    return "\n".join(
        [
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>xpops bench</title>',
            f"<style>{style}</style>",
            f"<h1>xpops {escape(xp.__version__)}</h1>",
            "<p>Each bar is as long as the share of the floor's speed; the line is the floor. The numbers are "
            "microseconds, the first that of the floor.</p>",
            *rows,
            "</html>",
            "",
        ]
    )
