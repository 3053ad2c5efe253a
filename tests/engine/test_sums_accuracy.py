"""The accuracy of sums, means, variances and scans: the bounds of docs/accuracy.md, and millions of elements."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops as xp
from conformance.references import reduced, sizes, terms
from tests.helpers.values import assert_bits, few_near_one
from xpops.core import dtypes as dt
from xpops.ops.accuracy import share_of_product
from xpops.ops.reduction import REDUCTIONS, Reduction
from xpops.ops.scan import SCANS, Scan

NDArray = np.ndarray[Any, Any]

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"


def table() -> dict[tuple[str, Any, int], float]:
    """The share for each function, dtype and number of elements: the table of the page."""
    lines = PAGE.read_text().partition("\n## Reductions and scans\n")[2].splitlines()
    (_, _, _, *columns), _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")
    ]
    found = {}
    for names, _, elements, *shares in rows:
        for name, (column, share) in product(names.split(", "), zip(columns, shares, strict=True)):
            exponent = float(share.removeprefix("n * ").removeprefix("2^"))
            counts = {"up to 1024": (1, 1024), "more": (1025, 10**6), "n": (1, 1025, 10**6)}[elements]
            for dtype, count in product(column.split(", "), counts):
                factor = count if share.startswith("n") else 1
                found[name, np.dtype(getattr(xp, dtype)), count] = factor * 2.0**exponent
    return found


def test_the_page_has_the_promises_of_the_rows() -> None:
    shares = {op.name: op.share for op in (*REDUCTIONS.values(), *SCANS.values()) if op.share is not None}
    assert table() == {(name, dtype, count): shares[name](dtype, count) for name, dtype, count in table()}
    assert {"sum", "cumulative_sum"} <= {name for name, _, _ in table()}


def pairs(ops: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Each row with each floating-point dtype that it accepts."""
    dtypes = (*dt.REAL_FLOATS, *dt.COMPLEX_FLOATS)
    return [(op, dtype) for op in ops for dtype in dtypes if dtype in dt.CATEGORIES[op.accepts]]


# 2**25 elements along each kind of axis.
LARGE = {
    "only": ((2**25,), 0),
    "all": ((2**12, 2**13), None),
    "leading": ((2**23, 4), 0),
    "middle": ((2, 2**22, 4), 1),
    "trailing": ((4, 2**23), 1),
    "several": ((2**6, 2**13, 2**6), (0, 2)),
    "outer": ((2**11, 2**11, 2**3), (0, 1)),
}
SMALL = [((1000,), 0), ((70_001,), 0), ((3, 5000), 1), ((5000, 3), 0), ((300, 70), 0), ((40, 60, 50), (0, 2))]


def lines(x: NDArray, axis: Any) -> NDArray:
    """The elements of each result as a row."""
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    moved = np.moveaxis(x, tuple(axes), tuple(range(x.ndim - len(tuple(axes)), x.ndim)))
    return moved.reshape(-1, math.prod(x.shape[each] for each in axes))


def half_unit(x: NDArray, dtype: Any) -> NDArray:
    limits = ml_dtypes.finfo(dtype)
    return np.maximum(np.abs(x) * float(limits.eps) / 2, float(limits.smallest_subnormal))


def exact_sums(op: Reduction, x: NDArray, axis: Any) -> tuple[NDArray, NDArray]:
    """The exact sums of each line's terms, and the sums of their absolute values."""
    wide = terms(op, lines(x, axis).astype(np.complex128 if x.dtype.kind == "c" else np.longdouble))
    sums = [complex(math.fsum(line.real), math.fsum(line.imag)) for line in wide]
    return np.array(sums), np.abs(wide).sum(1)


def random_of(domain: str, dtype: Any, shape: tuple[int, ...]) -> NDArray:
    """Numbers of very different sizes; of the domain "unit" numbers near 1 and -1, whose products do not vanish."""
    random = np.random.default_rng(3)
    if domain == "unit":
        x = random.choice([-1, 1], shape) * (1 - random.random(shape) / 300)
        return (x * np.exp(1j * x) if dtype.kind == "c" else x).astype(dtype)
    x = random.normal(size=shape) * np.exp(2 * random.normal(size=shape))
    return (x * (1 + 1j) if dtype.kind == "c" else x).astype(dtype)


