"""Kernels of scatter reductions without a GPU."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops.engine.cuda.kernels.scatter as on_cuda
from tests.helpers.emulator import STREAM, EmulatedEngine, layout_on_gpu, run, tuned
from tests.helpers.oracle import bits
from xpops.core.devices import CPU
from xpops.core.layouts import layout_of
from xpops.dispatch import calls, scattering
from xpops.engine import engine_of
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.scatter import plan_placement

RANDOM = np.random.default_rng(11)
ENGINE = EmulatedEngine()
DTYPES = [np.int8, np.uint16, np.int32, np.uint64, np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
REDUCTIONS = ["sum", "prod", "min", "max", "mean"]


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "engine_of", lambda device: ENGINE if device.type == "cuda" else engine_of(device))
    monkeypatch.setattr(calls, "_calls", {})


def layout_on_cpu(host: Any) -> Any:
    layout = layout_on_gpu(host)
    return layout_of(layout.dtype, layout.shape, layout.strides, CPU, layout.align)


def some(dtype: Any, *shape: int) -> Any:
    """Small whole numbers, whose sums and products are exact in any order."""
    if np.dtype(dtype).kind == "u":
        return RANDOM.integers(0, 3, shape).astype(dtype)
    return RANDOM.choice([-2, -1, 1, 2, 3], shape).astype(dtype)


def same(got: Any, wanted: Any) -> None:
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(bits(got), bits(wanted))


def check(plan: Any, arrays: tuple[Any, ...], *parameters: Any, engine: EmulatedEngine = ENGINE) -> None:
    """Compare the kernels' results with NumPy's."""
    (found,) = run(engine, *plan(engine, tuple(map(layout_on_gpu, arrays)), "f", *parameters), *arrays)
    program = plan(engine_of(CPU), tuple(map(layout_on_cpu, arrays)), "f", *parameters)
    wanted = np.empty(found.shape, found.dtype)
    program.kernel(STREAM, wanted, *arrays)
    same(found, wanted)


@pytest.mark.parametrize(
    ("shape", "out", "step", "pack"),
    [
        ((100, 64), (0, 1), 64, 4),
        ((100, 62), (0, 1), 64, 2),
        ((100, 64), (0, 1), 66, 2),
        ((100, 64), (0, 1), 67, 1),
        ((9, 100, 64), (6400, 0, 1), 64, 4),
        ((9, 100, 64), (6403, 0, 1), 64, 1),
        ((9, 100, 64), (6402, 0, 1), 64, 2),
        ((100, 64), (0, -1), 64, 1),
    ],
)
def test_packs_are_aligned_at_every_place(shape: Any, out: Any, step: int, pack: int) -> None:
    index = tuple(int(axis == len(shape) - 2) for axis in range(len(shape)))
    placement = plan_placement(shape, out, index, step, 4)
    assert (placement.pack, placement.size) == (pack, np.prod(shape) // pack)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("sources", [5, 100, 3000])
def test_elements(dtype: Any, deterministic: bool, sources: int) -> None:
    for targets in (1, 33, 301):
        x, index = some(dtype, targets), RANDOM.integers(0, targets, sources)
        source = some(dtype, sources)
        if np.dtype(dtype).kind not in "iu" and np.dtype(dtype).itemsize == 2:
            source = np.sign(source.astype(np.float32)).astype(dtype)  # so that 16-bit sums are exact
        check(scattering.scatter_elements, (x, index, source), 0, "sum", True, deterministic)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("include_self", [True, False])
def test_reductions(reduction: str, dtype: Any, include_self: bool) -> None:
    x, index, source = some(dtype, 9, 4), RANDOM.integers(0, 9, (30, 3)), some(dtype, 31, 4)
    check(scattering.scatter_elements, (x, index, source), 0, reduction, include_self, True)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, ml_dtypes.bfloat16, np.float32, np.float64], ids=str)
@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("shape", [(40, 8), (40, 64), (40, 1), (40, 7), (3, 40, 6), (2, 40), (2, 3, 40)], ids=str)
def test_slices(dtype: Any, deterministic: bool, shape: tuple[int, ...]) -> None:
    axis = shape.index(40)
    x = some(dtype, *(11 if length == 40 else length for length in shape))
    check(scattering.scatter_slices, (x, RANDOM.integers(0, 11, 40), some(dtype, *shape)), axis, deterministic)


@pytest.mark.parametrize("dtype", [np.int64, np.float16, np.float32], ids=str)
@pytest.mark.parametrize("spread", [1, 2, 20])
@pytest.mark.parametrize("width", [1, 4, 24])
def test_many_sources_of_few_places(dtype: Any, spread: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tuned(monkeypatch, scatter=tuning_of(90).scatter._replace(chunk=8))
    index = np.minimum(RANDOM.geometric(1 / spread, 700) - 1, 19)
    x, source = np.zeros((20, width), dtype), some(dtype, 700, width)
    for reduction, deterministic in (("sum", True), ("sum", False), ("max", True), ("mean", True)):
        index_of_each = np.ascontiguousarray(np.broadcast_to(index[:, None], source.shape))
        check(scattering.scatter_elements, (x, index_of_each, source), 0, reduction, True, deterministic)
    for deterministic in (True, False):
        check(scattering.scatter_slices, (x, index, source), 0, deterministic)
        check(scattering.scatter_slices, (x.T, index, source.T), 1, deterministic)


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64, np.uint64], ids=str)
def test_dtypes_of_indices(dtype: Any, deterministic: bool) -> None:
    x, index = some(np.float32, 100), RANDOM.integers(0, 100, 60).astype(dtype)
    check(scattering.scatter_elements, (x, index, some(np.float32, 60)), 0, "sum", True, deterministic)


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_views(axis: int, deterministic: bool) -> None:
    shape = (5, 6, 7)
    x = some(np.float32, 10, 6, 14)[::-2, :, ::2]
    for view in (lambda a: a, lambda a: a[::-1], lambda a: a.transpose(0, 2, 1).copy().transpose(0, 2, 1)):
        source, index = view(some(np.float32, *shape)), view(RANDOM.integers(0, shape[axis], shape))
        check(scattering.scatter_elements, (x, index, source), axis, "sum", True, deterministic)
        check(scattering.scatter_elements, (x, index[:3, :4, :5], source), axis, "sum", True, deterministic)
    check(
        scattering.scatter_slices,
        (x, RANDOM.integers(0, shape[axis], 2 * shape[axis])[::2], source),
        axis,
        deterministic,
    )
    broadcast = np.broadcast_to(RANDOM.integers(0, 6, 6)[:, None], (5, 6, 7))
    check(scattering.scatter_elements, (x, broadcast, source), 1, "sum", True, deterministic)


@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=str)
@pytest.mark.parametrize("targets", [1, 2, 101])
def test_neighbours_of_halves_keep_their_bits(dtype: Any, capability: int, targets: int) -> None:
    """Neighbours are -0.0, the number of elements may be odd, and memory after the last one must not change."""
    engine = EmulatedEngine(capability=capability)
    x = np.full(targets, -0.0, dtype)
    index = np.array([0, targets - 1, targets // 2][: max(targets - 1, 1)])
    check(scattering.scatter_elements, (x, index, some(dtype, index.size)), 0, "sum", True, False, engine=engine)


def test_negative_zeros_stay() -> None:
    x, source = np.full((4, 3), -0.0, np.float32), np.full((6, 3), -0.0, np.float32)
    index = np.array([0, 0, 1, 1, 1, 3])
    for deterministic in (True, False):
        check(scattering.scatter_slices, (x, index, source), 0, deterministic)
    check(scattering.scatter_elements, (x, np.repeat(index[:, None], 3, 1), source), 0, "sum", False, True)


@pytest.mark.parametrize("reduction", ["min", "max", "sum"])
def test_nan_and_infinity(reduction: str) -> None:
    x = np.array([0.0, np.nan, np.inf, 2.0], np.float32)
    source = np.array([np.nan, 1, -np.inf, -np.inf, np.inf, 5], np.float32)
    check(scattering.scatter_elements, (x, np.array([0, 1, 2, 3, 3, 3]), source), 0, reduction, True, True)


def test_halves_are_added_in_float32() -> None:
    x, source = np.zeros(3, np.float16), np.full(4000, 0.1, np.float16)
    for deterministic in (True, False):
        for length in (4000, 2001):
            index = np.arange(length) % 3
            check(scattering.scatter_elements, (x, index, source), 0, "mean", True, deterministic)


@pytest.mark.parametrize("deterministic", [True, False])
def test_nothing_out_of_range_is_touched(deterministic: bool) -> None:
    for wrong in (-1, 5, 2**40, -(2**62), 2**63 - 1):
        x = np.arange(5, dtype=np.float32)
        index = np.array([0, wrong, 4, 4])
        layouts = tuple(map(layout_on_gpu, (x, index, np.ones(4, np.float32))))
        program = scattering.scatter_elements(ENGINE, layouts, "f", 0, "sum", True, deterministic)
        (found,) = run(ENGINE, *program, x, index, np.ones(4, np.float32))
        assert found.tolist() == [1, 1, 2, 3, 6]
        told = max(min(wrong, 2**47 - 1), 1 - 2**47)
        with pytest.raises(IndexError, match=rf"^f: index holds {told}; accepted: 0 to 4 \("):
            ENGINE.faults.check()


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("padding", [-1, 0, 3])
def test_rows_of_a_table(deterministic: bool, padding: int) -> None:
    grad, index = some(np.float32, 4, 10, 12), RANDOM.integers(0, 6, (4, 10))
    check(scattering.scatter_rows, (grad, index), 6, padding, deterministic)
    check(scattering.scatter_rows, (grad[:, ::2, ::-1], index[:, ::2]), 6, padding, deterministic)


def test_several_blocks_at_a_time() -> None:
    engine = EmulatedEngine(workers=4)
    x, index = np.zeros(50, np.float32), RANDOM.integers(0, 50, 20000)
    for targets in (x, np.zeros(9000, np.float32)):
        for dtype in (np.float32, np.float16, np.int8):
            arrays = targets.astype(dtype), index, np.ones(20000, dtype)
            check(scattering.scatter_elements, arrays, 0, "sum", True, False, engine=engine)


def test_runs_of_equal_places() -> None:
    x, index = np.zeros(9000, np.float32), np.sort(RANDOM.integers(0, 9, 3000)) * 1000
    check(scattering.scatter_elements, (x, index, some(np.float32, 3000)), 0, "sum", True, False)
    check(
        scattering.scatter_elements, (x.astype(np.float16), index[:777], some(np.float16, 777)), 0, "sum", True, False
    )


def test_misaligned_arrays() -> None:
    x, source = some(np.float16, 5, 8), some(np.float16, 1 + 40 * 8)[1:].reshape(40, 8)
    for deterministic in (True, False):
        check(scattering.scatter_slices, (x, RANDOM.integers(0, 5, 40), source), 0, deterministic)


def test_empty_results_and_sources() -> None:
    for shape in ((0, 3), (3, 0)):
        x = np.ones(shape, np.float32)
        check(scattering.scatter_slices, (x, np.empty(0, np.int64), np.ones((0, shape[1]), np.float32)), 0, True)
    layouts = tuple(map(layout_on_gpu, (np.ones((0, 3)), np.zeros(2, np.int64), np.ones((2, 3)))))
    with pytest.raises(IndexError, match="f: axis 0 of the result is empty, and index is not"):
        scattering.scatter_slices(ENGINE, layouts, "f", 0, True)


def test_which_sums_are_made_in_what() -> None:
    def plan(dtype: Any, targets: int, sources: int, pack: int, capability: int = 90) -> Any:
        out = layout_of(np.dtype(dtype), (targets,), None, ENGINE.context.device)
        return on_cuda.plan_addition(out, sources, pack, capability)

    assert plan(np.float16, 2**20, 2**26, 1) == (np.float32, 0, 1)
    assert plan(np.float16, 2**20, 2**26, 8) == (np.float16, 0, 1)
    assert plan(np.float16, 2**20, 2**10, 1) == (np.float16, 0, 1)
    assert plan(ml_dtypes.bfloat16, 2**20, 2**10, 1, 80) == (np.float32, 0, 1)
    assert plan(np.float64, 2**20, 2**26, 2) == (np.float64, 0, 1)
    assert plan(np.int8, 2**20, 2**10, 1) == (np.int32, 0, 1)
    assert plan(np.float32, 100, 2**20, 1) == (np.float32, 256, 32)
    assert plan(np.float64, 4096, 2**20, 1) == (np.float64, 4096, 1)
