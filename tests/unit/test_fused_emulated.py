"""Kernels of fused functions, without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.emulator import GPU, SHARED, EmulatedEngine, layout_on_gpu, run, tuned
from tests.helpers.rows import COMPUTED, function_of, ordinary_values
from xpops.api import fusion
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.dispatch.fusion import programs
from xpops.dispatch.fusion.recording import record
from xpops.dispatch.fusion.rows import plan_row_kernel
from xpops.dispatch.gradients.namespace import NAMESPACE
from xpops.engine.cuda.fused.rows import rows_source
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.runtime.elf import resources
from xpops.engine.cuda.tuning import staging_policy, tuning_of
from xpops.ops.operator import Operator
from xpops.plan.fused.rows import plan_rows
from xpops.plan.result import result_layout
from xpops.plan.signature import signature_of

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(5)


def fused(function: Callable[..., Any], *arguments: Any, capability: int = 90, round_each: bool = True) -> Any:
    """Run the kernels of a fused function. Returns the results."""
    specs = tuple(layout_on_gpu(x) if isinstance(x, np.ndarray) else type(x) for x in arguments)
    engine = EmulatedEngine(capability=capability)
    program = fusion._plan(fusion.fuse(function, round_each=round_each), engine, specs)
    results = run(engine, *program, *arguments)
    return results if len(results) > 1 else results[0]


def floats(*shape: int, dtype: Any = np.float32) -> NDArray:
    return RANDOM.normal(size=shape).astype(dtype)


def same(got: NDArray, wanted: NDArray) -> None:
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


def test_one_kernel_reads_once_and_rounds_as_always() -> None:
    x, y = floats(1003), floats(1003)
    same(fused(lambda x, y: x * y + x - y * y * 0.1, x, y), x * y + x - y * y * np.float32(0.1))


def test_functions_and_operators() -> None:
    x, y = floats(257, dtype=np.float64), floats(257, dtype=np.float64)
    got = fused(lambda x, y: xp.where((x > 0) & (y < x), xp.maximum(x, 2 * y), -abs(y) // 0.5), x, y)
    same(got, np.where((x > 0) & (y < x), np.maximum(x, 2 * y), -abs(y) // 0.5))


LAYOUTS: dict[str, tuple[NDArray, ...]] = {
    "row and column": (floats(33, 40), floats(40), floats(33, 1)),
    "transposed": (floats(70, 64), floats(64, 70).T, floats(64)),
    "boxes": (floats(4, 12, 90, 3), floats(90, 12, 4, 3).transpose(2, 1, 0, 3), floats(3)),
    "slices": (floats(30, 41)[::2, 1:], floats(15, 40), floats(1)),
    "0-d": (floats(5, 6), floats(), floats(6)),
    "one": (floats(1), floats(1), floats(1)),
    "empty": (floats(0, 3), floats(3), floats(1)),
    "backwards": (floats(9, 70)[::-1, ::-1], floats(9, 70), floats(70)[::-1]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str) -> None:
    x, y, z = LAYOUTS[name]
    same(fused(lambda x, y, z: x * y - z, x, y, z), x * y - z)


@pytest.mark.parametrize("op", COMPUTED, ids=str)
def test_every_operator(op: Operator) -> None:
    """A fused operator has the bits of its own kernel."""
    dtype = next(each for each in (dt.float32, dt.int32, dt.bool) if each in dt.CATEGORIES[op.accepts])
    hosts = ordinary_values(op, dtype, (9, 40))
    specs = (*map(layout_on_gpu, hosts), *(float,) * op.parameters)
    engine, signature = EmulatedEngine(), signature_of(op, specs)
    out = result_layout(signature, specs, specs[0].device)
    (wanted,) = run(engine, (out,), engine.elementwise(op, signature, specs, out), *hosts, *op.defaults)
    same(fused(function_of(op), *hosts), wanted)


def test_several_results() -> None:
    x, y = floats(37, 20), floats(20, dtype=np.float16)
    total, less, shorter, again = fused(lambda x, y: (x + y, x < y, y * 2, x), x, y)
    same(total, x + y)
    same(less, x < y)
    same(shorter, y * np.float16(2))
    same(again, x)


def test_dtypes_promote_as_always() -> None:
    i, h, x = np.arange(-50, 50, dtype=np.int8), floats(100, dtype=np.float16), floats(100)
    same(fused(lambda i, h: i * 2 + h, i, h), (i * np.int8(2)).astype(np.float16) + h)
    same(fused(lambda h, x: h * h + x, h, x), (h * h).astype(np.float32) + x)
    same(fused(lambda i: (i + 100) * i, i), (i + np.int8(100)) * i)
    same(fused(lambda i: i / 3, i), i.astype(np.float64) / 3)
    same(fused(lambda x: xp.astype(x, xp.int32) % 3, x), x.astype(np.int32) % 3)
    same(fused(lambda h: xp.astype(h, xp.float32) / 3, h), h.astype(np.float32) / np.float32(3))
    same(fused(lambda i: ~(i > 3), i), ~(i > 3))


@pytest.mark.parametrize("dtype", [np.float16, dt.bfloat16], ids=str)
def test_without_rounding_of_each_operator(dtype: Any) -> None:
    """Half arrays are float32 between the operators. Results keep their dtypes."""
    x, y, wide = floats(6, 300).astype(dtype), floats(300).astype(dtype), floats(6, 300)
    f, g = x.astype(np.float32), y.astype(np.float32)
    same(fused(lambda x, y: x * y - x * 0.3, x, y, round_each=False), (f * g - f * np.float32(0.3)).astype(dtype))
    product, less, mixed = fused(lambda x, y, z: (x * y, x * x < y, x * y + z), x, y, wide, round_each=False)
    same(product, (f * g).astype(dtype))
    same(less, f * f < g)
    same(mixed, f * g + wide)
    same(fused(lambda x: x, x, round_each=False), x)
    same(fused(lambda x, a: x * a, x, 3, round_each=False), (f * np.float32(3)).astype(dtype))
    exact = f.astype(np.float64) / np.sqrt((f.astype(np.float64) ** 2).mean(-1, keepdims=True))
    got = fused(lambda x: x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True)), x, round_each=False)
    assert got.dtype == dtype
    limits = xp.finfo(dtype)
    error = abs(got.astype(np.float64) - exact) / np.maximum(abs(exact), limits.smallest_normal)
    assert error.max() <= 0.502 * limits.eps


@pytest.mark.parametrize("dtype", [np.float16, dt.bfloat16], ids=str)
def test_functions_that_round_once_keep_the_operators_of_halves(dtype: Any) -> None:
    x, y = floats(6, 300).astype(dtype), floats(300).astype(dtype)
    f, g = x.astype(np.float32), y.astype(np.float32)
    for power in (2, 2.0, 3):
        same(fused(lambda x, power=power: x**power, x), (f ** int(power)).astype(dtype))
    same(fused(lambda x: x**2 * x, x), ((f * f).astype(dtype).astype(np.float32) * f).astype(dtype))
    product, total = fused(lambda x, y: (x * y, y + y), x, y, round_each=False)
    same(product, (f * g).astype(dtype))
    same(total, (g + g).astype(dtype))

    def source(function: Callable[..., Any], *arguments: Any) -> str:
        arrays = [xp.asarray(each, device="cpu") if isinstance(each, np.ndarray) else each for each in arguments]
        return fusion.fuse(function, round_each=False).source(*arrays)

    assert "float v" not in source(lambda x, y: (xp.sin(x), x * y), x, y)
    assert "float v" in source(lambda x, a: x * a, x, 0.1)  # as a half, 0.1 would be another number
    assert "float v" in source(lambda x, y: (x * y, x * y + y), x, y)
    gradient = xp.fuse(lambda g, x: NAMESPACE.gelu_backward(g, x), round_each=False)
    assert "NarrowGeluBackward" in gradient.source(xp.asarray(x, device="cpu"), xp.asarray(x, device="cpu"))


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quotients_by_a_value_of_the_row(dtype: Any, root: bool) -> None:
    """Without rounding of each operator they are products: as finite and as exact where the inverse is not."""
    limits = xp.finfo(xp.asarray(dtype(0)).dtype)
    least = np.nextafter(dtype(0), dtype(1))
    sizes = [least, 5 * least, limits.smallest_normal, 2.0**-64, 1 / 3, 1, 7, 2.0**64, limits.max / 3, limits.max]
    values = np.array([0, np.inf, np.nan, *sizes], dtype)
    values = np.concatenate([values, -values, RANDOM.normal(size=38).astype(dtype)])
    divisors = np.repeat(values[:, None], len(values), axis=1)

    def function(x: Any, y: Any) -> Any:
        row = xp.max(y, axis=-1, keepdims=True)
        return x / (xp.sqrt(row) if root else row)

    x = np.broadcast_to(values, divisors.shape).copy()
    with np.errstate(all="ignore"):
        wanted = x / (np.sqrt(divisors) if root else divisors)
    same(fused(function, x, divisors), wanted)
    got = fused(function, x, divisors, round_each=False)
    exact = (wanted == 0) | ~np.isfinite(wanted)
    np.testing.assert_array_equal(got[exact], wanted[exact])
    np.testing.assert_array_equal(np.signbit(got[wanted == 0]), np.signbit(wanted[wanted == 0]))
    with np.errstate(over="ignore"):  # the number after the largest one is infinite
        errors = abs(got[~exact] - wanted[~exact]) / np.spacing(abs(wanted[~exact]))
    assert errors.max() <= 2
    assert (got != wanted)[~exact].any()  # else the row's value was not prepared


def test_which_divisors_are_prepared() -> None:
    """Those that reductions along rows give, with scalars; in every kernel of the function."""
    x = xp.zeros((512, 64), dtype=xp.float32)
    axes: dict[str, Any] = {"axis": -1, "keepdims": True}
    cases: list[tuple[Callable[..., Any], int]] = [
        (lambda x, a: x / xp.sqrt(xp.mean(x * x, **axes) + a), 1),
        (lambda x, a: xp.exp(x / xp.max(x, **axes)) - xp.sum(x / xp.max(x, **axes), axis=0), 2),
        (lambda x, a: x / xp.sqrt(xp.sum(x, **axes)) + x / xp.sum(x, **axes), 1),
        (lambda x, a: x / xp.sum(x, axis=0, keepdims=True), 0),
        (lambda x, a: x / a + xp.max(x, **axes), 0),
        (lambda x, a: x / (x + xp.max(x, **axes)), 0),
        (lambda x, a: xp.max(x, **axes) / xp.sum(x, **axes), 0),
        (lambda x, a: x * x / 3, 0),
    ]
    for function, count in cases:
        kernels = fusion.fuse(function, round_each=False).source(x, 2.0).split("xpops_kernel")[:-1]
        assert sum("Divisor<float" in kernel for kernel in kernels) == count
        assert "Divisor" not in fusion.fuse(function).source(x, 2.0)


def test_what_rounding_of_each_operator_accepts() -> None:
    with pytest.raises(TypeError, match=r"^fuse: round_each is 0; accepted: True, False$"):
        fusion.fuse(lambda x: x, round_each=0)  # type: ignore[call-overload]
    decorated = fusion.fuse(round_each=False)(lambda x, *, scale: x * scale)
    assert "float v" in decorated.source(xp.zeros(8, dtype=xp.float16), scale=2.0)
    with pytest.raises(TypeError, match="the function returns"):
        fused(lambda x: 1, floats(3).astype(np.float16), round_each=False)


def test_complex() -> None:
    x, y = (floats(65) + 1j * floats(65) for _ in range(2))
    x, y = x.astype(np.complex64), y.astype(np.complex64)
    got = fused(lambda x, y: (xp.conj(x) * (2 + 1j) - y, xp.real(y) + 1, xp.abs(x)), x, y)
    np.testing.assert_allclose(got[0], np.conj(x) * np.complex64(2 + 1j) - y, rtol=1e-6, atol=1e-6)
    same(got[1], y.real + np.float32(1))
    np.testing.assert_allclose(got[2], abs(x), rtol=1e-6)


def test_scalar_arguments_are_parameters() -> None:
    x = floats(77)
    function = lambda x, a, b: x * (1 - a) + (a * b) ** 2 / b  # noqa: E731
    for a, b in ((0.1, 3.0), (0.9, -2.0)):
        same(fused(function, x, a, b), x * np.float32(1 - a) + np.float32((a * b) ** 2 / b))
    same(fused(lambda x, n: x + n // 2, x, 7), x + np.float32(3))
    same(fused(lambda x, z: x * z, x, 1j), x * np.complex64(1j))
    same(fused(lambda i, yes: i | yes, np.arange(4) > 1, True), np.ones(4, bool))
    with pytest.raises(
        OverflowError, match=r"arguments\[1\] is 9223372036854775808; accepted: -9223372036854775808 to"
    ):
        fused(lambda x, n: x + n, np.ones(3, np.int64), 2**63)
    same(fused(lambda x, n: x + n, x, 2**63), x + np.float32(2**63))
    with pytest.raises(OverflowError, match=r"arguments\[1\] is 300; accepted: -128 to 127"):
        fused(lambda x, n: x + n, np.ones(3, np.int8), 300)
    same(fused(lambda x, a: x * (a * np.float64(2)) * np.float32(2), x, 0.5), x * np.float32(1) * np.float32(2))
    with pytest.raises(
        TypeError, match=r"a power of scalar arguments is 0.5; accepted: int powers, as of ones, or float arg"
    ):
        fused(lambda x, n, m: x * n**m, x, 2, -1)


@pytest.mark.parametrize("value", [0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-300, 5])
def test_constants(value: Any) -> None:
    x = floats(40, dtype=np.float64)
    got, wanted = fused(lambda x: xp.copysign(x, value) + value, x), np.copysign(x, value) + value
    np.testing.assert_array_equal(got.view(np.uint64), wanted.view(np.uint64))


def test_integers_at_the_ends() -> None:
    x = np.array([0, 2**63, 2**64 - 1], np.uint64)
    same(fused(lambda x: (x + (2**64 - 1)) ^ 2**63, x), (x + np.uint64(2**64 - 1)) ^ np.uint64(2**63))
    y = np.array([0, -(2**63), 2**63 - 1], np.int64)
    same(fused(lambda y: (y & -(2**63)) - 1, y), (y & np.int64(-(2**63))) - np.int64(1))


BINARY: dict[str, tuple[Any, Any]] = {
    "add": (xp.add, np.add),
    "subtract": (xp.subtract, np.subtract),
    "multiply": (xp.multiply, np.multiply),
    "maximum": (xp.maximum, np.maximum),
    "minimum": (xp.minimum, np.minimum),
}
UNARY: dict[str, tuple[Any, Any]] = {
    "negative": (xp.negative, np.negative),
    "square": (xp.square, np.square),
    "abs": (xp.abs, np.abs),
    "trunc": (xp.trunc, np.trunc),
}
EXPRESSIONS = st.recursive(
    st.sampled_from(["x", "y", "z", 3, 5]),
    lambda inner: (
        st.tuples(st.sampled_from(sorted(UNARY)), inner) | st.tuples(st.sampled_from(sorted(BINARY)), inner, inner)
    ),
    max_leaves=8,
)


def evaluate(tree: Any, values: dict[str, Any], side: int) -> Any:
    """The value of an expression, computed with our functions (0) or NumPy's (1)."""
    if isinstance(tree, str):
        return values[tree]
    if isinstance(tree, int):
        return tree
    functions = UNARY if len(tree) == 2 else BINARY
    operands = [evaluate(each, values, side) for each in tree[1:]]
    if not any(hasattr(each, "dtype") for each in operands):
        return operands[0]
    return functions[tree[0]][side](*operands)