def widened(x: NDArray) -> NDArray:
    """The same numbers in NumPy's widest dtype."""
    return x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)


def exact_results(op: Reduction, x: NDArray, axis: Any) -> tuple[NDArray, NDArray]:
    """The result of each line and its size."""
    if op.compensated and op.cpu is np.add:
        sums, size = exact_sums(op, x, axis)
        count = lines(x, axis).shape[1] if op.averages else 1
        return sums / count, size / count
    wide = lines(widened(x), axis)
    wanted = reduced(op, wide, 1)
    return wanted, wanted if op.dispersion else sizes(op, wide, 1)


def assert_share(got: NDArray, wanted: NDArray, allowed: NDArray) -> None:
    """Each part of a result is near the exact one, or infinite if that is beyond the largest number."""
    limits = ml_dtypes.finfo(dt.REAL_OF.get(got.dtype, got.dtype))
    wide = got.astype(np.clongdouble)
    for part in ("real", "imag"):
        found, exact = getattr(wide, part), getattr(wanted, part)
        near = np.abs(found - exact) <= half_unit(exact, limits.dtype) * 2 + allowed
        assert np.all(near | (np.isinf(found) & (np.abs(exact) > float(limits.max))))


@pytest.mark.parametrize(("shape", "axis"), SMALL, ids=str)
@pytest.mark.parametrize(("op", "dtype"), pairs([op for op in REDUCTIONS.values() if op.share is not None]), ids=str)
def test_shares(op: Reduction, dtype: Any, shape: tuple[int, ...], axis: Any, device: Any) -> None:
    host = random_of(op.domain, dtype, shape)
    count = lines(host, axis).shape[1]
    with np.errstate(under="ignore"):
        wanted, size = exact_results(op, host, axis)
    got = getattr(xp, op.name)(xp.asarray(host, device=device), axis=axis).to_numpy().reshape(-1)
    assert op.share is not None
    # Where results are subnormal, each operation may lose the smallest number.
    least = float(ml_dtypes.finfo(got.dtype).smallest_subnormal)
    assert_share(got, wanted, op.share(dtype, count) * size + count * least)


@pytest.mark.parametrize(("shape", "axis"), [((70_001,), 0), ((3, 5000), 1), ((5000, 3), 0)], ids=str)
@pytest.mark.parametrize(("op", "dtype"), pairs(SCANS.values()), ids=str)
def test_shares_of_scans(op: Scan, dtype: Any, shape: tuple[int, ...], axis: int, device: Any) -> None:
    """With a factor of 1 returns are sums from the end."""
    host = random_of(op.domain, dtype, shape)
    wide = np.moveaxis(widened(host), axis, -1)[..., :: -1 if op.reverse else 1]
    accumulate = (op.ufunc or np.add).accumulate
    with np.errstate(under="ignore"):
        wanted, size = accumulate(wide, -1), accumulate(np.abs(wide), -1)
    function = getattr(xp, op.name, None) or (lambda x, axis: xp.nn.discounted_cumsum(x, 1.0, axis=axis))
    found = function(xp.asarray(host, device=device), axis=axis).to_numpy()
    got = np.moveaxis(found, axis, -1)[..., :: -1 if op.reverse else 1]
    counts = np.arange(1, shape[axis] + 1)
    shares = np.array([op.share(dtype, int(count)) for count in counts])
    assert_share(got, wanted, shares * size + counts * float(ml_dtypes.finfo(dtype).smallest_subnormal))


@pytest.mark.parametrize("shape", [(2**20,), (2**20, 3), (3, 2**20)], ids=str)
@pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)
def test_equal_rounding_errors_of_products(dtype: Any, shape: tuple[int, ...], device: Any) -> None:
    host, axis = few_near_one(dtype, shape), shape.index(2**20)
    wanted = np.multiply.reduce(host.astype(np.longdouble), axis)
    got = xp.prod(xp.asarray(host, device=device), axis=axis).to_numpy()
    assert_share(got, wanted, share_of_product(dtype, 2**20) * np.abs(wanted))


