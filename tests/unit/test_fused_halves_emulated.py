"""Fused functions of float16 and bfloat16: pairs in one register, and sums about a mean in one pass; without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.halves import FUNCTIONS, HALVES, check_norm, check_norm_gradients, norm_operands
from tests.unit.test_fused_emulated import floats, fused, same
from tests.unit.test_fused_passes import ALONG, gradient_of, layer_norm
from xpops.core import dtypes as dt

NDArray = np.ndarray[Any, Any]
PAIRS = "static constexpr bool kPairs = true;"

LAYOUTS: dict[str, Callable[[NDArray, NDArray], tuple[NDArray, NDArray]]] = {
    "contiguous": lambda x, y: (x, y),
    "shifted": lambda x, y: (x[:, 1:], y[:, :-1]),
    "every second": lambda x, y: (x[:, ::2], y[:, 1::2]),
    "reversed": lambda x, y: (x, y[:, ::-1]),
    "one row": lambda x, y: (x, y[:1]),
    "one column": lambda x, y: (x, y[:, :1]),
    "transposed": lambda x, y: (x, y.T.copy().T),
}


@HALVES
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_pairs_have_the_bits_of_operators_one_by_one(name: str, layout: str, dtype: Any) -> None:
    function, _ = FUNCTIONS[name]
    x, y = LAYOUTS[layout](*(floats(21, 38).astype(dtype) for _ in range(2)))
    got, wanted = fused(lambda x, y: function(xp, x, y), x, y), function(np, x, y)
    if not isinstance(wanted, tuple):
        got, wanted = (got,), (wanted,)
    for one, other in zip(got, wanted, strict=True):
        same(one, other)


@HALVES
def test_pairs_of_special_values(dtype: Any) -> None:
    info = xp.finfo(dtype)
    values = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, info.max, info.min, info.smallest_normal, info.eps]
    values += [float(info.smallest_normal) / 4, -float(info.smallest_normal) / 2]
    x, y = (each.ravel().astype(dtype) for each in np.meshgrid(values, values))
    for name in ("products and sums", "a quotient between", "squares"):
        function, _ = FUNCTIONS[name]
        with np.errstate(all="ignore"):
            wanted = function(np, x, y)
        got = fused(lambda x, y, function=function: function(xp, x, y), x, y)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
        finite = ~np.isnan(wanted)
        same(got.view(np.uint16)[finite], wanted.view(np.uint16)[finite])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_which_functions_take_pairs(name: str) -> None:
    function, paired = FUNCTIONS[name]
    x = xp.zeros((300, 64), dtype=xp.float16)
    assert (PAIRS in xp.fuse(lambda x, y: function(xp, x, y)).source(x, x)) == paired
    assert PAIRS not in xp.fuse(lambda x, y: function(xp, x, y), round_each=False).source(x, x)
    x = xp.zeros((300, 64), dtype=xp.float32)
    assert PAIRS not in xp.fuse(lambda x, y: function(xp, x, y)).source(x, x)


def test_scalars_and_arrays_of_both_halves_beside_pairs() -> None:
    x, y = floats(77).astype(np.float16), floats(77).astype(dt.bfloat16)
    got = fused(lambda x, y, a: (x * a - x, y * a + y), x, y, 1.5)
    same(got[0], x * np.float16(1.5) - x)
    same(got[1], y * dt.bfloat16.type(1.5) + y)


# Parts of a warp, a warp, and blocks in which a warp has fewer elements than others, or none.
SHAPES = [(1200, 24), (520, 64), (140, 520), (70, 768), (70, 1032), (140, 1536), (140, 2056), (40, 333), (20, 2051)]


@HALVES
@pytest.mark.parametrize(("rows", "length"), SHAPES)
def test_norms_of_rows_far_from_zero(rows: int, length: int, dtype: Any) -> None:
    """Sums about the mean are as accurate as if the mean were known before."""
    x, g, scale, shift = norm_operands(rows, length, dtype)
    check_norm(fused(layer_norm, x, scale, shift, round_each=False), x, scale, shift)
    got = fused(gradient_of(layer_norm), g, x, scale, shift, round_each=False)
    check_norm_gradients(got, g, x, scale)


@HALVES
@pytest.mark.parametrize("length", [24, 768, 1536, 1792, 2056])
def test_equal_elements_are_their_mean(length: int, dtype: Any) -> None:
    x = np.repeat(np.linspace(-60_000, 60_000, 140).astype(dtype)[:, None], length, axis=1)
    ones = np.ones(length, dtype)
    same(fused(layer_norm, x, ones, ones, round_each=False), np.ones_like(x))
    of_mean = fused(lambda x: (x - xp.mean(x, **ALONG)) * 2**15, x, round_each=False)
    same(of_mean, np.zeros_like(x))


@pytest.mark.parametrize("length", [24, 768, 1536])
def test_squares_about_a_pivot_may_overflow(length: int) -> None:
    """The sum of squares is finite, and that of differences from the first element is not."""
    x, ones, zeros = floats(140, length), *(np.full(length, value, dt.bfloat16) for value in (1, 0))
    x[3, 0], x[5, length - 1], x[9] = 1e18, -1e18, x[9] * 1e17
    x = x.astype(dt.bfloat16)
    check_norm(fused(layer_norm, x, ones, zeros, round_each=False), x, ones, zeros)

    def function(x: Any, m: Any = xp, along: Any = ALONG) -> Any:
        centred = m.exp(x) - m.mean(m.exp(x), **along)
        return centred / m.sqrt(m.mean(centred * centred, **along))

    x = floats(140, length)
    x[:, 0] = 40
    wanted = function(x.astype(np.float16).astype(np.float64), np, {"axis": -1, "keepdims": True})
    got = fused(function, x.astype(np.float16), round_each=False)
    np.testing.assert_allclose(got.astype(np.float64), wanted, rtol=2e-3, atol=1e-3)


@HALVES
@pytest.mark.parametrize("length", [24, 520])
def test_infinite_factors_and_differences(length: int, dtype: Any) -> None:
    def function(x: Any, g: Any, m: Any = xp, along: Any = ALONG) -> tuple[Any, ...]:
        d = x - m.mean(x, **along)
        return m.sum(g * d, axis=-1), m.mean(d * d, axis=-1), m.sum(g, axis=-1)

    x, g = (floats(140, length).astype(dtype) for _ in range(2))
    x[4, 0], x[5, length // 2], x[6, 1], g[7, 3], g[8, 0], g[9, 2] = np.inf, -np.inf, np.nan, np.inf, -np.inf, np.nan
    got = fused(function, x, g, round_each=False)
    with np.errstate(all="ignore"):
        wanted = function(*(each.astype(np.float64) for each in (x, g)), np, {"axis": -1, "keepdims": True})
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one.astype(np.float64), other, rtol=0.02, atol=0.1)


def test_no_approximate_quotient_decides_anything() -> None:
    x = xp.ones((300, 64), dtype=xp.float16)
    smooth = xp.fuse(lambda x, y: x / y * y - xp.sqrt(x), round_each=False).source(x, x)
    assert "NearDivide()(" in smooth
    assert "NearSqrt()(" in smooth
    for function in (lambda x, y: xp.floor(x / y) + x, lambda x, y: xp.where(xp.sqrt(x * y) == y, x, y)):
        assert "Near" not in xp.fuse(function, round_each=False).source(x, x)


@HALVES
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("column", [0, 5, 300, 1535])
def test_means_of_rows_with_infinities(column: int, value: float, dtype: Any) -> None:
    """Also at the elements from which differences are computed. Other rows do not change."""

    def function(x: Any, m: Any = xp, along: Any = ALONG) -> tuple[Any, ...]:
        mean = m.mean(x, **along)
        centred = x - mean
        return centred / m.sqrt(m.mean(centred * centred, **along) + 1), mean, m.sum(x, axis=0)

    x = floats(140, 1536).astype(dtype)
    x[3, column] = value
    got = fused(function, x, round_each=False)
    with np.errstate(all="ignore"):
        wanted = function(x.astype(np.float64), np, {"axis": -1, "keepdims": True})
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one.astype(np.float64), other, rtol=0.02, atol=0.02)


def test_sums_about_a_mean_are_one_pass_of_halves() -> None:
    for dtype, one in ((xp.float16, True), (xp.bfloat16, True), (xp.float32, False)):
        x, vector = xp.zeros((520, 512), dtype=dtype), xp.zeros(512, dtype=dtype)
        source = xp.fuse(gradient_of(layer_norm), round_each=False).source(x, x, vector, vector)
        assert ("kCentred = 0;" in source) == one
    x = xp.zeros((520, 512), dtype=xp.float16)
    exact = xp.fuse(layer_norm).source(x, x[0], x[0])
    assert "kCentred = -1;" in exact
    assert "kCentred = -1;" in xp.fuse(layer_norm, round_each=False).source(x, xp.zeros(512), xp.zeros(512))


# What is averaged of x, y and of the differences d of x from its mean; whether one pass computes it with the mean.
CENTRED: list[tuple[Callable[..., Any], bool]] = [
    (lambda m, x, y, d: d * d, True),
    (lambda m, x, y, d: m.square(d), True),
    (lambda m, x, y, d: m.abs(d), False),
    (lambda m, x, y, d: d * d * d, False),
    (lambda m, x, y, d: d * y, False),
    (lambda m, x, y, d: m.exp(d), False),
    (lambda m, x, y, d: d * d + y, False),
    (lambda m, x, y, d: x * x, False),
]


@pytest.mark.parametrize(("term", "centred"), CENTRED)
def test_which_sums_are_about_a_mean(term: Callable[..., Any], centred: bool) -> None:
    def function(x: Any, y: Any, m: Any = xp, along: Any = ALONG) -> Any:
        difference = x - m.mean(x, **along)
        return difference * m.mean(term(m, x, y, difference), **along)

    x, y = (floats(300, 96).astype(np.float16) for _ in range(2))
    source = xp.fuse(function, round_each=False).source(*(xp.asarray(each) for each in (x, y)))
    assert ("kCentred = 0;" in source) == centred
    wide = [each.astype(np.float64) for each in (x, y)]
    wanted = function(*wide, np, {"axis": -1, "keepdims": True})
    got = fused(function, x, y, round_each=False).astype(np.float64)
    np.testing.assert_allclose(got, wanted, rtol=4e-3, atol=4e-3 * abs(wanted).max())
