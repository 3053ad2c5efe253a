"""The examples of docs/examples compute what they say, on every device, and run as programs."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.devices import DEVICES

FOLDER = Path(__file__).parents[2] / "docs" / "examples"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))
RANDOM = np.random.default_rng(4)


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def floats(*shape: int) -> Any:
    return RANDOM.normal(size=shape)


def by_numpy_gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def by_numpy_swiglu(x: Any, gate: Any, beta: float) -> Any:
    return x * gate / (1 + np.exp(-beta * gate))


def by_numpy_log_sum_exp(x: Any) -> Any:
    return np.log(np.exp(x).sum(-1, keepdims=True))


def by_numpy_layer_norm(x: Any, scale: Any, shift: Any, epsilon: float) -> Any:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon) * scale + shift


CASES: dict[str, tuple[str, Any, tuple[Any, ...]]] = {
    "gelu": ("gelu", by_numpy_gelu, (floats(300),)),
    "swiglu": ("swiglu", by_numpy_swiglu, (floats(30, 20), floats(20), 1.5)),
    "log_sum_exp": ("log_sum_exp", by_numpy_log_sum_exp, (floats(300, 90),)),
    "normalise": ("layer_norm", by_numpy_layer_norm, (floats(300, 96), floats(96), floats(96), 1e-5)),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str, device: Any) -> None:
    function, by_numpy, arguments = CASES[name]
    given = (xp.asarray(each, device=device) if isinstance(each, np.ndarray) else each for each in arguments)
    np.testing.assert_allclose(getattr(example(name), function)(*given).to_numpy(), by_numpy(*arguments), rtol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
def test_colours(device: Any) -> None:
    image = RANDOM.integers(0, 256, (20, 30, 3), np.uint8)
    r, g, b = (image[..., i].astype(np.float64) for i in range(3))
    y = 0.299 * r + 0.587 * g + 0.114 * b
    wanted = y, (b - y) / 1.772 + 128, (r - y) / 1.402 + 128
    given = xp.asarray(image, device=device)
    for got, exact in zip(example("colours").to_ycbcr(*(given[..., i] for i in range(3))), wanted, strict=True):
        assert got.dtype == xp.uint8
        assert np.abs(got.to_numpy() - np.clip(exact, 0, 255)).max() < 0.501


@pytest.mark.parametrize("device", DEVICES)
def test_mandelbrot(device: Any) -> None:
    module = example("mandelbrot")
    real, imag = np.linspace(-2, 0.5, 21), np.linspace(-1, 1, 15)[:, None]
    got = module.mandelbrot(*(xp.asarray(each, device=device) for each in (real, imag))).to_numpy()
    z, steps = np.zeros((15, 21), complex), np.zeros((15, 21), np.int32)
    for _ in range(module.STEPS):
        near = z.real**2 + z.imag**2 < 4
        z, steps = np.where(near, z * z + (real + 1j * imag), z), steps + near
    assert (got == steps).mean() > 0.99  # a point on the edge may turn on the last bit


@pytest.mark.parametrize("name", EXAMPLES)
def test_programs_run(name: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(FOLDER.parents[1])}
    command = [sys.executable, FOLDER / f"{name}.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
