"""NVRTC compiles the kernels of scatter reductions, and generates the intended instructions."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.scatter import Addition, addition_source, plan_addition
from xpops.engine.cuda.kernels.segments import plan_reduction
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.scatter import plan_placement, plan_segments, target_strides, widest_pack

ARCHITECTURES = (80, 90, 100)
GPU = Device("cuda")
POLICY = tuning_of(90).scatter


def layouts(dtype: Any, targets: int, sources: int, *row: int) -> tuple[Layout, Layout, Layout]:
    out, source = (layout_of(dtype, (count, *row), None, GPU) for count in (targets, sources))
    return out, layout_of(dt.int64, source.shape, (1, *(0 for _ in row)), GPU), source


def addition(dtype: Any, targets: int, sources: int, *row: int, capability: int = 90) -> str:
    out, index, source = layouts(dtype, targets, sources, *row)
    placement = plan_placement(index.shape, *target_strides(out, 0, index), widest_pack(dtype, 16))
    addition = plan_addition(out, source.size, placement.pack, capability)
    return addition_source(dtype, index.dtype, placement, addition, POLICY)


@pytest.mark.parametrize("capability", ARCHITECTURES)
@pytest.mark.parametrize("dtype", [dt.int8, dt.uint32, dt.int64, dt.float16, dt.bfloat16, dt.float32, dt.float64])
def test_additions_compile(dtype: Any, capability: int) -> None:
    for shape in ((2**20, 2**26), (2**20, 2**10), (100, 2**20), (2**14, 2**20, 128), (2**14, 2**20, 66)):
        assert compile_cubin("scatter_add", addition(dtype, *shape, capability=capability), capability)


@cache
def compiled(code: str, capability: int) -> bytes:
    """Many reductions have some kernels in common."""
    return compile_cubin("scatter_reduce", code, capability)


@pytest.mark.parametrize("capability", ARCHITECTURES)
@pytest.mark.parametrize("reduction", ["sum", "prod", "min", "max", "mean"])
def test_reductions_compile(reduction: str, capability: int) -> None:
    for dtype in (dt.int8, dt.uint64, dt.bfloat16, dt.float32, dt.float64):
        for shape in ((2**20, 2**26), (2**14, 2**20, 128), (3, 200)):
            out, index, source = layouts(dtype, *shape)
            call = plan_reduction(out, 0, index, source, reduction, dtype == dt.float32, POLICY)
            sources = [call.keys_source(), call.bounds_source(), call.reduce_source()]
            for code in (*sources, *(call.chunks_source(level) for level, _ in enumerate(call.chunks))):
                assert compiled(code, capability)


INSTRUCTIONS = [
    (addition(dt.float16, 2**14, 2**20, 128), r"RED.*F16x8"),
    (addition(dt.bfloat16, 2**14, 2**20, 128), r"RED.*BF16x8"),
    (addition(dt.float32, 2**14, 2**20, 128), r"RED.*F32x4"),
    (addition(dt.float32, 2**14, 2**20, 66), r"RED.*F32x2"),
    (addition(dt.float16, 2**20, 2**26), r"RED.*ADD.F32"),
    (addition(dt.float16, 2**20, 2**10), r"RED.*ADD.F16x2"),
    (addition(dt.float64, 2**20, 2**26), r"RED.*ADD.F64"),
]


@pytest.mark.skipif(which("cuobjdump") is None, reason="no cuobjdump")
@pytest.mark.parametrize(("source", "instruction"), INSTRUCTIONS, ids=[pattern for _, pattern in INSTRUCTIONS])
def test_instructions(source: str, instruction: str, tmp_path: Path) -> None:
    cubin = tmp_path / "kernel.cubin"
    cubin.write_bytes(compile_cubin("scatter_add", source, 90))
    command = ["cuobjdump", "--dump-sass", str(cubin)]
    assert re.search(instruction, subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_packs() -> None:
    out, index, _ = layouts(dt.float32, 20, 50, 6, 64)
    assert plan_placement(index.shape, *target_strides(out, 0, index), 4)[:3] == (4, 50 * 6 * 16, 2)
    assert plan_placement(index.shape, *target_strides(out, 2, index), 4).pack == 1
    assert plan_segments(out, 0, index)[:4] == (1, 50, 384, 20)
    assert plan_segments(out, 0, layout_of(dt.int64, (50, 6, 60), (1, 0, 0), GPU))[:4] == (1, 18000, 1, 7680)


def test_large_arrays() -> None:
    out, index, source = layouts(dt.int8, 2**32, 2**33)
    segments = plan_segments(out, 0, index)
    assert (segments.key, segments.position) == (dt.uint64, dt.int64)
    assert plan_reduction(out, 0, index, source, "sum", True, POLICY).index_bits == 64
    assert plan_placement(index.shape, *target_strides(out, 0, index), 16).index_bits == 64
    assert plan_segments(layouts(dt.int8, 2**16, 9)[0], 0, index).key == dt.uint32
    assert Addition(dt.float32, 0, 1) == plan_addition(layouts(dt.float32, 2**32, 9)[0], 2**33, 1, 90)
