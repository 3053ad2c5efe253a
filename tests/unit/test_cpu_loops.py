"""The loops of the compiled core over arrays of the CPU: conversions of halves, sums and products in float64, sorts."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from xpops.core.compiled import compiled
from xpops.engine.cpu import random

pytestmark = pytest.mark.skipif(compiled is None, reason="the compiled core was not built, or XPOPS_PURE leaves it out")
NDArray = np.ndarray[Any, Any]
HALVES = (np.float16, ml_dtypes.bfloat16)
REDUCERS: dict[str, Any] = {
    "sum": np.sum,
    "prod": np.prod,
    "nansum": np.nansum,
    "nanprod": np.nanprod,
    "sum_of_sizes": lambda x, **along: np.sum(np.abs(x), **along),
    "sum_of_squares": lambda x, **along: np.sum(x * x, **along),
}
SHAPES = ((1,), (15,), (17,), (1023,), (1025,), (17, 33), (3, 4, 5), (2, 1030, 3), (1030, 2), (7, 1, 9, 4), (70_001,))


def buffer(x: NDArray) -> NDArray:
    return x.view(np.uint16) if x.dtype == ml_dtypes.bfloat16 else x


def converted(x: NDArray, dtype: Any, out: NDArray | None = None) -> NDArray:
    out = np.empty(x.shape, dtype) if out is None else out
    compiled.convert(buffer(out), buffer(x))  # type: ignore[union-attr]
    return out


def assert_same(got: NDArray, wanted: NDArray) -> None:
    """Equal, signs of zeros included; NaN for NaN."""
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    assert np.array_equal(got, wanted, equal_nan=True)
    known = ~np.isnan(wanted)
    assert np.array_equal(np.signbit(got[known]), np.signbit(wanted[known]))


def views(x: NDArray) -> list[NDArray]:
    return [x, x[::-1], x[..., ::2], np.asfortranarray(x), np.frombuffer(b"x" + x.tobytes(), "V1")[1:].view(x.dtype)]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("wide", [np.float32, np.float64])
def test_every_half_is_widened(half: Any, wide: Any) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(half)
    with np.errstate(all="ignore"):  # of NaNs that signal
        assert_same(converted(x, wide), x.astype(wide))


@pytest.mark.parametrize("half", HALVES)
def test_float32_is_rounded_to_halves(half: Any) -> None:
    random = np.random.default_rng(1)
    bits = random.integers(0, 1 << 32, 1 << 20, dtype=np.uint64).astype(np.uint32).view(np.float32)
    near = (random.normal(size=1 << 20) * 2.0 ** random.integers(-28, 18, 1 << 20)).astype(np.float32)
    steps = np.arange(1 << 16, dtype=np.uint16).view(half).astype(np.float32)
    with np.errstate(all="ignore"):
        ties = (steps[:-1] + steps[1:]) / 2
        for x in (bits, near, ties, np.nextafter(ties, np.float32(0)), np.nextafter(ties, np.float32(np.inf))):
            assert_same(converted(x, half), x.astype(half))


@pytest.mark.parametrize("half", HALVES)
def test_float64_is_rounded_once(half: Any) -> None:
    with np.errstate(all="ignore"):
        steps = np.arange(1 << 16, dtype=np.uint16).view(half).astype(np.float64)
    ordered = np.sort(steps[np.isfinite(steps)])
    middle = (ordered[:-1] + ordered[1:]) / 2
    tiny = np.abs(middle) * 2.0**-40
    below, above = middle - tiny, middle + tiny
    kept = (tiny > 0) & (ordered[:-1] != ordered[1:])
    # The order of -0.0 and 0.0 is open. A zero has the sign of the number that is rounded to it.
    lower, upper = np.copysign(ordered[:-1], middle), np.copysign(ordered[1:], middle)
    assert_same(converted(below[kept], half), lower[kept].astype(half))
    assert_same(converted(above[kept], half), upper[kept].astype(half))
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -1e300, 1e-300, -1e-300, 5e-324])
    with np.errstate(all="ignore"):
        assert_same(converted(special, half), special.astype(np.float32).astype(half))


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers_are_rounded_once(half: Any, dtype: Any) -> None:
    random, bits = np.random.default_rng(8), 8 * np.dtype(dtype).itemsize
    spread = random.integers(-(1 << bits - 1), 1 << bits - 1, 1 << 16, dtype=np.int64) >> random.integers(
        0, bits, 1 << 16
    )
    ties = [sign * (((257 + 2 * n) << place) + one) for n in (0, 5) for place in range(bits - 10) for one in (-1, 0, 1)
            for sign in (-1, 1)]  # fmt: skip
    x = np.concatenate([spread, ties, [0, -(1 << bits - 1), (1 << bits - 1) - 1]]).astype(dtype)
    with np.errstate(all="ignore"):
        exact = x.astype(np.longdouble)  # 64 bits
        near = exact.astype(np.float32)
        step = np.where(np.abs(near.astype(np.longdouble)) > np.abs(exact), np.nextafter(near, np.float32(0)), near)
        inexact = step.astype(np.longdouble) != exact
        wanted = (step.view(np.uint32) | inexact).view(np.float32).astype(half)
    for view in views(x):
        assert_same(converted(view, half), wanted if view is x else converted(np.ascontiguousarray(view), half))
    assert_same(converted(x, half), wanted)


def test_subnormal_halves_where_subnormal_floats_are_zeros() -> None:
    torch = pytest.importorskip("torch")
    x = np.full(11, 6e-8, np.float16)
    torch.set_flush_denormal(True)
    try:
        found = converted(x, np.float32)
    finally:
        torch.set_flush_denormal(False)
    assert_same(found, np.full(11, np.float32(np.float16(6e-8))))


def test_signalling_halves_become_quiet() -> None:
    found = converted(np.full(11, 0x7D01, np.uint16).view(np.float16), np.float32)
    assert np.unique(found.view(np.uint32)).size == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_views_are_converted(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(2)
    for half in HALVES:
        x = random.normal(size=shape).astype(half)
        for view in views(x):
            assert_same(converted(view, np.float32), view.astype(np.float32))
            large = np.full((*view.shape[:-1], 2 * view.shape[-1]), 7, np.float64)
            assert_same(converted(view, np.float64, large[..., ::2]), view.astype(np.float64))
            assert (large[..., 1::2] == 7).all()
    row = random.normal(size=(1, *shape[1:])).astype(np.float16)
    assert_same(converted(row, np.float32, np.empty(shape, np.float32)), np.broadcast_to(row, shape))
    assert converted(np.float16(1.5) * np.ones((), np.float16), np.float32) == 1.5


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, *HALVES])
@pytest.mark.parametrize("holes", [False, True])
def test_sums_and_products(shape: tuple[int, ...], dtype: Any, holes: bool) -> None:
    random = np.random.default_rng(3)
    x = ((1 + random.normal(size=shape) / 300) * random.choice([-1, 1], shape)).astype(dtype)
    x[random.random(shape) < 0.3 * holes] = np.nan
    for view in views(x):
        for axes in (each for count in range(view.ndim + 1) for each in combinations(range(view.ndim), count)):
            wide = view.astype(np.float64)
            for name, function in REDUCERS.items():
                wanted = function(wide, axis=axes, keepdims=True)
                got = np.full(wanted.shape, 7.0)
                for _ in range(2):
                    compiled.reduce(name, got, buffer(view), 1.0)  # type: ignore[union-attr]
                    np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-11)


def test_special_sums() -> None:
    for values, wanted in (
        ([-0.0, -0.0], 0.0),
        ([np.inf, 1.0], np.inf),
        ([np.inf, -np.inf], np.nan),
        ([np.nan, 1.0], np.nan),
        ([3e38, 3e38, -3e38], 3e38),
    ):
        out = np.empty((1,), np.float32)
        compiled.reduce("sum", out, np.asarray(values, np.float32), 1.0)  # type: ignore[union-attr]
        assert_same(out, np.asarray([wanted], np.float32))
    compiled.reduce("sum", out, np.full(3, 3e38, np.float32), 3.0)  # type: ignore[union-attr]
    assert out == np.inf, "a mean is infinite if the sum is beyond float32"


def test_what_does_not_fit_is_refused() -> None:
    x, out = np.ones((3, 4), np.float16), np.empty((3, 4), np.float32)
    read_only = np.ones((3, 4), np.float32)
    read_only.flags.writeable = False
    assert compiled is not None
    for wrong in (out[0], out[:2], np.empty((3, 5), np.float32)):
        with pytest.raises(ValueError, match="operand"):
            compiled.convert(wrong, x)
    for wrong in (x.astype(np.int16), x.astype(complex), x.astype(">f4"), x.astype([("a", "f2")])):
        with pytest.raises(TypeError, match="accepted"):
            compiled.convert(out, wrong)
    with pytest.raises(TypeError, match="accepted"):
        compiled.convert(out, np.ones((3, 4)))
    with pytest.raises(TypeError, match="accepted"):
        compiled.convert(out, np.ones((3, 4), np.int32))
    with pytest.raises(TypeError, match="accepted"):
        compiled.convert(np.ones((3, 4), np.int64), x)
    with pytest.raises((ValueError, BufferError)):
        compiled.convert(read_only, x)
    for empty in (x[:0], x[:, :0]):
        with pytest.raises(ValueError, match="accepted"):
            compiled.reduce("sum", out[:1, :1], empty, 1.0)
    with pytest.raises(TypeError):
        compiled.reduce("sum", out[:1, :1], x, "1")
    with pytest.raises(TypeError):
        compiled.convert(out)
    for arguments in (
        (),
        ("gelu",),
        ("gelu", out, out, out),
        ("cosh", out, out),
        (1, out, out),
        ("softplus", out, out),
    ):
        with pytest.raises(TypeError, match="accepted"):
            compiled.compute(*arguments)
    with pytest.raises(TypeError):
        compiled.compute("leaky_relu", out, out, "1")
    with pytest.raises(TypeError, match="accepted"):
        compiled.softmax(False, out, np.ones((3, 4)))
    with pytest.raises(ValueError, match="accepted"):
        compiled.softmax(False, np.ones((), np.float32), np.ones((), np.float32))
    line, cube = np.zeros(3, np.int64), np.ones((1, 3, 4), np.float32)
    for operands in ((line, line[:1], cube, cube), (line, line, cube, cube), (line[::2], line[::2], cube[:, :1], cube)):
        with pytest.raises(ValueError, match="accepted"):
            compiled.add_rows(*operands)
    with pytest.raises(TypeError, match="accepted"):
        compiled.add_rows(out, line, cube, cube)
    with pytest.raises(ValueError, match="accepted"):
        compiled.reduce("median", out[:1, :1], out, 1.0)


@pytest.mark.parametrize("dtype", [*HALVES, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("is_product", [False, True])
def test_running_totals(dtype: Any, shape: tuple[int, ...], is_product: bool) -> None:
    random, ufunc = np.random.default_rng(5), (np.add, np.multiply)[is_product]
    whole = (random.normal(size=shape) * 2.0 ** random.integers(-3, 4, shape)).astype(dtype)
    whole.flat[0] = -0.0
    for x in views(whole) if len(shape) < 3 else [whole, whole.transpose(1, 2, *range(3, len(shape)), 0)]:
        for axis in range(x.ndim):
            found = np.empty_like(x)
            compiled.scan(buffer(found), buffer(x), axis, is_product)  # type: ignore[union-attr]
            with np.errstate(all="ignore"):
                wanted = ufunc.accumulate(x.astype(np.float64), axis=axis)
            once = wanted.astype(dtype) if dtype == np.float32 else converted(np.ascontiguousarray(wanted), dtype)
            assert_same(found, once)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("shape", [(0,), (1,), (5,), (1000,), (3, 257), (2, 0), (2, 3, 70_000)])
def test_rows_are_sorted(dtype: Any, shape: tuple[int, ...]) -> None:
    random, most = np.random.default_rng(3), np.iinfo(dtype).max
    for low, high in ((0, most), (0, 0), (most, most), (most - 300 % most, most), (0, min(most, 70_000))):
        x = random.integers(low, high, shape, dtype, endpoint=True)
        found = x.copy()
        compiled.sort(found, 0)  # type: ignore[union-attr]
        assert np.array_equal(found, np.sort(x, axis=-1))


@pytest.mark.parametrize("first", [8, 32, 61])
def test_keys_of_equal_leading_bits_keep_their_order(first: int) -> None:
    x = np.random.default_rng(first).integers(0, 1 << 64, (4, 5000), np.uint64, endpoint=False)
    found = x.copy()
    compiled.sort(found, first)  # type: ignore[union-attr]
    order = np.argsort(x >> np.uint64(first), axis=-1, kind="stable")
    assert np.array_equal(found, np.take_along_axis(x, order, axis=-1))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("count", [1, 2, 7, 15, 16, 40, 127, 128, 300])
def test_the_first_keys_of_rows(dtype: Any, count: int) -> None:
    random, most = np.random.default_rng(count), int(np.iinfo(dtype).max)
    for length in (count, count + 1, 2 * count, 1000, 5000):
        for high in (0, 3, most):
            x = random.integers(most - high, most, (3, length), dtype, endpoint=True)
            for keys in (x, np.sort(x, axis=-1), np.ascontiguousarray(np.sort(x, axis=-1)[:, ::-1])):
                wanted = np.argsort(keys, axis=-1, kind="stable")[:, :count]
                found = np.empty(wanted.shape, np.int64)
                compiled.first(keys, found)  # type: ignore[union-attr]
                assert np.array_equal(found, wanted)


@pytest.mark.parametrize("counters", [0, 1, 15, 16, 17, 1000])
def test_random_words_are_those_of_the_python_code(counters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, branch, position in ((0, 0, 0), (2**64 - 1, 2**64 - 1, 2**64 - 9), (0x123456789ABCDEF, 7, 2**32 - 8)):
        found = random.philox(key, branch, position, counters)
        with monkeypatch.context() as pure:
            pure.setattr(random, "compiled", None)
            assert np.array_equal(found, random.philox(key, branch, position, counters))
