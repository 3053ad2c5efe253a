"""Kernels of reductions of fused functions, without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from tests.helpers.expressions import NAMES, REDUCTIONS, TREES, assert_reduces, axes_of, evaluate, operands
from xpops.api import fusion
from xpops.core import dtypes as dt
from xpops.dispatch.reductions import reduction
from xpops.ops import reduction as rows

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(11)


def fused(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run the kernels of a fused function. Returns the results."""
    specs = tuple(layout_on_gpu(x) if isinstance(x, np.ndarray) else type(x) for x in arguments)
    engine = EmulatedEngine(workers=2)
    results = run(engine, *fusion._plan(fusion.fuse(function), engine, specs), *arguments)
    return results if len(results) > 1 else results[0]


def reduced(name: str, x: NDArray, axis: Any = None, **options: Any) -> NDArray:
    """The reduction of an array."""
    engine, x, correction = EmulatedEngine(workers=2), np.asarray(x), options.get("correction", 0.0)
    program = reduction(engine, (layout_on_gpu(x),), rows.REDUCTIONS[name], axis, False, None, correction)
    (result,) = run(engine, *program, x)
    return result


def kernels(function: Callable[..., Any], *arguments: Any) -> int:
    given = (xp.asarray(x, device="cpu") if isinstance(x, np.ndarray) else x for x in arguments)
    return xp.fuse(function).source(*given).count("xpops_kernel(")


def floats(*shape: int, dtype: Any = np.float32) -> NDArray:
    return RANDOM.normal(size=shape).astype(dtype)


def same(got: NDArray, wanted: NDArray) -> None:
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


ALIKE: dict[str, tuple[tuple[int, ...], Any]] = {
    "whole": ((100_004,), None),
    "odd": ((100_003,), None),
    "few long rows": ((3, 20_001), 1),
    "block rows": ((40, 3000), 1),
    "warp rows": ((200, 256), 1),
    "short rows": ((1000, 5), -1),
    "columns": ((700, 260), 0),
    "few columns": ((3000, 3), 0),
    "middle": ((6, 50, 64), 1),
    "outer and inner": ((6, 50, 64), (0, -1)),
    "all of three": ((6, 50, 64), (0, 1, 2)),
    "no axes": ((5, 6), ()),
    "one": ((1,), None),
    "0-d": ((), None),
}


@pytest.mark.parametrize("name", ALIKE)
def test_what_lies_alike_is_added_up_as_an_array_is(name: str) -> None:
    shape, axis = ALIKE[name]
    x, y = floats(*shape), floats(*shape)
    product = lambda x, y: x * y - x  # noqa: E731
    assert kernels(lambda x, y: xp.sum(product(x, y), axis=axis), x, y) == 1
    same(fused(lambda x, y: xp.sum(product(x, y), axis=axis), x, y), reduced("sum", x * y - x, axis))


@pytest.mark.parametrize("name", sorted(set(rows.REDUCTIONS) - {"argmax", "argmin"}))
@pytest.mark.parametrize(("shape", "axis"), [((60, 300), 0), ((9, 1500), 1)])
def test_every_reducer(name: str, shape: tuple[int, ...], axis: int) -> None:
    x, y = floats(*shape), floats(*shape)
    function = getattr(xp, name)
    same(fused(lambda x, y: function(x + y, axis=axis), x, y), reduced(name, x + y, axis))


@pytest.mark.parametrize("axis", [0, 1, None])
def test_corrections(axis: int | None) -> None:
    x, y = floats(37, 41) + np.float32(1e4), floats(37, 41)
    for function, by_numpy in ((xp.var, np.var), (xp.std, np.std)):
        got = fused(lambda x, y, f=function: f(x + y, axis=axis, correction=1.5), x, y)
        wide = (x + y).astype(np.float64)
        np.testing.assert_allclose(got, by_numpy(wide, axis=axis, ddof=1.5), rtol=1e-5)
    assert np.isnan(fused(lambda x: xp.var(x * 2, correction=3.0), floats(3)))


