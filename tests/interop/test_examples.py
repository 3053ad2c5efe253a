"""The examples of docs/examples compute correct results on every device, and run as programs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from scipy import stats

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.examples import FOLDER, accelerations, bodies, example, running_variances

EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))
RANDOM = np.random.default_rng(4)


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


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_adam(dtype: str, cuda_torch: Any) -> None:
    torch = cuda_torch
    adam, betas = example("adam").adam, (0.8, 0.99)
    param = torch.nn.Parameter(torch.randn(100, 33, device="cuda", dtype=getattr(torch, dtype)))
    wanted = torch.nn.Parameter(param.detach().to(torch.float64 if dtype == "float64" else torch.float32))
    theirs = torch.optim.Adam([wanted], lr=0.01, betas=betas, eps=1e-7)
    mean, square = torch.zeros_like(wanted), torch.zeros_like(wanted)
    address = param.data_ptr()
    for step in range(1, 21):
        grad = torch.randn_like(param)
        wanted.grad = grad.to(wanted.dtype)
        theirs.step()
        adam(param.detach(), grad, mean, square, step, rate=0.01, betas=betas, small=1e-7)
    assert param.data_ptr() == address
    tolerance = {"float32": 1e-5, "float64": 1e-11, "bfloat16": 0.05}[dtype]
    torch.testing.assert_close(param.detach().to(wanted.dtype), wanted.detach(), rtol=tolerance, atol=tolerance)
    for ours, state in ((mean, "exp_avg"), (square, "exp_avg_sq")):
        torch.testing.assert_close(ours, theirs.state[wanted][state], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(100_003,), (300, 1000), (1000, 40)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_running_variance(shape: tuple[int, ...], dtype: str, cuda: Any) -> None:
    x = (floats(*shape) + 100).astype(dtype)
    for axis in range(len(shape)):
        got = example("running_variance").running_variance(xp.asarray(x, device=cuda), axis=axis).to_numpy()
        np.testing.assert_allclose(
            got, running_variances(x, axis), rtol={"float32": 2e-3, "float64": 1e-9}[dtype], atol=1e-6
        )


@pytest.mark.parametrize("count", [1, 256, 1000, 5003])
def test_n_body(count: int, cuda: Any) -> None:
    host = bodies(count)
    got = example("n_body").accelerations(xp.asarray(host, device=cuda), 0.1).to_numpy()
    wanted = accelerations(host, 0.1)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


def test_a_planet_comes_back(cuda: Any) -> None:
    module = example("n_body")
    host = np.array([[0, 0, 0, 1], [1, 0, 0, 1e-6]], np.float32)
    x, velocities = xp.asarray(host, device=cuda), xp.asarray(np.array([[0, 0, 0], [0, 1, 0]], np.float32), device=cuda)
    for _ in range(1000):
        module.step(x, velocities, 2 * np.pi / 1000)
    np.testing.assert_allclose(x.to_numpy(), host, atol=0.02)


def by_numpy_adam() -> Any:
    """The weights of docs/examples/adam.py after its 100 steps."""
    weight, mean, square = np.ones(4), np.zeros(4), np.zeros(4)
    for step in range(1, 101):
        grad = 2 * (weight - 0.25)
        mean, square = 0.9 * mean + 0.1 * grad, 0.999 * square + 0.001 * grad**2
        weight = weight - 0.02 * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return weight


def by_scipy_statistics_job() -> Any:
    treated, control = samples(7)
    welch = stats.ttest_ind(treated, control, equal_var=False)
    return [welch.pvalue, stats.skew(treated), np.corrcoef(treated, control)[0, 1]]


def samples(seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    control = random.normal(10.0, 2.0, 2000)
    return control + random.gamma(2.0, 0.1, 2000), control


def by_numpy_components_and_ridge() -> Any:
    random = np.random.default_rng(3)
    factors = random.normal(size=(400, 3)) * [5.0, 3.0, 1.0]
    x = factors @ random.normal(size=(3, 12)) + 0.1 * random.normal(size=(400, 12))
    y = factors @ [1.0, -2.0, 0.5]
    centred = x - x.mean(0)
    _, singular, rows = np.linalg.svd(centred, full_matrices=False)
    scores = centred @ rows[:3].T
    coefficients = np.linalg.solve(scores.T @ scores + np.eye(3), scores.T @ (y - y.mean()))
    return [*(singular**2 / (singular**2).sum())[:3], *abs(coefficients)]


ROWS = np.array([[1.0, 2.0], [3.0, 4.0]])
# The numbers that each program prints, computed by NumPy, and the tolerance.
PRINTED: dict[str, tuple[Any, float]] = {
    "adam": (by_numpy_adam(), 1e-3),
    # It gets warmer by 0.02 a month.
    "climate": (np.c_[2020:2024, 0.24 * (np.arange(4) - 1.5)], 1e-6),
    "components_and_ridge": (by_numpy_components_and_ridge(), 1e-6),
    "colours": ([76, 150, 29, 255, 85, 44, 255, 128, 255, 21, 107, 128], 0),
    "gelu": (by_numpy_gelu(np.array([-1.0, 0.0, 1.0])), 1e-7),
    "log_sum_exp": ([1000 + np.log(2), 0], 1e-7),
    "n_body": ([0, 0, 0, 1, 1, 0, 0, 1e-6], 0.02),
    "normalise": (by_numpy_layer_norm(np.array([[1.0, 2.0, 3.0]]), 1, 0, 1e-5), 1e-7),
    "out_of_core": ([3, 2], 0.02),
    "running_variance": ([0, 0.25, 2 / 3, 1.25], 1e-6),
    "statistics_job": (by_scipy_statistics_job(), 1e-6),
    "swiglu": (by_numpy_swiglu(ROWS, ROWS[:1], 1.0), 1e-7),
}
# Programs that print the loss before and after so many steps.
MODELS = ("resnet_block", "transformer_block")
# Packages that programs need.
PACKAGES = {
    "climate": ("dask", "xarray"),
    "components_and_ridge": ("sklearn",),
    "out_of_core": ("cubed", "distributed", "zarr"),
    "statistics_job": ("scipy",),
}
NEED_A_GPU = {"adam": "needs torch and a GPU", "n_body": "need a GPU", "running_variance": "need a GPU"}


def by_numpy_mandelbrot() -> str:
    real, imag = np.linspace(-2.2, 0.8, 72), np.linspace(-1.2, 1.2, 25)[:, None]
    z, steps = np.zeros((25, 72), complex), np.zeros((25, 72), int)
    for _ in range(24):
        near = z.real**2 + z.imag**2 < 4
        z, steps = np.where(near, z * z + (real + 1j * imag), z), steps + near
    return "\n".join("".join(" .:-=+*#%@"[each * 9 // 24] for each in line) for line in steps)


def test_the_extension_that_nvcc_builds(cuda_torch: Any) -> None:
    torch = cuda_torch
    if shutil.which("nvcc") is None or shutil.which("ninja") is None:
        pytest.skip("needs nvcc and ninja")
    matmul = example("extension/matmul").build().matmul
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        x, y = RANDOM.integers(-3, 4, (2, 3, 17, 32)), RANDOM.integers(-3, 4, (2, 3, 32, 21))
        one, two = (torch.tensor(each, device="cuda").to(dtype) for each in (x, y))
        wanted = torch.tensor(x @ y).to(dtype)
        assert torch.equal(matmul(one, two).cpu(), wanted)
        assert torch.equal(matmul(two.mT, one.mT).mT.cpu(), wanted)
    with pytest.raises(RuntimeError, match="the dtype must be float32"):
        matmul(one.int(), two.int())


@pytest.mark.parametrize("name", EXAMPLES)
def test_programs_print_what_numpy_computes(name: str) -> None:
    if not all(map(find_spec, PACKAGES.get(name, ()))):
        pytest.skip(f"needs {', '.join(PACKAGES[name])}")
    paths = [str(FOLDER.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, FOLDER / f"{name}.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    if name in NEED_A_GPU and NEED_A_GPU[name] in done.stdout:
        assert len(DEVICES) == 1 or (name == "adam" and "torch" not in sys.modules)
    elif name in MODELS and find_spec("torch") is None:
        assert "needs torch" in done.stdout
    elif name == "mandelbrot":
        wanted = by_numpy_mandelbrot()
        assert len(done.stdout) == len(wanted) + 1
        assert sum(map(str.__ne__, done.stdout, wanted)) < 20  # a point on the edge may turn on the last bit
    else:
        numbers = [float(each) for each in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e[-+]?\d+)?", done.stdout)]
        if name in MODELS:
            before, _, after = numbers
            assert after < before / 3
        else:
            np.testing.assert_allclose(numbers, np.ravel(PRINTED[name][0]), rtol=0, atol=PRINTED[name][1])
