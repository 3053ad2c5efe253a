"""Reductions against plain NumPy, on every device."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import xpops as xp
from conformance.references import reduced, terms
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same, eps
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.dispatch.reductions import reduction
from xpops.engine.cpu.engine import CpuEngine
from xpops.ops.reduction import REDUCTIONS, Reduction
from xpops.testing.strategies import numpy_arrays

devices = st.sampled_from(DEVICES)
ROUNDED = [op for op in REDUCTIONS.values() if isinstance(op.cpu, np.ufunc)]
EXACT = [op for op in REDUCTIONS.values() if op not in ROUNDED]
ARITHMETIC = sorted(dt.CATEGORIES["arithmetic"], key=str)


def widened(host: Any) -> Any:
    """The same values, in a dtype in which NumPy's results are accurate."""
    if host.dtype.kind in "biu":
        return host
    return host.astype(np.complex128 if host.dtype.kind == "c" else np.float64)


def accepted(op: Reduction) -> list[Any]:
    return [d for d in ARITHMETIC if d in dt.CATEGORIES[op.accepts]]


@st.composite
def calls(draw: st.DrawFn, rows: list[Reduction]) -> tuple[Reduction, Any, Any, bool]:
    """A reduction, an array that it takes, an axis, keepdims."""
    op = draw(st.sampled_from(rows))
    host = draw(numpy_arrays(draw(st.sampled_from(accepted(op)))))
    if draw(st.booleans()) and host.ndim > 1:
        host = host.T
    if draw(st.booleans()) and host.ndim:
        host = host[::-1]
    axes: list[Any] = [None, *range(-host.ndim, host.ndim)]
    if not op.positional and host.ndim > 1:
        axes += [(0, -1), tuple(range(host.ndim)), ()]
    axis = draw(st.sampled_from(axes))
    if op.empty is None:
        reduced = range(host.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        if any(host.shape[i] == 0 for i in reduced):
            host = np.ones([max(length, 1) for length in host.shape], host.dtype)
    return op, host, axis, draw(st.booleans())


@given(calls(EXACT), devices)
def test_exact_reductions(call: Any, device: Any) -> None:
    op, host, axis, keepdims = call
    got = getattr(xp, op.name)(xp.asarray(host, device=device), axis=axis, keepdims=keepdims)
    wide = widened(host)
    wanted = reduced(op, wide, axis, keepdims)
    if op.result == "own":
        wanted = wanted.astype(host.dtype)
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        assert np.array_equal(
            got.to_numpy().astype(wide.dtype), wanted.astype(wide.dtype), equal_nan=wide.dtype.kind == "f"
        )
    else:
        assert_same(got, wanted.astype(np.int64 if op.result == "index" else bool))


@given(calls(ROUNDED), devices, st.sampled_from([0, 1, 0.5]))
def test_rounded_reductions(call: Any, device: Any, correction: float) -> None:
    op, host, axis, keepdims = call
    options = {"correction": correction} if op.dispersion else {}
    got = getattr(xp, op.name)(xp.asarray(host, device=device), axis=axis, keepdims=keepdims, **options)
    wide = widened(host)
    if op.accepts == "floating-point" and host.dtype.kind in "biu":
        wide = wide.astype(np.float64)
    with np.errstate(all="ignore"):
        wanted, scale = reference(op, wide, axis, keepdims, correction)
    assert got.shape == wanted.shape
    loop = np.dtype(np.float64) if op.accepts == "floating-point" and host.dtype.kind in "biu" else host.dtype
    if loop.kind in "biu":
        assert_same(got, wanted)
        return
    if op.cpu is np.multiply:  # if a partial product overflows, the result depends on the order
        parts = np.prod(np.maximum(np.where(np.isfinite(wide), np.abs(wide), 1), 1), axis=axis)
        assume(np.all(parts < float(ml_dtypes.finfo(dt.REAL_OF.get(loop, loop)).max)))
    assert got.dtype == (dt.REAL_OF.get(loop, loop) if op.dispersion else loop)
    if op.root:  # 0 if the squares underflow
        scale = scale + float(ml_dtypes.finfo(loop).smallest_normal) ** 0.5 / eps(loop)
    assert op.share is not None
    check(got.to_numpy(), wanted, scale, op.share(loop, wide.size // max(wanted.size, 1)))


def reference(op: Reduction, x: Any, axis: Any, keepdims: bool, correction: float) -> tuple[Any, Any]:
    """NumPy's result, and the size of the terms that were added."""
    size = np.where(np.isfinite(x), np.abs(terms(op, x)), 0)
    if not op.dispersion:
        found = reduced(op, x, axis, keepdims)
        return found, np.abs(found) if op.cpu is np.multiply else np.sum(size, axis=axis, keepdims=keepdims)
    deviation = x - mean(x, axis, True)
    squares = np.sum((deviation * np.conj(deviation)).real, axis=axis, keepdims=keepdims)
    count = x.size / max(np.asarray(squares).size, 1)
    variance = np.asarray(squares / np.float64(count - correction if correction < count else np.nan))
    largest = np.max(size, axis=axis, keepdims=keepdims, initial=0)
    if op.root:
        return np.sqrt(variance), largest
    return variance, largest**2


def mean(x: Any, axis: Any, keepdims: bool) -> Any:
    total = np.sum(x, axis=axis, keepdims=keepdims)
    return total / np.float64(x.size / max(np.asarray(total).size, 1))


def check(got: Any, wanted: Any, scale: Any, share: float) -> None:
    """Check that finite numbers are near, and that numbers beyond the narrower dtype, or not finite, are not finite."""
    limits = ml_dtypes.finfo(dt.REAL_OF.get(got.dtype, got.dtype))
    least, limit = float(limits.smallest_subnormal), float(limits.max)
    if got.dtype.kind == "c":
        unknown = ~np.isfinite(wanted)
        assert not np.isfinite(got[unknown]).any()
        got, wanted = np.where(unknown, 0, got), np.where(unknown, 0, wanted)
    with np.errstate(all="ignore"):
        near = np.abs(got.astype(wanted.dtype) - wanted) <= eps(got.dtype) * np.abs(wanted) + share * scale + least
        beyond = ~np.isfinite(got.astype(wanted.dtype)) & (np.maximum(scale, np.abs(wanted)) ** 2 >= limit / 2)
    same = (np.isnan(got.astype(wanted.dtype)) & np.isnan(wanted)) | (got.astype(wanted.dtype) == wanted)
    assert np.all(near | same | beyond), (got, wanted)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 31, 32, 33, 255, 256, 257, 1023, 1025, 4096, 4097, 16385, 70000, 1100000])
@pytest.mark.parametrize("dtype", [xp.uint8, xp.float16, xp.float32, xp.float64], ids=str)
def test_sizes_on_the_edges_of_packs_groups_and_splits(size: int, dtype: Any, device: Any) -> None:
    host = np.random.default_rng(size).integers(0, 3, size + 3).astype(dtype)
    x = xp.asarray(host, device=device)
    for start in (0, 1, 3):
        part, line = x[start : start + size], host[start : start + size].astype(np.int64)
        assert int(xp.count_nonzero(part)) == np.count_nonzero(line)
        assert int(xp.argmax(part)) == np.argmax(line)
        assert math.isclose(float(xp.sum(part, dtype=xp.float64)), line.sum())


SHAPES = [(1000, 3), (3, 1000), (257, 129), (70, 2000), (5, 40000), (300, 64), (40000, 5), (7, 65, 33), (64, 100, 96)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["sum", "max", "argmin", "var"])
def test_shapes_of_every_kernel(shape: tuple[int, ...], name: str, device: Any) -> None:
    host = np.random.default_rng(1).integers(-50, 50, shape).astype(np.float32)
    views = {"whole": (slice(None),), "odd": (slice(1, None), slice(1, None)), "back": (slice(None, None, -1),)}
    x = xp.asarray(host, device=device)
    for key in views.values():
        for axis in (None, *range(len(shape)), *([] if name == "argmin" else [(0, len(shape) - 1)])):
            for turn in (False, True):
                part, wanted = x[key], host[key]
                if turn:
                    part, wanted = part.transpose(), wanted.T
                got = getattr(xp, name)(part, axis=axis).to_numpy()
                np.testing.assert_allclose(got, getattr(np, name)(wanted.astype(np.float64), axis=axis), rtol=1e-5)


def test_the_same_bits_on_every_run(device: Any) -> None:
    x = xp.asarray(np.random.default_rng(2).normal(size=(511, 4099)).astype(np.float32), device=device)
    for axis in (None, 0, 1):
        for name in ("sum", "var", "prod"):
            first = getattr(xp, name)(x, axis=axis).to_numpy()
            for _ in range(20):
                assert np.array_equal(getattr(xp, name)(x, axis=axis).to_numpy(), first, equal_nan=True)


def test_variance_far_from_zero(device: Any) -> None:
    host = (1e4 + np.random.default_rng(4).normal(size=(300, 1000))).astype(np.float32)
    x = xp.asarray(host, device=device)
    for axis in (None, 0, 1):
        np.testing.assert_allclose(xp.var(x, axis=axis).to_numpy(), host.astype(np.float64).var(axis), rtol=2e-4)


def test_nan_is_the_greatest_and_the_least(device: Any) -> None:
    x = xp.asarray(np.array([[1, np.nan, 3, np.nan], [4, 5, 6, -np.inf]], np.float32), device=device)
    assert xp.argmax(x, axis=1).tolist() == [1, 2]
    assert xp.argmin(x, axis=1).tolist() == [1, 3]
    assert math.isnan(float(xp.max(x)))
    assert math.isnan(float(xp.min(x)))
    assert xp.argmax(x[1:, 3:]).tolist() == 0


def test_half_types_accumulate_in_float32(device: Any) -> None:
    for dtype in (xp.float16, xp.bfloat16):
        x = xp.ones(100000, dtype=dtype, device=device)
        assert float(xp.mean(x)) == 1
        assert float(xp.sum(x * 0.25)) == float(np.float32(25000).astype(dtype))
        assert xp.sum(x).dtype == dtype


def test_integers_wrap_in_64_bits(device: Any) -> None:
    x = xp.asarray(np.array([2**63 - 1, 1], np.int64), device=device)
    assert int(xp.sum(x)) == -(2**63)
    assert xp.sum(xp.asarray([200, 100], dtype=xp.uint8, device=device)).dtype == xp.uint64
    assert int(xp.sum(xp.asarray([True, True], device=device))) == 2
    assert xp.prod(xp.asarray([2.5, 2], device=device), dtype=xp.int32).dtype == xp.int32


def test_nothing_to_reduce(device: Any) -> None:
    x = xp.zeros((0, 3), dtype=xp.float32, device=device)
    assert xp.sum(x, axis=0).tolist() == [0, 0, 0]
    assert xp.prod(x, axis=0).tolist() == [1, 1, 1]
    assert xp.all(x).tolist() is True
    assert xp.any(x).tolist() is False
    assert np.isnan(xp.mean(x, axis=0).to_numpy()).all()
    assert xp.sum(x, axis=1).shape == (0,)
    assert xp.max(x, axis=1).shape == (0,)
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ValueError, match=rf"{name}: x has shape \(0, 3\), nothing along axis 0"):
            getattr(xp, name)(x, axis=0)


