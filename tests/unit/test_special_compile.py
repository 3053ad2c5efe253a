"""Kernels of special functions: NVRTC compiles each in little time; the emulator runs some."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from tests.helpers.special_cases import CASES
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.elementwise import planned
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.ops.operator import Operator
from xpops.ops.special import SPECIAL
from xpops.plan.result import result_layout
from xpops.plan.signature import signature_of
from xpops.testing import ulp_error

NDArray = np.ndarray[Any, Any]
GPU = Device("cuda")
# Ten times the slowest kernel's time on a machine without other work.
TIME_LIMIT = 10.0


@pytest.mark.parametrize("op", SPECIAL.values(), ids=str)
def test_every_operator(op: Operator) -> None:
    """In float64, whose kernels are the longest."""
    operands = [layout_of(dt.float64, (1 << 16,), None, GPU, 16)] * op.arity
    signature = signature_of(op, tuple(operands))
    source = planned(op, signature, tuple(operands), result_layout(signature, tuple(operands), GPU), 90)[1].source
    start = time.perf_counter()
    assert compile_cubin(op.name, source, 90)
    assert time.perf_counter() - start < TIME_LIMIT


@pytest.mark.parametrize("name", ["erfcx", "gammainc", "betaincinv", "zeta", "k1e"])
@pytest.mark.parametrize("dtype", [dt.bfloat16, dt.float32, dt.float64], ids=str)
def test_kernels(name: str, dtype: Any) -> None:
    """The first operand broadcasts. Halves are computed in float32."""
    op, case = SPECIAL[name], CASES[name]
    computed = dt.float32 if dtype == dt.bfloat16 else dtype
    operands = [x.astype(dtype) for x in case.operands(computed, 300, name)]
    if op.arity > 1:
        operands[0] = operands[0][:1]
    engine, layouts = EmulatedEngine(), tuple(map(layout_on_gpu, operands))
    signature = signature_of(op, layouts)
    out = result_layout(signature, layouts, layouts[0].device)
    (got,) = run(engine, (out,), engine.elementwise(op, signature, layouts, out), *operands)
    whole = [np.broadcast_to(x.astype(computed), (300,)) for x in operands]
    places = slice(None, None, 20)
    wanted = case.exact([x[places] for x in whole], got[places].astype(computed))
    assert np.max(ulp_error(got[places], wanted)) <= op.error(dtype)


def test_fused_kernels_compile() -> None:
    def expression(x: Any) -> Any:
        return xp.special.ndtr(x) * xp.special.gammainc(2.0, x * x) + xp.special.psi(x)

    source = xp.fuse(expression).source(xp.ones((4, 4), dtype=xp.float32, device="cpu"))
    assert all(functor in source for functor in ("Ndtr", "Gammainc", "Psi"))


@pytest.mark.parametrize("name", ["gammainc", "xlogy", "expn", "bdtr"])
def test_kernels_of_integers(name: str) -> None:
    """Arrays of integers and of float32 are computed in float64."""
    op, case = SPECIAL[name], CASES[name]
    *shapes, last = case.operands(dt.float32, 300, name)
    operands = [np.ceil(np.abs(x)).astype(np.int64) for x in shapes] + [last]
    engine, layouts = EmulatedEngine(), tuple(map(layout_on_gpu, operands))
    signature = signature_of(op, layouts)
    assert signature.loop == (dt.float64,) * op.arity
    out = result_layout(signature, layouts, layouts[0].device)
    for _ in range(2):
        (got,) = run(engine, (out,), engine.elementwise(op, signature, layouts, out), *operands)
        assert got.dtype == dt.float64
        places = slice(None, None, 20)
        wanted = case.exact([x[places].astype(np.float64) for x in operands], got[places])
        assert np.max(ulp_error(got[places], wanted)) <= op.error(dt.float64)
