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
    "np.cov(x)", "np.frexp(x)", "np.broadcast_arrays(x, w)", "np.atleast_2d(1.0, w)", "np.zeros_like(x)",
    "np.iscomplex(x)", "np.linspace(w, 2 * w, 3)", "np.max(x[:0], 0, initial=-1.0)",
    "np.linalg.lstsq(m, w)", "np.gcd(k, 6)", "np.select([x > 0], [x])", "np.meshgrid(v, w)",
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
            assert isinstance(each, type(given["x"]))
            tolerance = 1e-4 if framework == "jax" else 1e-9  # JAX's arrays are float32
            numpy.testing.assert_allclose(to_numpy(each), other, rtol=tolerance, atol=tolerance)


LISTS = (
    "np.add(x, [1, 2, 3, 4])", "np.append(v, [1.0, 2.0])", "np.average(x, 1, [1.0, 2, 3, 4])",
    "np.vstack((w, [1.0] * 4))", "np.hstack(([2.0], v))", "np.dstack((x, [[1, 2, 3, 4]] * 3))",
    "np.block([[m, w[:, None]], [w, 5.0]])", "np.clip(x, [0, 0, 0, 1], 0.5)",
    "np.sum(x, 0, where=[True, False, True, True])", "np.select([x > 0, x < -1], [x, [1, 2, 3, 4]], x)",
    "np.diff(v, prepend=[1.0])", "np.gradient(w, [0.0, 1, 3, 4])", "np.where([[True]], 1, x)",
    "np.ediff1d(v, to_begin=0, to_end=[1, 2])", "np.where([True, False, True, True], x, 0.0)", "np.dot([1, 2, 3], x)",
    "np.take(x, [0, -1], 1)", "np.take_along_axis(x, numpy.array([[0], [3], [1]]), 1)", "np.trace(x, 1)",
    "np.diagonal(t, 0, 2, 0)", "np.average(x)", "np.ldexp(1.5, k) * v[:5]", "np.copy(x)", "np.meshgrid(v, w)[1]",
    "np.take(x, [[13, -14]], mode='wrap')", "np.take(x, 40, mode='clip')", "np.take(x, numpy.array([True, False]), 0)",
)  # fmt: skip


@pytest.mark.parametrize("framework", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("call", LISTS)
def test_lists_become_arrays_like_those_beside_them(call: str, framework: str) -> None:
    given = operands(framework)
    function = eval(f"lambda {', '.join(given)}: {call}", {"np": xpops.numpy, "numpy": numpy})
    wanted = eval(call.replace("[True, False]", "[1, 0]"), {"np": numpy, "numpy": numpy, **OPERANDS})
    tolerance = 1e-4 if framework == "jax" else 1e-9
    for _ in range(2):
        found = function(**given)
        assert isinstance(found, type(given["x"]))
        numpy.testing.assert_allclose(to_numpy(found), wanted, rtol=tolerance, atol=tolerance)
    if framework == "torch":
        found = function(**{name: x.requires_grad_(x.is_floating_point()) for name, x in given.items()})
        assert found.requires_grad
        numpy.testing.assert_allclose(found.detach(), wanted, 1e-9, 1e-9)
    if framework == "jax":
        import jax

        numpy.testing.assert_allclose(jax.jit(function)(**given), wanted, 1e-4, 1e-4)


def test_functions_without_a_gradient_name_the_argument() -> None:
    torch = pytest.importorskip("torch")
    v = torch.rand(4, requires_grad=True)
    for call, argument in (
        (xpops.numpy.poly, "seq_of_zeros"), (xpops.numpy.vander, "x"), (xpops.numpy.roots, "p"),
        (lambda v: xpops.numpy.interp(v, [0, 1], [1, 2]), "x"), (lambda v: xpops.numpy.insert(v, 2, 9.0), "arr"),
        (lambda v: xpops.numpy.nanquantile(v, 0.5), "a"), (lambda v: xpops.numpy.polyadd([1.0, 2.0], v), "a2"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=f": {argument} needs a gradient, and there is none by it"):
            call(v)


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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("call", "theirs"),
    [
        ("np.fmax(x, y)", "torch.fmax(x, y)"),
        ("np.fmin(x, 0.5)", "torch.clamp(x, max=0.5)"),
        ("np.fmod(x, y)", "torch.fmod(x, y)"),
        ("np.fmod(2.0, y)", "torch.fmod(torch.tensor(2.0), y)"),
        ("np.logaddexp2(x, y)", "torch.logaddexp2(x, y)"),
        ("np.ldexp(x, k)", "x * 2.0**k"),
        ("np.ldexp(x, -3)", "x / 8"),
        ("np.frexp(x)[0]", "torch.frexp(x)[0]"),
        ("np.heaviside(x, y)", "torch.where(x == 0, y, 0.0 * x)"),
        ("np.exp(x, dtype='float64')", "torch.exp(x.double())"),
        ("np.multiply(x, y, dtype='float32')", "x.float() * y.float()"),
        ("np.float_power(x * x + 1, y)", "torch.float_power(x * x + 1, y)"),
    ],
)
def test_gradients_of_functions_of_numpy(call: str, theirs: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    real = getattr(torch, dtype)
    host = torch.tensor([[0.0, 1.5, -2.75, 6.25], [1.0, -0.5, 3.0, 9.5]], dtype=real)
    grads = []
    for text, np in ((call, xpops.numpy), (call, xpops.numpy), (theirs, None)):
        x, y = (host[place].clone().requires_grad_() for place in (0, 1))
        found = eval(text, {"np": np, "torch": torch, "x": x, "y": y, "k": torch.tensor([1, -3, 0, 5])})
        found.sum().backward()
        grads.append([torch.zeros_like(each) if each.grad is None else each.grad for each in (x, y)])
    for found, wanted in ((grads[0], grads[2]), (grads[1], grads[2])):
        torch.testing.assert_close(found, wanted)
