"""Every elementwise operator on complex dtypes: the standard's special cases, and accuracy in the ordinary range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from conformance.references import reference_of
from tests.helpers.complex_cases import ROWS as CASES
from tests.helpers.complex_cases import arguments, mistake
from tests.helpers.rows import PUBLIC, function_of, values
from tests.helpers.values import assert_bits, report
from xpops.core import dtypes as dt
from xpops.ops.operator import Operator
from xpops.testing import generator

NDArray = np.ndarray[Any, Any]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the references overflow and meet NaN on purpose
complexes = pytest.mark.parametrize("dtype", dt.COMPLEX_FLOATS, ids=str)

ROWS = [op for op in PUBLIC if dt.complex64 in dt.CATEGORIES[op.accepts]]
EXACT, CLOSE = [op for op in ROWS if op.error(dt.complex64) <= 0.5], [op for op in ROWS if op.error(dt.complex64) > 0.5]


def call(name: str, device: Any, *hosts: NDArray) -> NDArray:
    host: NDArray = getattr(xp, name)(*(xp.asarray(each, device=device) for each in hosts)).to_numpy()
    return host


def ordinary(dtype: Any, seed: str) -> NDArray:
    """Numbers in the plane around 0, near both axes, and of several magnitudes."""
    random = generator(dtype, seed)
    host = random.normal(size=3000) + 1j * random.normal(size=3000)
    host *= 10.0 ** random.integers(-3, 1, 3000)
    host.imag[::5] *= 1e-6
    host.real[1::5] *= 1e-6
    return host.astype(dtype)


def assert_near(got: NDArray, wanted: NDArray, bound: float, *operands: NDArray) -> None:
    """Assert that the distance in the plane is at most `bound` units in the magnitude's last place."""
    distance = np.abs(got.astype(np.clongdouble) - wanted)
    report(distance <= bound * float(np.finfo(got.dtype).eps) * np.abs(wanted), got, wanted, *operands)


@complexes
@pytest.mark.parametrize(("name", "row"), CASES)
def test_special_case(name: str, row: str, dtype: Any, device: Any) -> None:
    x = arguments(row, dtype)
    got = call(name, device, x)
    wrong = [f"{name}({z!r}) is {w!r}" for z, w in zip(x, got, strict=True) if mistake(row, z, w)]
    assert not wrong, f"the standard says {row}: " + "; ".join(wrong[:4])


@complexes
@pytest.mark.parametrize("op", EXACT, ids=str)
def test_exact(op: Operator, dtype: Any, device: Any) -> None:
    hosts = values(op, dtype)
    got = function_of(op)(*(xp.asarray(host, device=device) for host in hosts)).to_numpy()
    assert_bits(got, np.ascontiguousarray(reference_of(op)(*hosts)), *hosts)


@complexes
@pytest.mark.parametrize("op", CLOSE, ids=str)
def test_close_in_the_ordinary_range(op: Operator, dtype: Any, device: Any) -> None:
    hosts = [ordinary(dtype, seed) for seed in "xyz"[: op.arity]]
    got = function_of(op)(*(xp.asarray(host, device=device) for host in hosts)).to_numpy()
    wanted = reference_of(op)(*(host.astype(np.clongdouble) for host in hosts))
    assert got.dtype == (dt.REAL_OF[dtype] if op.result == "real" else dtype)
    # pow computes y * log(x), whose error grows with its magnitude.
    assert_near(got, wanted, 64 if op.name == "pow" else max(op.error(dtype), 4), *hosts)


@complexes
def test_small_integer_powers_are_exact(dtype: Any, device: Any) -> None:
    x = np.array([-1 + 0j, 2j, 1 + 1j, 3 - 2j, 0j], dtype)
    assert np.array_equal(call("pow", device, x, np.full(5, 2, dtype)), x * x)
    assert np.array_equal(call("pow", device, x, np.full(5, 0, dtype)), np.ones(5))


@complexes
def test_magnitudes_neither_overflow_nor_vanish(dtype: Any, device: Any) -> None:
    f = np.finfo(dtype)
    x = np.array([complex(f.max / 2, f.max / 2), complex(f.smallest_normal, f.smallest_normal)], dtype)
    assert_near(call("abs", device, x), np.abs(x.astype(np.clongdouble)), 2, x)
    assert_near(call("sqrt", device, x), np.sqrt(x.astype(np.clongdouble)), 4, x)
    assert_near(call("divide", device, x, x), np.ones(2, np.clongdouble), 4, x)


@complexes
def test_real_scalars_and_arrays_have_an_imaginary_part_of_zero(dtype: Any, device: Any) -> None:
    x = np.array([1 - 2j, -0.0 - 0.0j], dtype)
    real = np.array([3, -0.0], dt.REAL_OF[dtype])
    assert_bits(call("add", device, x, real), x + real.astype(dtype), x, real)
    got = xp.add(xp.asarray(x, device=device), 2.5 - 1j).to_numpy()
    assert_bits(got, x + np.array(2.5 - 1j, dtype), x)
