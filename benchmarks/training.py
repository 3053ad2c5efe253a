"""Times of training, beside torch and `torch.compile`: ``python -m benchmarks --training``.

Backward passes of elementwise functions and of softmax, norms forwards and backwards, steps of the models of
docs/examples and how far they end from a run in float64, and the host's time of calls that are recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch._functorch.config
import torch.nn.functional as F

import xpops as xp
from benchmarks.fusion import layer_norm
from benchmarks.lengths import rms_norm
from benchmarks.models import deviations, steps
from benchmarks.timing import device_times, host_times

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
WIDTH = 4096
# Microseconds that a recorded call may take beyond what it takes unrecorded and a `torch.autograd.Function` that does
# nothing.
ALLOWED = 2.0

_Functions = dict[str, Callable[..., Any]]
Report = dict[str, Any]


class Sizes(NamedTuple):
    """How much to measure: the elements of a row, the calls and the rounds of timings, the steps of the models."""

    count: int = 2**26
    calls: int = 1000
    rounds: int = 15
    steps: int = 200


class Row(NamedTuple):
    """A function whose gradient is timed.

    Attributes
    ----------
    name : str
    functions : dict of str to callable
        By library: ours, and torch's, which `torch.compile` takes, too.
    operands : int
        The number of arrays of the full size, which require grad.
    vectors : int
        The number of vectors along the last axis that follow them, which require grad.
    traffic : int
        How many such arrays a pass must read and write.
    forward : bool
        Whether the forward pass is timed, too.
    """

    name: str
    functions: _Functions
    operands: int
    vectors: int
    traffic: int
    forward: bool = False


def rows() -> list[Row]:
    """Every row of backward passes, and of norms. A backward pass reads the cotangent and what it needs."""
    ours: dict[str, Any] = {"axis": -1, "keepdims": True}
    layer, rms = xp.fuse(layer_norm(xp, ours)), xp.fuse(rms_norm(xp, ours))
    return [
        Row("gelu", {"xpops": xp.nn.gelu, "torch": F.gelu}, 1, 0, 3),
        Row("silu", {"xpops": xp.nn.silu, "torch": F.silu}, 1, 0, 3),
        Row("tanh", {"xpops": xp.tanh, "torch": torch.tanh}, 1, 0, 3),
        Row("exp", {"xpops": xp.exp, "torch": torch.exp}, 1, 0, 3),
        Row("multiply", {"xpops": xp.multiply, "torch": torch.mul}, 2, 0, 5),
        Row("pow", {"xpops": lambda x: xp.pow(x, 3.0), "torch": lambda x: torch.pow(x, 3.0)}, 1, 0, 3),
        Row("softmax", {"xpops": xp.nn.softmax, "torch": lambda x: x.softmax(-1)}, 1, 0, 3),
        Row("log_softmax", {"xpops": xp.nn.log_softmax, "torch": lambda x: x.log_softmax(-1)}, 1, 0, 3),
        # Forwards x is read, y written; backwards x and the cotangent are read, the gradient is written.
        Row("layer norm", {"xpops": layer, "torch": _layer_norm}, 1, 2, 5, True),
        Row("rms norm", {"xpops": rms, "torch": _rms_norm}, 1, 1, 5, True),
    ]


def _layer_norm(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, (x.shape[-1],), scale, shift, 1e-5)


def _rms_norm(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return F.rms_norm(x, (x.shape[-1],), scale, 1e-5)


def _work(row: Row, function: Callable[..., Any], given: list[torch.Tensor], g: torch.Tensor) -> Callable[[], Any]:
    """The timed work: a backward pass of a graph that is kept, or both passes."""
    if row.forward:
        return lambda: torch.autograd.grad(function(*given), given, g)
    result = function(*given)
    return lambda: torch.autograd.grad(result, given, g, retain_graph=True)


def _measure_row(row: Row, dtype: torch.dtype, device: str, sizes: Sizes, copied: float) -> Report:
    """Times by library, in microseconds. A library that fails has its error instead."""
    torch._dynamo.reset()
    torch._functorch.config.donated_buffer = False  # the graph is kept
    shape = (sizes.count // WIDTH, WIDTH)
    made = [torch.rand(shape, device=device) + 0.5 for _ in range(row.operands)]
    made += [torch.rand(WIDTH, device=device) + 0.5 for _ in range(row.vectors)]
    given, g = [x.to(dtype).requires_grad_() for x in made], torch.rand(shape, device=device).to(dtype)
    functions = {**row.functions, "compiled": torch.compile(row.functions["torch"], dynamic=False)}
    works, failed = {}, {}
    for library, function in functions.items():
        try:
            works[library] = _work(row, function, given, g)
            works[library]()
        except Exception as error:  # the report shows it, and the other libraries are measured
            works.pop(library, None)
            failed[library] = _text(error)
    if device == "cpu":
        times = host_times(works, sizes.calls, sizes.rounds)
    else:
        times = device_times(works, sizes.rounds) if works else {}
    floor = row.traffic * g.nbytes / copied
    share = {library: round(floor / time, 3) for library, time in times.items()}
    return {**times, **failed, "floor": floor, "share of the copy's bandwidth": share}


def _text(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]


def host_rows(device: str, sizes: Sizes) -> Report:
    """Microseconds of a call that is recorded, beside a function of torch that records and computes nothing."""
    bare = _Bare.apply
    x = torch.rand(64, 64, device=device, requires_grad=True)
    calls: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "exp": (lambda: xp.exp(x), lambda: torch.exp(x)),
        "multiply": (lambda: xp.multiply(x, x), lambda: torch.mul(x, x)),
        "sum": (lambda: xp.sum(x), lambda: torch.sum(x)),
        "softmax": (lambda: xp.nn.softmax(x), lambda: torch.softmax(x, -1)),
        "take view": (lambda: xp.matrix_transpose(x), lambda: x.mT),
    }
    report: Report = {}
    for name, (ours, theirs) in calls.items():
        with torch.no_grad():
            # What the call itself takes: a recorded call takes this, and the node.
            alone = host_times({"unrecorded": ours}, sizes.calls, sizes.rounds)
        works = {"xpops": ours, "torch": theirs, "bare Function": lambda: bare(x)}
        times = {**host_times(works, sizes.calls, sizes.rounds), **alone}
        report[name] = {
            **times,
            "beyond the call and the bare Function": times["xpops"] - times["unrecorded"] - times["bare Function"],
            "allowed": ALLOWED,
        }
    return report


class _Bare(torch.autograd.Function):  # type: ignore[misc]
    """A node that computes nothing."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.detach()

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return g


def measure(only: str, device: str, sizes: Sizes, copied: float = 1.0) -> Report:
    """Measure every row whose name contains `only`, and print each at once. `copied`: bytes per us of a copy."""
    works: dict[str, Callable[[], Report]] = {
        f"{row.name} {short}": lambda row=row, dtype=dtype: _measure_row(row, dtype, device, sizes, copied)
        for row in rows()
        for short, dtype in DTYPES.items()
    }
    for name in ("transformer_block", "resnet_block"):
        works[f"step {name}"] = lambda name=name: steps(name, device, sizes.rounds)
        works[f"deviation {name}"] = lambda name=name: deviations(name, device, sizes.steps)
    works["host"] = lambda: host_rows(device, sizes)
    report: Report = {}
    for name, work in works.items():
        if only in name:
            try:
                report[name] = work()
            except Exception as error:  # the report shows it, and the other rows are measured
                report[name] = {"error": _text(error)}
            print(name, report[name], flush=True)
            if device == "cuda":
                torch.cuda.empty_cache()
    return report
