"""Operators of derivatives: the rows that no public function has, on the CPU and without a GPU."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpops as xp
from conformance.references import reference_of
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from tests.helpers.values import assert_within, unary_values
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.dispatch import elementwise
from xpops.engine.cuda.kernels.elementwise import planned
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.ops.activation import BACKWARD
from xpops.ops.operator import Operator
from xpops.plan.result import result_layout
from xpops.plan.signature import signature_of
from xpops.testing import ulp_error

NDArray = np.ndarray[Any, Any]

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
rows = pytest.mark.parametrize("op", BACKWARD.values(), ids=str)
wide = pytest.mark.parametrize("dtype", [dt.float32, dt.float64], ids=str)
halves = pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16], ids=str)


def emulated(op: Operator, g: NDArray, x: NDArray, out: Any = None) -> NDArray:
    engine, operands = EmulatedEngine(), (layout_on_gpu(g), layout_on_gpu(x))
    signature = signature_of(op, operands, out)
    result = result_layout(signature, operands, operands[0].device)
    return run(engine, (result,), engine.elementwise(op, signature, operands, result), g, x)[0]


def on_cpu(op: Operator, g: NDArray, x: NDArray) -> NDArray:
    return elementwise(op, (xp.asarray(g), xp.asarray(x))).to_numpy()


def cotangents(x: NDArray) -> NDArray:
    """Numbers that are exact in every dtype, some of them negative."""
    return np.resize(np.array([1.0, -0.5, 3.0, 0.25, -2.0]), x.shape).astype(x.dtype)


@rows
@halves
def test_every_half(op: Operator, dtype: Any) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    g = cotangents(x)
    error = ulp_error(emulated(op, g, x), reference_of(op)(g.astype(np.longdouble), x.astype(np.longdouble)))
    assert np.max(error) <= 0.51
    assert np.sum(error > 0.5) < 60  # next to the nearest number


@rows
@halves
def test_a_half_of_float32(op: Operator, dtype: Any) -> None:
    """What fused functions of halves do."""
    x = np.linspace(-20, 20, 999, dtype=np.float32)
    g = cotangents(x)
    found = emulated(op, g, x, dtype)
    assert found.dtype == dtype
    assert_within(found, reference_of(op)(g.astype(np.longdouble), x.astype(np.longdouble)), 0.51, x)


@rows
@wide
@pytest.mark.parametrize("function", [emulated, on_cpu])
def test_values(op: Operator, dtype: Any, function: Any) -> None:
    """Where the slope is a normal number, also near its zero: as near as the reference has the digits."""
    random = np.random.default_rng(1)
    is_double = dtype == dt.float64
    near = np.logspace(-2.5 if is_double else -7, -1, 500)
    near = -0.7517915246935645 * (1 + np.concatenate([near, -near]))
    parts = [random.uniform(-13, 13, 5000), random.uniform(-37 if is_double else -13, 0, 5000), near]
    x = np.concatenate([part.astype(dtype) for part in parts])
    g = cotangents(x)
    wanted = reference_of(op)(g.astype(np.longdouble), x.astype(np.longdouble))
    assert_within(function(op, g, x), wanted, op.error(dtype), x)


@rows
@pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)
@pytest.mark.parametrize("function", [emulated, on_cpu])
def test_special_values(op: Operator, dtype: Any, function: Any) -> None:
    x = unary_values(dtype, 0)
    g = cotangents(x)
    wanted = reference_of(op)(g.astype(np.longdouble), x.astype(np.longdouble)).astype(dtype)
    limits = xp.finfo(dtype)
    found = function(op, g, x).astype(np.float64)
    tolerance = {"rtol": 8 * float(limits.eps), "atol": 2 * float(limits.smallest_normal)}
    np.testing.assert_allclose(found, wanted.astype(np.float64), **tolerance)
    assert np.isnan(function(op, g, np.full_like(x, np.nan)).astype(np.float64)).all()


@rows
@pytest.mark.parametrize("capability", [80, 90, 100, 120])
@pytest.mark.parametrize("dtypes", [*((each, None) for each in dt.REAL_FLOATS), (dt.float32, dt.bfloat16)], ids=str)
def test_every_row_compiles(op: Operator, capability: int, dtypes: Any) -> None:
    operands = (layout_of(dtypes[0], (4096,), None, Device("cuda")),) * 2
    signature = signature_of(op, operands, dtypes[1])
    glue = planned(op, signature, operands, result_layout(signature, operands, operands[0].device), capability)[1]
    assert compile_cubin(op.name, glue.source, capability)


@rows
def test_a_row_has_its_functors(op: Operator) -> None:
    header = (ROOT / "native/xpops/math" / f"{op.header}.cuh").read_text()
    assert re.search(rf"\bstruct {op.functor}\b", header)
    assert re.search(rf"\bstruct Narrow{op.functor}\b", header)