def test_products_overflow_only_at_the_end(device: Any) -> None:
    host = np.ones(5001, np.float32)
    host[10:14], host[-4:] = 1e30, 1e-30
    assert float(xp.prod(xp.asarray(host, device=device))) == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(
    "values", [(-0.0,), (-0.0, 1.5), (np.inf, 0.5), (np.inf, -0.0), (np.nan, 2), (3e38, 10, 0.5), (2.0, 0.5)], ids=str
)
@pytest.mark.parametrize("dtype", [dt.float32, dt.float64], ids=str)
def test_long_products_of_special_values(dtype: Any, values: tuple[float, ...], device: Any) -> None:
    host = np.ones(5001, dtype)
    host[1000 :: 4001 // len(values)][: len(values)] = values
    x = xp.asarray(host, device=device)
    with np.errstate(invalid="ignore", over="ignore"):
        assert_bits(xp.prod(x).to_numpy(), np.multiply.reduce(host))


@pytest.mark.parametrize("shape", [(2**22, 2), (2, 2**22), (2**21, 2, 2)], ids=str)
def test_sums_of_float64_do_not_drift(shape: tuple[int, ...], device: Any) -> None:
    x = xp.full(shape, 0.1, dtype=xp.float64, device=device)
    axis = shape.index(max(shape))
    wanted = float(math.fsum([0.1] * 2**10) * max(shape) / 2**10)
    np.testing.assert_allclose(xp.sum(x, axis=axis).to_numpy(), wanted, rtol=2.0**-47)


@pytest.mark.parametrize(("shape", "axis"), LARGE.values(), ids=LARGE)
def test_millions(shape: tuple[int, ...], axis: Any, device: Any) -> None:
    """All elements are equal, so that the sums are known."""
    number = np.float32(0.1)
    x = xp.full(shape, float(number), dtype=xp.float32, device=device)
    results = xp.sum(x, axis=axis)
    wanted = np.float32(float(number) * (x.size // results.size))
    for got in (results, xp.nansum(x, axis=axis)):
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=2.0**-23)
    for got in (xp.mean(x, axis=axis), xp.nanmean(x, axis=axis)):
        np.testing.assert_allclose(got.to_numpy(), number, rtol=2.0**-23)
    assert xp.prod(x * 0 - 1, axis=axis).to_numpy().min() == 1


@pytest.mark.parametrize(("shape", "axis"), LARGE.values(), ids=LARGE)
def test_deviations_of_millions(shape: tuple[int, ...], axis: Any, device: Any) -> None:
    """Elements are 1000 and 1001 alternately along each axis, so that the variance is a quarter."""
    places = np.ix_(*((np.arange(length) % 2).astype(np.float32) for length in shape))
    turns: NDArray = sum(places) % 2  # type: ignore[assignment]
    x = xp.asarray(1000 + turns, device=device)
    for name, wanted in (("var", 0.25), ("std", 0.5), ("nanvar", 0.25)):
        np.testing.assert_allclose(getattr(xp, name)(x, axis=axis).to_numpy(), wanted, rtol=2.0**-18)
    del x
    gaps = xp.asarray(np.where(turns == 1, np.float32(np.nan), np.float32(0.1)), device=device)
    count = gaps.size // 2 // xp.sum(gaps, axis=axis).size
    np.testing.assert_allclose(xp.nansum(gaps, axis=axis).to_numpy(), np.float32(0.1) * count, rtol=2.0**-22)
    np.testing.assert_allclose(xp.nanmean(gaps, axis=axis).to_numpy(), np.float32(0.1), rtol=2.0**-22)


@pytest.mark.parametrize(("shape", "axis"), [LARGE[name] for name in ("only", "leading", "middle", "trailing")])
def test_millions_up_to_each(shape: tuple[int, ...], axis: int, device: Any) -> None:
    x = xp.full(shape, 3.0, dtype=xp.float32, device=device)
    wanted = np.expand_dims(3.0 * np.arange(1, shape[axis] + 1), tuple(range(1, len(shape) - axis)))
    for scan in (xp.cumulative_sum, xp.nancumsum):
        got = scan(x, axis=axis).to_numpy()
        for start in range(0, shape[axis], 2**22):  # in parts, to avoid a large copy in float64
            key = (slice(None),) * axis + (slice(start, start + 2**22),)
            np.testing.assert_allclose(got[key], np.broadcast_to(wanted[key[axis:]], got[key].shape), rtol=2.0**-22)
        assert np.all(np.take(got, -1, axis) == 3 * shape[axis])


@pytest.mark.parametrize(("shape", "axis"), [((2**22,), 0), ((2**20, 4), 0), ((2, 2**19, 4), 1), ((2**11, 2**11), 1)])
def test_no_copy_of_the_whole_is_widened(shape: tuple[int, ...], axis: int) -> None:
    x = xp.ones(shape, dtype=xp.float32, device="cpu")
    for name, results in (("sum", 0), ("prod", 0), ("var", 0), ("cumulative_sum", 4 * x.size)):
        tracemalloc.start()
        getattr(xp, name)(x, axis=axis)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most <= results + x.size, name


@pytest.mark.parametrize("dtype", [xp.float16, xp.bfloat16, xp.float32, xp.complex64], ids=str)
@pytest.mark.parametrize(("shape", "axis"), [((70_000,), 0), ((3, 70_000), 1), ((70_000, 3), 0), ((2, 9000, 3), 1)])
def test_scans_of_narrow_dtypes_are_rounded_once(shape: Any, axis: int, dtype: Any, device: Any) -> None:
    host = (np.random.default_rng(5).random(shape) / 8).astype(dtype)
    wide = np.cumsum(host.astype(np.complex128 if host.dtype.kind == "c" else np.float64), axis=axis)
    got = xp.cumulative_sum(xp.asarray(host, device=device), axis=axis).to_numpy()
    units = 1.01 if device.type == "cpu" else 32  # on CUDA in trees of float32
    error = np.abs(got.astype(wide.dtype) - wide)
    assert np.all(error <= units * half_unit(wide, dt.REAL_OF.get(dtype, dtype)) * (1 + (host.dtype.kind == "c")))


def test_products_of_narrow_dtypes_are_rounded_once(device: Any) -> None:
    host = (1 + (np.random.default_rng(6).random((20_000, 3)) - 0.5) / 100).astype(np.float32)
    wide = host.astype(np.float64)
    x = xp.asarray(host, device=device)
    units = 1.01 if device.type == "cpu" else 20_000  # on CUDA in float32
    for got, wanted in (
        (xp.prod(x, axis=0), wide.prod(axis=0)),
        (xp.prod(x), wide.prod()),
        (xp.cumulative_prod(x, axis=0), np.cumprod(wide, axis=0)),
    ):
        assert np.all(np.abs(got.to_numpy() - wanted) <= units * half_unit(wanted, xp.float32))


def test_returns_are_rounded_once(device: Any) -> None:
    host = np.random.default_rng(7).random((2**17, 2)).astype(np.float32)
    wanted = np.cumsum(host[::-1].astype(np.float64), axis=0)[::-1]
    for x, axis in ((host, 0), (np.ascontiguousarray(host.T), 1)):
        got = xp.nn.discounted_cumsum(xp.asarray(x, device=device), 1.0, axis=axis).to_numpy()
        units = 1.01 if device.type == "cpu" else 64  # on CUDA in trees of float32
        assert np.all(np.abs((got if axis == 0 else got.T) - wanted) <= units * half_unit(wanted, xp.float32))


@pytest.mark.parametrize("function", ["scatter_add", "index_add"])
def test_millions_at_one_place(function: str, device: Any) -> None:
    count = 2**22
    x = xp.zeros(2, dtype=xp.float32, device=device)
    index = xp.zeros(count, dtype=xp.int32, device=device)
    source = xp.full(count, 9.0, dtype=xp.float32, device=device)
    got = getattr(xp.nn, function)(x, index, source, axis=0)
    assert got.tolist() == [9.0 * count, 0]


def test_means_of_a_million_rows(device: Any) -> None:
    host = np.random.default_rng(8).normal(1000, 1, (10**6, 4)).astype(np.float32)
    x = xp.asarray(host, device=device)
    wide = host.astype(np.float64)
    for name in ("mean", "std", "var"):
        np.testing.assert_allclose(getattr(xp, name)(x, axis=0).to_numpy(), getattr(np, name)(wide, axis=0), rtol=1e-5)


def test_the_variance_of_an_image(device: Any) -> None:
    """The variances of its three channels, against exact integers."""
    host = np.random.default_rng(9).integers(0, 256, (3000, 4000, 3), np.uint8)
    count, wanted = 3000 * 4000, []
    for channel in range(3):
        found = np.bincount(host[..., channel].reshape(-1), minlength=256).tolist()
        total, squares = (sum(n * value**power for value, n in enumerate(found)) for power in (1, 2))
        wanted.append((count * squares - total**2) / count**2)
    got = xp.var(xp.asarray(host.astype(np.float32), device=device), axis=(0, 1))
    np.testing.assert_allclose(got.to_numpy(), wanted, rtol=2.0**-18)


def test_complex_means_of_infinity(device: Any) -> None:
    x = xp.asarray(np.array([[complex(np.inf, 1), 1 + 3j], [2 + 1j, 3 + 1j]], np.complex64), device=device)
    assert xp.mean(x, axis=0).tolist() == [complex(np.inf, 1), 2 + 2j]
    large = xp.ones(70_000, dtype=xp.complex64, device=device)
    large[3] = complex(0, -np.inf)
    mean = complex(xp.mean(large))
    assert (math.isclose(mean.real, 69_999 / 70_000, rel_tol=1e-6), mean.imag) == (True, -np.inf)


def test_infinity_in_any_block(device: Any) -> None:
    for place in (0, 100_000, 199_999):
        host = np.ones((200_000, 2), np.float32)
        host[place, 0] = np.inf
        assert xp.sum(xp.asarray(host, device=device), axis=0).tolist() == [np.inf, 200_000]
        host[7, 0] = -np.inf
        assert np.isnan(xp.sum(xp.asarray(host, device=device), axis=0).to_numpy()).tolist() == [True, False]


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64, xp.complex64], ids=str)
def test_corrections_up_to_the_count(dtype: Any, device: Any) -> None:
    x = xp.asarray(np.array([[1, 3, 5], [2, 2, 2]]).astype(dtype), device=device)
    assert xp.var(x, axis=1, correction=2).tolist() == [8, 0]
    for correction in (3, 4):
        for name in ("var", "std"):
            assert np.isnan(getattr(xp, name)(x, axis=1, correction=correction).to_numpy()).all()


