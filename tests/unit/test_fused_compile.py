"""Fused functions compile for every architecture that we name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import xpops as xp
from xpops.api import fusion
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.engine.cuda.compile import compile_cubin
from xpops.engine.cuda.fused import fused_source

GPU = Device("cuda")


def vector(dtype: Any, *shape: int, strides: Any = None) -> Any:
    return layout_of(dtype, shape or (1 << 20,), strides, GPU, 256)


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "gelu": (lambda x: 0.5 * x * (1 + xp.tanh(0.798 * (x + 0.0447 * x * x * x))), (vector(dt.float32),)),
    "halves": (lambda x, y: xp.exp(x) * y + 1, (vector(dt.float16), vector(dt.bfloat16))),
    "several": (lambda x, y: (x + y, x < y, x), (vector(dt.float64), vector(dt.bool))),
    "complex": (lambda x, a: xp.conj(x) * a / 2j, (vector(dt.complex64), complex)),
    "integers": (lambda x, n: (x // n) ** 2 | 3, (vector(dt.uint8), int)),
    "transposed": (
        lambda x, y, a: x * a + y,
        (vector(dt.float32, 512, 512), vector(dt.float32, 512, 512, strides=(1, 512)), float),
    ),
    "long": (lambda x: xp.sin(x) ** 2 + xp.cos(x) ** 2, (vector(dt.float64),)),
}


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize("name", CASES)
def test_every_kind(name: str, capability: int) -> None:
    function, specs = CASES[name]
    for part in fusion._traced(fusion.fuse(function), specs).parts:
        source = fused_source(part.expression, part.outs, capability).source
        assert ("Tiled" in source) == (name == "transposed")
        assert compile_cubin("fused", source, capability)
