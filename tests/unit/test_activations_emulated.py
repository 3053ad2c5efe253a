"""Activation kernels without a GPU: their results, that they compile, and that every row is complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpops as xp
from conformance.references import reference_of, softplus
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from tests.helpers.rows import parameters
from tests.helpers.values import assert_within, unary_values
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.elementwise import planned
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.operator import Operator
from xpops.plan.result import result_layout
from xpops.plan.signature import Operand, signature_of
from xpops.testing import ulp_error

NDArray = np.ndarray[Any, Any]

ROOT = Path(__file__).parents[2]
ROWS = [pytest.param(op, dtype, id=f"{op.name}-{dtype}") for op in ACTIVATIONS.values() for dtype in dt.REAL_FLOATS]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def emulated(op: Operator, x: NDArray, *numbers: float, out: DType | None = None) -> NDArray:
    engine, layout, numbers = EmulatedEngine(), layout_on_gpu(x), numbers or op.defaults
    operands: tuple[Operand, ...] = (layout, *(float,) * len(numbers))
    signature = signature_of(op, operands, out)
    result = result_layout(signature, operands, layout.device)
    return run(engine, (result,), engine.elementwise(op, signature, operands, result), x, *numbers)[0]


@pytest.mark.parametrize("op", [op for op in ACTIVATIONS.values() if op.narrow], ids=str)
@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16], ids=str)
def test_every_half(op: Operator, dtype: Any) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    error = ulp_error(emulated(op, x), reference_of(op)(x.astype(np.longdouble), *op.defaults))
    assert np.max(error) <= 0.501
    assert np.sum(error > 0.5) < 30  # next to the nearest number


@pytest.mark.parametrize(("op", "dtype"), ROWS)
def test_values(op: Operator, dtype: Any) -> None:
    random = np.random.default_rng(1)
    parts = [random.uniform(-40, 40, 5000), random.uniform(-750 if dtype == dt.float64 else -110, 0, 5000)]
    x = np.concatenate([unary_values(dtype), *(part.astype(dtype) for part in parts)])
    for numbers in parameters(op, dtype):
        wanted = reference_of(op)(x.astype(np.longdouble), *numbers)
        assert_within(emulated(op, x, *map(float, numbers)), wanted, op.error(dtype), x)


@pytest.mark.parametrize(
    ("op", "dtype"),
    [
        (op, dtype)
        for op in ACTIVATIONS.values()
        for dtype in (dt.int8, dt.uint32)
        if dtype in dt.CATEGORIES[op.accepts]
    ],
    ids=str,
)
def test_integers(op: Operator, dtype: Any) -> None:
    x = unary_values(dtype)
    np.testing.assert_array_equal(emulated(op, x), reference_of(op)(x, *op.defaults))


@pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)
@pytest.mark.parametrize("numbers", [(0.5, 5.0), (-2.0, 20.0), (4.0, 1e3)], ids=str)
def test_softplus(dtype: Any, numbers: Any) -> None:
    x = np.linspace(-20, 20, 1001).astype(dtype)
    wanted = softplus(x.astype(np.longdouble), *numbers)
    assert_within(
        emulated(ACTIVATIONS["softplus"], x, *numbers), wanted, 4.5 if dtype in (dt.float32, dt.float64) else 0.501, x
    )


@pytest.mark.parametrize(
    "dtypes",
    [
        (dt.float32, dt.float16),
        (dt.float16, dt.float32),
        (dt.float64, dt.bfloat16),
        (dt.bfloat16, dt.float8_e5m2),
    ],
    ids=str,
)
@pytest.mark.parametrize("op", ACTIVATIONS.values(), ids=str)
def test_another_dtype(op: Operator, dtypes: Any) -> None:
    dtype, out = dtypes
    x = np.linspace(-20, 20, 99).astype(dtype)
    found = emulated(op, x, out=out)
    assert found.dtype == out
    wanted = emulated(op, x.astype(np.float64))
    if out.itemsize > 2:
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-44)
    else:
        assert_within(found, wanted.astype(np.longdouble), 0.501, x)


@pytest.mark.parametrize("name", ["gelu", "gelu_tanh", "silu", "softplus"])
@pytest.mark.parametrize(("out", "far"), [(dt.bfloat16, 256), (dt.float16, 2048)], ids=str)
def test_float64_is_rounded_to_a_half_once(name: str, out: Any, far: int) -> None:
    """Far from 0 each is the identity. x is near a tie of the 16-bit type; rounded to float32, it would be the tie."""
    x = far + np.array([1 + 1e-9, 1 - 1e-9, 3 + 1e-9, 3 - 1e-9])
    assert (emulated(ACTIVATIONS[name], x, out=out).astype(np.float64) - far).tolist() == [2, 0, 4, 2]


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize("op", ACTIVATIONS.values(), ids=str)
def test_every_row_compiles(op: Any, capability: int) -> None:
    for dtype, out in (
        *((each, None) for each in dt.REAL_FLOATS),
        (dt.float32, dt.float16),
        (dt.float64, dt.float8_e5m2),
    ):
        x = layout_of(dtype, (4096,), None, Device("cuda"))
        operands: tuple[Operand, ...] = (x, *(float,) * op.parameters)
        signature = signature_of(op, operands, out)
        glue = planned(op, signature, operands, result_layout(signature, operands, x.device), capability)[1]
        assert compile_cubin(op.name, glue.source, capability)


@pytest.mark.parametrize("op", ACTIVATIONS.values(), ids=str)
def test_a_row_has_its_functor_and_its_function(op: Any) -> None:
    header = (ROOT / "native/xpops/math" / f"{op.header}.cuh").read_text()
    assert re.search(rf"\bstruct {op.functor}\b", header)
    assert op.narrow == bool(re.search(rf"\bstruct Narrow{op.functor}\b", header))
    assert callable(getattr(xp.nn, op.public))
