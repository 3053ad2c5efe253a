"""Special functions of 2**23 elements, and random numbers of 2**26: ``python -m benchmarks --special``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import torch

import xpops as xp
from benchmarks.workload import Workload
from tests.helpers.special_cases import CASES, Range

N, DRAWN = 2**23, 2**26
# What the issue asks of random numbers: the least share of the bandwidth of writing.
SHARE = 0.85
# Libraries that want a Python integer where we take an array.
OMITTED = {"multigammaln": {"torch", "cupy"}, "polygamma": {"torch"}}


def rows() -> Iterator[Workload]:
    """Every function of `xpops.special` in both dtypes, and two distributions."""
    for name, dtype in ((name, dtype) for name in xp.special.__all__ for dtype in (torch.float32, torch.float64)):
        # Two names are of one function each: `digamma` is `psi`, and `zeta` has one operand or two.
        ranges = CASES["psi" if name == "digamma" else name].ranges
        yield Workload(
            f"{name} f{8 * dtype.itemsize}",
            partial(_operands, ranges, dtype),
            _named(name),
            (len(ranges) + 1) * dtype.itemsize * N,
            best=1.0,
        )
    yield from _random_rows()


def _operands(ranges: tuple[Range, ...], dtype: torch.dtype) -> dict[str, torch.Tensor]:
    return {str(place): _draw(each).to(dtype) for place, each in enumerate(ranges)}


def _draw(each: Range) -> torch.Tensor:
    """Numbers in the function's domain, as `Range.draw` draws them on the host."""
    low, high = (float(np.log(x)) if each.kind == "log" else x for x in (each.low, each.high))
    drawn = torch.rand(N, device="cuda", dtype=torch.float64) * (high - low) + low
    return {"log": torch.exp, "whole": torch.floor}.get(each.kind, torch.clone)(drawn)


def _named(name: str) -> dict[str, Callable[..., Any]]:
    """The function of this name in each library that has it."""
    libraries = {"xpops": xp.special, "torch": torch.special, "cupy": import_module("cupyx.scipy.special")}
    found = {library: getattr(module, name, None) for library, module in libraries.items()}
    omitted = OMITTED.get(name, set())
    return {library: each for library, each in found.items() if each is not None and library not in omitted}


def _random_rows() -> Iterator[Workload]:
    import cupy

    ours, theirs = xp.random.Generator(1), cupy.random.default_rng(1)
    for dtype in (torch.float32, torch.float64):
        bits = 8 * dtype.itemsize
        options = {"dtype": getattr(xp, f"float{bits}"), "device": "cuda"}
        kind = {"dtype": getattr(cupy, f"float{bits}")}
        on_torch = {"dtype": dtype, "device": "cuda"}
        uniform = {
            "xpops": partial(ours.uniform, size=DRAWN, **options),
            "torch": partial(torch.rand, DRAWN, **on_torch),
            "cupy": partial(theirs.random, DRAWN, **kind),
        }
        normal = {
            "xpops": partial(ours.normal, size=DRAWN, **options),
            "torch": partial(torch.randn, DRAWN, **on_torch),
            "cupy": partial(theirs.standard_normal, DRAWN, **kind),
        }
        for name, compute in (("uniform", uniform), ("normal", normal)):
            yield Workload(f"{name} f{bits}", dict, compute, DRAWN * dtype.itemsize, "write", share=SHARE)
