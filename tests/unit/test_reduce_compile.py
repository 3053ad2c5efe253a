"""Every reducer, and every kernel of the reduce family, compiles for every supported architecture."""

from __future__ import annotations

from typing import Any

import pytest

from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import contiguous_strides, layout_of
from xpops.engine.cuda.kernels.reduce import planned
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import reduce_policy
from xpops.ops.reduction import NUMBER_POSITIONS, REDUCTIONS, reduction_dtypes

GPU = Device("cuda")
ROWS = {**REDUCTIONS, **NUMBER_POSITIONS}


def source(name: str, dtype: Any, shape: tuple[int, ...], axes: tuple[int, ...], **options: Any) -> str:
    op = ROWS[name]
    x = layout_of(dtype, shape, options.get("strides"), GPU, options.get("align", 16))
    loop, result = reduction_dtypes(op, dtype)
    kept = tuple(1 if i in axes else length for i, length in enumerate(shape))
    strides = tuple(0 if i in axes else stride for i, stride in enumerate(contiguous_strides(kept)))
    out, policy = layout_of(result, kept, None, GPU), reduce_policy(90, 132)
    return planned(op, x, axes, loop, out, strides, 0.0, policy, options.get("inputs", 1))[1]


FAMILIES: dict[str, Any] = {
    "split rows": ((2**22,), (0,)),
    "block rows": ((64, 2**13), (1,)),
    "warp rows": ((2**16, 1024), (1,)),
    "short rows": ((2**16, 7), (1,)),
    "many short rows": ((2**20, 23), (1,)),
    "very short rows": ((2**20, 3), (1,)),
    "columns": ((64, 2**16), (0,)),
    "split columns": ((2**16, 64), (0,)),
    "64-bit": ((2**16, 2**16), (0,)),
    "two axes": ((64, 64, 64), (0, 2)),
}


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_kernel(family: str, capability: int) -> None:
    assert compile_cubin("sum", source("sum", dt.float32, *FAMILIES[family]), capability)


@pytest.mark.parametrize("capability", [80, 90, 100])
def test_ragged_rows(capability: int) -> None:
    text = source("max", dt.bfloat16, (64, 1001), (1,), align=2)
    assert "true, false, false>" in text
    assert compile_cubin("max", text, capability)


@pytest.mark.parametrize("name", ROWS)
def test_every_reducer(name: str) -> None:
    for dtype in (dt.float16, dt.complex128, dt.uint8, dt.bool):
        if dtype in dt.CATEGORIES[ROWS[name].accepts]:
            assert compile_cubin(name, source(name, dtype, (1000, 33), (1,)), 90)


@pytest.mark.parametrize("capability", [80, 90, 100])
def test_inner_products(capability: int) -> None:
    for name, dtype in (("sum", dt.bfloat16), ("sum", dt.complex64), ("any", dt.bool)):
        assert compile_cubin(name, source(name, dtype, (64, 1024), (1,), inputs=2), capability)


@pytest.mark.parametrize("name", ["argmax", "argmin", "nanargmax", "nanargmin"])
def test_positions_beyond_32_bits(name: str) -> None:
    functor = ROWS[name].functor
    for length, wanted in ((2**31 - 1, functor), (2**31, f"Long{functor}")):
        text = source(name, dt.int8, (length,), (0,))
        assert f"<{wanted}<compute_t<int8>>," in text
        assert compile_cubin(name, text, 90)
