"""Casts of torch's tensors on the host, complex numbers, and torch's settings, which must not change a result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops as xp
from tests.helpers.values import HALVES, assert_bits, binary_values, unary_values
from xpops.core import dtypes as dt
from xpops.dispatch import elementwise
from xpops.ops.elementwise import IDENTITY
from xpops.testing import random_bits, special_values, to_numpy
from xpops.testing.frameworks import Torch

torch = pytest.importorskip("torch")
TORCH = Torch("cpu")
NDArray = np.ndarray[Any, Any]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
PAIRS = [
    pytest.param(source, target, id=f"{source}-{target}")
    for source in dt.INFO
    for target in dt.INFO
    if source != target and not (source.kind == "c" and target.kind != "c")
]


def numbers(source: Any, target: Any) -> NDArray:
    """All numbers of narrow dtypes; else special and random ones, and those near the middle of two of the target."""
    if source.itemsize <= 2 and source != dt.bool:
        return np.arange(1 << 8 * source.itemsize, dtype=f"u{source.itemsize}").view(source)
    parts = [special_values(source), random_bits(source, 3000, "x")]
    if source.kind == "f" and target in (*HALVES, *dt.FLOAT8):
        parts.append(around_middles(target).astype(source))
    if source.kind in "iu" and target in HALVES:
        middles = around_middles(target)
        inside = middles[(middles >= 2**12) & (middles < float(np.iinfo(source).max) / 2)]
        parts += [(inside.astype(np.int64) + step).astype(source) for step in (-1, 0, 1)]
    return np.concatenate(parts)


def around_middles(target: Any) -> NDArray:
    """The numbers between two neighbours of a narrow dtype, and those just below and above in float64."""
    every = np.arange(1 << 8 * target.itemsize, dtype=f"u{target.itemsize}").view(target).astype(np.float64)
    finite = np.unique(every[np.isfinite(every)])
    middle = (finite[1:] + finite[:-1]) / 2
    return np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf)])


def representable(x: NDArray, target: Any) -> NDArray:
    """The numbers that integers of the target can hold: the results of others are open."""
    if target.kind not in "iu" or x.dtype.kind in "biu":
        return x
    wide = np.trunc(x.astype(np.longdouble))
    info = np.iinfo(target)
    return x[(wide >= int(info.min)) & (wide <= int(info.max))]


def nearest(x: NDArray, target: Any) -> NDArray:
    """Rounded once: to the narrower dtype's digits in long doubles, whose digits suffice for all of these."""
    if target not in (*HALVES, *dt.FLOAT8) or x.dtype.itemsize <= 2:
        return np.asarray(x.astype(target))
    f = ml_dtypes.finfo(target)
    wide = x.astype(np.longdouble)
    exponent = np.frexp(wide)[1] - 1 - int(f.nmant)
    unit = np.ldexp(np.longdouble(1), np.maximum(exponent, int(np.frexp(float(f.smallest_subnormal))[1]) - 1))
    digits = np.where(np.isfinite(wide), np.rint(wide / unit) * unit, wide)
    return np.asarray(digits.astype(np.float64).astype(target))  # exact, but for numbers beyond the range


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_casts(source: Any, target: Any) -> None:
    host = representable(numbers(source, target), target)
    for x in (TORCH.make(host), TORCH.make(np.repeat(host, 2))[::2]):
        for _ in range(2):
            assert_bits(to_numpy(xp.astype(x, target)), nearest(host, target), host)


@pytest.mark.parametrize("target", HALVES, ids=str)
def test_casts_of_many_numbers(target: Any) -> None:
    """More than a thread of torch takes at once, and assignments that broadcast them."""
    host = np.resize(around_middles(target), (3, 50_000))
    out = TORCH.make(np.zeros((2, 3, 50_000), target))
    for x in (TORCH.make(host), TORCH.make(host.T).T):
        for _ in range(2):
            assert_bits(to_numpy(xp.astype(x, target)).reshape(-1), nearest(host, target).reshape(-1))
            elementwise(IDENTITY, (x,), out)
            assert_bits(to_numpy(out).reshape(-1), nearest(np.stack([host, host]), target).reshape(-1))
            out.zero_()


