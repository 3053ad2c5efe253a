"""Parameters and result dtypes of activations, on every device.

On the CPU NumPy computes, or the compiled core.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops as xp
from conformance.references import reference_of, softplus
from tests.helpers.rows import function_of, parameters
from tests.helpers.values import assert_within, unary_values
from xpops.core import dtypes as dt
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.operator import Operator

NDArray = np.ndarray[Any, Any]

nn = xp.nn
RESULTS = (*dt.REAL_FLOATS, *dt.FLOAT8)
rows = pytest.mark.parametrize("op", ACTIVATIONS.values(), ids=str)
# The error bound of docs/accuracy.md, relative to exact results that are rounded once.
BOUND = 8.0
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
floats = pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)


def on(x: Any, device: Any) -> Any:
    return xp.asarray(x, device=device)


@floats
@pytest.mark.parametrize("slope", [0.01, -2.0, 0, np.float32(0.3)], ids=str)
def test_leaky_relu(dtype: Any, slope: Any, device: Any) -> None:
    x = unary_values(dtype)
    wide = np.float64 if dtype == dt.float64 else np.float32
    wanted = np.where(x > 0, x.astype(wide), x.astype(wide) * wide(slope))
    found = nn.leaky_relu(on(x, device), negative_slope=slope).to_numpy()
    assert_within(found, wanted.astype(np.longdouble), 0.5, x)


@floats
@pytest.mark.parametrize("parameters", [(1.0, 20.0), (0.3, 5.0), (-2.0, 20.0), (4.0, 1e3)], ids=str)
def test_softplus(dtype: Any, parameters: Any, device: Any) -> None:
    beta, threshold = parameters
    x = unary_values(dtype)
    rounded = beta if dtype == dt.float64 else float(np.float32(beta))
    wanted = softplus(x.astype(np.longdouble), rounded, threshold)
    found = nn.softplus(on(x, device), beta=beta, threshold=threshold).to_numpy()
    # The product with beta is rounded before it is compared with the threshold.
    near = np.abs(x.astype(np.float64) * rounded - threshold) < 1e-4
    usual = ~near & (np.abs(wanted) > 16 * float(ml_dtypes.finfo(dtype).smallest_normal))
    assert_within(found[usual], wanted[usual], BOUND, x[usual])


@pytest.mark.parametrize("out", RESULTS, ids=str)
@floats
@rows
def test_converted_in_the_same_pass(op: Operator, dtype: Any, out: Any, device: Any) -> None:
    x = np.concatenate([np.linspace(-20, 20, 999), [np.nan, -0.0]]).astype(dtype)
    found = function_of(op)(on(x, device), dtype=out)
    assert found.dtype == out
    wanted = reference_of(op)(x.astype(np.longdouble), *parameters(op, dtype)[0])
    if out == dt.float64 and dtype != dt.float64:  # computed in float32
        found = xp.astype(found, dt.float32)
    assert_within(found.to_numpy(), wanted, max(BOUND, op.ulps[0]) if out in (dt.float32, dt.float64) else 0.52, x)


def test_dtype_of_integers(device: Any) -> None:
    assert nn.relu(on([-1, 2], device), dtype=xp.float32).dtype == xp.float32
    assert nn.sigmoid(on([0, 1], device)).dtype == xp.float64
    assert nn.sigmoid(on([True], device), dtype=xp.float16).dtype == xp.float16


@rows
def test_out_of_another_dtype(op: Operator, device: Any) -> None:
    call = function_of(op)
    x = on(np.linspace(-3, 3, 77).astype(np.float32), device)
    wanted = call(x).to_numpy()
    narrow = xp.empty(77, dtype=xp.float16, device=device)
    assert call(x, dtype=xp.float16, out=narrow) is narrow
    np.testing.assert_allclose(narrow.to_numpy(), wanted, rtol=1e-3)
    call(x, out=x)
    np.testing.assert_array_equal(x.to_numpy(), wanted)


@pytest.mark.parametrize(
    "call",
    [
        nn.gelu,
        lambda x: nn.leaky_relu(x, negative_slope=0.3),
        lambda x: nn.softplus(x, beta=2.0),
        lambda x: nn.gelu(x, dtype=xp.float16),
        lambda x: nn.leaky_relu(x, dtype=xp.float64),
    ],
    ids=range(5),
)
def test_the_second_call_is_not_planned(call: Any, device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = on(np.linspace(-3, 3, 10).astype(np.float32), device)
    wanted = call(x).to_numpy()

    def refuse(*arguments: Any) -> None:
        raise AssertionError("the long way")

    monkeypatch.setattr("xpops.dispatch._first_call", refuse)
    np.testing.assert_array_equal(call(x).to_numpy(), wanted)


def test_another_parameter_is_no_other_kernel(device: Any) -> None:
    x = on(np.array([-1.0, 1.0]), device)
    for slope in (0.5, 0.25, 1, np.float32(2)):
        assert nn.leaky_relu(x, negative_slope=slope).to_numpy().tolist() == [-float(slope), 1.0]


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (
        lambda x: nn.gelu(xp.astype(x, xp.int32)),
        TypeError,
        "gelu: dtype int32 is not accepted; accepted: real floating",
    ),
    (lambda x: nn.gelu(xp.astype(x, xp.int32), approximate="tanh"), TypeError, "gelu: dtype int32 is not accepted"),
    (lambda x: nn.silu(xp.astype(x, xp.bool)), TypeError, "silu: dtype bool is not accepted"),
    (lambda x: nn.softplus(xp.astype(x, xp.int8)), TypeError, "softplus: dtype int8 is not accepted"),
    (lambda x: nn.leaky_relu(xp.astype(x, xp.int8)), TypeError, "leaky_relu: dtype int8 is not accepted"),
    (lambda x: nn.relu(xp.astype(x, xp.bool)), TypeError, "relu: dtype bool is not accepted"),
    (lambda x: nn.sigmoid(xp.astype(x, xp.complex64)), TypeError, "sigmoid: dtype complex64 is not accepted"),
    (lambda x: nn.gelu(x, approximate="erf"), ValueError, "gelu: approximate is 'erf'; accepted: 'none', 'tanh'"),
    (lambda x: nn.gelu(x, dtype=xp.int32), TypeError, "gelu: dtype int32 is not accepted; accepted: float16, bfloat16"),
    (lambda x: nn.relu(x, dtype="real"), TypeError, "relu: dtype 'real' is not supported"),
    (lambda x: nn.leaky_relu(x, negative_slope="a"), TypeError, "negative_slope is 'a'; accepted: a real number"),
    (lambda x: nn.leaky_relu(x, negative_slope=x), TypeError, "negative_slope is Array.*; accepted: a real number"),
    (lambda x: nn.softplus(x, beta=1j), TypeError, "softplus: beta is 1j; accepted: a real number"),
    (lambda x: nn.softplus(x, threshold=None), TypeError, "softplus: threshold is None; accepted: a real number"),
    (lambda x: nn.gelu(1.0), TypeError, "gelu: every operand is a Python scalar; accepted: at least one array"),
    (lambda x: nn.leaky_relu(1.0), TypeError, "leaky_relu: every operand is a Python scalar"),
    (lambda x: nn.silu(x, out=xp.empty(3, device=x.device)), ValueError, r"silu: out has shape \(3,\)"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[2][:40])
def test_refusals(case: Any, device: Any) -> None:
    call, kind, message = case
    x = on(np.ones(2), device)
    with pytest.raises(kind, match=message):
        call(x)


@pytest.mark.parametrize("dtype", [xp.float16, xp.bfloat16, xp.float32, xp.float64], ids=str)
def test_softplus_at_its_ends(dtype: Any, device: Any) -> None:
    x = xp.asarray([-np.inf, np.inf, 0.0], dtype=dtype, device=device)
    got = xp.nn.softplus(x, beta=1e-40).to_numpy().astype(np.float64)
    assert got[0] == 0
    assert np.isposinf(got[1])
    large = xp.asarray([1e30, -1e30], dtype=xp.float32, device=device)
    got = xp.nn.softplus(large, beta=1e30, threshold=np.inf).to_numpy()
    assert got.tolist() == [np.float32(1e30), 0.0]
