"""The tables: for each library the rows sorted by their ratio, and what is above the limits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from benchmarks.host.libraries import installed
from benchmarks.host.measure import DTYPES, Refusal, Result, large_calls, small_calls

# Small calls: rows above the first are named, and the share above the second is given, too.
NAMED, PARITY = 1.2, 1.0
# Large calls: the ratio above which rows are named, and the most that is allowed, by dtype and library.
LARGE_LIMITS = {
    ("float32", "torch"): (1.5, 3.0),
    ("float32", "numpy"): (3.0, 10.0),
    ("float32", "xpops"): (3.0, 10.0),
    **{(half, "torch"): (3.0, 5.0) for half in ("float16", "bfloat16")},
    **{(half, library): (3.0, 10.0) for half in ("float16", "bfloat16") for library in ("numpy", "xpops")},
}
SUBJECTS = {"xpops": "own arrays", "torch": "torch", "cupy": "cupy", "jax": "JAX", "numpy": "NumPy"}


def report(device: str, only: str, rounds: int) -> dict[str, Any]:
    """Measure on a device and print; on the CPU large arrays, too."""
    sections: dict[str, Any] = {"small": _section("small calls", small_calls(device, only, rounds), {})}
    if device == "cpu" and "torch" in installed(device):
        for dtype in DTYPES:
            limits = {library: limits for (name, library), limits in LARGE_LIMITS.items() if name == dtype}
            title = f"a million {dtype}, one thread, beside torch"
            sections[f"large {dtype}"] = _section(title, large_calls(only, dtype, rounds), limits)
    return sections


def _section(title: str, results: Iterable[Result | Refusal], limits: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """Print a table for each library. Returns the figures."""
    results = list(results)
    section: dict[str, Any] = {}
    for library in SUBJECTS:
        found = sorted(
            (each for each in results if isinstance(each, Result) and each.library == library),
            key=lambda result: -result.ratio,
        )
        if found:
            named, most = limits.get(library, (NAMED, PARITY))
            section[library] = figures = summary(found, named, most)
            _print(f"{title}: {SUBJECTS[library]}", found, figures, named, most)
    refused = [each for each in results if isinstance(each, Refusal)]
    for each in refused:
        print(f"not measured: {each.row} on {SUBJECTS[each.library]}: {each.reason}")
    return {**section, "not measured": [each._asdict() for each in refused]}


def summary(results: list[Result], named: float, most: float) -> dict[str, Any]:
    """The figures of a table.

    Examples
    --------
    >>> times = [Result("a", "torch", 4.0, 1.0, 4.0, 3.9, 4.1), Result("b", "torch", 1.0, 1.0, 1.0, 0.9, 1.1)]
    >>> figures = summary(times, 1.2, 1.0)
    >>> figures["geomean"], figures["share above 1.2"], figures["share above 1"], figures["above 1.2"]
    (2.0, 0.5, 0.5, ['a'])
    """
    count = len(results)
    return {
        "calls": count,
        "geomean": round(math.exp(sum(math.log(result.ratio) for result in results) / count), 3),
        f"share above {named:g}": round(sum(result.ratio > named for result in results) / count, 3),
        f"share above {most:g}": round(sum(result.ratio > most for result in results) / count, 3),
        f"above {named:g}": [result.row for result in results if result.ratio > named],
        "rows": [
            {key: round(value, 4) if isinstance(value, float) else value for key, value in result._asdict().items()}
            for result in results
        ],
    }


def _print(title: str, results: list[Result], figures: dict[str, Any], named: float, most: float) -> None:
    print(f"\n{title}\n{'microseconds':58}{'xpops':>10}{'theirs':>10}{'ratio':>8}  10% to 90%")
    for each in results:
        mark = " *" if each.ratio > named else ""
        spread = f"{each.low:.2f} to {each.high:.2f}"
        print(f"{each.row:58}{each.ours:10.2f}{each.theirs:10.2f}{each.ratio:8.2f}  {spread}{mark}")
    shares = ", ".join(f"{figures[f'share above {limit:g}']:.1%} above {limit:g}" for limit in (named, most))
    print(f"{len(results)} calls, geometric mean {figures['geomean']:.2f}; {shares} (* above {named:g})", flush=True)
