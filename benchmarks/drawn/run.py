"""Draw calls by a seed, time and check them until the time is over, and say how far they are from their floor."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import torch

import xpops as xp
from benchmarks.drawn.call import Call
from benchmarks.drawn.collective import draw_activation, draw_reduction, draw_scan, draw_sort
from benchmarks.drawn.elementwise import draw_cast, draw_operator, draw_where
from benchmarks.drawn.floor import Arithmetic, Machine, measure_machine, touched_bytes
from benchmarks.drawn.inputs import make_tensor
from benchmarks.drawn.movement import draw_move
from benchmarks.drawn.operands import LARGEST, Operand
from benchmarks.drawn.report import summarize, table

Work = Callable[[], Any]
_FAMILIES: dict[Callable[[Random, int], Call], int] = {
    lambda random, cap: draw_operator(random, 2, cap): 5,
    lambda random, cap: draw_operator(random, 1, cap): 3,
    draw_cast: 2,
    draw_where: 1,
    draw_reduction: 5,
    draw_scan: 2,
    draw_sort: 2,
    draw_move: 6,
    draw_activation: 2,
}
# A library that takes longer than this for its first timed call, in microseconds, is timed twice; others in `ROUNDS`.
PATIENCE = 20_000.0
ROUNDS = 7
# The inputs of a call are copied until they are this many times as large as the L2 cache, at most so often.
ROTATION, COPIES = 2, 8
# Cycles for which the GPU sleeps, while the host gets ahead of it.
AHEAD = 1_000_000


def draw_calls(seed: int, cap: int = 2**28) -> Iterator[Call]:
    """The calls of a seed, without end. No operand has many more than `cap` elements, or more than `LARGEST` bytes."""
    random = Random(seed)
    while True:
        call = random.choices(tuple(_FAMILIES), tuple(_FAMILIES.values()))[0](random, cap)
        if all(operand.extent * operand.itemsize <= LARGEST for operand in call.operands):
            yield call


def measure(seed: int, seconds: float) -> dict[str, Any]:
    """Time the calls of a seed for some seconds. Prints the table, and returns the report."""
    machine, arithmetic, rows = measure_machine(), Arithmetic(), list[dict[str, Any]]()
    start = time.perf_counter()
    for call in draw_calls(seed):
        if time.perf_counter() - start > seconds:
            break
        rows.append(measure_call(call, machine, arithmetic))
        if rows[-1]["wrong"]:
            print(f"call {len(rows) - 1}: {call.name}: {rows[-1]['wrong']}")
        torch.cuda.empty_cache()
    summary = summarize(rows)
    print("\n".join(table(summary)))
    wrong = [number for number, row in enumerate(rows) if row["wrong"]]
    return {"seed": seed, "seconds": seconds, **machine._asdict(), "summary": summary, "wrong": wrong, "calls": rows}


def measure_call(call: Call, machine: Machine, arithmetic: Arithmetic) -> dict[str, Any]:
    """Check and time one call. Returns a row of the report."""
    tensors = [make_tensor(operand, "cuda") for operand in call.operands]
    start = time.perf_counter()
    result = torch.from_dlpack(call.ours(*arguments(call, tensors, "xpops")))
    torch.cuda.synchronize()
    first = time.perf_counter() - start
    reference = _reference(call, tensors)
    wrong = "" if reference is None else find_error(call, result, reference)
    memory = touched_bytes(call, tensors, result, machine.sector) / machine.bandwidth
    operations = arithmetic.time(call, tensors, result.numel())
    peers = _peers(call, reference is not None)
    del result, reference
    works = {name: _rotate(call, function, tensors, name) for name, function in peers.items()}
    times = {name: round(value, 2) for name, value in _time_all(works, call.waits).items()}
    floor = {"floor": round(max(memory, operations), 2), "memory": round(memory, 2)}
    return {**describe(call), **floor, **times, "first call": round(first, 4), "wrong": wrong}


def _reference(call: Call, tensors: Sequence[torch.Tensor]) -> torch.Tensor | None:
    """Torch's result; None if it does not take these dtypes."""
    try:
        found: torch.Tensor = call.theirs(*arguments(call, tensors, "torch"))
    except (RuntimeError, TypeError):
        return None
    return found


def _peers(call: Call, torch_can: bool) -> dict[str, Callable[..., Any]]:
    """The libraries that have the call, ours first. Torch has no reversed axes; cupy no bfloat16."""
    peers = {"xpops": call.ours}
    if torch_can and not any(operand.reversed_axes for operand in call.operands):
        peers["torch"] = call.theirs
    if call.cupys is not None and not any(operand.dtype == "bfloat16" for operand in call.operands):
        peers["cupy"] = call.cupys
    return peers