LAYOUTS: dict[str, tuple[NDArray, ...]] = {
    "row": (floats(300, 40), floats(40)),
    "column": (floats(300, 40), floats(300, 1)),
    "long row": (floats(6, 1031), floats(1031)),
    "long column": (floats(6, 1031), floats(6, 1)),
    "outer": (floats(70, 1), floats(90)),
    "number": (floats(50, 60), floats()),
    "transposed": (floats(24, 20).T, floats(20, 24)),
    "both transposed": (floats(130, 90).T, floats(130, 90).T),
    "tiles": (floats(70, 64), floats(64, 70).T),
    "slices": (floats(60, 41)[::2, 1:], floats(30, 40)),
    "odd rows": (floats(37, 331)[:, 1:], floats(37, 330)),
    "alike but misaligned": (floats(37, 331)[:, 1:], floats(1)),
    "misaligned beside a row": (floats(5, 1025)[:, 1:], floats(1024)),
    "backwards": (floats(9, 70)[::-1, ::-1], floats(9, 70)),
    "repeated": (np.broadcast_to(floats(70), (60, 70)), floats(60, 1)),
    "narrower": (floats(64, 512, dtype=np.float16), floats(64, 512)),
    "wider": (floats(64, 513, dtype=np.float64), floats(513)),
}


@pytest.mark.parametrize("axis", [0, -1, None])
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str, axis: int | None) -> None:
    x, y = LAYOUTS[name]
    function = lambda x, y: xp.sum(x * y - y, axis=axis)  # noqa: E731
    assert kernels(function, x, y) == (2 if name == "tiles" else 1)
    wanted = (x.astype(np.float64) * y - y).sum(axis)
    np.testing.assert_allclose(fused(function, x, y), wanted, rtol=1e-5, atol=1e-4)


def test_slices_of_one_line_that_begin_within_packs() -> None:
    x = floats(5001)[1:]
    same(fused(lambda x: xp.max(x * x, axis=0), x), np.max(x * x))
    source = xp.fuse(lambda x: xp.sum(x * x)).source(xp.asarray(x, device="cpu"))
    assert "256, 256, 1, 4, 4, true" in source


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reversed_arrays(axis: int | None) -> None:
    x, y = floats(41, 3, 300), floats(300)
    for flipped, other in ((x[::-1, :, ::-1], y[::-1]), (x[:, ::-1, ::-1], y), (x[::-1], y)):
        for _ in range(2):
            got = fused(lambda a, b: xp.sum(xp.abs(a) * b * 2.0, axis=axis), flipped, other)
            wanted = np.sum(np.abs(flipped.astype(np.float64)) * other * 2.0, axis=axis)
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-3)


def test_means_of_middle_axes_beside_rows_and_columns() -> None:
    x, y, z = floats(5, 33, 20), floats(33, 1), floats(5, 1, 20)
    wide = [each.astype(np.float64) for each in (x, y, z)]
    for axis in (1, (0, 1), (1, 2), (0, 2), (2, 0)):
        got = fused(lambda x, y, z, axis=axis: xp.mean(x * y + z, axis=axis, keepdims=True), x, y, z)
        np.testing.assert_allclose(got, (wide[0] * wide[1] + wide[2]).mean(axis, keepdims=True), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.complex64, dt.bool, dt.int8, dt.uint32], ids=str)
def test_dtypes(dtype: Any) -> None:
    x, y = ((RANDOM.random((40, 50)) * 3).astype(dtype) for _ in range(2))
    join = (lambda x, y: x & ~y) if dtype == dt.bool else (lambda x, y: x * y + x)
    for axis in (0, None):
        got = fused(lambda x, y, axis=axis: xp.sum(join(x, y), axis=axis), x, y)
        if dtype.kind == "c":
            np.testing.assert_allclose(got, join(x, y).sum(axis), rtol=1e-5)
        else:
            same(got, reduced("sum", join(x, y), axis))


def test_elements_are_rounded_before_they_are_reduced() -> None:
    x = floats(33, 64, dtype=np.float16)
    got = fused(lambda x: xp.sum(x * x, axis=0, dtype=xp.float32), x)
    np.testing.assert_allclose(got, (x * x).astype(np.float64).sum(0), rtol=1e-6)
    same(fused(lambda x: xp.max(x * 3, axis=0), x), (x * np.float16(3)).max(0))
    same(fused(lambda x: xp.sum(xp.astype(x, xp.int32), axis=0), x), x.astype(np.int32).sum(0))


def test_truth_of_comparisons() -> None:
    x, y = floats(50, 70), floats(70)
    same(fused(lambda x, y: xp.all(x < y + 3, axis=0), x, y), (x < y + 3).all(0))
    same(fused(lambda x, y: xp.any(x - y, axis=1), x, y), (x - y).any(1))
    same(fused(lambda x, y: xp.count_nonzero(x > y), x, y), np.count_nonzero(x > y) * np.ones((), np.int64))