def test_errors(device: Any) -> None:
    x = xp.ones((2, 3), device=device)
    with pytest.raises(IndexError, match="sum: axis is 2; accepted: -2 to 1 for 2 axes"):
        xp.sum(x, axis=2)
    with pytest.raises(ValueError, match="names an axis twice"):
        xp.mean(x, axis=(0, -2))
    with pytest.raises(TypeError, match="argmax: axis is"):
        xp.argmax(x, axis=(0, 1))
    with pytest.raises(TypeError, match="max: dtype complex64 is not accepted; accepted: "):
        xp.max(xp.ones(3, dtype=xp.complex64, device=device))
    with pytest.raises(TypeError, match="sum: x is a"):
        xp.sum("text")
    with pytest.raises(TypeError, match="sum: dtype bool"):
        xp.sum(x, dtype=xp.bool)
    with pytest.raises(TypeError, match="sum: dtype is float32 for complex64; accepted: complex dtypes"):
        xp.sum(xp.ones(3, dtype=xp.complex64, device=device), dtype=xp.float32)
    with pytest.raises(TypeError, match=r"sum: \{0\} is no argument"):
        xp.sum(x, axis={0})
    assert xp.sum(x, axis=xp.asarray(0, device=device)).shape == (3,)


def test_methods(device: Any) -> None:
    x = xp.asarray([[1.0, 2.0], [3.0, 5.0]], device=device)
    assert x.sum().tolist() == 11
    assert x.max(0).tolist() == [3, 5]
    assert x.std(axis=1, correction=1).tolist() == [2**-0.5, 2**0.5]
    assert x.argmin(1, keepdims=True).tolist() == [[0], [0]]
    assert x.any().tolist() is True


