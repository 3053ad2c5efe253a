"""Compile an example for every architecture, and run it if there is a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import xpops as xp
from conformance.sources.example import Example
from xpops.core.errors import CompileError

CAPABILITIES = (80, 90, 100, 120)
DTYPES = {"float": "float32", "double": "float64", "half": "float16", "xpops::float16": "float16", "int": "int32"}


class Result(NamedTuple):
    """An example's name, what had to change in it, and its outcome: compiled, ran, or what went wrong."""

    name: str
    changes: list[str]
    outcome: str


def gpu() -> str | None:
    """The first GPU; None if there is none."""
    return next((str(each) for each in xp.__array_namespace_info__().devices() if str(each).startswith("cuda")), None)


def tried(example: Example, printed: Mapping[str, str]) -> Result:
    """Compile and run an example made of printed definitions."""
    changes = [str(each) for each in example.changes]
    try:
        source = example.source(printed)
        device = gpu()
        for types in example.types:
            kernel = xp.kernel.RawKernel(source, f"{example.kernel}<{types}>" if types else example.kernel)
            for capability in CAPABILITIES:
                kernel.compile(capability)
            if device is not None:
                _run(example, kernel, DTYPES[_array_type(types)], device)
    except CompileError as error:
        return Result(example.name, changes, f"does not compile: {str(error).partition(chr(10) * 2)[0]}")
    except AssertionError as error:
        return Result(example.name, changes, f"wrong: {error}")
    except Exception as error:  # the other examples are tried all the same
        return Result(example.name, changes, f"failed: {type(error).__name__}: {error}")
    return Result(example.name, changes, "compiled" if device is None else "ran")


def _array_type(types: str) -> str:
    """The first of an instance's types that is not a number."""
    return next((each for each in types.replace(" ", "").split(",") if not each.isdigit()), "") or "float"


def _run(example: Example, kernel: Any, dtype: str, device: str) -> None:
    """Run an instance twice on torch tensors, and compare its result with NumPy's."""
    import torch

    arrays = example.arrays()
    wanted = example.wanted(arrays)
    for _ in range(2):
        given = {name: torch.tensor(x, dtype=getattr(torch, dtype), device=device) for name, x in arrays.items()}
        example.call(kernel, **given)
        found = given["out"].double().cpu().numpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=f"{example.name}, {dtype}")