@given(tree=EXPRESSIONS, dtype=st.sampled_from(["f4", "f2", "f8", "i4", "i1", "u2"]), data=st.data())
@settings(max_examples=60, deadline=None)
def test_random_expressions_have_numpys_bits(tree: Any, dtype: str, data: st.DataObject) -> None:
    shapes = st.sampled_from([(7, 33), (33,), (7, 1), (1, 33), ()])
    made = [RANDOM.integers(0, 50, data.draw(shapes)).astype(dtype) for _ in "xyz"]
    names = dict(zip("xyz", made, strict=True))
    with np.errstate(all="ignore"):
        wanted = evaluate(tree, names, 1)
    if not isinstance(wanted, np.ndarray):
        return
    got = fused(lambda *given: evaluate(tree, dict(zip("xyz", given, strict=True)), 0), *made)
    same(got, wanted)


def test_transcendentals_are_those_of_the_functions() -> None:
    x, y = floats(500), floats(500)
    got = fused(lambda x, y: 0.5 * x * (1 + xp.tanh(0.798 * (x + 0.0447 * x * x * x))) + y, x, y)
    wide = x.astype(np.float64)
    wanted = 0.5 * wide * (1 + np.tanh(0.798 * (wide + 0.0447 * wide**3))) + y
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


def softmax(x: Any) -> Any:
    shifted = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return shifted / xp.sum(shifted, axis=-1, keepdims=True)


