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