def describe(call: Call) -> dict[str, Any]:
    """What was drawn, for the report."""
    operands = [operand._asdict() for operand in call.operands]
    return {
        "family": call.family,
        "function": call.name,
        "layout": call.layout,
        "parameters": call.parameters,
        "operands": operands,
    }


def arguments(call: Call, tensors: Sequence[torch.Tensor], library: str) -> list[Any]:
    """The operands in a library's own arrays; ours get torch's tensors, where torch has such a view."""
    return [_argument(*pair, library) for pair in zip(call.operands, tensors, strict=True)]


def _argument(operand: Operand, tensor: torch.Tensor, library: str) -> Any:
    if library == "cupy":
        import cupy

        array = cupy.from_dlpack(tensor)
        return cupy.flip(array, operand.reversed_axes) if operand.reversed_axes else array
    if library == "torch":
        return torch.flip(tensor, operand.reversed_axes) if operand.reversed_axes else tensor
    if not operand.reversed_axes:
        return tensor
    key = tuple(slice(None, None, -1 if axis in operand.reversed_axes else None) for axis in range(tensor.ndim))
    return xp.asarray(tensor)[key]


def find_error(call: Call, result: Any, reference: Any) -> str:
    """What is wrong with our result, or an empty string. Compares with torch's, in float64."""
    ours = torch.from_dlpack(result)
    if tuple(ours.shape) != tuple(reference.shape):
        return f"shape {tuple(ours.shape)}, not {tuple(reference.shape)}"
    nans = any(operand.values == "nans" for operand in call.operands)
    if call.name.startswith("arg") or (call.family == "sort" and nans):
        return ""  # equal elements may come in any order; torch sorts NaNs to the other end of descending results
    if not ours.is_floating_point() and not ours.is_complex():
        return "" if bool((ours == reference.to(ours.dtype)).all()) else "values"
    wide = torch.complex128 if ours.is_complex() else torch.float64
    one, two = ours.to(wide), reference.to(wide)
    epsilon = torch.finfo(ours.dtype).eps
    finite = two.isfinite() & one.isfinite()
    same = (one == two) | (one.isnan() & two.isnan())
    limit = max(call.tolerance, 4 if call.family in ("binary", "unary", "cast") else 0) * epsilon
    least = 0.0 if call.row is not None and bool((two[finite].abs() < 1).all()) else 1.0
    near = finite & ((one - two).abs() <= limit * torch.clamp(two.abs(), min=least))
    return "" if bool((same | near).all()) else f"values, {int((~(same | near)).sum())} of them"


def _rotate(call: Call, function: Callable[..., Any], tensors: Sequence[torch.Tensor], library: str) -> Work:
    """The call, each time with other copies of its inputs, so that the L2 cache does not hold them."""
    cache = int(torch.cuda.get_device_properties(0).L2_cache_size)
    size = sum(operand.extent * operand.itemsize for operand in call.operands)
    copies = min(COPIES, max(1, -(-ROTATION * cache // max(1, size))))
    given = [arguments(call, tensors, library)]
    for _ in range(copies - 1):
        others = [
            tensor.new_empty(operand.extent)
            .copy_(_memory(tensor, operand))
            .as_strided(operand.shape, operand.strides, operand.offset)
            for tensor, operand in zip(tensors, call.operands, strict=True)
        ]
        given.append(arguments(call, others, library))
    turn = itertools.cycle(given)
    return lambda: function(*next(turn))


def _memory(tensor: torch.Tensor, operand: Operand) -> torch.Tensor:
    return tensor.as_strided((operand.extent,), (1,), 0)


def _time_all(works: dict[str, Work], waits: bool) -> dict[str, float]:
    """Microseconds on the device of a call of each library: the median of rounds, taken in turn."""
    times: dict[str, list[float]] = {}
    for name, work in list(works.items()):
        try:
            work()
            times[name] = [_time_once(work, waits)]
        except (RuntimeError, TypeError, ValueError):
            if name == "xpops":
                raise
            del works[name]  # the peer does not take these dtypes
    for round_ in range(1, ROUNDS):
        for name, work in works.items():
            if round_ < 2 or times[name][0] < PATIENCE:
                times[name].append(_time_once(work, waits))
    return {name: statistics.median(values) for name, values in times.items()}


def _time_once(work: Work, waits: bool) -> float:
    """Microseconds between events around one call. The GPU sleeps first, so that the host's time is hidden."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    if not waits:
        torch.cuda._sleep(AHEAD)  # type: ignore[no-untyped-call]
    start.record()
    work()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) * 1e3