@pytest.mark.parametrize("shape", [(5, 33), (3, 4, 100), (1, 1), (17,)])
def test_softmax(shape: tuple[int, ...]) -> None:
    x = floats(*shape)
    wide = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    np.testing.assert_allclose(fused(softmax, x), wide / wide.sum(-1, keepdims=True), rtol=3e-6)


def normalised(x: Any, scale: Any, shift: Any, small: Any) -> Any:
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    return centred / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + small) * scale + shift


ROWS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "softmax": (
        softmax,
        lambda x: np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True),
    ),
    "squares": (
        lambda x: xp.sum((x - xp.mean(x, axis=1, keepdims=True)) ** 2, axis=1),
        lambda x: ((x - x.mean(1, keepdims=True)) ** 2).sum(1),
    ),
    "deviation": (
        lambda x: (
            (x - x.min(axis=-1, keepdims=True)) / xp.mean(x * x, axis=-1, keepdims=True),
            xp.max(x, axis=-1),
        ),
        lambda x: ((x - x.min(-1, keepdims=True)) / (x * x).mean(-1, keepdims=True), x.max(-1)),
    ),
    "counts": (
        lambda x: (xp.astype(xp.count_nonzero(x > 1, axis=-1, keepdims=True), xp.float32) * x, xp.any(x > 3, axis=-1)),
        lambda x: ((x > 1).sum(-1, keepdims=True) * x, (x > 3).any(-1)),
    ),
}


