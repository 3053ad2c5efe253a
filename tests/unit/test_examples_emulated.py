"""The examples that need a GPU, without one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.emulator import STREAM, EmulatedEngine
from tests.helpers.examples import accelerations, bodies, example, running_variances
from tests.unit.conftest import PretendedEngine

RANDOM = np.random.default_rng(4)


def test_adam(pretended: PretendedEngine) -> None:
    adam = example("adam").adam
    param = RANDOM.normal(size=(5, 7)).astype(np.float32)
    wanted, mean, square = param.astype(np.float64), np.zeros((5, 7)), np.zeros((5, 7))
    ours = [pretended.array(each.astype(np.float32)) for each in (param, mean, square)]
    for step in (1, 2, 3):
        grad = RANDOM.normal(size=(5, 7)).astype(np.float32)
        mean = 0.9 * mean + 0.1 * grad
        square = 0.99 * square + 0.01 * grad.astype(np.float64) ** 2
        wanted = wanted - 0.1 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-6)
        adam(ours[0], pretended.array(grad), *ours[1:], step, rate=0.1, betas=(0.9, 0.99), small=1e-6)
    for got, exact in zip(ours, (wanted, mean, square), strict=True):
        np.testing.assert_allclose(got.to_numpy(), exact, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(3000,), (3, 700), (700, 5)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_running_variance(shape: tuple[int, ...], dtype: str, pretended: PretendedEngine) -> None:
    x = (RANDOM.normal(size=shape) + 100).astype(dtype)
    for axis in range(len(shape)):
        got = example("running_variance").running_variance(pretended.array(x), axis=axis).to_numpy()
        tolerance = {"float32": 2e-3, "float64": 1e-9}[dtype]
        np.testing.assert_allclose(got, running_variances(x, axis), rtol=tolerance, atol=tolerance)


BY_PARAMETERS = """
struct Given { const float* bodies; float* found; float softening; int n; };
extern "C" __global__ void xpops_kernel(Given given) { pull(given.bodies, given.found, given.softening, given.n); }
"""


@pytest.mark.parametrize("count", [1, 16, 50])
def test_n_body(count: int) -> None:
    module = example("n_body")
    source = f"#define BLOCK 16\n#define rsqrtf(x) (1 / sqrtf(x))\n{module._module._module.source}{BY_PARAMETERS}"
    host, found = bodies(count), np.zeros((count, 3), np.float32)
    launch = EmulatedEngine().launcher("n_body", source, -(-count // 16), 16, "QQfi", b"")
    launch(STREAM, host.ctypes.data, found.ctypes.data, 0.1, count)
    wanted = accelerations(host, 0.1)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("capability", [80, 90, 100])
def test_n_body_compiles(capability: int) -> None:
    cubin, _ = example("n_body")._module._module.cubin(capability)
    assert b"pull" in cubin
