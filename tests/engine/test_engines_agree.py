"""Every public function gives the same values on both engines."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops as xp
from tests.helpers import recipes
from tests.helpers.rows import ON_CPU, PUBLIC
from xpops.core import dtypes as dt

SEEDS = 15
TABLES: list[tuple[ModuleType, dict[str, Any], bool]] = [
    (xp, recipes.MAIN, False),
    (xp, recipes.CREATION, True),
    (xp.linalg, recipes.LINALG, False),
    (xp.fft, recipes.FFT, False),
    (xp.fft, recipes.FFT_CREATION, True),
    (xp.nn, recipes.NN, False),
]
PROMISES = {op.name: {dtype: op.error(dtype) for dtype in dt.INFO} for op in PUBLIC}
CALLS = [(module, name, made) for module, table, made in TABLES for name in table]
every_function = pytest.mark.parametrize(
    ("module", "name", "made"), CALLS, ids=lambda each: each if isinstance(each, str) else None
)


def recipe_of(module: ModuleType, name: str) -> Any:
    return next(table[name] for owner, table, _ in TABLES if owner is module and name in table)


def results(module: ModuleType, name: str, made: bool, seed: int, device: Any) -> list[Any]:
    arguments = list(recipe_of(module, name)(np.random.default_rng([seed, len(name)])))
    options = arguments.pop() if isinstance(arguments[-1], dict) else {}

    def moved(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return xp.asarray(x, device=device)
        return [moved(each) for each in x] if isinstance(x, list) and not made else x

    if made:
        options = {**options, "device": device}
    found = getattr(module, name)(*(moved(x) for x in arguments), **options)
    several = found if isinstance(found, (tuple, list)) else [found]
    assert all(each.device == device for each in several)
    return [each.to_numpy() for each in several]


def allowed(name: str, dtype: Any, wanted: Any) -> Any:
    """The allowed difference: relative to each number for elementwise functions, to the largest for others."""
    eps = float(ml_dtypes.finfo(dtype).eps)
    if name == "logaddexp":  # near 0 its operands cancel
        wanted = np.maximum(np.abs(wanted), 1)
    if error := PROMISES.get(name, {}).get(dtype):
        return (error + ON_CPU) * eps * np.abs(wanted)
    return 64 * eps * max(float(np.max(np.abs(wanted), initial=0)), 1.0)


def wide(x: Any) -> Any:
    return x.astype(np.complex128) if x.dtype.kind == "c" else x.astype(np.float64)


@every_function
def test_agreement(module: ModuleType, name: str, made: bool, cuda: Any) -> None:
    for seed in range(SEEDS):
        pairs = zip(*(results(module, name, made, seed, device) for device in ("cpu", cuda)), strict=True)
        for wanted, got in pairs:
            assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), seed
            if got.dtype.kind in "biu":
                np.testing.assert_array_equal(got, wanted, err_msg=f"seed {seed}")
                continue
            near = np.abs(wide(got) - wide(wanted)) <= allowed(name, got.dtype, wide(wanted))
            same = (wide(got) == wide(wanted)) | (np.isnan(wide(got)) & np.isnan(wide(wanted)))
            assert np.all(near | same), (seed, got[~(near | same)], wanted[~(near | same)])


@every_function
def test_recipes_run(module: ModuleType, name: str, made: bool) -> None:
    for seed in range(4):
        for result in results(module, name, made, seed, "cpu"):
            assert result.dtype in dt.INFO


def test_every_public_function_has_a_recipe() -> None:
    for module in {id(module): module for module, _, _ in TABLES}.values():
        names = {
            name
            for name in module.__all__
            if callable(getattr(module, name)) and not isinstance(getattr(module, name), type) and name[0] != "_"
        }
        cooked = {name for owner, table, _ in TABLES if owner is module for name in table}
        assert names - cooked <= recipes.NO_VALUES | recipes.UP_TO_PHASE
        assert cooked <= names
