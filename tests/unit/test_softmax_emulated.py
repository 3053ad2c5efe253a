"""Softmax kernels without a GPU."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.emulator import SHARED, EmulatedEngine, layout_on_gpu, run
from tests.helpers.sass import stack_bytes
from tests.helpers.softmax import exact_softmax
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.softmax import softmax_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import softmax_policy, staging_policy
from xpops.ops.softmax import LOG_SOFTMAX, SOFTMAX
from xpops.plan.elementwise import Mode
from xpops.plan.softmax import follows, plan_softmax
from xpops.plan.softmax.parameters import SoftmaxPlan, Way
from xpops.testing import ulp_error

NDArray = np.ndarray[Any, Any]

# Not by attribute, because the package has a function with the module's name.
softmax = import_module("xpops.api.nn.softmax")
RANDOM = np.random.default_rng(7)
BOUNDS = {dt.float16: 0.51, dt.bfloat16: 0.51, dt.float32: 7.5, dt.float64: 10.0}
STAGING = staging_policy(90, 132, SHARED[90])
# With an emulated GPU of 4 multiprocessors: shape, axis, compute capability, way and blocks of a cluster. There are
# clusters from 9.0 on.
CASES = [
    ((3, 5), 1, 90, Way.HELD, 1),
    ((9, 64), 1, 90, Way.HELD, 1),
    ((3, 130), 1, 90, Way.HELD, 1),
    ((2, 4096), 1, 90, Way.HELD, 1),
    ((3, 8005), 1, 90, Way.HELD, 1),
    ((3, 16397), 1, 90, Way.STAGED, 1),
    ((2, 70000), 1, 90, Way.STAGED, 8),
    ((40, 33001), 1, 80, Way.STAGED, 1),
    ((20, 50001), 1, 120, Way.STAGED, 8),
    ((1, 300_000), 1, 90, Way.STAGED, 16),
    ((20, 70001), 1, 80, Way.LONG, 1),
    ((1, 70000), 1, 80, Way.SPLIT, 1),
    ((1, 70001), 1, 80, Way.SPLIT, 1),
    ((3, 5), 0, 90, Way.HELD, 1),
    ((2, 33, 8), 1, 90, Way.HELD, 1),
    ((300, 16), 0, 90, Way.HELD, 1),
    ((9000, 4), 0, 90, Way.HELD, 4),
    ((9000, 4), 0, 80, Way.SPLIT, 1),
    ((40_000, 3), 0, 80, Way.SPLIT, 1),
    ((3000, 40), 0, 80, Way.SPLIT, 1),
    ((5000, 2048), 0, 80, Way.LONG, 1),
]


def emulated(x: NDArray, axis: int, log: bool = False, out: Any = None, capability: int = 90) -> NDArray:
    engine = EmulatedEngine(workers=2, capability=capability)
    (found,) = run(engine, *softmax._plan(engine, (layout_on_gpu(x),), LOG_SOFTMAX if log else SOFTMAX, axis, out), x)
    return found


def planned(x: NDArray, axis: int, capability: int = 90) -> SoftmaxPlan:
    """The plan for an array without gaps."""
    layout = layout_on_gpu(x)
    width, shared = 8 if x.dtype == np.float64 else 4, SHARED[capability]
    return plan_softmax(
        layout, axis, layout, False, width, softmax_policy(capability), staging_policy(capability, 4, shared)
    )


def error(found: NDArray, wanted: NDArray) -> Any:
    return np.max(ulp_error(found.reshape(-1), wanted.reshape(-1).astype(np.longdouble)))


@pytest.mark.parametrize("case", [case for case in CASES if np.prod(case[0]) < 150_000], ids=str)
def test_values(case: Any) -> None:
    shape, axis, capability, *_ = case
    check(6 * RANDOM.normal(size=shape).astype(np.float32), axis, capability)


@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float64], ids=str)
@pytest.mark.parametrize(
    "case",
    [((3, 130), 1), ((5, 257), 1), ((2, 33, 8), 1), ((1, 40000), 1), ((3, 16391), 1), ((3000, 24), 0), ((3000, 7), 0)],
    ids=str,
)
def test_dtypes(case: Any, dtype: Any) -> None:
    shape, axis = case
    check((6 * RANDOM.normal(size=shape)).astype(dtype), axis)


def check(x: NDArray, axis: int, capability: int = 90) -> None:
    plain, logarithm = exact_softmax(x, axis)
    assert error(emulated(x, axis, capability=capability), plain) <= BOUNDS[x.dtype]
    assert error(emulated(x, axis, True, capability=capability), logarithm) <= BOUNDS[x.dtype]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_way_is_taken(case: Any) -> None:
    shape, axis, capability, way, cluster = case
    plan = planned(np.empty(shape, np.float32), axis, capability)
    assert (plan.way, plan.cluster) == (way, cluster)


def test_clusters_are_for_columns_that_registers_hold_as_memory_does() -> None:
    layout = layout_of(dt.float16, (9000, 4), None, layout_on_gpu(np.zeros(1)).device)
    wide, odd, many = (
        layout_of(dtype, shape, None, layout.device)
        for dtype, shape in ((dt.float32, (9000, 4)), (dt.float16, (9000, 5)), (dt.float16, (2000, 200_001)))
    )
    for x, log, cluster in ((wide, False, 4), (wide, True, 1), (layout, False, 1), (odd, False, 8), (many, False, 1)):
        assert plan_softmax(x, 0, x, log, 4, softmax_policy(90), STAGING).cluster == cluster


@pytest.mark.parametrize("dtype", [dt.float16, dt.float32, dt.float64], ids=str)
@pytest.mark.parametrize("columns", [32, 183])
def test_all_blocks_of_tall_columns_are_resident(dtype: Any, columns: int) -> None:
    x = layout_of(dtype, (200_000, columns), None, layout_on_gpu(np.zeros(1)).device)
    plan = plan_softmax(x, 0, x, True, 8 if dtype == dt.float64 else 4, softmax_policy(90), STAGING)
    assert plan.way is Way.SPLIT
    assert dtype == dt.float64 or plan.blocks <= plan.resident * 132
    assert list(plan.kernels) == ["leave", "gather_states", "from_states"]
    for way in plan.kernels:
        found = compile_cubin("softmax", softmax_glue(x, x, True, plan, way), 90)
        assert stack_bytes(found) <= 16, "registers hold what a thread needs"


def test_one_block_a_long_row() -> None:
    x = RANDOM.normal(size=(16, 21000)).astype(np.float64)
    assert planned(x, 1, 80).way is Way.LONG
    assert error(emulated(x, 1, capability=80), exact_softmax(x, 1)[0]) <= BOUNDS[dt.float64]


def laid_out(name: str, shape: tuple[int, ...], dtype: Any) -> NDArray:
    """Random numbers in memory with gaps, or whose first element is not aligned, between NaN."""
    *outer, rows, columns = shape
    memory = np.full((*outer, rows + 3, 2 * columns + 5), np.nan, dtype)
    views = {
        "cropped": memory[..., 1 : rows + 1, 3 : columns + 3],
        "stepped": memory[..., 1 : rows + 1, 3 : 2 * columns + 3 : 2],
        "reversed": memory[..., rows::-1, columns + 2 : 2 : -1],
        "gaps between rows": memory[..., 1 : rows + 1, :columns],
        "shifted": memory.reshape(-1)[1 : int(np.prod(shape)) + 1].reshape(shape),
        "transposed": np.full((*outer, columns, rows + 3), np.nan, dtype)[..., 2 : rows + 2].swapaxes(-1, -2),
        "broadcast": np.broadcast_to(memory[..., :1, 3 : columns + 3], shape),
    }
    base = memory[..., :1, 3 : columns + 3] if name == "broadcast" else views[name]
    base[...] = (6 * RANDOM.normal(size=base.shape)).astype(dtype)
    return views[name]


@pytest.mark.parametrize("shape", [(7, 9), (3, 4, 64), (2, 3, 255), (2, 2, 1001)], ids=str)
@pytest.mark.parametrize("dtype", [dt.float16, dt.float32, dt.float64], ids=str)
@pytest.mark.usefixtures("pretended")
@pytest.mark.parametrize("name", ["cropped", "stepped", "reversed", "gaps between rows", "shifted", "broadcast"])
def test_layouts(name: str, dtype: Any, shape: tuple[int, ...]) -> None:
    x = laid_out(name, shape, dtype)
    for axis in range(len(shape)):
        wanted = exact_softmax(x, axis)[0]
        assert error(emulated(x, axis), wanted) <= BOUNDS[dtype]


def test_long_cropped_rows() -> None:
    x = laid_out("cropped", (2, 17001), np.float16)
    check(x, 1)
    check(x, 1, 80)


@pytest.mark.parametrize(
    ("name", "mode", "ragged"),
    [
        ("cropped", Mode.ROW, True),
        ("stepped", Mode.GATHER, False),
        ("reversed", Mode.REVERSED, True),
        ("shifted", Mode.SHIFTED, True),
    ],
)
def test_gaps_are_read_in_place(name: str, mode: Mode, ragged: bool) -> None:
    x = layout_on_gpu(laid_out(name, (3, 255), np.float16))
    out = layout_of(dt.float16, x.shape, None, x.device)
    plan = plan_softmax(x, 1, out, False, 4, softmax_policy(90), STAGING)
    assert follows(x, out)
    assert (plan.mode, plan.ragged) == (mode, ragged)


def test_a_transposed_operand_is_copied() -> None:
    x = layout_on_gpu(laid_out("transposed", (64, 100), np.float32))
    assert not follows(x, layout_of(dt.float32, x.shape, None, x.device))


@pytest.mark.parametrize("length", [*range(1, 34), *range(60, 70), 127, 129, 1023, 1025])
def test_every_length(length: int) -> None:
    x = (6 * RANDOM.normal(size=(3, length))).astype(np.float16)
    check(x, 1)


@pytest.mark.parametrize("shape", [(257, 7), (511, 3), (129, 11), (600, 10), (1025, 9), (2, 128, 5)], ids=str)
@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16], ids=str)
def test_blocks_of_short_rows_of_halves(dtype: Any, shape: tuple[int, ...]) -> None:
    """Whole blocks, and a last one whose rows end within a pack."""
    x = (6 * RANDOM.normal(size=shape)).astype(dtype)
    assert planned(x, -1 % x.ndim).way is Way.TILED
    check(x, x.ndim - 1)
    for out in (dt.float8_e5m2, dt.float32, dt.float64):
        found = emulated(x, x.ndim - 1, out=out).astype(np.float64)
        tolerance = 0.14 if out.itemsize == 1 else 1e-6
        np.testing.assert_allclose(found, exact_softmax(x, x.ndim - 1)[0], rtol=tolerance, atol=0.002)


@pytest.mark.parametrize("name", ["cropped", "reversed", "gaps between rows", "shifted", "stepped", "broadcast"])
@pytest.mark.parametrize("shape", [(300, 9), (2, 130, 6)], ids=str)
@pytest.mark.usefixtures("pretended")
def test_short_rows_of_halves_with_gaps(name: str, shape: tuple[int, ...]) -> None:
    x = laid_out(name, shape, dt.float16)
    check(x, x.ndim - 1)


@pytest.mark.parametrize("shape", [(2, 7), (2, 300), (2, 40000)], ids=str)
def test_special_values(shape: Any) -> None:
    x = np.zeros(shape, np.float32)
    x[0], x[1, 0] = -np.inf, np.inf
    for host, axis in ((x, 1), (np.ascontiguousarray(x.T), 0)):
        assert np.all(np.isnan(emulated(host, axis)))
        assert np.all(np.isnan(emulated(host, axis, True)))
    x[:], x[:, -2:] = -np.inf, 1
    for host, axis in ((x, 1), (np.ascontiguousarray(x.T), 0)):
        np.testing.assert_array_equal(emulated(host, axis), np.where(host == 1, np.float32(0.5), np.float32(0)))
        assert np.all(emulated(host, axis, True)[host != 1] == -np.inf)
    x[1, 3] = np.nan
    assert np.array_equal(np.isnan(emulated(x, 1)), np.broadcast_to([[False], [True]], shape))


@pytest.mark.parametrize("shift", [0, 450, 499.9, 500.1, -1e4, 1e30])
def test_far_from_zero(shift: float) -> None:
    x = (6 * RANDOM.normal(size=(4, 300)) + shift).astype(np.float32)
    x[:, 5] -= 2000
    wanted = exact_softmax(x, 1)[0]
    assert error(emulated(x, 1), wanted) <= BOUNDS[dt.float32]


@pytest.mark.parametrize("out", [dt.float16, dt.float64, *dt.FLOAT8], ids=str)
@pytest.mark.parametrize("dtype", [dt.float16, dt.float32], ids=str)
def test_another_dtype(dtype: Any, out: Any) -> None:
    for shape, axis in (((3, 24), 1), ((24, 16), 0)):
        x = RANDOM.normal(size=shape).astype(dtype)
        wanted = exact_softmax(x, axis)[0]
        found = emulated(x, axis, out=out)
        assert found.dtype == out
        tolerance = max(xp.finfo(dt.float32).eps * 8, {1: 0.14, 2: 0.005}.get(out.itemsize, 0))
        np.testing.assert_allclose(
            found.astype(np.float64), wanted, rtol=tolerance, atol=0.002 if out.itemsize == 1 else 0
        )


def test_the_order_of_axes_stays() -> None:
    x = RANDOM.normal(size=(5, 6, 40)).astype(np.float32)
    for view in (x.transpose(2, 0, 1), x.transpose(2, 1, 0), x[1:].transpose(1, 0, 2)):
        for axis in range(view.ndim):
            wanted = exact_softmax(view, axis)[0]
            assert error(emulated(view, axis), wanted) <= BOUNDS[dt.float32]
