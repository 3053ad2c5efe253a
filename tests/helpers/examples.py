"""The programs of docs/examples as modules, and NumPy versions of what some of them compute."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[2] / "docs" / "examples"
NDArray = np.ndarray[Any, Any]


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def running_variances(x: NDArray, axis: int) -> NDArray:
    """Running variances from sums in float64, which lose one or two digits if the mean is large."""
    wide = np.moveaxis(x.astype(np.float64) - x.mean(dtype=np.float64), axis, -1)
    count = np.arange(1, wide.shape[-1] + 1)
    found: NDArray = (wide**2).cumsum(-1) / count - (wide.cumsum(-1) / count) ** 2
    return np.moveaxis(found, -1, axis)


def bodies(count: int) -> NDArray:
    """Random positions and masses."""
    random = np.random.default_rng(2)
    return np.concatenate([random.normal(size=(count, 3)), random.random((count, 1)) + 0.5], 1).astype(np.float32)


def accelerations(bodies: NDArray, softening: float) -> NDArray:
    wide = bodies.astype(np.float64)
    apart = wide[None, :, :3] - wide[:, None, :3]
    near = ((apart**2).sum(-1) + softening**2) ** -1.5
    found: NDArray = (apart * (wide[None, :, 3] * near)[..., None]).sum(1)
    return found
