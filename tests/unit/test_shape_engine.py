"""Arrays without memory: every function finds the shapes and dtypes of its results, or says that values decide."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers import recipes
from xpops.core.devices import NOWHERE
from xpops.core.layouts import layout_of

TABLES = [(xp, recipes.MAIN), (xp.linalg, recipes.LINALG), (xp.fft, recipes.FFT), (xp.nn, recipes.NN)]
CALLS = [(module, name, table[name]) for module, table in TABLES for name in table]
# The values of the operands decide the shapes of the results, or whether there are any.
DECIDED_BY_VALUES = {
    "bincount",
    "nanargmax",
    "nanargmin",
    "nonzero",
    "repeat",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
}


def nowhere(x: xp.Array) -> xp.Array:
    layout = x._layout
    return xp.Array(layout_of(layout.dtype, layout.shape, layout.strides, NOWHERE), 0, None)


def facts(module: ModuleType, name: str, recipe: Any, seed: int, move: Any) -> list[tuple[Any, ...]]:
    arguments = list(recipe(np.random.default_rng([seed, len(name)])))
    options = arguments.pop() if isinstance(arguments[-1], dict) else {}

    def moved(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return move(xp.asarray(x, device="cpu"))
        return [moved(each) for each in x] if isinstance(x, list) else x

    found = getattr(module, name)(*map(moved, arguments), **options)
    return [(each.shape, each.dtype) for each in (found if isinstance(found, (tuple, list)) else [found])]


@pytest.mark.parametrize(("module", "name", "recipe"), CALLS, ids=lambda each: each if isinstance(each, str) else "")
def test_shapes_and_dtypes_are_those_of_the_cpu(module: ModuleType, name: str, recipe: Any) -> None:
    for seed in range(6):
        if name in DECIDED_BY_VALUES:
            with pytest.raises(TypeError, match="values of a traced array are not known"):
                facts(module, name, recipe, seed, nowhere)
        else:
            wanted = facts(module, name, recipe, seed, lambda x: x)
            for _ in range(2):
                assert facts(module, name, recipe, seed, nowhere) == wanted


def test_no_user_can_name_the_device() -> None:
    with pytest.raises(ValueError, match="device is 'nowhere'"):
        xp.zeros(3, device="nowhere")
    assert NOWHERE not in xp.__array_namespace_info__().devices()
