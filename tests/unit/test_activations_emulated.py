"""Activations as their kernels do it, without a GPU; that they compile; that every row has what it takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers import activations
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from tests.helpers.values import assert_within, ulp_error, unary_values
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.elementwise import planned
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.ops.activation import ACTIVATIONS
from xpops.plan.result import result_layout
from xpops.plan.signature import Operand, signature_of

NDArray = np.ndarray[Any, Any]

ROOT = Path(__file__).parents[2]
PARAMETERS = {"leaky_relu": (0.01,), "softplus": (1.0, 20.0)}
SMOOTH = sorted(activations.CALLS)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def emulated(name: str, x: NDArray, parameters: tuple[float, ...] | None = None, out: DType | None = None) -> NDArray:
    given = PARAMETERS.get(name, ()) if parameters is None else parameters
    engine, op, layout = EmulatedEngine(), ACTIVATIONS[name], layout_on_gpu(x)
    operands: tuple[Operand, ...] = (layout, *(float,) * len(given))
    signature = signature_of(op, operands, out)
    result = result_layout(signature, operands, layout.device)
    return run(engine, (result,), engine.elementwise(op, signature, operands, result), x, *given)[0]


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16], ids=str)
def test_every_half(name: str, dtype: Any) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    error = ulp_error(emulated(name, x), activations.reference(name, x))
    assert np.max(error) <= 0.501
    assert np.sum(error > 0.5) < 30  # next to the nearest number


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("dtype", [dt.float32, dt.float64], ids=str)
def test_smooth(name: str, dtype: Any) -> None:
    random = np.random.default_rng(1)
    parts = [random.uniform(-40, 40, 5000), random.uniform(-750 if dtype == dt.float64 else -110, 0, 5000)]
    x = np.concatenate([unary_values(dtype), *(part.astype(dtype) for part in parts)])
    assert_within(emulated(name, x), activations.reference(name, x), 6, x)


@pytest.mark.parametrize("dtype", [*dt.REAL_FLOATS, dt.int8, dt.uint32], ids=str)
def test_relu(dtype: Any) -> None:
    x = unary_values(dtype)
    wanted = np.where(x <= 0, dtype.type(0), x)
    np.testing.assert_array_equal(emulated("relu", x).astype(np.longdouble), wanted.astype(np.longdouble))


@pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)
def test_leaky_relu(dtype: Any) -> None:
    x = unary_values(dtype)
    wide = np.float64 if dtype == dt.float64 else np.float32
    wanted = np.where(x > 0, x.astype(wide), x.astype(wide) * wide(0.3)).astype(dtype)
    np.testing.assert_array_equal(emulated("leaky_relu", x, (0.3,)).astype(np.longdouble), wanted.astype(np.longdouble))


@pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)
@pytest.mark.parametrize("parameters", [(0.5, 5.0), (-2.0, 20.0), (4.0, 1e3)], ids=str)
def test_softplus(dtype: Any, parameters: Any) -> None:
    x = np.linspace(-20, 20, 1001).astype(dtype)
    wanted = activations.softplus(x.astype(np.longdouble), *parameters)
    assert_within(emulated("softplus", x, parameters), wanted, 4.5 if dtype in (dt.float32, dt.float64) else 0.501, x)


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
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_another_dtype(name: str, dtypes: Any) -> None:
    dtype, out = dtypes
    x = np.linspace(-20, 20, 99).astype(dtype)
    found = emulated(name, x, out=out)
    assert found.dtype == out
    wanted = emulated(name, x.astype(np.float64))
    if out.itemsize > 2:
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-44)
    else:
        assert_within(found, wanted.astype(np.longdouble), 0.501, x)


@pytest.mark.parametrize("name", ["gelu", "gelu_tanh", "silu", "softplus"])
@pytest.mark.parametrize(("out", "far"), [(dt.bfloat16, 256), (dt.float16, 2048)], ids=str)
def test_float64_is_rounded_to_a_half_once(name: str, out: Any, far: int) -> None:
    """So far from 0 each is the identity. Beside a tie of the half type, float32 would hold the tie itself."""
    x = far + np.array([1 + 1e-9, 1 - 1e-9, 3 + 1e-9, 3 - 1e-9])
    assert (emulated(name, x, out=out).astype(np.float64) - far).tolist() == [2, 0, 4, 2]


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
