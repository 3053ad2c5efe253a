"""Times of the rows' calls: ours and a library's own in turn, many times."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from timeit import Timer
from typing import NamedTuple

from benchmarks.host import elementwise, functions, methods, namespaces
from benchmarks.host.libraries import LARGE, SMALL, Library, installed, library
from benchmarks.host.row import Row

# A GPU has room for some thousand launches; a call that finds it full would wait.
MOST_CALLS = 200
# Calls that are not timed: programs for JAX's arrays are compiled within them.
WARM = 20
# Seconds after which a row gets no more rounds, if it has the fewest.
LONGEST, FEWEST_ROUNDS = 0.07, 3
# Seconds of a round of small calls, for each library, and of large ones, which are repeated only if they take less.
ROUND, LARGE_ROUND = 0.001, 0.0005
DTYPES = ("float32", "float16", "bfloat16")


class Result(NamedTuple):
    """The times of one row, in microseconds, and the ratios of ours to the library's own."""

    row: str
    library: str
    ours: float
    theirs: float
    ratio: float
    low: float
    high: float


class Refusal(NamedTuple):
    """A row that a library was not measured on: the call that failed, and its error."""

    row: str
    library: str
    reason: str


def rows() -> list[Row]:
    """All rows."""
    return [row for chapter in (elementwise, functions, namespaces, methods) for row in chapter.rows()]


def small_calls(device: str, only: str, rounds: int) -> Iterator[Result | Refusal]:
    """Every row on arrays of 64 by 64 elements of every library, beside the library's own call."""
    libraries = {name: library(name, device, SMALL) for name in installed(device)}
    for row in (row for row in rows() if only in row.ours):
        for name in libraries if row.is_for_every_framework else ("xpops",):
            peer = libraries.get("torch" if name == "xpops" else name)
            if peer is not None and row.peer(name):
                yield from _compared(row, peer, row.peer(name), [libraries[name]], ROUND, rounds)


def large_calls(only: str, dtype: str, rounds: int) -> Iterator[Result | Refusal]:
    """Every row on a million elements of torch, NumPy and our own arrays, on the CPU, beside torch's own call."""
    ours = [library(name, "cpu", LARGE, dtype) for name in ("torch", "numpy", "xpops")]
    for row in (row for row in rows() if only in row.ours):
        if row.torch and (dtype == "float32" or row.has_dtype):
            chosen = ours if row.is_for_every_framework else ours[-1:]
            yield from _compared(row, ours[0], row.torch, chosen, LARGE_ROUND, rounds)


def _compared(
    row: Row, peer: Library, source: str, ours: list[Library], seconds: float, rounds: int
) -> Iterator[Result | Refusal]:
    """Our call on the arrays of some libraries, each beside the peer's own call."""
    theirs = Timer(source, globals=peer.names)
    if error := _error(theirs):
        yield Refusal(row.ours, peer.name, f"{source}: {error}")
        return
    works: dict[str, Timer] = {}
    for each in ours:
        work = Timer(row.ours, globals=each.names)
        if error := _error(work):
            yield Refusal(row.ours, each.name, error)
        else:
            works[each.name] = work
    if works:
        their_times, *our_times = _in_turn([theirs, *works.values()], peer.wait, seconds, rounds)
        for name, times in zip(works, our_times, strict=True):
            ratios = [mine / other for mine, other in zip(times, their_times, strict=True)]
            figures = (_quantile(ratios, share) for share in (0.5, 0.1, 0.9))
            yield Result(row.ours, name, _quantile(times, 0.5), _quantile(their_times, 0.5), *figures)


def _error(work: Timer) -> str:
    """The error of a call, if it raises one."""
    try:
        work.timeit(1)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]
    return ""


def _in_turn(works: list[Timer], wait: Callable[[], object], seconds: float, rounds: int) -> list[list[float]]:
    """Microseconds of a call of each work in each round. A round makes calls of each for about `seconds`, one at least.

    Works that take long have fewer rounds. The time does not include waiting for a GPU.
    """
    for work in works:
        _warm_up(work)
    calls = [max(1, min(MOST_CALLS, int(seconds / work.timeit(1)))) for work in works]
    wait()
    times: list[list[float]] = [[] for _ in works]
    end = time.perf_counter() + LONGEST
    for number in range(rounds):
        if number >= FEWEST_ROUNDS and time.perf_counter() > end:
            break
        for work, count, own in zip(works, calls, times, strict=True):
            own.append(work.timeit(count) / count * 1e6)
            wait()
    return times


def _warm_up(work: Timer) -> None:
    """Make the calls after which it takes as long as ever, unless they take long."""
    end = time.perf_counter() + LONGEST
    for _ in range(WARM):
        work.timeit(1)
        if time.perf_counter() > end:
            break


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
