"""The main job: a batch of images through a pipeline of operators, on every framework and device that is here."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import array_api_compat.numpy
import numpy as np

import xpops as xp
from xpops.cli.info import FRAMEWORKS, facts, installed
from xpops.cli.timing import timer

REPEATS = 7
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Step(NamedTuple):
    """One operator of the pipeline.

    Attributes
    ----------
    name : str
    compute : callable
        From a namespace of the standard and the arrays so far to the next array.
    """

    name: str
    compute: Callable[[Any, dict[str, Any]], Any]


def _nhwc(ns: Any, a: dict[str, Any]) -> Any:
    n, c, h, w = a["x"].shape
    # Reshaping to one axis is the standard's way to ask for the elements in C order.
    return ns.reshape(ns.reshape(ns.permute_dims(a["x"], (0, 2, 3, 1)), (-1,)), (n, h, w, c))


STEPS = (
    Step("subtract mean", lambda ns, a: ns.subtract(a["x"], a["mean"])),
    Step("divide by std", lambda ns, a: ns.divide(a["x"], a["std"])),
    Step("cast to float16", lambda ns, a: ns.astype(a["x"], ns.float16)),
    Step("tanh", lambda ns, a: ns.tanh(a["x"])),
    Step("NCHW to NHWC", _nhwc),
    Step("add residual", lambda ns, a: ns.add(a["x"], a["residual"])),
)


class Row(NamedTuple):
    """One line of the table; `bytes` are what must move, `error` the largest absolute difference to the framework's
    own.
    """

    framework: str
    device: str
    operator: str
    bytes: int
    microseconds: float
    error: float


def run(path: Path | None) -> int:
    """Run everywhere, print the table; returns 1 if some result was off."""
    for name, value in facts().items():
        print(f"{name:18} {value}")
    batch = _batch(path)
    print(f"\nbatch {batch.shape} {batch.dtype}\n")
    print(f"{'framework':10}{'device':8}{'operator':18}{'MB':>8}{'us':>10}{'of copy':>9}{'error':>10}")
    worst = 0.0
    for framework, device, convert in _places():
        bandwidth = _copy_bandwidth(device)
        for row in _rows(framework, device, convert, batch):
            share = row.bytes / row.microseconds / bandwidth
            worst = max(worst, row.error)
            print(
                f"{row.framework:10}{row.device:8}{row.operator:18}{row.bytes / 1e6:8.1f}{row.microseconds:10.1f}"
                f"{share:9.0%}{row.error:10.1e}"
            )
    print("\nAll results agree with the frameworks' own." if worst < 1e-2 else "\nA result is off.")
    return int(worst >= 1e-2)


def _batch(path: Path | None) -> Any:
    """The images of a file, or generated ones; fewer where only a CPU is to compute them."""
    if path is not None:
        try:
            images = np.load(path)
        except (OSError, ValueError) as error:
            raise SystemExit(f"--input: {path} cannot be read: {error}") from error
        if images.ndim != 4 or images.shape[1] != 3:
            raise SystemExit(f"--input: {path} has shape {images.shape}; accepted: (n, 3, height, width)")
        return images.astype(np.float32)
    count = 256 if xp.default_device() != "cpu" else 8
    return np.random.default_rng(0).random((count, 3, 224, 224), dtype=np.float32)


def _places() -> Iterator[tuple[str, str, Callable[[Any], Any]]]:
    """Every framework on every device: its name, the device, and how a NumPy array becomes its own."""
    devices = ["cpu", *(["cuda:0"] if "cuda:0" in xp.__array_namespace_info__().devices() else [])]
    for device in devices:
        yield "xpops", device, partial(xp.asarray, device=device)
        if device == "cpu":
            yield "numpy", device, lambda a: a
        for name in FRAMEWORKS:
            if installed(name) and (convert := _converter(name, device)) is not None:
                yield name, device, convert


def _converter(framework: str, device: str) -> Callable[[Any], Any] | None:
    """How a NumPy array becomes one of `framework` on `device`; None where it does not go there."""
    if framework == "torch":
        import torch

        if device == "cpu" or torch.cuda.is_available():
            return lambda a: torch.from_numpy(a).to(device)
    if framework == "cupy" and device != "cpu":
        import cupy

        return lambda a: cupy.asarray(a)
    if framework == "jax":
        import jax

        platform = "cpu" if device == "cpu" else "gpu"
        if any(d.platform == platform for d in jax.devices()):
            return lambda a: jax.device_put(a, jax.devices(platform)[0])
    return None


def _rows(framework: str, device: str, convert: Callable[[Any], Any], batch: Any) -> Iterator[Row]:
    constants = {
        name: np.asarray(value, np.float32).reshape(1, 3, 1, 1) for name, value in (("mean", _MEAN), ("std", _STD))
    }
    residual = np.moveaxis(batch, 1, -1).astype(np.float16)
    ours = {"x": convert(batch), "residual": convert(residual), **{k: convert(v) for k, v in constants.items()}}
    theirs = dict(ours)
    own = array_api_compat.array_namespace(ours["x"]) if framework != "xpops" else array_api_compat.numpy
    if framework == "xpops":
        theirs = {"x": batch, "residual": residual, **constants}
    time = timer(device)
    for step in STEPS:
        times = [time(partial(step.compute, xp, ours)) for _ in range(REPEATS)]
        result, expected = step.compute(xp, ours), step.compute(own, theirs)
        moved = _nbytes(ours["x"]) + _nbytes(result) + (_nbytes(result) if step.name == "add residual" else 0)
        yield Row(framework, device, step.name, moved, statistics.median(times), _difference(result, expected))
        ours["x"], theirs["x"] = result, expected


def _nbytes(x: Any) -> int:
    layout = xp.asarray(x)
    return int(layout.size * layout.dtype.itemsize)


def _difference(x: Any, y: Any) -> float:
    a, b = (xp.asarray(array, device="cpu").to_numpy().astype(np.float64) for array in (x, y))
    return float(np.max(np.abs(a - b), initial=0.0))


def _copy_bandwidth(device: str) -> float:
    """Bytes per microsecond of a copy, read and written."""
    x = xp.ones(1 << (26 if device == "cpu" else 28), dtype=xp.float32, device=device)
    out = xp.empty_like(x)
    time = timer(device)
    return 2 * x.size * 4 / statistics.median(time(lambda: xp.positive(x, out=out)) for _ in range(REPEATS))
