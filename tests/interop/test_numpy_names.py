"""`xpops.numpy` with torch tensors, JAX arrays and NumPy arrays: results are of their framework."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import xpops.numpy
from tests.helpers.numpy_calls import OPERANDS
from xpops.testing import to_numpy

CALLS = (
    "np.cumsum(x, 0)", "np.vstack((w, x))", "np.gradient(x, 0.5, axis=1)", "np.isclose(x, y)", "np.dot(x, w)",
    "np.diag(m)", "np.interp(v, a, a)", "np.percentile(x, [10, 50], 1)", "np.arctan2(x, y)",
    "np.linalg.norm(x, axis=1)", "np.where(b, x, 0.0)", "np.convolve(v, w)",
    "np.fft.fft2(x)", "np.unique(k)", "np.split(x, 2, 1)", "np.nan_to_num(n, True, 0.0, 9.0, -9.0)",
    "np.clip(x, -1, 1)",
    "np.cov(x)", "np.frexp(x)", "np.linalg.lstsq(m, w)", "np.gcd(k, 6)", "np.select([x > 0], [x])", "np.meshgrid(v, w)",
    "np.polyval(w, x)", "np.full_like(x, 2.0)", "np.choose(q, (v[:3], v[1:4], v[2:5]))", "np.median(x, 0)",
)  # fmt: skip


def operands(framework: str) -> dict[str, Any]:
    if framework == "numpy":
        return OPERANDS
    if framework == "torch":
        torch = pytest.importorskip("torch")
        return {name: torch.asarray(x.copy()) for name, x in OPERANDS.items()}
    jax = pytest.importorskip("jax")
    return {name: jax.numpy.asarray(x) for name, x in OPERANDS.items()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("framework", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("call", CALLS)
def test_results_are_of_the_framework(call: str, framework: str) -> None:
    given = operands(framework)
    wanted = eval(call, {"np": numpy, **OPERANDS})
    for _ in range(2):
        found = eval(call, {"np": xpops.numpy, **given})
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, (tuple, list)) else [(found, wanted)]
        for each, other in pairs:
            assert isinstance(each, type(given["x"]) if "meshgrid" not in call else object)
            tolerance = 1e-4 if framework == "jax" else 1e-9  # JAX's arrays are float32
            numpy.testing.assert_allclose(to_numpy(each), other, rtol=tolerance, atol=tolerance)


def test_functions_write_tensors() -> None:
    torch = pytest.importorskip("torch")
    x = torch.zeros(3, 3)
    xpops.numpy.fill_diagonal(x, 2)
    xpops.numpy.put(x, [1], [5])
    xpops.numpy.copyto(x[2], torch.ones(3))
    assert x.tolist() == [[2, 5, 0], [0, 2, 0], [1, 1, 1]]
    out = torch.empty(3)
    assert xpops.numpy.sum(x, 0, out=out) is out
    assert out.tolist() == [3, 8, 1]
    before = out._version
    xpops.numpy.add(x[0], 1.0, out)
    assert out._version > before


def test_torch_records_gradients() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.0, 2.0, 4.0, 7.0], requires_grad=True)
    loss = xpops.numpy.sum(xpops.numpy.square(xpops.numpy.gradient(xpops.numpy.cumsum(x))))
    loss.backward()
    y = x.detach().requires_grad_()
    torch.gradient(torch.cumsum(y, 0))[0].square().sum().backward()
    torch.testing.assert_close(x.grad, y.grad)
    assert xpops.numpy.allclose(x, y)
    assert xpops.numpy.array_equal(x, y)
    assert xpops.numpy.diag(x).requires_grad
    with pytest.raises(TypeError, match=r"cov: m needs a gradient, and there is none by it"):
        xpops.numpy.cov(x)
