"""Time and check the calls of a seed, and compute their floor."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

import xpops as xp
from benchmarks.drawn.call import Call
from benchmarks.drawn.check import find_error
from benchmarks.drawn.families import draw_calls
from benchmarks.drawn.floor import Arithmetic, Machine, measure_machine, touched_bytes
from benchmarks.drawn.inputs import copy_tensor, make_tensor
from benchmarks.drawn.operands import Operand
from benchmarks.drawn.report import summarize, table

Work = Callable[[], Any]
# A library that takes longer than this for its first timed call, in microseconds, is timed twice; others in `ROUNDS`.
PATIENCE = 20_000.0
ROUNDS = 7
# The inputs of a call are copied until they are this many times as large as the L2 cache, at most so often.
ROTATION, COPIES = 2, 8
# Cycles for which the GPU sleeps, while the host gets ahead of it.
AHEAD = 1_000_000


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
    copies = [copy_tensor(*pair) for pair in zip(tensors, call.operands, strict=True)]  # ours may write to its operands
    start = time.perf_counter()
    result = torch.from_dlpack(call.ours(*arguments(call, tensors, "xpops")))
    torch.cuda.synchronize()
    first = time.perf_counter() - start
    reference = _reference(call, copies)
    wrong = "" if reference is None else find_error(call, result, reference)
    memory = touched_bytes(call, tensors, result, machine.sector) / machine.bandwidth
    operations = arithmetic.time(call, tensors, result.numel())
    peers = _peers(call, reference is not None)
    del result, reference, copies
    works = {name: _rotate(call, function, tensors, name) for name, function in peers.items()}
    times = {name: round(value, 2) for name, value in _time_all(works, call.waits).items()}
    floor = {"floor": round(max(memory, operations), 2), "memory": round(memory, 2)}
    return {**describe(call), **floor, **times, "first call": round(first, 4), "wrong": wrong}


def _reference(call: Call, tensors: Sequence[torch.Tensor]) -> torch.Tensor | None:
    """Torch's result; None if it does not take these dtypes.

    For scans and products of narrower floats it is that of float64 numbers, because torch rounds after each element.
    """
    if call.family == "scan" or call.name == "prod":
        tensors = [x.double() if x.is_floating_point() else x for x in tensors]
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


def _rotate(call: Call, function: Callable[..., Any], tensors: Sequence[torch.Tensor], library: str) -> Work:
    """The call, each time with other copies of its inputs, so that the L2 cache does not hold them."""
    cache = int(torch.cuda.get_device_properties(0).L2_cache_size)
    size = sum(operand.extent * operand.itemsize for operand in call.operands)
    copies = min(COPIES, max(1, -(-ROTATION * cache // max(1, size))))
    given = [arguments(call, tensors, library)]
    for _ in range(copies - 1):
        others = [copy_tensor(*pair) for pair in zip(tensors, call.operands, strict=True)]
        given.append(arguments(call, others, library))
    turn = itertools.cycle(given)
    return lambda: function(*next(turn))


def _time_all(works: dict[str, Work], waits: bool) -> dict[str, float]:
    """Microseconds on the device of a call of each library: the median of rounds, taken in turn."""
    times: dict[str, list[float]] = {}
    for name, work in list(works.items()):
        try:
            work()
            times[name] = [_time_once(work, waits)]
        except Exception:  # peers raise anything for dtypes that they do not take
            if name == "xpops":
                raise
            del works[name]
    for round_ in range(1, ROUNDS):
        for name, work in works.items():
            if round_ < 2 or times[name][0] < PATIENCE:
                times[name].append(_time_once(work, waits))
    return {name: statistics.median(values) for name, values in times.items()}


def _time_once(work: Work, waits: bool) -> float:
    """Microseconds between events around one call. The GPU sleeps first, so that the host's time is hidden."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    if not waits:
        torch.cuda._sleep(AHEAD)
    start.record()
    work()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) * 1e3
