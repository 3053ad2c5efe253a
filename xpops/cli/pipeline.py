"""The main job: run a batch of images through a pipeline of operators, on each available framework and device."""

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
from xpops.cli.timing import copy_bandwidth, timer
from xpops.core import config

# Measurements of a row, and microseconds after which no further one starts.
REPEATS, BUDGET = 7, 1e5
# The number of generated images, and of their copies in the GPU's batch: NumPy would take seconds for so many.
IMAGES, COPIES = 8, 32
TOLERANCE = 1e-2
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Step(NamedTuple):
    """One operator of the pipeline.

    Attributes
    ----------
    name : str
    compute : callable
        A function from a namespace of the standard and the current arrays to the next array.
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
    """One line of the table.

    `bytes` is the memory traffic that the operator needs; `error` is the largest absolute difference to the result of
    the framework's own operator.
    """

    framework: str
    device: str
    operator: str
    bytes: int
    microseconds: float
    error: float


def run(path: Path | None) -> int:
    """Run on all frameworks and devices, and print the table; returns 1 if a result is not within the tolerance."""
    for name, value in facts().items():
        print(f"{name:18} {value}")
    pipeline, agree = Pipeline(_images(path)), True
    copies = {"cpu": 1}
    if "cuda:0" in xp.__array_namespace_info__().devices():
        copies["cuda:0"] = COPIES if path is None else 1
    batches = {device: pipeline.batch(count) for device, count in copies.items()}
    print()
    for device, batch in batches.items():
        repeated = f", {copies[device]} times those of the CPU" if copies[device] > 1 else ""
        print(f"batch {batch['x'].shape} {batch['x'].dtype} on {device}{repeated}")
    print(
        "\nEvery row is a call of xpops on that framework's arrays. MB: what it must read and write; of copy: that per"
        "\nsecond, as a share of a copy's; error: the largest difference to the framework's own operator."
    )
    print(f"\n{'framework':10}{'device':8}{'operator':18}{'MB':>8}{'us':>10}{'of copy':>9}{'error':>10}")
    for device, batch in batches.items():
        bandwidth = copy_bandwidth(device)
        for framework, convert in _frameworks(device):
            for row in pipeline.rows(framework, device, {name: convert(array) for name, array in batch.items()}):
                agree = agree and row.error < TOLERANCE  # False for NaN
                share = row.bytes / row.microseconds / bandwidth
                print(
                    f"{row.framework:10}{row.device:8}{row.operator:18}{row.bytes / 1e6:8.1f}{row.microseconds:10.1f}"
                    f"{share:9.0%}{row.error:10.1e}"
                )
    print("\nAll results agree with the frameworks' own." if agree else "\nA result is off.")
    return int(not agree)


def _images(path: Path | None) -> Any:
    """The images of a file, or generated ones."""
    if path is None:
        return np.random.default_rng(0).random((IMAGES, 3, 224, 224), dtype=np.float32)
    try:
        images = np.load(path)
    except (OSError, ValueError, EOFError, MemoryError) as error:
        raise SystemExit(f"--input: {path} cannot be read: {error}") from error
    if not isinstance(images, np.ndarray) or images.dtype.kind not in "biuf":
        found = f"dtype {images.dtype}" if isinstance(images, np.ndarray) else "several arrays"
        raise SystemExit(f"--input: {path} has {found}; accepted: one array of real numbers")
    if images.ndim != 4 or images.shape[1] != 3:
        raise SystemExit(f"--input: {path} has shape {images.shape}; accepted: (n, 3, height, width)")
    return images.astype(np.float32)


def _frameworks(device: str) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Each framework on a device: its name, and the function that converts NumPy arrays to the framework's arrays."""
    yield "xpops", partial(xp.asarray, device=device)
    if device == "cpu":
        yield "numpy", lambda a: a
    for name in FRAMEWORKS:
        if installed(name) and (convert := _converter(name, device)) is not None:
            yield name, convert


def _converter(framework: str, device: str) -> Callable[[Any], Any] | None:
    """The function that converts NumPy arrays to arrays of `framework` on `device`; None if there is none."""
    if framework == "torch":
        import torch

        if device == "cpu" or torch.cuda.is_available():
            return lambda a: torch.from_numpy(a).to(device)
    if framework == "cupy" and device != "cpu":
        import cupy

        return lambda a: cupy.asarray(a)
    if framework == "jax":
        # Otherwise JAX allocates three quarters of the GPU's memory, which takes 1.5 seconds.
        config.set_default("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        import jax

        platform = "cpu" if device == "cpu" else "gpu"
        if any(d.platform == platform for d in jax.devices()):
            return lambda a: jax.device_put(a, jax.devices(platform)[0])
    return None


class Pipeline:
    """The steps on images, and NumPy's result of each step.

    Parameters
    ----------
    images : ndarray
        (n, 3, height, width), float32.
    """

    def __init__(self, images: Any) -> None:
        self.images, self.by_numpy = images, []
        state = self.batch(1)
        for step in STEPS:
            state["x"] = step.compute(array_api_compat.numpy, state)
            self.by_numpy.append(state["x"])

    def batch(self, copies: int) -> dict[str, Any]:
        """The images, repeated `copies` times along the first axis, and the other arrays that the steps take."""
        images = np.concatenate([self.images] * copies)
        constants = {
            name: np.asarray(value, np.float32).reshape(1, 3, 1, 1) for name, value in (("mean", _MEAN), ("std", _STD))
        }
        return {"x": images, "residual": np.moveaxis(images, 1, -1).astype(np.float16), **constants}

    def rows(self, framework: str, device: str, ours: dict[str, Any]) -> Iterator[Row]:
        """The rows of a batch in arrays of a framework: each step timed, and compared with the framework's own."""
        ours, theirs = dict(ours), dict(ours)
        time = timer(device)
        for step, by_numpy in zip(STEPS, self.by_numpy, strict=True):
            result = step.compute(xp, ours)
            times: list[float] = []
            while len(times) < REPEATS and sum(times) < BUDGET:
                times.append(time(partial(step.compute, xp, ours)))
            moved = _nbytes(ours["x"]) + _nbytes(result) + (_nbytes(result) if step.name == "add residual" else 0)
            if framework in ("xpops", "numpy"):
                error = _difference_to_numpy(result, by_numpy)
            else:
                own = array_api_compat.array_namespace(result)
                theirs["x"] = step.compute(own, theirs)
                error = _difference(own, result, theirs["x"])
            yield Row(framework, device, step.name, moved, statistics.median(times), error)
            ours["x"] = result


def _nbytes(x: Any) -> int:
    return int(x.size * x.dtype.itemsize if isinstance(x, xp.Array) else x.nbytes)


def _difference(own: Any, x: Any, y: Any) -> float:
    """The largest difference of two arrays of one framework, computed on their device."""
    return float(own.max(own.abs(own.astype(x, own.float32) - own.astype(y, own.float32))))


def _difference_to_numpy(x: Any, expected: Any) -> float:
    """The largest difference between `x`, which holds copies of a batch, and NumPy's result for one copy."""
    copies = xp.asarray(x, device="cpu").to_numpy().reshape(-1, *expected.shape)
    bits = np.ascontiguousarray(expected).view(f"u{expected.itemsize}")
    # Comparing bits is much faster than subtracting.
    if np.isfinite(expected).all() and all(np.array_equal(each, bits) for each in copies.view(bits.dtype)):
        return 0.0
    return float(np.max([_difference(array_api_compat.numpy, each, expected) for each in copies]))
