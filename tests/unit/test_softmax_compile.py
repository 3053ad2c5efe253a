"""NVRTC compiles the kernels of softmax. It needs no GPU."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.emulator import SHARED
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.softmax import softmax_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import softmax_policy, staging_policy
from xpops.plan.softmax import plan_softmax

GPU = Device("cuda")
CASES = [
    ((16384, 16384), 1, dt.float32, dt.float32),
    ((16384, 16384), 1, dt.float16, dt.float32),
    ((1000, 33), 1, dt.bfloat16, dt.float8_e5m2),
    ((4096, 128256), 1, dt.float32, dt.float16),
    ((4, 1 << 20), 1, dt.float64, dt.float64),
    ((64, 256, 4096), 1, dt.float32, dt.float32),
    ((64, 256, 4096), 1, dt.float16, dt.float16),
    ((16384, 1 << 18), 0, dt.float16, dt.float16),
    ((1 << 20, 8), 0, dt.float32, dt.bfloat16),
    ((8, 1 << 14, 1 << 15), 2, dt.float32, dt.float32),
    ((512, 1 << 18), 1, dt.float32, dt.float32),
    ((512, 100_001), 1, dt.bfloat16, dt.bfloat16),
    ((512, 100_001), 1, dt.float16, dt.float32),
    ((2048, 30_001), 1, dt.float64, dt.float64),
    ((512, 513), 1, dt.float16, dt.float8_e4m3fn),
    ((1 << 20, 7), 1, dt.float16, dt.float16),
    ((1 << 20, 11), 1, dt.bfloat16, dt.float32),
    ((8000, 256), 0, dt.float32, dt.float32),
]
GAPS = [((512, 1001), (1100, 1)), ((512, 1001), (4000, 2)), ((64, 512, 100), (60_000, 110, 1))]


@pytest.mark.parametrize(("log", "capability"), [(False, 80), (False, 90), (True, 90), (False, 100), (False, 120)])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_kernel(case: Any, log: bool, capability: int) -> None:
    shape, axis, dtype, result = case
    x, out = (layout_of(each, shape, None, GPU) for each in (dtype, result))
    check(x, axis, out, log, capability)


@pytest.mark.parametrize("dtype", [dt.float32, dt.bfloat16], ids=str)
@pytest.mark.parametrize("case", GAPS, ids=str)
def test_operands_with_gaps(case: Any, dtype: Any) -> None:
    shape, strides = case
    x, out = (layout_of(dtype, shape, each, GPU) for each in (strides, None))
    for axis in range(len(shape)):
        check(x, axis, out, False, 90)


def check(x: Layout, axis: int, out: Layout, log: bool, capability: int) -> None:
    width, staging = 8 if x.dtype == dt.float64 else 4, staging_policy(capability, 132, SHARED[capability])
    plan = plan_softmax(x, axis, out, log, width, softmax_policy(capability), staging)
    assert capability >= 90 or plan.cluster == 1
    for way in plan.kernels:
        assert compile_cubin("softmax", softmax_glue(x, out, log, plan, way), capability)
