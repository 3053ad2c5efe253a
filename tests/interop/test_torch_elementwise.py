"""Elementwise functions of torch's tensors on the host, against NumPy: special values, dtypes, layouts, `out`."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from conformance.references import reference_of
from tests.helpers.rows import COMPUTED, accepts, allowed_error, function_of, ordinary_values, parameters, values
from tests.helpers.values import HALVES, WIDE, assert_bits, computed, equal_bits, report
from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.operator import Operator
from xpops.testing import to_numpy, ulp_error
from xpops.testing.frameworks import Torch

torch = pytest.importorskip("torch")
TORCH = Torch("cpu")
NDArray = np.ndarray[Any, Any]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the references overflow and meet NaN on purpose

# torch has no kernels of float8, and complex numbers are tested in test_torch_complex.
ROWS = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype}")
    for op in COMPUTED
    for dtype in dt.INFO
    if dtype in dt.CATEGORIES[op.accepts] and dtype.kind != "c"
]
# Where the standard leaves a result open, it is any of these; the sign of NaN is open, too.
ZEROS_OF_EITHER_SIGN = {"fmax", "fmin", "maximum", "minimum", "clip", "remainder"}


def operands(op: Operator, dtype: Any) -> list[NDArray]:
    """Special and random operands; all numbers of 16 bits for functions of one."""
    if dtype in HALVES and op.arity - op.parameters == 1:
        return [np.arange(1 << 16, dtype=np.uint16).view(dtype)]
    hosts = values(op, dtype)
    if op.name.endswith("_shift"):
        hosts[1] = hosts[1] % (8 * dtype.itemsize)
    if op.name in ("floor_divide", "remainder") and dtype.kind in "iu":
        hosts[1] = np.where(hosts[1] == 0, 3, hosts[1]).astype(dtype)
    return hosts


def wanted_of(op: Operator, dtype: Any, hosts: list[NDArray], numbers: tuple[Any, ...]) -> NDArray:
    """The reference in the dtype that elements are computed in."""
    narrow = [x.astype(computed(x.dtype)) for x in hosts]
    result = np.asarray(reference_of(op)(*(narrow if not op.logical else [x.astype(bool) for x in hosts]), *numbers))
    return result if result.dtype == dt.bool else result.astype(dtype)


def check(op: Operator, dtype: Any, got: NDArray, hosts: list[NDArray], numbers: tuple[Any, ...] = ()) -> None:
    exact = dtype.kind in "biu" or op.error(dtype) <= 0.5
    rounded = wanted_of(op, dtype, hosts, numbers)
    if exact and op.name != "nextafter":
        zeros = (got == 0) & (rounded == 0) if op.name in ZEROS_OF_EITHER_SIGN else np.zeros(got.shape, bool)
        assert got.dtype == rounded.dtype
        report((equal_bits(got, rounded) | zeros).reshape(-1), got.reshape(-1), rounded.reshape(-1))
    elif exact:
        assert_bits(got, np.where(hosts[0] == hosts[1], hosts[1], np.nextafter(*hosts)), *hosts)
    else:
        wanted = reference_of(op)(*(x.astype(WIDE[dtype]) for x in hosts), *numbers)
        error = ulp_error(got, wanted)
        if op.name.startswith("logaddexp"):  # its error is a unit of the operands where they cancel
            error = np.where(np.abs(wanted) < np.maximum(*np.abs([x.astype(WIDE[dtype]) for x in hosts])) / 2, 0, error)
        if op.name == "floor_divide":  # the last digit of a large quotient depends on the method
            free = np.abs(wanted) >= 1 / np.finfo(computed(dtype)).eps
            error = np.where(free & (error <= 1), 0, np.where(equal_bits(got, rounded), 0, np.inf))
        signs = (wanted == 0) & (got == 0) & (np.signbit(got) != np.signbit(wanted))
        error = np.where(signs, np.inf, error).reshape(-1)
        report(error <= allowed_error(op, dtype, CPU), got.reshape(-1), wanted.reshape(-1))


def without_sign_of_nan(op: Operator, hosts: list[NDArray]) -> list[NDArray]:
    if op.name in ("copysign", "signbit"):
        return [host[hosts[-1] == hosts[-1]] for host in hosts]
    return hosts


@pytest.mark.parametrize(("op", "dtype"), ROWS)
def test_values(op: Operator, dtype: Any) -> None:
    """Of three equal calls: the first plans, the others are remembered."""
    hosts = without_sign_of_nan(op, operands(op, dtype))
    tensors = [TORCH.make(x) for x in hosts]
    for numbers in parameters(op, dtype):
        calls = [function_of(op)(*tensors, *map(float, numbers)) for _ in range(3)]
        assert all(type(each) is torch.Tensor for each in calls)
        first, *more = (to_numpy(each) for each in calls)
        for each in more:
            assert each.tobytes() == first.tobytes()
        check(op, dtype, first, hosts, numbers)


@pytest.mark.parametrize(("op", "dtype"), ROWS)
def test_layouts(op: Operator, dtype: Any) -> None:
    """Strided, transposed, broadcast, 0-d and empty operands give what contiguous ones do, new or in `out`."""
    numbers = parameters(op, dtype)[0]
    for shape in ((), (0, 3), (7, 9), (3, 1, 130)):
        hosts = ordinary_values(op, dtype, shape)
        dense = [TORCH.make(x) for x in hosts]
        given = [dense]
        if len(shape) > 1:
            given.append([TORCH.make(np.repeat(x, 3, axis=-1))[..., ::3] for x in hosts])
            given.append([TORCH.make(np.swapaxes(x, 0, -1)).transpose(0, -1) for x in hosts])
            given.append([dense[0][:, :1], *dense[1:]])
        for tensors in given:
            views = np.broadcast_arrays(*(to_numpy(x) for x in tensors))
            for _ in range(2):
                got = function_of(op)(*tensors, *map(float, numbers))
                check(op, dtype, to_numpy(got), list(views), numbers)
                assert got.numel() == 0 or got.data_ptr() not in [x.data_ptr() for x in tensors]
            out = torch.zeros((*got.shape, 2), dtype=got.dtype)[..., 1]
            for _ in range(2):
                assert function_of(op)(*tensors, *map(float, numbers), out=out) is out
                check(op, dtype, to_numpy(out), list(views), numbers)
                out.zero_()


@pytest.mark.parametrize(("op", "dtype"), [each for each in ROWS if each.values[1] == dt.float32])
def test_blocks(op: Operator, dtype: Any) -> None:
    """More elements than a thread of torch takes at once, in place where the result has the dtype of the operand."""
    hosts = ordinary_values(op, dtype, (3, 70_001))
    tensors, numbers = [TORCH.make(x) for x in hosts], parameters(op, dtype)[0]
    for _ in range(2):
        check(op, dtype, to_numpy(function_of(op)(*tensors, *map(float, numbers))), hosts, numbers)
    target = tensors[-1]
    if function_of(op)(*tensors, *map(float, numbers)).dtype == target.dtype:
        function_of(op)(*tensors, *map(float, numbers), out=target)
        check(op, dtype, to_numpy(target), hosts, numbers)


SCALARS = st.floats() | st.floats(width=16) | st.integers(-(10**40), 10**40) | st.integers(-5, 300) | st.booleans()


@given(
    st.sampled_from(["add", "multiply", "divide", "maximum", "less"]),
    st.sampled_from([dt.int8, dt.uint8, dt.int64, dt.uint64, *dt.REAL_FLOATS]),
    SCALARS,
    st.booleans(),
)
def test_scalars(name: str, dtype: Any, scalar: Any, first: bool) -> None:
    """A scalar is rounded once to the dtype of the computation, or refused if an integer dtype cannot hold it."""
    host = np.array([0, 1, 3, 100]).astype(dtype)
    integers = dtype.kind in "iu"
    floating = name == "divide" or isinstance(scalar, float)
    loop = np.dtype(np.float64) if integers and floating else dtype
    function, x = getattr(xp, name), TORCH.make(host)
    call = (lambda: function(scalar, x)) if first else (lambda: function(x, scalar))
    try:
        rounded = np.array(scalar, loop) if integers and not floating else _nearest(scalar, loop)
    except OverflowError:
        for _ in range(2):
            with pytest.raises(OverflowError):
                call()
        return
    pair = [rounded.astype(computed(loop)), host.astype(loop).astype(computed(loop))]
    wanted = np.asarray(getattr(np, name)(*(pair if first else pair[::-1])))
    wanted = wanted if wanted.dtype == dt.bool else wanted.astype(loop)
    for _ in range(2):
        got = to_numpy(call())
        zeros = (got == 0) & (wanted == 0) & (name == "maximum")
        report(equal_bits(got, wanted) | zeros, got, wanted, host)


def _nearest(scalar: Any, dtype: Any) -> NDArray:
    """The number of a floating-point dtype that is nearest to a scalar."""
    value = float(scalar)
    if not np.isfinite(value) or value == 0:
        return np.array(value).astype(dtype)
    f = ml_dtypes.finfo(dtype)
    smallest = int(np.frexp(float(f.smallest_subnormal))[1]) - 1
    unit = Fraction(2) ** max(int(np.frexp(value)[1]) - 1 - int(f.nmant), smallest)
    digits = round(Fraction(scalar) / unit)  # half to even
    if abs(digits * unit) > Fraction(float(f.max)):
        return np.array(np.copysign(np.inf, value)).astype(dtype)
    return np.array(np.copysign(float(digits * unit), value)).astype(dtype)


class Seen(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
    """Records the functions of torch that are called."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, bool]] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((function, "out" in (kwargs or {})))
        return function(*args, **(kwargs or {}))


