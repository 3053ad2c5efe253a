"""Functions composed of other functions return arrays of the caller's framework."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.interop.test_frameworks import FRAMEWORKS, host, made

REDUCTIONS = (
    *("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanargmax", "nanargmin"),
    *("nancumsum", "nancumprod", "nanmedian", "median"),
)
CALLS = {
    **{name: ((), {"axis": 1}) for name in REDUCTIONS},
    "quantile": (([0.25, 0.5],), {}),
    "pad": ((1,), {}),
    "tril": ((), {"k": 1}),
    "triu": ((), {}),
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_of_the_framework_of_the_operands(framework: str, name: str, device: Any) -> None:
    source = np.array([[1.0, 3.0, 2.0], [6.0, 5.0, 4.0]], np.float32)
    if name.startswith("nan"):
        source[0, 1] = np.nan
    x = made(framework, source, device)
    args, options = CALLS[name]
    result = getattr(xp, name)(x, *args, **options)
    assert type(result) is type(x)
    np.testing.assert_allclose(host(result), getattr(np, name)(source, *args, **options), rtol=1e-6)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
def test_padding_with_its_own_elements(framework: str, mode: Any, device: Any) -> None:
    source = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    x = made(framework, source, device)
    result = xp.pad(x, 2, mode)
    assert type(result) is type(x)
    assert np.array_equal(host(result), np.pad(source, 2, mode))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_quantiles_from_an_array_of_the_framework(framework: str, device: Any) -> None:
    x = made(framework, np.array([1, 2, 4], np.float32), device)
    q = made(framework, np.array([0.0, 0.5], np.float32), device)
    assert host(xp.quantile(x, q)).tolist() == [1, 2]
