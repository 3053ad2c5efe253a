"""A grid of shapes for functions that are not elementwise, to find shapes that are slow.

``python -m benchmarks --grid [--json FILE]`` prints, for every call, the time of xpops, torch and cupy and the ratio of
ours to the better of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import torch

import xpops as xp
from benchmarks.timing import between_events

# The elements of an input, or a little less: 128 MiB of float32, which take about 30 us to read.
SIZE = 2**25
LARGE = 2**28
COLUMNS: tuple[int, ...] = (
    1,
    2,
    3,
    5,
    8,
    13,
    16,
    24,
    31,
    32,
    33,
    48,
    64,
    100,
    127,
    128,
    200,
    256,
    300,
    511,
    512,
    1000,
    1024,
    2047,
    4096,
)
COLUMNS += (10_001, 16_384, 65_536, 100_003, 2**20, 1_234_567, 2**23, SIZE)
# A peer that takes longer than this for one call is timed once.
PATIENCE = 3000.0


class Case(NamedTuple):
    """One call.

    Attributes
    ----------
    function : str
        Its name in xpops.
    shape : tuple of int
        The shape of the array in memory; the input is a view of it.
    view : {"whole", "transposed", "misaligned", "odd columns"}
    axis : int or None
    """

    function: str
    shape: tuple[int, ...]
    view: str
    axis: int | None


def cases() -> Iterator[Case]:
    """Every call of the grid."""
    for columns in COLUMNS:
        for axis in (0, 1):
            yield Case("sum", (SIZE // columns, columns), "whole", axis)
    for columns in (3, 32, 100, 1000, 16_384, 2**20):
        for axis in (0, 1):
            for view in ("transposed", "misaligned", "odd columns"):
                yield Case("sum", (SIZE // columns, columns), view, axis)
    for shape in (
        (64, 512, 1024),
        (512, 1024, 64),
        (1024, 64, 512),
        (7, 4681, 1023),
        (300, 3, 37_000),
        (2**20, 4, 8),
        (2**22, 2, 4),
        (2**19, 32, 2),
    ):
        for axis in (0, 1, 2):
            yield Case("sum", shape, "whole", axis)
    for size in (1, 1000, 2**16, 2**20, 2**23, SIZE, 2**27 + 1, LARGE):
        yield Case("sum", (size,), "whole", None)
        yield Case("max", (size + 1,), "misaligned", None)
    for function in ("argmax", "var"):
        for columns in (4, 31, 128, 1000, 16_384, 2**20):
            for axis in (0, 1):
                yield Case(function, (SIZE // columns, columns), "whole", axis)
    for columns in (1, 3, 32, 100, 1000, 4096, 65_536, 2**20, SIZE):
        for axis in (0, 1):
            yield Case("cumulative_sum", (SIZE // columns, columns), "whole", axis)
    for columns in (2, 10, 64, 100, 1000, 1024, 2047, 5000, 65_536, 2**20, SIZE):
        yield Case("sort", (SIZE // columns, columns), "whole", 1)
    for columns in (64, 4096):
        yield Case("sort", (SIZE // columns, columns), "whole", 0)


def measure() -> list[dict[str, Any]]:
    """Measure every case, and print each result at once."""
    rows = []
    for case in cases():
        torch.manual_seed(0)
        tensor = _view(torch.rand(case.shape, device="cuda"), case.view)
        times = {library: _time(work) for library, work in _works(case, tensor).items()}
        ratio = times["xpops"] / min(times["torch"], times["cupy"])
        rows.append(
            {**case._asdict(), **{name: round(value, 1) for name, value in times.items()}, "ratio": round(ratio, 3)}
        )
        mark = "  CLIFF" if ratio > 1.25 else ""
        shown = "".join(f"{name} {value:9.1f}  " for name, value in times.items())
        print(f"{case.function:15}{case.shape!s:22}{case.view:12}{case.axis!s:5}{shown}{ratio:.3f}{mark}", flush=True)
    ratios = sorted(row["ratio"] for row in rows)
    print(f"{len(rows)} calls; worst {ratios[-1]:.2f}, median {ratios[len(ratios) // 2]:.2f}")
    return rows


def _view(tensor: torch.Tensor, view: str) -> torch.Tensor:
    if view == "transposed":
        return tensor.t()
    if view == "misaligned" and tensor.ndim == 1:
        return tensor[1:]
    if view == "misaligned":
        return tensor.reshape(-1)[1:][: tensor.numel() - tensor.shape[-1]].reshape(-1, *tensor.shape[1:])
    return tensor[:, 1:] if view == "odd columns" else tensor


def _works(case: Case, tensor: torch.Tensor) -> dict[str, Callable[[], Any]]:
    axis = case.axis if case.axis is None or case.axis < tensor.ndim else 0
    x, c = xp.asarray(tensor), cupy.from_dlpack(tensor)
    names = {"cumulative_sum": "cumsum"}
    peer = names.get(case.function, case.function)
    ours = getattr(xp, case.function)
    options = {} if axis is None else {"axis": axis}
    theirs = {} if axis is None else {"dim": axis}
    return {
        "xpops": lambda: ours(x, **options),
        "torch": lambda: getattr(torch, peer)(tensor, **theirs),
        "cupy": lambda: getattr(cupy, peer)(c, **options),
    }


def _time(work: Callable[[], Any]) -> float:
    """Microseconds, the best of a few runs."""
    work()
    first = between_events(work, calls=1)
    return min(first, *(between_events(work, calls=4) for _ in range(4))) if first < PATIENCE else first
