"""Special functions of the arrays of each framework: results are arrays of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp

special = pytest.importorskip("scipy.special")
X = np.linspace(0.1, 2.0, 12).reshape(3, 4)


def torch_array(host: Any) -> Any:
    return pytest.importorskip("torch").asarray(host)


def jax_array(host: Any) -> Any:
    return pytest.importorskip("jax.numpy").asarray(host)


@pytest.mark.parametrize("make", [np.asarray, torch_array, jax_array], ids=["numpy", "torch", "jax"])
@pytest.mark.parametrize("name", ["erf", "xlogy", "betainc"])
def test_arrays_of_a_framework(name: str, make: Any) -> None:
    host = X.astype(np.float32)
    others = {"erf": (), "xlogy": (0.5,), "betainc": (2, 0.5)}[name]
    x = make(host / 2)
    wanted = getattr(special, name)(*map(np.float32, others), host / 2)
    for _ in range(3):
        got = getattr(xp.special, name)(*others, x)
        assert type(got) is type(x)
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-6)
        turned = getattr(xp.special, name)(*others, x.T)
        np.testing.assert_allclose(np.asarray(turned), wanted.T, rtol=1e-6)


def test_torch_tensors_of_integers_count_as_float64() -> None:
    """Also in gradients and in compiled programs, which know results by their fake ones."""
    torch = pytest.importorskip("torch")
    counts, host = np.asarray([1, 2, 3]), np.asarray([0.5, 1.0, 2.0], np.float32)
    wanted = special.gammainc(counts, host)
    slope = host ** (counts - 1.0) * np.exp(-host.astype(float)) / special.gamma(counts)
    compiled = torch.compile(lambda a, x: xp.special.gammainc(a, x), fullgraph=True, backend="aot_eager")
    for function in (xp.special.gammainc, compiled):
        for _ in range(2):
            x = torch.asarray(host.copy()).requires_grad_()
            got = function(torch.asarray(counts), x)
            assert got.dtype == torch.float64
            np.testing.assert_allclose(got.detach().numpy(), wanted, rtol=1e-14)
            got.sum().backward()
            assert x.grad.dtype == torch.float32
            np.testing.assert_allclose(x.grad.numpy(), slope, rtol=1e-6)


def test_jax_arrays_of_integers() -> None:
    """JAX without 64 bits has no float64."""
    jax = pytest.importorskip("jax")
    counts, host = np.asarray([1, 2, 3], np.int32), np.asarray([0.5, 1.0, 2.0], np.float32)
    wanted = special.gammainc(counts, host)
    for wide in (False, True):
        with jax.enable_x64(wide) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64(wide):
            for function in (xp.special.gammainc, jax.jit(xp.special.gammainc)):
                for _ in range(2):
                    got = function(jax.numpy.asarray(counts), jax.numpy.asarray(host))
                    assert got.dtype == (np.float64 if wide else np.float32)
                    np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-14 if wide else 1e-6)
