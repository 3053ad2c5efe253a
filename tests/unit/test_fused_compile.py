"""Fused functions compile for every supported architecture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import xpops as xp
from tests.helpers.stacks import ALLOWED
from tests.unit.test_fused_passes import gradient_of, layer_norm
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.dispatch.fusion import programs
from xpops.dispatch.fusion.programs import sources
from xpops.dispatch.fusion.recording import record
from xpops.dispatch.fusion.widening import without_rounding
from xpops.engine.cuda.fused.elementwise import fused_source
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.runtime.elf import resources

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
    "transposed bytes": (  # shared memory for nine operands, whose rows have padding of four bytes each
        lambda *given: xp.logical_or(given[0], sum(given[1:])),
        (*(vector(dt.int8, 1000, 8),) * 9, *(vector(dt.int8, 1000, 8, strides=(1, 1000)),) * 9),
    ),
    "boxed": (
        lambda x, y, a: x * a + y,
        (vector(dt.float16, 4, 12, 999, 3), vector(dt.float16, 4, 12, 999, 3, strides=(3, 12, 144, 1)), float),
    ),
    "long": (lambda x: xp.sin(x) ** 2 + xp.cos(x) ** 2, (vector(dt.float64),)),
}


MATRIX = vector(dt.float32, 4096, 4096)
REDUCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "whole": (lambda x, y: xp.mean((x - y) ** 2), (MATRIX, MATRIX), "reduce_rows<CompensatedMean"),
    "odd": (lambda x, y: xp.sum(x * y), (vector(dt.float32, 2**20 + 1),) * 2, "256, 256, 1, 4, 4, true, true, false>"),
    "columns": (lambda x, y: xp.sum(x * y, axis=0), (MATRIX, vector(dt.float32, 4096)), "reduce_columns<"),
    "pivots": (lambda x: xp.std(x * 2, axis=0, correction=1), (MATRIX,), "reduce_columns<Std"),
    "pivots of halves": (lambda x, y: xp.var(x + y), (vector(dt.float16), vector(dt.bfloat16)), "reduce_rows<Var"),
    "complex": (lambda z, a: xp.prod(z * a), (vector(dt.complex128), complex), "Mode::kScalar"),
    "truth": (lambda x, n: xp.all(x > n), (vector(dt.int8), int), "reduce_rows<All"),
    "gathered": (
        lambda x: xp.max(xp.exp(x), axis=1),
        (vector(dt.float32, 99, 77, strides=(-154, 2)),),
        "reduce_rows<Max",
    ),
    "outlined": (lambda x: xp.sum(xp.sin(x), axis=0), (vector(dt.float64, 512, 512),), "Outlined<Sin>"),
    "rows": (
        lambda x, g: (x - xp.mean(x, axis=1, keepdims=True)) / xp.std(x, axis=1, keepdims=True) * g,
        (MATRIX, vector(dt.float32, 4096)),
        "fused_rows<",
    ),
}


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize("name", CASES)
def test_every_kind(name: str, capability: int) -> None:
    function, specs = CASES[name]
    for part in record("fused", function, specs).parts:
        source = fused_source(part.expression, part.outs, capability).source
        assert ("Tiled" in source) == name.startswith("transposed")
        assert compile_cubin("fused", source, capability)


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_every_kind_of_reduction(name: str, capability: int) -> None:
    function, specs, part = REDUCTIONS[name]
    (source,) = sources(record("fused", function, specs))
    assert part in source
    assert compile_cubin("fused", source, capability)


@pytest.mark.parametrize("capability", [80, 90, 100, 120])
@pytest.mark.parametrize("dtype", [dt.float32, dt.bfloat16], ids=str)
@pytest.mark.parametrize("length", [64, 512, 2048, 8192])
def test_rows_and_sums_along_columns(length: int, dtype: Any, capability: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient of a norm with a scale. The second kernel adds up the sums of blocks."""

    def function(x: Any, g: Any, scale: Any) -> tuple[Any, ...]:
        root = xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-5)
        normed, weighted = x / root, g * scale
        return (weighted - normed * xp.mean(weighted * normed, axis=-1, keepdims=True)) / root, xp.sum(
            g * normed, axis=0
        )

    monkeypatch.setattr(programs, "CAPABILITY", capability)
    specs = vector(dtype, 2**17, length), vector(dtype, 2**17, length), vector(dtype, length)
    rows, sums = sources(record("fused", function, specs))
    assert "fused_rows_and_columns<" in rows
    assert "add_column_sums<" in sums
    assert compile_cubin("fused", sums, capability)
    found = resources(compile_cubin("fused", rows, capability), "xpops_kernel", capability)
    assert found.local_bytes <= ALLOWED["fused_rows_and_columns"]


@pytest.mark.parametrize("capability", [80, 90, 100, 120])
@pytest.mark.parametrize("dtype", [dt.float32, dt.bfloat16], ids=str)
@pytest.mark.parametrize("length", [64, 768, 1024, 4096])
def test_gradients_of_a_layer_norm(length: int, dtype: Any, capability: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread holds up to 32 elements of a row and their sums."""
    monkeypatch.setattr(programs, "CAPABILITY", capability)
    specs = *(vector(dtype, 2**17, length),) * 2, *(vector(dtype, length),) * 2
    gradient = without_rounding("fused", gradient_of(layer_norm), specs)
    rows, sums = sources(record("fused", gradient, specs, exact=False))  # one kernel adds up and rounds both sums
    assert "fused_rows_and_columns<" in rows
    assert compile_cubin("fused", sums, capability)
    found = resources(compile_cubin("fused", rows, capability), "xpops_kernel", capability)
    assert found.local_bytes <= ALLOWED["fused_rows_and_columns"]


@pytest.mark.parametrize("capability", [80, 90, 100, 120])
@pytest.mark.parametrize("dtype", [dt.float32, dt.float16], ids=str)
def test_long_rows(dtype: Any, capability: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster has several blocks if there are clusters."""
    monkeypatch.setattr(programs, "CAPABILITY", capability)
    specs = vector(dtype, 4096, 131_072), vector(dtype, 131_072)
    (source,) = sources(record("fused", REDUCTIONS["rows"][0], specs))
    assert ("__cluster_dims__" in source) == (capability >= 90)
    assert compile_cubin("fused", source, capability)
