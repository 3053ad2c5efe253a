"""``x[key] = value``, several times with the same kinds of operands, on every device, against plain NumPy.

The compiled core remembers them by code of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.devices import DEVICES
from xpops.core import dtypes as dt

on_devices = pytest.mark.parametrize("device", DEVICES, ids=str)
ROWS, MASK = np.asarray([4, 0, 2]), np.arange(35).reshape(5, 7) % 3 == 0
KEYS: dict[str, Any] = {
    "integer": 3,
    "slice": slice(1, None, 2),
    "column": (slice(None), -2),
    "all": Ellipsis,
    "new": (None, slice(0, 4)),
    "rows": ROWS,
    "pairs": (ROWS, np.asarray([6, 1, 1])),
    "columns": (slice(None), ROWS),
    "mask": MASK,
}


def on(device: Any, key: Any) -> Any:
    if isinstance(key, tuple):
        return tuple(on(device, part) for part in key)
    return xp.asarray(key, device=device) if isinstance(key, np.ndarray) else key


@on_devices
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.complex128], ids=lambda each: each.__name__)
@pytest.mark.parametrize("name", KEYS)
def test_values_are_written(name: str, dtype: Any, device: Any) -> None:
    key = KEYS[name]
    host = np.zeros((5, 7), dtype)
    shape = host[key].shape
    for number in range(3):
        for view in (np.s_[:], np.s_[:, ::-1]):
            values = [number + 1, True, np.full(shape[-1:], number + 3, dtype)]
            values += [] if name == "mask" else [np.arange(np.prod(shape)).reshape(shape).astype(dtype) + dtype(number)]
            for value in values:
                expected, x = host.copy(), xp.asarray(host, device=device, copy=True)
                if name == "mask" and np.ndim(value):
                    value = value[:1]
                expected[view][key] = value
                x[view][on(device, key)] = on(device, value)
                np.testing.assert_array_equal(x.to_numpy(), expected)


@on_devices
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.999, 1.0])
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "bfloat16", "float64", "complex64"])
def test_masks_with_few_and_with_many_true(dtype: str, share: float, device: Any) -> None:
    kind = getattr(dt, dtype)
    random = np.random.default_rng(5)
    host, mask = random.integers(0, 2, (70, 1001)).astype(kind), random.random((70, 1001)) < share
    narrow = np.ones((1, 1), np.float16 if dtype in ("float16", "float64", "complex64") else kind)
    rows = random.random(70) < share
    scalar: Any = True if dtype == "bool" else 3
    x, wanted = xp.asarray(host, device=device, copy=True), host.copy()
    for _ in range(3):
        wanted[rows] = kind.type(scalar)
        x[xp.asarray(rows, device=device)] = scalar
        wanted[mask] = kind.type(1)
        x[xp.asarray(mask, device=device)] = xp.asarray(narrow[0], device=device)
        np.testing.assert_array_equal(x.to_numpy(), wanted)


@on_devices
@pytest.mark.parametrize("size", [100, 50000])
def test_an_array_that_is_its_own_mask(size: int, device: Any) -> None:
    host = np.random.default_rng(6).random(size) < 0.5
    for _ in range(3):
        x, wanted = xp.asarray(host, device=device, copy=True), host.copy()
        wanted[1:][wanted[:-1].copy()] = False
        x[1:][x[:-1]] = False
        np.testing.assert_array_equal(x.to_numpy(), wanted)
        x[x] = False
        assert not x.to_numpy().any()


@on_devices
@pytest.mark.parametrize("name", KEYS)
def test_a_value_that_does_not_fit_is_refused_each_time(name: str, device: Any) -> None:
    x, key = xp.zeros((5, 7), dtype=xp.int8, device=device), on(device, KEYS[name])
    for number in range(3):
        x[key] = number
        x[key] = xp.asarray(number, dtype=xp.int8, device=device)
        for value in (128, -129, 10**30):
            with pytest.raises(OverflowError, match=f"__setitem__: value is {value}, which int8 cannot hold"):
                x[key] = value
        for refused in (1.5, xp.asarray(2.5, device=device), xp.asarray(300, device=device)):
            with pytest.raises(TypeError, match=r"__setitem__: value is .* which does not promote to int8"):
                x[key] = refused
        with pytest.raises(ValueError, match=r"broadcast|accepted"):
            x[key] = xp.zeros((9, 9, 9), dtype=xp.int8, device=device)
    assert int(xp.max(x)) == 2


@on_devices
def test_values_and_keys_in_the_memory_of_the_array(device: Any) -> None:
    host = np.asarray([3, 0, 2, 1, 4])
    for _ in range(3):
        expected, x = host.copy(), xp.asarray(host, device=device, copy=True)
        apart = xp.asarray(host, device=device, copy=True)
        x[apart] = apart  # remembered for operands that are apart
        x = xp.asarray(host, device=device, copy=True)
        expected[expected.copy()] = expected[::-1].copy()
        x[x] = x[::-1]
        np.testing.assert_array_equal(x.to_numpy(), expected)
        expected[1:] = expected[:-1].copy()
        x[1:] = x[:-1]
        np.testing.assert_array_equal(x.to_numpy(), expected)
        x[:] = x


@on_devices
def test_a_read_only_array_is_refused_each_time(device: Any) -> None:
    x = xp.zeros((3, 3), device=device)
    fixed = xp.broadcast_to(xp.zeros(3, device=device), (3, 3))
    for _ in range(3):
        x[1] = 1.0
        with pytest.raises(ValueError, match="__setitem__: the array is read-only"):
            fixed[1] = 1.0
    assert float(xp.sum(fixed)) == 0