def test_axes_in_a_list(device: Any) -> None:
    assert xp.sum(xp.ones((2, 3), device=device), axis=[0, 1]).tolist() == 6


def test_more_elements_than_32_bits_count(cuda: Any) -> None:
    x = xp.ones(2**31 + 17, dtype=xp.uint8, device=cuda)
    x[2**31 + 5] = 2
    assert int(xp.sum(x)) == 2**31 + 18
    assert int(xp.argmax(x)) == 2**31 + 5
    tall = x[: 2**31].reshape(2**16, 2**15)
    assert int(xp.sum(tall, axis=0)[3]) == 2**16
    assert int(xp.sum(tall, axis=1)[3]) == 2**15


def test_mixed_magnitudes_on_a_gpu(cuda: Any) -> None:
    generator = np.random.default_rng(5)
    host = (generator.normal(size=2**24) * np.exp(3 * generator.normal(size=2**24))).astype(np.float32)
    exact = math.fsum(host.tolist())
    size = np.abs(host.astype(np.float64)).sum()
    ours = abs(float(xp.sum(xp.asarray(host, device=cuda))) - exact)
    assert ours <= max(abs(float(host.sum()) - exact), 2.0**-24 * size / 100)


REPEATED = [
    ((1, 5, 1), (4, 5, 3), (None, 0, 1, 2, (0, 2), (0, 1))),
    ((), (6,), (None, 0)),
    ((3, 1), (3, 70000), (None, 0, 1)),
]