@pytest.mark.parametrize(
    ("count", "length"),
    [(300, length) for length in (2, 3, 5, 8, 20, 48, 63, 64, 65, 100, 333, 1024, 3000)]
    + [(1, 70), (1, 71), (7, 1030), (7, 5000), (5, 5001)],
)
@pytest.mark.parametrize("name", [name for name in ROWS if name != "squares"])
def test_rows_are_one_kernel(name: str, count: int, length: int) -> None:
    function, by_numpy = ROWS[name]
    x = floats(count, length)
    assert "fused_rows<" in xp.fuse(function).source(xp.asarray(x, device="cpu"))
    got, wanted = fused(function, x), by_numpy(x.astype(np.float64))
    for one, other in zip(*(each if isinstance(each, tuple) else (each,) for each in (got, wanted)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def weighted(x: Any, g: Any, m: Any = xp, **along: Any) -> tuple[Any, ...]:
    """Results of three shapes: columns need what rows share."""
    centred = x - m.mean(x, axis=-1, **along)
    normed = centred / m.sqrt(m.mean(centred * centred, axis=-1, **along) + 1e-5)
    return m.sum(g, axis=0), normed * g, m.sum(normed * g, axis=0), m.sum(normed * normed * g)


@pytest.mark.parametrize(("count", "length"), [(300, 96), (300, 333), (70, 1030)])
def test_reductions_along_other_axes_are_kernels_of_their_own(count: int, length: int) -> None:
    x, g = floats(count, length), floats(count, length)
    source = xp.fuse(lambda x, g: weighted(x, g, keepdims=True)).source(*(xp.asarray(each) for each in (x, g)))
    assert source.count("fused_rows<") == 1
    assert source.count("xpops_kernel(") == 4
    got = fused(lambda x, g: weighted(x, g, keepdims=True), x, g)
    wanted = weighted(x.astype(np.float64), g.astype(np.float64), np, keepdims=True)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def by_columns(x: Any, g: Any, m: Any = xp, **along: Any) -> tuple[Any, ...]:
    largest = m.max(x, axis=-1, **along)
    return m.sum(g, axis=0), (x - largest) * g, m.sum((x - largest) * g, axis=0)


def only_rows(x: Any, g: Any, m: Any = xp, **along: Any) -> tuple[Any, ...]:
    """No result has the shape of the operands, and one needs sums along columns."""
    columns = m.sum(x * g, axis=0)
    return m.max(x, axis=-1), m.max(x * g, axis=-1, **along), columns, columns * 2, m.max(g, axis=0)


def plan_of(function: Callable[..., Any], *arguments: NDArray) -> tuple[EmulatedEngine, Any, Any]:
    """The engine, the recording, and the plan of rows of a function like `by_columns`."""
    engine, layouts = EmulatedEngine(), tuple(map(layout_on_gpu, arguments))
    recorded = record("f", lambda x, g: function(x, g, keepdims=True), layouts)
    return engine, recorded, plan_row_kernel(recorded, 90, engine.context.multiprocessors, SHARED[90])


# Groups of a part of a warp, of a warp and of a block, in which some compute a row more than others.
@pytest.mark.parametrize(("count", "length"), [(9000, 20), (4501, 64), (519, 264), (135, 1536)])
@pytest.mark.parametrize("dtype", [dt.bfloat16, dt.float32, dt.float64])
@pytest.mark.parametrize("function", [by_columns, only_rows])
def test_sums_along_columns_beside_rows(function: Callable[..., Any], dtype: Any, length: int, count: int) -> None:
    x, g = (RANDOM.integers(-3, 4, (count, length)).astype(dtype) for _ in range(2))
    engine, recorded, rows = plan_of(function, x, g)
    assert len(rows.kernel.columns) == 1 + (function is by_columns)
    program = programs.program(engine, recorded, ("x", "g"))
    wanted = function(x.astype(np.float64), g.astype(np.float64), np, keepdims=True)
    for _ in range(2):
        for got, exact in zip(run(engine, *program, x, g), wanted, strict=True):
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, exact.astype(dtype))


def test_sums_along_columns_by_blocks_that_are_alone_on_a_multiprocessor() -> None:
    x, g = (RANDOM.integers(-3, 4, (21, 6144)).astype(np.float32) for _ in range(2))
    engine, recorded, rows = plan_of(by_columns, x, g)
    assert len(rows.kernel.columns) == 2
    assert rows_source(rows.kernel, 90, staging_policy(90, engine.context.multiprocessors, SHARED[90])).block == 1024
    got = run(engine, *programs.program(engine, recorded, ("x", "g")), x, g)
    for one, other in zip(got, by_columns(x, g, np, keepdims=True), strict=True):
        np.testing.assert_array_equal(one, other)


def test_sums_along_columns_of_views(monkeypatch: pytest.MonkeyPatch) -> None:
    """Axes in any order, operands that are reversed, shifted or of another dtype, more blocks than are resident."""
    monkeypatch.setattr("xpops.engine.cuda.fused.rows._MOST_ROWS", 2)

    def function(x: Any, g: Any, m: Any = xp, **along: Any) -> tuple[Any, ...]:
        wide = {"dtype": m.float64, "axis": (1, 0)}
        return x - m.max(x, axis=-1, **along), m.sum(x * g, **wide), m.sum(g, axis=(0, 1), **along)

    x = RANDOM.integers(-3, 4, (30, 41, 65)).astype(np.float32)[:, ::-1, 1:]
    g = RANDOM.integers(-3, 4, (30, 41, 64)).astype(np.float16)[::-1]
    engine, recorded, rows = plan_of(function, x, g)
    assert len(rows.kernel.columns) == 2
    got = run(engine, *programs.program(engine, recorded, ("x", "g")), x, g)
    for one, other in zip(got, function(x, g, np, keepdims=True), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_as_many_sums_along_columns_as_registers_have_room_for() -> None:
    def function(count: int, x: Any, m: Any = xp, **along: Any) -> tuple[Any, ...]:
        return x - m.max(x, axis=-1, **along), *(m.sum(x * k, axis=0) for k in range(1, 1 + count))

    x = floats(4096, 64)
    for count, held in ((24, 24), (25, 0)):
        _, _, rows = plan_of(lambda x, g, count=count, **along: function(count, x, **along), x, x)
        assert len(rows.kernel.columns) == held


@pytest.mark.parametrize(
    ("count", "length", "held"),
    [(63, 1024, 0), (64, 1024, 1), (127, 2048, 0), (128, 2048, 1), (63, 4096, 0), (64, 4096, 1)],
)
def test_sums_along_columns_of_few_rows_are_kernels_of_their_own(count: int, length: int, held: int) -> None:
    """A group of threads computes at least four rows. If groups share blocks, a block a multiprocessor is enough."""
    x = floats(count, length)
    _, _, rows = plan_of(lambda x, g, **along: (x - xp.max(x, axis=-1, **along), xp.sum(x, axis=0)), x, x)
    assert len(rows.kernel.columns) == held


@pytest.mark.parametrize("shape", [(0, 96), (96, 0), (300, 1), (0, 1)])
def test_no_kernel_sums_columns_of_few_numbers(shape: tuple[int, ...]) -> None:
    layout = layout_of(dt.float32, shape, None, GPU)
    recorded = record(
        "f", lambda x, g: (x - xp.max(x, axis=-1, keepdims=True), xp.sum(x * g, axis=0)), (layout, layout)
    )
    assert plan_row_kernel(recorded, 90, 132, SHARED[90]) is None


def test_results_computed_from_columns_follow_them() -> None:
    """They may need reductions of rows, too, and have the shape of other results."""

    def function(x: Any, m: Any = xp, **along: Any) -> tuple[Any, ...]:
        columns, rows = m.sum(x, axis=0), m.mean(x, axis=-1, **along)
        return x - rows, columns * 2, (x - columns) * rows, columns, columns + 1

    x = floats(300, 96)
    source = xp.fuse(lambda x: function(x, keepdims=True)).source(xp.asarray(x))
    assert source.count("fused_rows<") == 1
    assert source.count("xpops_kernel(") == 4  # rows, columns, and results of two shapes
    got = fused(lambda x: function(x, keepdims=True), x)
    for one, other in zip(got, function(x.astype(np.float64), np, keepdims=True), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16])
def test_gradients_of_half_norms_are_few_kernels(dtype: Any) -> None:
    """Sums of columns are in float32, and rounded after them."""

    def function(x: Any, g: Any) -> tuple[Any, ...]:
        normed = x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-5)
        return normed * g, xp.sum(normed * g, axis=0), xp.sum(g, axis=0)

    x, g = (floats(300, 96).astype(dtype) for _ in range(2))
    source = xp.fuse(function, round_each=False).source(*(xp.asarray(each) for each in (x, g)))
    assert source.count("fused_rows<") == 1
    assert source.count("xpops_kernel(") == 4
    wide, weight = x.astype(np.float64), g.astype(np.float64)
    normed = wide / np.sqrt((wide * wide).mean(-1, keepdims=True) + 1e-5)
    wanted = normed * weight, (normed * weight).sum(0), weight.sum(0)
    for one, other in zip(fused(function, x, g, round_each=False), wanted, strict=True):
        assert one.dtype == dtype
        np.testing.assert_allclose(one.astype(np.float64), other, rtol=2e-2, atol=2e-2)


