"""NVRTC compiles the kernels of softmax. It needs no GPU."""

from __future__ import annotations

from typing import Any

import pytest

from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.softmax import softmax_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.softmax import Way, plan_softmax

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
]


@pytest.mark.parametrize(("log", "capability"), [(False, 80), (False, 90), (True, 90), (False, 100)])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_kernel(case: Any, log: bool, capability: int) -> None:
    shape, axis, dtype, result = case
    x, out = (layout_of(each, shape, None, GPU) for each in (dtype, result))
    plan = plan_softmax(x, axis, 8 if dtype == dt.float64 else 4, 132, tuning_of(90).softmax)
    ways = [plan.way, "from_states"] if plan.way is Way.SPLIT else [plan.way]
    for way in ways:
        assert compile_cubin("softmax", softmax_glue(x, out, log, plan, way), capability)