def test_narrow_sums_do_not_overflow_on_the_way_to_a_mean(device: Any) -> None:
    x = xp.full(100_000, 60_000.0, dtype=xp.float16, device=device)
    assert float(xp.mean(x)) == float(np.float16(60_000))


def test_a_mean_of_bfloat16_is_infinite_if_the_sum_overflows(device: Any) -> None:
    x = xp.full(2, 3e38, dtype=xp.bfloat16, device=device)
    assert float(xp.mean(x)) == np.inf


@pytest.mark.parametrize("dtype", [dt.float32, dt.float64, dt.complex64], ids=str)
def test_a_mean_is_infinite_if_the_sum_overflows(dtype: Any, device: Any) -> None:
    largest = np.finfo(dtype).max
    x = np.array([[largest, largest], [largest, -largest], [-largest, -largest], [largest, 1]]).astype(dtype)
    if np.dtype(dtype).kind == "c":
        x += np.array([3j, 5j], dtype)
    with np.errstate(all="ignore"):
        wanted = x.real.sum(1) / 2 if np.dtype(dtype).kind == "c" else x.mean(1)
    got = xp.mean(xp.asarray(x, device=device), axis=1).to_numpy()
    assert np.array_equal(got.real, wanted)
    assert np.array_equal(got.imag, np.full(4, 4 * (np.dtype(dtype).kind == "c")))