@pytest.mark.parametrize("op", EXACT, ids=str)
@pytest.mark.parametrize(("shape", "wide", "axes"), REPEATED)
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.float64])
def test_elements_that_broadcasting_repeats(
    op: Reduction, shape: Any, wide: Any, axes: Any, dtype: Any, device: Any
) -> None:
    values = np.arange(-2, math.prod(shape) - 2).reshape(shape).astype(dtype)
    if values.dtype.kind == "f" and values.size > 2:
        values.flat[1] = np.nan
    host = np.broadcast_to(values, wide)
    view, whole = xp.broadcast_to(xp.asarray(values, device=device), wide), xp.asarray(host.copy(), device=device)
    function = getattr(xp, op.public)
    for axis in axes:
        if op.positional and isinstance(axis, tuple):
            continue
        wanted = reduced(op, host, axis, True).astype({"index": np.int64, "bool": bool}.get(op.result, dtype))
        for x in (view, whole, view):
            assert_same(function(x, axis=axis, keepdims=True), wanted)


def test_repeated_elements_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    reduce = CpuEngine.reduce

    def noted(op: Any, x: Any, *rest: Any) -> Any:
        read.append(x.size)
        return reduce(op, x, *rest)

    monkeypatch.setattr(CpuEngine, "reduce", staticmethod(noted))
    x = xp.broadcast_to(xp.asarray([[1.5], [2.5]], device="cpu"), (2, 12345))
    for function in (xp.max, xp.min, xp.any, xp.all):
        assert function(x).item() in (1.5, 2.5, True)
    assert read == [2] * 4
    xp.sum(x)
    assert read[-1] == 2 * 12345