def test_torch_makes_the_result() -> None:
    """Where it is laid out as xpops lays it out: that takes a quarter less time than to write memory."""
    x, ones = torch.rand(3, 4), torch.rand(3, 1)
    for name, operands, made in [
        ("add", (x, x), True),
        ("exp", (x,), True),
        ("add", (x, ones), False),
        ("exp", (x.T,), True),
        ("add", (x, torch.rand(4, 3).T), False),
        ("exp", (torch.rand(4, 6)[:, ::2],), False),
        ("add", (x, 2.0), True),
        ("add", (ones, 2.0), False),
    ]:
        getattr(xp, name)(*operands)
        with Seen() as seen:
            result = getattr(xp, name)(*operands)
        assert (getattr(torch, name), not made) in seen.calls
        wanted = operands[0].stride() if name == "exp" and made else torch.empty(result.shape).stride()
        assert result.stride() == wanted
        torch.testing.assert_close(result, getattr(torch, name)(*operands))


FIRST_CALLS = """
import torch
from torch._subclasses import FakeTensorMode

first = {}

def noting(name, function):
    def call(x, *rest, **named):
        first.setdefault((name, str(x.dtype)), (x.numel(), type(x).__name__))
        return function(x, *rest, **named)
    return call

names = "acos asin atan cos erf erfc erfinv exp log log10 log2 sin sqrt tan tanh trunc".split()
for name in names:
    setattr(torch, name, noting(name, getattr(torch, name)))

import xpops as xp

tensors = [torch.full((5000,), 0.5, dtype=dtype) for dtype in (torch.float32, torch.float64)]
with MODE:
    for x in tensors:
        xp.sin(x), xp.nn.log_softmax(x, axis=0), xp.special.erfinv(x)
dtypes = ("torch.float32", "torch.float64")
assert first == {(name, dtype): (1, "Tensor") for name in names for dtype in dtypes}, first
"""