@pytest.mark.parametrize("dtype", dt.COMPLEX_FLOATS, ids=str)
def test_complex_numbers(dtype: Any) -> None:
    x, (y, z) = unary_values(dtype), binary_values(dtype)
    condition = np.arange(y.size) % 3 == 0
    a, b, c, d = (TORCH.make(each) for each in (x, y, z, condition))
    for _ in range(2):
        for name in ("positive", "negative", "conj", "real", "imag"):
            function: Any = getattr(xp, name)
            assert_bits(to_numpy(function(a)), np.asarray(getattr(np, name)(x)), x)
        for name in ("equal", "not_equal"):
            assert_bits(to_numpy(getattr(xp, name)(b, c)), getattr(np, name)(y, z), y, z)
        for name in ("add", "subtract"):
            assert_bits(to_numpy(getattr(xp, name)(b, c)), getattr(np, name)(y, z), y, z)
        assert_bits(to_numpy(xp.where(d, b, c)), np.where(condition, y, z))
        assert_bits(to_numpy(xp.where(d, b, 2.5 - 1j)), np.where(condition, y, dtype.type(2.5 - 1j)))


@contextmanager
def flag(setter: Any, value: Any, before: Any) -> Iterator[None]:
    setter(value)
    try:
        yield
    finally:
        setter(before)


SETTINGS = {
    "no_grad": lambda: torch.no_grad(),
    "inference_mode": lambda: torch.inference_mode(),
    "default device": lambda: flag(torch.set_default_device, "meta", None),
    "default dtype": lambda: flag(torch.set_default_dtype, torch.float64, torch.float32),
    "deterministic": lambda: flag(torch.use_deterministic_algorithms, True, False),
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "threads": lambda: flag(torch.set_num_threads, 1, torch.get_num_threads()),
}
CALLS = {
    "add": lambda x: xp.add(x, x),
    "a scalar": lambda x: xp.multiply(x, 2.5),
    "where": lambda x: xp.where(xp.greater(x, 0.5), x, 0.0),
    "astype": lambda x: xp.astype(x, xp.float64),
    "sigmoid": lambda x: xp.nn.sigmoid(x),
    "gelu": lambda x: xp.nn.gelu(x),
    "softmax": lambda x: xp.nn.softmax(x),
    "sum": lambda x: xp.sum(x, axis=0),
    "max": lambda x: xp.max(x),
    "matmul": lambda x: xp.matmul(x, x.T),
    "cumulative_sum": lambda x: xp.cumulative_sum(x, axis=1),
    "a half": lambda x: xp.sign(xp.astype(x, xp.float16)),
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("call", CALLS)
def test_settings_of_torch(call: str, setting: str) -> None:
    x = TORCH.make(np.random.default_rng(0).normal(size=(300, 400)).astype(np.float32))
    wanted = to_numpy(CALLS[call](x))
    for first in (False, True):
        given = x[:, :-1] if first else x  # the second time the call is planned within the setting
        expected = to_numpy(CALLS[call](given)) if not first else None
        with SETTINGS[setting]():
            found = [CALLS[call](given) for _ in range(2)]
        if expected is None:
            expected = to_numpy(CALLS[call](given))
        for each in found:
            assert each.device.type == "cpu"
            assert not each.requires_grad
            assert_bits(to_numpy(each), expected)
    assert_bits(to_numpy(CALLS[call](x)), wanted)


@pytest.mark.parametrize("call", CALLS)
def test_operands_that_require_grad(call: str) -> None:
    x = torch.nn.Parameter(TORCH.make(np.linspace(-3, 3, 35).astype(np.float32).reshape(5, 7)))
    wanted = to_numpy(CALLS[call](x.detach()))
    with torch.no_grad():
        for _ in range(2):
            found = CALLS[call](x)
            assert type(found) is torch.Tensor
            assert not found.requires_grad
            assert_bits(to_numpy(found), wanted)
    for _ in range(2):
        found = CALLS[call](x)
        assert found.requires_grad
        assert_bits(to_numpy(found), wanted)


def test_a_write_is_counted() -> None:
    x, out = torch.ones(5), torch.ones(5)
    for _ in range(3):
        before = out._version
        xp.add(x, x, out=out)
        assert out._version > before


def test_a_subclass_gives_plain_tensors() -> None:
    class Named(torch.Tensor):
        pass

    x = torch.ones(5).as_subclass(Named)
    for _ in range(2):
        found = xp.add(x, x)
        assert type(found) is torch.Tensor
        assert found.tolist() == [2] * 5
