"""The table of a draw: for each family and layout the distribution of times, beside the best peer and the floor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

# Calls whose floor is below this many microseconds take the host's time, and do not count.
COUNTED = 20.0
Row = dict[str, Any]


def summarize(rows: Iterable[Row]) -> dict[str, dict[str, float]]:
    """The figures of each family, of each layout in a family, and of all.

    Examples
    --------
    >>> row = {"family": "unary", "layout": "stepped", "floor": 100.0, "xpops": 110.0, "torch": 220.0, "wrong": ""}
    >>> summarize([row])["unary"]["torch/ours"], summarize([row])["unary, stepped"]["ours/floor"]
    (2.0, 1.1)
    """
    counted = [row for row in rows if row["floor"] >= COUNTED]
    groups: dict[str, list[Row]] = {}
    for row in counted:
        for name in ("all", row["family"], f"{row['family']}, {row['layout']}"):
            groups.setdefault(name, []).append(row)
    return {name: _figures(groups[name]) for name in sorted(groups, key=lambda name: (name != "all", name))}


def _figures(rows: list[Row]) -> dict[str, float]:
    against = sorted(row["torch"] / row["xpops"] for row in rows if "torch" in row)
    best = [min(row[name] for name in ("torch", "cupy") if name in row) / row["xpops"] for row in rows if _peers(row)]
    floors = sorted(row["xpops"] / row["floor"] for row in rows)
    figures = {
        "calls": len(rows),
        "torch/ours": _geomean(against),
        "tenth percentile": _quantile(against, 0.1),
        "worst": against[0] if against else math.nan,
        "below 0.95 of torch": _share(against, 0.95),
        "below 0.8 of torch": _share(against, 0.8),
        "below 0.95 of the best": _share(best, 0.95),
        "ours/floor": _geomean(floors),
        "ours/floor, 90th percentile": _quantile(floors, 0.9),
        "ours/floor, worst": floors[-1],
    }
    return {name: round(value, 3) for name, value in figures.items()}  # NaN: torch has no such layout


def _peers(row: Row) -> bool:
    return "torch" in row or "cupy" in row


def _geomean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def _quantile(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(share * len(values)))] if values else math.nan


def _share(values: list[float], limit: float) -> float:
    return sum(value < limit for value in values) / len(values) if values else math.nan


def table(summary: dict[str, dict[str, float]]) -> Iterator[str]:
    """The lines of the printed table."""
    heads = ("calls", "t/ours", "p10", "worst", "<.95 t", "<.8 t", "<.95 b", "o/floor", "p90", "worst")
    yield f"{'':28}" + "".join(f"{head:>9}" for head in heads)
    for name, figures in summary.items():
        yield f"{name:28}" + "".join(f"{value:9.3g}" for value in figures.values())