def test_a_sum_of_columns_that_is_returned_twice() -> None:
    def function(x: Any) -> Any:
        columns = xp.sum(x, axis=0)
        return columns, softmax(x), columns

    x = floats(300, 96)
    first, rows, second = fused(function, x)
    same(first, second)
    np.testing.assert_allclose(first, x.astype(np.float64).sum(0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(rows, ROWS["softmax"][1](x.astype(np.float64)), rtol=1e-5, atol=1e-6)


def test_rows_that_need_columns_are_several_kernels() -> None:
    def function(x: Any) -> Any:
        columns = xp.sum(x, axis=0)
        return softmax(x * columns), columns

    x = floats(300, 96)
    assert "fused_rows<" not in xp.fuse(function).source(xp.asarray(x))
    got, columns = fused(function, x)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(columns, wide.sum(0), rtol=1e-4, atol=1e-4)
    powers = np.exp(wide * wide.sum(0) - (wide * wide.sum(0)).max(-1, keepdims=True))
    np.testing.assert_allclose(got, powers / powers.sum(-1, keepdims=True), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("length", [96, 333, 1030])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_norm_with_operands_of_rows_and_columns(dtype: Any, length: int) -> None:
    x, scale, shift = floats(4, 70, length, dtype=dtype), floats(length, dtype=dtype), floats(4, 1, 1, dtype=dtype)
    wide = [each.astype(np.float64) for each in (x, scale, shift)]
    centred = wide[0] - wide[0].mean(-1, keepdims=True)
    wanted = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 0.25) * wide[1] + wide[2]
    assert "fused_rows<" in xp.fuse(normalised).source(
        *(xp.asarray(each, device="cpu") for each in (x, scale, shift)), 0.5
    )
    tolerance = {np.float16: 0.02, np.float32: 1e-5, np.float64: 1e-12}[dtype]
    for view in (x, x[:, ::-1, ::-1]):
        got = fused(lambda x, scale, shift, a: normalised(x, scale, shift, a * a), view, scale, shift, 0.5)
        if view is x:
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
        assert got.shape == x.shape


@pytest.mark.parametrize(
    ("length", "capability", "shape"),
    [
        (16_500, 90, (512, 512, 1, 4, 0, False, 4125, 2)),
        (33_001, 90, (1024, 1024, 1, 4, 0, True, 8250, 1)),
        (70_000, 90, (256, 256, 8, 4, 0, False, 2188, 4)),
        (200_001, 90, (256, 256, 16, 4, 0, True, 3125, 4)),
        (460_000, 90, (512, 512, 1, 4, 0, False, 0, 0)),
        (50_002, 120, (512, 512, 8, 4, 0, True, 1563, 2)),
        (40_000, 80, (1024, 1024, 1, 4, 0, False, 10_000, 1)),
        (70_002, 80, (512, 512, 1, 4, 0, True, 0, 0)),
    ],
)
def test_long_rows(length: int, capability: int, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A block or a cluster keeps a row in shared memory; rows that do not fit are read again."""
    tuned(monkeypatch, fused_rows=tuning_of(90).fused_rows._replace(fewest=2))
    staging = staging_policy(capability, 4, SHARED[capability])
    assert plan_rows(64, length, 4, 4, tuning_of(capability).fused_rows, staging) == shape
    x = floats(2, length)
    x[1] = 3 * x[1] + 1000
    function, by_numpy = ROWS["softmax"]
    np.testing.assert_allclose(fused(function, x, capability=capability), by_numpy(x.astype(np.float64)), rtol=1e-5)
    function, by_numpy = ROWS["deviation"]
    for one, other in zip(fused(function, x, capability=capability), by_numpy(x.astype(np.float64)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def normalise(x: Any) -> Any:
    return (x - xp.mean(x, axis=-1, keepdims=True)) / xp.std(x, axis=-1, keepdims=True)


def norm_by_the_largest(x: Any) -> Any:
    return normalise(x) * xp.max(x, axis=-1, keepdims=True)


@pytest.mark.parametrize("dtype", [dt.float64, dt.complex128], ids=str)
@pytest.mark.parametrize("packs", [14464, 14400, 14300])
def test_states_and_a_row_fit_in_shared_memory(dtype: Any, packs: int) -> None:
    layout = layout_of(dtype, (200, packs * 16 // dtype.itemsize), None, GPU)
    recorded = record("fused", norm_by_the_largest if dtype == dt.float64 else normalise, (layout,))
    rows, staging = plan_row_kernel(recorded, 90, 132, SHARED[90]), staging_policy(90, 132, SHARED[90])
    assert rows is not None
    made = rows_source(rows.kernel, 90, staging)
    found = resources(compile_cubin("fused", made.source, 90), "xpops_kernel", 90)
    assert 0 < made.shared + found.shared_bytes <= SHARED[90]


@pytest.mark.parametrize(
    ("rows", "length", "one"), [(64, 131_072, True), (63, 131_072, False), (32, 262_144, True), (128, 460_000, False)]
)
def test_few_rows_are_one_kernel_if_clusters_keep_them(rows: int, length: int, one: bool) -> None:
    layout = layout_of(dt.float32, (rows, length), None, GPU)
    assert (plan_row_kernel(record("fused", softmax, (layout,)), 90, 132, SHARED[90]) is not None) == one


def test_what_a_row_shares_is_computed_once() -> None:
    def function(x: Any, a: float) -> Any:
        scale = xp.exp(xp.mean(x, axis=-1, keepdims=True) * a)
        return x * scale + scale * a, xp.sum(x / scale, axis=-1)

    x = floats(300, 70)
    text = xp.fuse(function).source(xp.asarray(x, device="cpu"), 0.5)
    lines = [line.strip() for line in text.splitlines() if "Exp()(" in line]
    assert lines
    assert all(line.startswith("v") for line in lines)  # members, which the constructor of a functor sets
    wide = x.astype(np.float64)
    scale = np.exp(wide.mean(-1, keepdims=True) * 0.5)
    first, second = fused(function, x, 0.5)
    np.testing.assert_allclose(first, wide * scale + scale * 0.5, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(second, (wide / scale).sum(-1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, dt.bfloat16], ids=str)
def test_rows_of_halves_round_as_always(dtype: Any) -> None:
    """The elements have the same bits as the operators called one by one on the kernel's own reduction."""
    x, w = floats(300, 72, dtype=dtype), floats(72, dtype=dtype)

    def both(x: Any, w: Any) -> Any:
        root = xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 0.001)
        return x / root * w - x, root

    got, root = fused(both, x, w)
    wide = [each.astype(np.float32) for each in (x, root, w)]
    wanted = (wide[0] / wide[1]).astype(dtype).astype(np.float32)
    wanted = (wanted * wide[2]).astype(dtype).astype(np.float32)
    same(got, (wanted - wide[0]).astype(dtype))


def test_reductions_of_inputs_and_of_values() -> None:
    x, y = floats(40, 30, dtype=np.float64), floats(30, dtype=np.float64)
    total, spread, low, all_of_it = fused(
        lambda x, y: (
            xp.sum(x * y, axis=0),
            xp.sum((x - xp.mean(x, axis=1, keepdims=True)) ** 2, axis=1),
            x.min(axis=-1) * 2,
            (x - x.mean()).std() + xp.max(y),
        ),
        x,
        y,
    )
    np.testing.assert_allclose(total, (x * y).sum(0), rtol=1e-12, atol=1e-12)  # terms may cancel
    np.testing.assert_allclose(spread, ((x - x.mean(1, keepdims=True)) ** 2).sum(1), rtol=1e-12)
    same(low, x.min(-1) * 2)
    np.testing.assert_allclose(all_of_it, (x - x.mean()).std() + y.max(), rtol=1e-12)


def test_the_largest_of_nothing() -> None:
    with pytest.raises(ValueError, match="max: x has shape"):
        fused(lambda x: xp.max(x * 2), floats(0, 3))


def test_means_of_means_that_lie_differently() -> None:
    x = floats(300, 300)

    def function(m: Any) -> Any:
        keep = {"keepdims": True}

        def both(x: Any) -> Any:
            apart = m.mean(x, axis=-1, **keep) - m.mean(x, axis=-1)
            return m.sum(apart * apart, axis=-1)

        return both

    np.testing.assert_allclose(fused(function(xp), x), function(np)(x.astype(np.float64)), rtol=1e-4)


def test_variances_far_from_0() -> None:
    x = floats(300, 128) + np.float32(1e5)
    got = fused(lambda x: (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True), x)
    wide = x.astype(np.float64)
    wanted = (wide - wide.mean(-1, keepdims=True)) / wide.std(-1, keepdims=True)
    np.testing.assert_allclose(got, wanted, atol=0.02)


def test_arguments_that_are_not_used() -> None:
    x, y = floats(300, 64), floats(2, 300, 64)
    got = fused(lambda x, y, a: xp.exp(x - xp.max(x, axis=-1, keepdims=True)), x, y, 2.0)
    np.testing.assert_allclose(got, np.exp(x - x.max(-1, keepdims=True)), rtol=1e-6)


def test_what_no_result_needs_is_not_computed() -> None:
    x = xp.asarray(floats(300, 100), device="cpu")
    for function in (
        lambda x: (xp.max(x, axis=0), x * 2)[1],
        lambda x: (xp.sum(x * 3), softmax(x))[1],
        lambda x: (xp.sum(x * 2, axis=0), xp.sum(x * 2, axis=-2))[0],
    ):
        assert xp.fuse(function).source(x).count("xpops_kernel(") == 1
    twice = xp.fuse(lambda x: xp.sum(x * 2, axis=0) + xp.sum(x * 2, axis=-2)).source(x)
    assert twice.count("xpops_kernel(") == 1


def test_which_integer_is_out_of_range() -> None:
    def scaled(x: Any, y: Any, n: int) -> Any:
        return xp.sum(y), x + n

    with pytest.raises(OverflowError, match=r"scaled: arguments\[2\] is 300; accepted: -128 to 127"):
        fused(scaled, np.ones(3, np.int8), floats(3), 300)
    with pytest.raises(OverflowError, match="arithmetic of scalar arguments gives 200; accepted: -128 to 127"):
        fused(lambda x, n: x + n * 2, np.ones(3, np.int8), 100)


def test_what_it_is_called() -> None:
    assert repr(xp.fuse(softmax)) == "<fused softmax>"


def test_the_axis_of_a_method_may_be_positional() -> None:
    x = floats(7, 5)
    same(fused(lambda x: (x * 2).max(0) + x.min(0), x), (x * 2).max(0) + x.min(0))


def test_sums_of_long_rows_carry_their_errors() -> None:
    source = xp.fuse(softmax).source(xp.empty((256, 460_000), dtype=xp.float32, device="cpu"))
    assert "using Reducer = CompensatedSum<compute_t<float>>" in source


def test_many_transposed_operands() -> None:
    parts = [floats(64, 64, dtype=np.complex128) for _ in range(6)]
    got = fused(lambda a, b, c, d, e, f: a + b + c + d + e + f, parts[0].T, *parts[1:5], parts[5].T)
    same(got, parts[0].T + parts[1] + parts[2] + parts[3] + parts[4] + parts[5].T)


def test_axes_in_a_list() -> None:
    x = floats(5, 6, dtype=np.float64)
    np.testing.assert_allclose(fused(lambda x: xp.sum(x * 2, axis=[0]), x), (x * 2).sum(0))


def test_odd_rows_are_read_in_packs() -> None:
    for length, shape in (
        (63, "128, 32, 1, 1, 2, false, false"),
        (65, "128, 32, 1, 4, 1, false, true"),
        (4095, "128, 128, 1, 4, 8, false, true"),
        (9001, "512, 512, 1, 4, 5, false, true"),
        (200_001, "256, 256, 16, 4, 0, true, true"),
        (460_001, "512, 512, 1, 4, 0, false, true"),
    ):
        text = xp.fuse(softmax).source(xp.asarray(floats(300, length), device="cpu"))
        assert f"fused_rows<Program, {shape}" in text


def test_reversed_rows_are_read_in_packs() -> None:
    text = xp.fuse(softmax).source(xp.asarray(floats(300, 4096), device="cpu")[:, ::-1])
    assert "fused_rows<Program, 128, 128, 1, 4, 8, false, false, Operand<float, float, float, Mode::kReversed" in text


def test_complex_constants_of_every_kind() -> None:
    x = floats(8).astype(np.complex128)
    for value in (complex("nan+1j"), complex(np.inf, 0.0), complex(-0.0, -0.0)):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(fused(lambda x, v=value: x + v, x), x + value)


CLOSED = xp.ones(3, dtype=xp.float32, device="cpu")
REFUSALS: list[tuple[Callable[..., Any], str]] = [
    (lambda x: xp.sort(x), "sort cannot be fused; accepted in a fused function"),
    (lambda x: xp.argmax(x), "argmax cannot be fused; accepted in a fused function"),
    (lambda x: xp.matmul(x, x), "matmul cannot be fused; accepted in a fused function"),
    (lambda x: xp.reshape(x, (3, 1)), "reshape cannot be fused; accepted in a fused function"),
    (lambda x: x.reshape(3, 1), "reshape cannot be fused; accepted in a fused function: elementwise"),
    (lambda x: xp.concat([x, x]), "concat cannot be fused; accepted in a fused function"),
    (lambda x: x if x > 0 else -x, "a branch on elements cannot be fused; accepted: where"),
    (lambda x: x[0], "indexing cannot be fused"),
    (lambda x: [*x], "iteration cannot be fused"),
    (lambda x: x + CLOSED, "add has an xpops.Array that is no argument of the function; accepted: pass it as one"),
    (lambda x: 3.0, "the function returns a float; accepted: an array"),
    (lambda x: xp.add(x, x, out=x), "out of add cannot be fused"),
    (lambda x: xp.bitwise_and(x, 1), "bitwise_and: dtype float32"),
    (lambda x: x.__iadd__(x), "operators in place cannot be fused; accepted: x = x"),
    (lambda x: (x + 1,), "accepted: an array that is computed of its arguments, or a tuple of two"),
]


@pytest.mark.parametrize(("function", "message"), REFUSALS)
def test_refusals(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        fused(function, floats(3))


def test_a_branch_on_a_scalar_is_refused() -> None:
    with pytest.raises(TypeError, match="the value of a scalar argument is known only when it runs"):
        fused(lambda x, a: x if a > 0 else -x, floats(3), 1.0)


def test_what_is_no_function_or_argument() -> None:
    with pytest.raises(TypeError, match="fuse: function is 3; accepted: a function of arrays"):
        xp.fuse(3)
    with pytest.raises(OverflowError, match="add has 300, which int8 cannot hold; accepted: -128 to 127"):
        fused(lambda x: x + 300, np.ones(3, np.int8))
    with pytest.raises(TypeError, match="every operand of exp is a scalar; accepted: at least one array"):
        fused(lambda x, a: x * xp.exp(a), floats(3), 2.0)


def test_the_cpu_just_calls() -> None:
    seen = []

    @xp.fuse
    def function(x: Any, y: Any) -> Any:
        seen.append(type(x))
        return x + y, xp.sum(x)

    x = xp.asarray([1.0, 2.0], device="cpu")
    total, all_of_it = function(x, 2.0)
    assert (total == xp.asarray([3.0, 4.0], device="cpu")).to_numpy().all()
    assert float(all_of_it) == 3.0
    total, all_of_it = function(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    assert isinstance(total, np.ndarray)
    assert total.tolist() == [2.0, 2.0]
    assert seen == [type(x)] * 2
    assert function.__name__ == "function"


def test_a_fused_function_within_another() -> None:
    inner = xp.fuse(lambda x: x * x)
    x = floats(9)
    same(fused(lambda x: inner(x) + 1, x), x * x + np.float32(1))


def test_squares_are_products() -> None:
    x = floats(100)
    same(fused(lambda x: x**2 - x**2.0 * 3, x), x * x - x * x * np.float32(3))
    text = xp.fuse(lambda x: x**2).source(xp.zeros(8, dtype=dt.float32, device="cpu"))
    assert "square_rn(" in text
    assert "Pow" not in text


def test_the_same_value_is_computed_once() -> None:
    text = xp.fuse(lambda x: xp.exp(x) * xp.exp(x)).source(xp.zeros(8, dtype=dt.float32, device="cpu"))
    assert text.count("Exp()") == 1
