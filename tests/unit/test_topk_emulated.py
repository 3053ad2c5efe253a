"""The kernel that finds the first elements of sorted rows, run on the host; its plan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run, tuned
from tests.unit.conftest import PretendedEngine
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.topk import topk_source
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.elementwise import MAX_PACK_BYTES
from xpops.plan.topk import plan_topk

NDArray = np.ndarray[Any, Any]

POLICY = tuning_of(90).topk
# Small blocks and parts, so that some thousand elements are several parts of several tiles.
SMALL = POLICY._replace(
    least_block=128, streaming_block=128, largest_block=128, packs=1, least_part=1024, resident=256, shortest=16
)
DTYPES = (dt.bool, dt.int8, dt.uint16, dt.int32, dt.uint64, *dt.REAL_FLOATS)
GENERATOR = np.random.default_rng(3)


def order(x: NDArray, descending: bool) -> NDArray:
    """The stable order: -0.0 before 0.0, or after it if descending; NaN last. All values are exact in a longdouble."""
    wide = x.astype(np.longdouble)
    keys = np.stack([np.isnan(wide), np.nan_to_num(wide, posinf=np.inf, neginf=-np.inf), ~np.signbit(wide)])
    keys[1:] = np.where(np.isnan(wide), 0, -keys[1:] if descending else keys[1:])
    return np.lexsort(keys[::-1], axis=-1)


def check(engine: EmulatedEngine, x: NDArray, count: int, descending: bool = True, index: Any = dt.int64) -> None:
    layout, shape = layout_on_gpu(x), (*x.shape[:-1], count)
    outs = (layout_of(x.dtype, shape, None, layout.device), layout_of(index, shape, None, layout.device))
    values, indices = run(engine, outs, engine.sort(layout, *outs, descending), x)
    expected = order(x, descending)[..., :count]
    np.testing.assert_array_equal(indices, expected)
    kept = np.take_along_axis(x, expected, -1).astype(np.longdouble)
    np.testing.assert_array_equal(values.astype(np.longdouble), kept)
    np.testing.assert_array_equal(np.signbit(values.astype(np.longdouble))[kept == 0], np.signbit(kept)[kept == 0])


def some(dtype: Any, shape: tuple[int, ...]) -> NDArray:
    """Many ties, and every special value."""
    if dtype in dt.REAL_FLOATS:
        special = GENERATOR.choice([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.5], shape)
        return np.where(GENERATOR.random(shape) < 0.3, special, GENERATOR.normal(size=shape)).astype(dtype)
    return GENERATOR.integers(0, 100, shape).astype(dtype)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> EmulatedEngine:
    tuned(monkeypatch, topk=SMALL)
    return EmulatedEngine()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_every_dtype(engine: EmulatedEngine, dtype: Any, descending: bool) -> None:
    check(engine, some(dtype, (2, 5003)), 50, descending)


@pytest.mark.parametrize("length", [17, 127, 128, 511, 512, 513, 1024, 1025, 4099])
@pytest.mark.parametrize("count", [1, 4])
def test_lengths(engine: EmulatedEngine, length: int, count: int) -> None:
    check(engine, some(dt.float32, (3, length)), count)


@pytest.mark.parametrize("count", [31, 32, 33, 256, 257, 1000])
def test_counts(engine: EmulatedEngine, count: int) -> None:
    check(engine, some(dt.float32, (1, 9001)), count, index=dt.int32)


@pytest.mark.parametrize("dtype", [dt.float32, dt.int64], ids=str)
def test_the_largest_count(dtype: Any) -> None:
    check(EmulatedEngine(), GENERATOR.integers(-(2**20), 2**20, (1, 20_000)).astype(dtype), POLICY.most)


def test_more_than_the_largest_count(engine: EmulatedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    tuned(monkeypatch, topk=SMALL._replace(most=10))
    check(engine, some(dt.float32, (2, 5000)), 11)


@pytest.mark.parametrize("name", ["ascending", "descending", "constant", "periodic", "largest in one tile"])
@pytest.mark.parametrize("count", [3, 300])
def test_arrangements(engine: EmulatedEngine, name: str, count: int) -> None:
    """Those in which a sample, or what was read before, says little about the rest."""
    x = {
        "ascending": np.arange(30_000),
        "descending": np.arange(30_000)[::-1],
        "constant": np.full(30_000, 7),
        "periodic": np.arange(30_000) % 128,
        "largest in one tile": np.where(np.arange(30_000) // 600 == 11, 2**20 + np.arange(30_000) % 97, 5),
    }[name]
    check(engine, x.astype(np.float32)[None], count)


@pytest.mark.parametrize("shape", [(400, 20), (33, 64), (5, 130)])
def test_first_elements_of_rows_in_registers(shape: tuple[int, int]) -> None:
    for count in (1, 3, shape[1] - 1):
        check(EmulatedEngine(), some(dt.float32, shape), count)


def test_one_result_alone(engine: EmulatedEngine) -> None:
    x = some(dt.int32, (2, 3000))
    layout = layout_on_gpu(x)
    for dtype, values in ((dt.int32, True), (dt.int64, False)):
        out = layout_of(dtype, (2, 20), None, layout.device)
        (found,) = run(engine, (out,), engine.sort(layout, *((out, None) if values else (None, out)), True), x)
        expected = order(x, True)[:, :20]
        np.testing.assert_array_equal(found, np.take_along_axis(x, expected, 1) if values else expected)


def test_misaligned(engine: EmulatedEngine) -> None:
    for dtype in (dt.uint8, dt.float16, dt.float32):
        check(engine, some(dtype, (5001,))[1:][None], 20)


def test_any_axis(pretended: PretendedEngine) -> None:
    host = some(dt.float32, (600, 3))
    x = pretended.array(host)
    for _ in range(2):  # the second call takes the steady path
        values, indices = xp.nn.topk(x, 5, axis=0)
        expected = order(host.T, True).T[:5]
        np.testing.assert_array_equal(indices.to_numpy(), expected)
        np.testing.assert_array_equal(values.to_numpy(), np.take_along_axis(host, expected, 0))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_rows(data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        tuned(patch, topk=SMALL)
        length = data.draw(st.integers(17, 3000))
        x = some(data.draw(st.sampled_from([dt.float32, dt.uint8])), (data.draw(st.integers(1, 3)), length))
        check(EmulatedEngine(), x, data.draw(st.integers(1, length // 4)), data.draw(st.booleans()))


@given(
    st.integers(1, 5000),
    st.integers(1, 2**40),
    st.integers(1, 4096),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1, 200),
)
def test_a_plan_covers_each_row(rows: int, length: int, count: int, itemsize: int, multiprocessors: int) -> None:
    count = min(count, length)
    stages = plan_topk(rows, length, count, itemsize, multiprocessors, POLICY)
    for stage, shorter in zip(stages, [each.length for each in stages[1:]] + [count], strict=True):
        assert (stage.parts - 1) * stage.part < stage.length <= stage.parts * stage.part
        assert stage.part * itemsize % MAX_PACK_BYTES == 0
        assert stage.parts == 1 or stage.part >= count
        assert stage.part <= 2**30 + 16
        assert stage.capacity > stage.room >= count
        assert stage.capacity >= stage.block
        assert shorter == stage.results
    assert stages[-1].parts == 1


@pytest.mark.parametrize("capability", [75, 80, 90, 100, 120])
def test_every_architecture(capability: int) -> None:
    for dtype, length, count in ((dt.float32, 2**26, 100), (dt.int64, 2**20, 4096), (dt.bool, 2**20, 5)):
        stage = plan_topk(1, length, count, dtype.itemsize, 132, POLICY)[0]
        assert compile_cubin("topk", topk_source(stage, dt.int64, 16, dtype, True), capability)
