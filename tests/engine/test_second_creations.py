"""Creation functions called several times, with calls between that differ in one parameter, against plain NumPy.

The compiled core remembers them by code of its own.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.devices import DEVICES

on_devices = pytest.mark.parametrize("device", DEVICES, ids=str)
# For each function: parameters that are equal, or nearly, but mean different arrays.
CALLS: dict[str, list[tuple[Any, ...]]] = {
    "arange": [(3,), (3.0,), (-3,), (0, 3, 1), (0, 3, 1.0), (3, 0, -1), (-0.0, 3.0), (0.0, 3.0), (np.int64(3),), (0,)],
    "linspace": [(0, 1, 5), (0.0, 1.0, 5), (-0.0, 1.0, 5), (1, 0, 5), (0, 1, 1), (0, 1, 0)],
    "eye": [(3,), (3, 4), (4, 3), (3, 3), (0,)],
    "zeros": [(3,), ((3,),), ([3],), ((3, 1),), ((),), (0,)],
    "empty": [(3,), ((3,),), ([3, 2],), ((),), ((0, 2),)],
}
DTYPES = [None, np.float32, np.int32, np.complex64]
WRONG: dict[str, list[tuple[Any, ...]]] = {
    "arange": [("3",), (3, 9, 0), (math.nan,), ((3,),)],
    "linspace": [(0, 1, 5.0), ("0", 1, 5), (0, 1, -5)],
    "eye": [(3.0,), (-1,), ("3",)],
    "empty": [(3.0,), ((3.0,),), ((-3,),), ("3",)],
}


@on_devices
@pytest.mark.parametrize("name", CALLS)
def test_every_call_makes_the_array_of_its_parameters(name: str, device: Any) -> None:
    for _ in range(3):
        for dtype in DTYPES:
            for arguments in CALLS[name]:
                found = getattr(xp, name)(*arguments, dtype=dtype, device=device)
                default = (
                    np.int64
                    if name == "arange" and all(isinstance(x, (int, np.integer)) for x in arguments)
                    else np.float64
                )
                wanted = default if dtype is None else dtype
                if dtype == np.int32 and name == "linspace":
                    expected = np.floor(np.linspace(*arguments))
                else:
                    expected = getattr(np, name)(*arguments, dtype=wanted)
                assert found.dtype == wanted
                assert found.shape == expected.shape
                if name == "empty":
                    continue
                np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-6)
                if name == "linspace" and found.size and dtype != np.int32:
                    assert math.copysign(1, found.to_numpy().ravel()[0].real) == math.copysign(1, arguments[0])
                found[...] = 7  # nobody else gets this memory


@on_devices
def test_keywords_are_parameters(device: Any) -> None:
    for _ in range(3):
        for k in (0, 1, -1, 5):
            np.testing.assert_array_equal(xp.eye(3, 4, k=k, device=device).to_numpy(), np.eye(3, 4, k))
        for endpoint in (True, False):
            found = xp.linspace(0, 1, 4, endpoint=endpoint, device=device).to_numpy()
            np.testing.assert_allclose(found, np.linspace(0, 1, 4, endpoint=endpoint))


@on_devices
@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_is_refused_each_time(name: str, device: Any) -> None:
    for _ in range(3):
        for arguments in CALLS[name]:
            getattr(xp, name)(*arguments, device=device)
        for arguments in WRONG[name]:
            with pytest.raises((TypeError, ValueError), match=f"^{name}: "):
                getattr(xp, name)(*arguments, device=device)


@on_devices
def test_draws_are_those_of_one_stream(device: Any) -> None:
    one, other = xp.random.Generator(7), xp.random.Generator(7)
    whole = one.uniform(size=24, device=device).to_numpy()
    parts = [
        other.uniform(size=size, device=device).to_numpy().ravel() for size in (4, (4,), [2, 2], (2, 2), 4, (4, 1))
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    for _ in range(3):
        assert one.normal(size=(2, 3), dtype=xp.float32, device=device).dtype == xp.float32
        assert one.normal(size=(2, 3), device=device).dtype == xp.float64
        assert one.normal(device=device).shape == ()
        for size in (2.0, (2.0,), "2", -1):
            with pytest.raises((TypeError, ValueError), match=r"^normal: size"):
                one.normal(size=size, device=device)