@pytest.mark.parametrize("mode", ["torch.no_grad()", "FakeTensorMode()", "torch.device('meta')"])
def test_first_calls_have_one_element(mode: str) -> None:
    # Several threads that make MKL's first call may compute half of the digits.
    subprocess.run([sys.executable, "-c", FIRST_CALLS.replace("MODE", mode)], check=True)


def test_operands_of_several_dtypes() -> None:
    tensors = {dtype: TORCH.make(np.array([0, 1, 2, 100]).astype(dtype)) for dtype in dt.INFO}
    known = {(dt.int8, dt.uint8): dt.int16, (dt.float16, dt.bfloat16): dt.float32, (dt.int32, dt.int64): dt.int64}
    known |= {(dt.float32, dt.float64): dt.float64, (dt.uint8, dt.uint32): dt.uint32}
    for (first, second), dtype in known.items():
        for _ in range(2):
            got = to_numpy(xp.add(tensors[first], tensors[second]))
            assert_bits(got, np.array([0, 2, 4, 200]).astype(dtype))


@pytest.mark.parametrize("op", [op for op in COMPUTED if op.floating], ids=str)
@pytest.mark.parametrize("dtype", [dt.bool, dt.int8, dt.int64, dt.uint64], ids=str)
def test_integers_are_computed_as_float64(op: Operator, dtype: Any) -> None:
    assert accepts(op, dtype)
    host = np.array([0, 1, 1, 0, 1]).astype(dtype)
    count = op.arity - op.parameters
    numbers = parameters(op, dt.float64)[0]
    for _ in range(2):
        got = to_numpy(function_of(op)(*[TORCH.make(host)] * count))
        check(op, dt.float64, got, [host.astype(float)] * count, numbers)


@pytest.mark.parametrize("op", ACTIVATIONS.values(), ids=str)
@pytest.mark.parametrize("dtype", [*HALVES, dt.float32], ids=str)
@pytest.mark.parametrize("target", [*dt.REAL_FLOATS, *dt.FLOAT8], ids=str)
def test_another_dtype(target: Any, dtype: Any, op: Operator) -> None:
    """The result is computed in the dtype of the operand, or a wider one, and rounded to the given dtype."""
    host = np.linspace(-3, 3, 41).astype(dtype)
    wide = reference_of(op)(host.astype(np.float64), *parameters(op, dt.float64)[0])
    for _ in range(2):
        got = to_numpy(function_of(op)(TORCH.make(host), dtype=target))
        assert got.dtype == target
        error = np.abs(got.astype(np.float64) - wide)
        allowed = max(float(ml_dtypes.finfo(each).eps) for each in (target, computed(dtype)))
        assert np.all(error <= 4 * allowed * np.abs(wide) + float(ml_dtypes.finfo(target).smallest_subnormal))