ENDINGS: dict[str, tuple[Callable[..., Any], NDArray]] = {
    "rows": (lambda m, x: m.sqrt(m.sum(x * x, axis=1)), floats(40, 301)),
    "short rows": (lambda m, x: m.exp(m.mean(x * 2, axis=-1, keepdims=True)) + 1, floats(500, 5)),
    "columns": (lambda m, x: m.log1p(m.max(m.abs(x), axis=0)), floats(90, 70)),
    "split": (lambda m, x: 1 / m.sum(x * x), floats(100_003)),
    "two columns": (lambda m, x: m.sqrt(m.sum(x * x, axis=0)), floats(2, 900)),
    "rounded before": (lambda m, x: m.sqrt(m.sum(x * x, axis=0)) * 3, floats(64, 50, dtype=np.float16)),
    "another dtype": (lambda m, x: m.astype(m.sum(x > 0, axis=0), m.float32) / 7, floats(64, 50)),
    "counts": (lambda m, x: m.astype(m.sqrt(m.sum(m.square(x), axis=1)), m.float64), floats(64, 50)),
    "used twice": (lambda m, x: (lambda y: y * y + y)(m.var(x + 1, axis=0)), floats(64, 50)),
    "steps backwards": (lambda m, x: m.sqrt(m.sum(x * x, axis=1)), floats(40, 90)[::-1, ::-1]),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_what_follows_a_reduction_is_in_its_kernel(name: str) -> None:
    function, x = ENDINGS[name]
    of_xpops = lambda x: function(xp, x)  # noqa: E731
    assert kernels(of_xpops, x) == 1
    wanted, dtype = function(np, x.astype(np.float64)), function(np, x).dtype
    for _ in range(2):
        got = fused(of_xpops, x)
        assert (got.dtype, got.shape) == (dtype, wanted.shape)
        np.testing.assert_allclose(got, wanted, rtol=2e-3 if x.dtype == np.float16 else 1e-5)


def test_what_needs_more_than_a_reduction_is_in_another_kernel() -> None:
    x, y = floats(64, 50), floats(50)
    wide = [each.astype(np.float64) for each in (x, y)]
    for function in (
        lambda m, x, y: m.sqrt(m.sum(x * x, axis=0)) + y,
        lambda m, x, y: m.sum(x * y, axis=0) * m.max(x * y, axis=0),
    ):
        of_xpops = lambda x, y, function=function: function(xp, x, y)  # noqa: E731
        assert kernels(of_xpops, x, y) > 1
        np.testing.assert_allclose(fused(of_xpops, x, y), function(np, *wide), rtol=1e-5, atol=1e-5)


def test_scalars_are_parameters() -> None:
    x, counts = floats(600), []

    def function(x: Any, a: Any, z: Any, n: Any) -> Any:
        counts.append(1)
        return xp.sum(x * a * z + n // 2)

    engine = EmulatedEngine()
    program = fusion._plan(fusion.fuse(function), engine, (layout_on_gpu(x), float, complex, int))
    for a, z, n in ((0.5, 1 - 2j, 7), (-2.0, 3j, -8)):
        (got,) = run(engine, *program, x, a, z, n)
        np.testing.assert_allclose(got, (x.astype(np.float64) * a * z + n // 2).sum(), rtol=1e-5)
    assert len(counts) == 1


def test_results_that_are_reductions_are_written_once() -> None:
    x, y = floats(40, 30, dtype=np.float64), floats(30, dtype=np.float64)

    def function(x: Any, y: Any) -> Any:
        total = xp.sum(x * y, axis=0)
        return total, x - total, total, xp.max(total * total), xp.min(x), y

    assert kernels(lambda x, y: xp.sum(x * y, axis=0), x, y) == 1
    total, less, again, most, least, given_back = fused(function, x, y)
    np.testing.assert_allclose(total, (x * y).sum(0), rtol=1e-12)
    same(again, total)
    same(less, x - total)
    same(most, np.max(total * total))
    same(least, x.min())
    same(given_back, y)


def test_a_reduction_is_laid_out_as_the_function_lays_it_out() -> None:
    x = np.asfortranarray(floats(1, 7, 5))
    (layout,) = fusion._plan(
        fusion.fuse(lambda x: xp.sum(x * x, axis=0, keepdims=True)), EmulatedEngine(), (layout_on_gpu(x),)
    ).layouts
    assert layout.contiguous
    np.testing.assert_allclose(fused(lambda x: xp.sum(x * x, axis=0, keepdims=True), x), x * x, rtol=1e-6)


def test_reductions_of_nothing(pretended: Any) -> None:
    x = pretended.array(floats(0, 3))
    total, one_more, mean = xp.fuse(lambda x: (xp.sum(x * 2, axis=0), xp.sum(x * 2, axis=1) + 1, xp.mean(x * 2)))(x)
    same(total.to_numpy(), np.zeros(3, np.float32))
    same(one_more.to_numpy(), np.zeros(0, np.float32))
    assert np.isnan(mean.to_numpy())
    with pytest.raises(ValueError, match="max: x has shape"):
        xp.fuse(lambda x: xp.max(x * 2))(x)


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_an_argument_in_another_order_of_axes(axis: Any, keepdims: bool) -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 1, 0)
    wanted = x.sum(axis, keepdims=keepdims)
    same(fused(lambda x: xp.sum(x, axis=axis, keepdims=keepdims), x), wanted)
    y = np.asarray(floats(*wanted.shape))
    same(fused(lambda x, y: xp.sum(x, axis=axis, keepdims=keepdims) * y, x, y), wanted * y)
    again = wanted.sum(0)
    same(fused(lambda x: xp.sum(xp.sum(x, axis=axis, keepdims=keepdims), axis=0), x), np.asarray(again))


def test_reductions_of_reductions() -> None:
    x = floats(30, 40, dtype=np.float64)
    got = fused(lambda x: xp.std((x - xp.mean(x * 2)) / xp.max(xp.abs(x), axis=0), axis=1), x)
    np.testing.assert_allclose(got, ((x - (x * 2).mean()) / np.abs(x).max(0)).std(1), rtol=1e-12)


def test_many_operands() -> None:
    parts = [floats(50, 40) for _ in range(12)]

    def function(*parts: Any) -> Any:
        total = parts[0]
        for each in parts[1:]:
            total = total + each
        return xp.sum(total, axis=0)

    np.testing.assert_allclose(
        fused(function, *parts), np.sum(parts, axis=(0, 1), dtype=np.float64), rtol=1e-5, atol=1e-5
    )


def normalised(m: Any) -> Callable[..., Any]:
    def function(x: Any, scale: Any) -> Any:
        options = {"axis": -1, "keepdims": True}
        return (x - m.mean(x, **options)) / m.sqrt(m.var(x, **options) + 0.25) * scale, m.std(x * 2, axis=-1)

    return function


@pytest.mark.parametrize("length", [64, 100, 333, 3000])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_variances_along_rows_are_in_the_one_kernel(length: int, dtype: Any) -> None:
    x, scale = floats(260, length, dtype=dtype), floats(length, dtype=dtype)
    source = xp.fuse(normalised(xp)).source(*(xp.asarray(each, device="cpu") for each in (x, scale)))
    assert "fused_rows<" in source
    got, wanted = fused(normalised(xp), x, scale), normalised(np)(*(each.astype(np.float64) for each in (x, scale)))
    tolerance = {np.float16: 0.02, np.float32: 1e-5, np.float64: 1e-12}[dtype]
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_variances_along_rows_lose_no_digits_far_from_0() -> None:
    x = floats(256, 1000) + np.float32(1e4)
    less, none, spread = fused(
        lambda x: (xp.var(x, axis=1), xp.var(x, axis=1, correction=1000), xp.std(x - 3, axis=1, correction=1.0)), x
    )
    wide = x.astype(np.float64)
    np.testing.assert_allclose(less, wide.var(1), rtol=1e-5)
    np.testing.assert_allclose(spread, wide.std(1, ddof=1), rtol=1e-5)
    assert np.isnan(none).all()


def test_variances_of_long_rows_and_complex_numbers() -> None:
    x = floats(256, 20_000)
    got = fused(lambda x: x / xp.std(x, axis=-1, keepdims=True), x)
    np.testing.assert_allclose(got, x / x.astype(np.float64).std(-1, keepdims=True), rtol=1e-5)
    z = (floats(256, 65) + 1j * floats(256, 65)).astype(np.complex64)
    np.testing.assert_allclose(fused(lambda z: xp.var(z * 2, axis=-1), z), (z * 2).var(-1), rtol=1e-5)


@given(tree=TREES, values=operands(), name=st.sampled_from([None, *REDUCTIONS]), data=st.data())
@settings(max_examples=60, deadline=None)
def test_random_expressions(tree: Any, values: dict[str, NDArray], name: str | None, data: st.DataObject) -> None:
    value = fused(lambda *given: evaluate(tree, dict(zip(NAMES, given, strict=True)), xp), *values.values())
    with np.errstate(all="ignore"):
        same(value, np.asarray(evaluate(tree, values, np)))
    if name is not None:
        axis, keepdims = data.draw(axes_of(value.ndim)), data.draw(st.booleans())

        def function(*given: Any) -> Any:
            made = evaluate(tree, dict(zip(NAMES, given, strict=True)), xp)
            return getattr(xp, name)(made, axis=axis, keepdims=keepdims)

        assert_reduces(fused(function, *values.values()), name, value, axis, keepdims)