ALONE = [((9, 1), 1), ((1, 9), 0), ((3, 1, 3), 1), ((9, 1, 1), (1, 2)), ((3, 3), ()), ((1, 1), None)]
TAKEN = [(op, dtype) for op in REDUCTIONS.values() if not op.positional for dtype in accepted(op)]


@pytest.mark.filterwarnings("ignore:Degrees of freedom")
@pytest.mark.parametrize(("op", "dtype"), TAKEN, ids=str)
def test_elements_alone(op: Reduction, dtype: Any, device: Any) -> None:
    values = [0, 1, 2.5, 100, -0.0, -1, np.inf, -np.inf, np.nan]  # NumPy's products of complex infinities have NaNs
    usable = values[:4] if dtype in dt.CATEGORIES["integer or boolean"] else values[: 6 if dtype in dt.REAL_OF else 9]
    for shape, axis in ALONE:
        host = np.resize(np.asarray(usable), shape).astype(dtype)
        views = [(xp.asarray(host, device=device), host), (xp.asarray(host, device=device)[::-1], host[::-1])]
        for x, part in (*views, *views):
            for keepdims in (False, True):
                for correction in (0, 0.5, 1) if op.dispersion else (0,):
                    setting = {"correction": correction} if op.dispersion else {}
                    got = getattr(xp, op.public)(x, axis=axis, keepdims=keepdims, **setting)
                    with np.errstate(all="ignore"):
                        wanted = reduced(op, widened(part), axis, keepdims, **setting)
                    assert got.shape == wanted.shape
                    np.testing.assert_array_equal(got.to_numpy().astype(wanted.dtype), wanted)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_position_of_one_element(name: str, device: str) -> None:
    """It is 0, even that of a NaN; also where one element is repeated."""
    column = np.float32([[3], [np.nan], [-1]])
    x, function = xp.asarray(column, device=device), getattr(xp, name)
    for _ in range(2):
        assert_same(function(x, axis=1), np.zeros(3, np.int64))
        assert_same(function(xp.broadcast_to(x, (3, 5)), axis=-1, keepdims=True), np.zeros((3, 1), np.int64))
        assert_same(function(xp.asarray(np.nan, device=device)), np.int64(0))
        assert_same(function(x, axis=0), np.int64([1]))


@pytest.mark.parametrize("device", DEVICES)
def test_sums_beside_a_repeated_axis(device: str) -> None:
    host = np.arange(7 * 90 * 16, dtype=np.float64).reshape(7, 1, 90, 16)
    x = xp.asarray(host, device=device)
    for axis in (0, 2, 3, (0, 2), (2, 3)):
        for _ in range(2):
            assert_same(
                xp.sum(xp.broadcast_to(x, (7, 2, 90, 16)), axis=axis), np.broadcast_to(host, (7, 2, 90, 16)).sum(axis)
            )


def test_a_single_element_is_not_searched() -> None:
    class Engine(CpuEngine):
        def reduce(self, *given: Any) -> Any:
            raise AssertionError("searched")

    repeated = layout_of(dt.float32, (3, 5), (1, 0), Device("cpu"))
    for name in ("argmax", "argmin"):
        reduction(Engine(), (repeated,), REDUCTIONS[name], 1, False, None, 0.0)
        with pytest.raises(AssertionError, match="searched"):
            reduction(Engine(), (repeated,), REDUCTIONS[name], 0, False, None, 0.0)
