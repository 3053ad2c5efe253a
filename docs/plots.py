"""Draws the pictures of the site from the committed reports: ``python docs/plots.py``.

A picture names the reports that it was drawn from, with a hash of each: a test finds a picture that is older than they.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
RESULTS, PICTURES = DOCS.parent / "benchmarks" / "results", DOCS / "pictures"
COLOURS = {"xpops": "#0b6e4f", "torch": "#d1495b", "cupy": "#8d96a3", "jax": "#edae49", "numpy": "#4c6085"}
DRAWS = ("drawn-314862907.json", "drawn-2838380625.json", "drawn-3778159986.json")
# Calls with a smaller floor measure the host's time.
LEAST_FLOOR = 20.0


def report(name: str) -> dict[str, Any]:
    """A report of the benchmarks."""
    found: dict[str, Any] = json.loads((RESULTS / name).read_text())
    return found


def drawn_calls() -> list[dict[str, Any]]:
    """The calls drawn at random, of every seed."""
    return [call for name in DRAWS for call in report(name)["calls"]]


def shares_of_floor(calls: Iterable[dict[str, Any]]) -> dict[str, list[float]]:
    """For each library the shares of the floor that its calls reach, in ascending order. 1 is the floor.

    Examples
    --------
    >>> shares_of_floor([{"floor": 30, "xpops": 40, "torch": 60}, {"floor": 30, "xpops": 30}, {"floor": 1, "xpops": 9}])
    {'xpops': [0.75, 1.0], 'torch': [0.5]}
    """
    shares: dict[str, list[float]] = {}
    for call in calls:
        for library in COLOURS:
            if call["floor"] >= LEAST_FLOOR and call.get(library):
                shares.setdefault(library, []).append(call["floor"] / call[library])
    return {library: sorted(values) for library, values in shares.items()}


def ratios_by_family(calls: Iterable[dict[str, Any]]) -> dict[str, list[float]]:
    """For each family torch's time over ours, of calls with a floor or a time of torch above the least."""
    ratios: dict[str, list[float]] = {}
    for call in calls:
        if call.get("torch") and max(call["floor"], call["torch"]) >= LEAST_FLOOR:
            ratios.setdefault(call["family"], []).append(call["torch"] / call["xpops"])
    return dict(sorted(ratios.items()))


def host_ratios() -> dict[str, list[float]]:
    """For each framework the ratios of ours to its own call on small arrays, on a GPU machine."""
    small = report("host-h200.json")["small"]
    return {name: sorted(row["ratio"] for row in small[name]["rows"]) for name in ("xpops", "torch", "cupy", "jax")}


def draw_speed(figure: Any) -> None:
    """How near the floor the calls of each library are: the tables' rows, and calls drawn at random."""
    panels = (
        ("rows of the tables", report("h200.json")["rows"]),
        ("drawn at random", drawn_calls()),
    )
    for place, (axes, (title, calls)) in enumerate(zip(figure.subplots(1, 2, sharey=True), panels, strict=True)):
        for library, shares in shares_of_floor(calls).items():
            places = [(number + 1) / len(shares) for number in range(len(shares))]
            axes.plot(places, shares, color=COLOURS[library], label=library, linewidth=2)
        axes.axhline(1, color="black", linewidth=0.6, linestyle=":")
        axes.set(title=title, xlabel="share of the calls", ylim=(0, 1.3), xlim=(0, 1))
        if place == 0:
            axes.set_ylabel("share of the floor's speed")
            axes.legend(frameon=False, loc="upper left")


def draw_drawn(figure: Any) -> None:
    """Torch's time over ours by family, for calls drawn at random."""
    ratios = ratios_by_family(drawn_calls())
    axes = figure.subplots()
    axes.boxplot(list(ratios.values()), whis=(5, 95), showfliers=False, medianprops={"color": COLOURS["xpops"]})
    axes.set_xticks(range(1, len(ratios) + 1), list(ratios))
    axes.axhline(1, color="black", linewidth=0.6, linestyle=":")
    axes.set(yscale="log", ylabel="torch's time / ours", title="calls drawn at random: quartiles, 5% and 95%")


def draw_host(figure: Any) -> None:
    """The host's time of ours over the framework's own call, for calls on small arrays."""
    names = {"xpops": "own arrays\n(beside cupy)", "torch": "torch", "cupy": "cupy", "jax": "jax"}
    axes, ratios = figure.subplots(), host_ratios()
    axes.boxplot(list(ratios.values()), whis=(5, 95), showfliers=False, medianprops={"color": COLOURS["xpops"]})
    axes.set_xticks(range(1, len(ratios) + 1), [names[name] for name in ratios])
    axes.axhline(1, color="black", linewidth=0.6, linestyle=":")
    axes.set(yscale="log", ylabel="our time / its own call", title="host time of calls on 64x64: quartiles, 5% and 95%")


# The pictures: their sizes in inches, the reports that they are drawn from, and how.
DRAWN: dict[str, tuple[tuple[float, float], tuple[str, ...], Callable[[Any], None]]] = {
    "speed": ((9, 3.4), ("h200.json", *DRAWS), draw_speed),
    "drawn": ((9, 3.4), DRAWS, draw_drawn),
    "host": ((7, 3.4), ("host-h200.json",), draw_host),
}


def origin(reports: Iterable[str]) -> str:
    """The reports with their hashes, as a picture names them."""
    return ", ".join(f"{name} {sha256((RESULTS / name).read_bytes()).hexdigest()[:12]}" for name in reports)


def main() -> None:
    """Draw every picture."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "xpops", "font.size": 9, "axes.spines.top": False})
    from matplotlib.figure import Figure

    PICTURES.mkdir(exist_ok=True)
    for name, (size, reports, draw) in DRAWN.items():
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None, "Description": origin(reports)})


if __name__ == "__main__":
    main()
