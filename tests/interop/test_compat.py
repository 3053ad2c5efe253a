"""array-api-compat, which most libraries use to inspect arrays, recognises xpops arrays."""

from __future__ import annotations

from typing import Any

import array_api_compat as compat
import numpy as np
import pytest

import xpops as xp
from tests.helpers.devices import DEVICES


def test_the_namespace_is_ours(device: Any) -> None:
    x = xp.zeros(3, device=device)
    assert compat.is_array_api_obj(x)
    assert compat.array_namespace(x) is xp
    assert compat.array_namespace(x, x[:1], 1.0, None) is xp
    assert compat.array_namespace(x, api_version="2025.12") is xp
    assert not compat.is_array_api_obj(xp)
    for other in (compat.is_numpy_array, compat.is_cupy_array, compat.is_torch_array, compat.is_jax_array):
        assert not other(x)
    for other in (compat.is_dask_array, compat.is_ndonnx_array, compat.is_pydata_sparse_array):
        assert not other(x)


def test_namespaces_are_not_mixed(device: Any) -> None:
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(xp.zeros(3, device=device), np.zeros(3))


def test_namespace_of_no_other_library() -> None:
    for other in (compat.is_numpy_namespace, compat.is_cupy_namespace, compat.is_torch_namespace):
        assert not other(xp)
    assert not compat.is_array_api_strict_namespace(xp)


def test_arrays_are_eager_and_writable(device: Any) -> None:
    x = xp.zeros(3, device=device)
    assert not compat.is_lazy_array(x)
    assert compat.is_writeable_array(x)


def test_size_and_device(device: Any) -> None:
    x = xp.zeros((3, 4), device=device)
    assert compat.size(x) == 12
    assert compat.device(x) == device


@pytest.mark.parametrize("target", DEVICES)
def test_moving(device: Any, target: Any) -> None:
    x = xp.arange(3, device=device)
    moved = compat.to_device(x, target)
    assert compat.device(moved) == target
    assert moved.tolist() == [0, 1, 2]
    assert compat.to_device(x, device) is x
