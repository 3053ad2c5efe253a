"""The kernel that joins arrays, without a GPU, and that NVRTC compiles it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.kernels.join import interleave_glue, join_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.join import MAX_PARAMETERS, InterleavePlan, JoinPlan, plan_interleave, plan_join

RANDOM = np.random.default_rng(7)
ENGINE = EmulatedEngine()
POLICY = tuning_of(90).join


def result_of(layouts: list[Layout], axis: int) -> Layout:
    shape = list(layouts[0].shape)
    shape[axis] = sum(x.shape[axis] for x in layouts)
    return layout_of(layouts[0].dtype, tuple(shape), None, layouts[0].device)


def joined(hosts: list[Any], axis: int) -> Any:
    layouts = [layout_on_gpu(host) for host in hosts]
    out = result_of(layouts, axis)
    kernel = ENGINE.join(tuple(layouts), axis, out)
    assert kernel is not None
    (found,) = run(ENGINE, (out,), kernel, *hosts)
    return found


def numbers(shape: tuple[int, ...], dtype: Any) -> Any:
    return RANDOM.integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.complex128], ids=str)
@pytest.mark.parametrize("widths", [(16, 32), (5, 4, 7), (1, 1), (1, 3000, 16), (1024, 1025, 1023)], ids=str)
def test_rows(dtype: Any, widths: tuple[int, ...]) -> None:
    hosts = [numbers((5, width), dtype) for width in widths]
    assert np.array_equal(joined(hosts, 1), np.concatenate(hosts, 1))
    hosts = [numbers((width, 3), dtype) for width in widths]
    assert np.array_equal(joined(hosts, 0), np.concatenate(hosts, 0))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64], ids=str)
@pytest.mark.parametrize("count", [2, 3, 5, 8, 16])
def test_single_columns(dtype: Any, count: int) -> None:
    hosts = [numbers((700, 1), dtype) for _ in range(count)]
    assert np.array_equal(joined(hosts, 1), np.concatenate(hosts, 1))


@pytest.mark.parametrize("count", [2, 7, 16, 17])
def test_columns_of_words(count: int) -> None:
    whole = numbers((2049, 6), np.uint8)
    for rows in (1, 15, 2048, 2049):
        hosts = [whole[:rows, :2].copy() for _ in range(count)]
        assert np.array_equal(joined(hosts, 1), np.concatenate(hosts, 1))
        hosts = [whole.reshape(-1)[1 : 1 + rows, None]] * count
        assert np.array_equal(joined(hosts, 1), np.concatenate(hosts, 1))
        hosts = [whole[:rows, :1]] * count
        assert np.array_equal(joined(hosts, 1), np.concatenate(hosts, 1))


def test_which_arrays_are_interleaved() -> None:
    def is_interleaved(*hosts: Any) -> bool:
        layouts = [layout_on_gpu(host) for host in hosts]
        return plan_interleave(tuple(layouts), 1, result_of(layouts, 1), 256, 16) is not None

    column, pairs = np.zeros((50, 1), np.float32), np.zeros((50, 2), np.float32)
    assert is_interleaved(column, column)
    assert is_interleaved(*[column] * 16)
    assert is_interleaved(pairs, pairs)
    assert not is_interleaved(*[column] * 17)
    assert not is_interleaved(column, pairs)
    assert not is_interleaved(pairs[:, :1], pairs[:, 1:])
    assert not is_interleaved(column[:1], column[:1])


@pytest.mark.parametrize("count", [2, 3, 33, 150, 400])
@pytest.mark.parametrize("axis", [0, 1])
def test_every_number_of_parts(count: int, axis: int) -> None:
    lengths = RANDOM.integers(1, 1500 if axis == 0 else 4, count)
    hosts = [numbers((int(n), 3) if axis == 0 else (5, int(n)), np.uint8) for n in lengths]
    assert np.array_equal(joined(hosts, axis), np.concatenate(hosts, axis))


VIEWS: dict[str, Callable[[Any], Any]] = {
    "cropped": lambda x: x[1:, 1:, 1:],
    "reversed": lambda x: x[::-1, :, ::-1],
    "stepped": lambda x: x[:, ::2, ::3],
    "broadcast": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "turned": lambda x: x.transpose(1, 0, 2),
    "plain": lambda x: x,
}


@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_views(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([np.uint8, np.float16, np.float32, np.complex64]))
    views = data.draw(st.lists(st.sampled_from(sorted(VIEWS)), min_size=2, max_size=4))
    axis = data.draw(st.integers(0, 2))
    shape = data.draw(st.tuples(*[st.integers(1, 7)] * 3))  # too short for tiles
    hosts = []
    for view in views:
        lengths = [data.draw(st.integers(1, 20)) if each == axis else n for each, n in enumerate(shape)]
        made = VIEWS[view](numbers((23, 23, 62), dtype))
        hosts.append(made[: lengths[0], : lengths[1], : lengths[2]])
    assert np.array_equal(joined(hosts, axis), np.concatenate(hosts, axis))


def test_transposed_parts_with_short_rows_are_copied_first() -> None:
    hosts = [numbers((40, 30), np.float32).T for _ in range(3)]
    wide = [host[..., None] for host in hosts]
    assert np.array_equal(joined([*wide, np.ascontiguousarray(wide[0])], 2), np.concatenate([*wide, wide[0]], 2))


def test_what_is_left_to_others() -> None:
    base = np.zeros((40, 64), np.float32)
    layouts = [layout_on_gpu(base.T)] * 2
    assert ENGINE.join(tuple(layouts), 0, result_of(layouts, 0)) is None
    assert ENGINE.join((layout_on_gpu(base),), 0, layout_on_gpu(base)) is None
    layouts = [layout_on_gpu(base)] * 2
    out = layout_of(dt.float64, (80, 64), None, layouts[0].device)
    assert ENGINE.join(tuple(layouts), 0, out) is None


def plan(
    word: int, pack: int, pieces: int, axes: tuple[int, int] = (1, 1), bits: int = 32, dense: bool = True
) -> JoinPlan:
    return JoinPlan(word, pack, max(1, POLICY.unroll // pack), range(pieces), *axes, dense, bits, 1, b"")


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize(
    "plan",
    [plan(1, 16, 2), plan(16, 1, 60), plan(4, 4, 16), plan(4, 4, 3, (3, 2), 64), plan(2, 1, 100, dense=False)],
    ids=["bytes", "many", "columns", "wide", "in parts"],
)
def test_it_compiles(plan: JoinPlan, capability: int) -> None:
    assert compile_cubin("join", join_glue(plan, POLICY.block), capability)


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize("plan", [InterleavePlan(1, 16, 16, 1, b""), InterleavePlan(8, 2, 2, 1, b"")], ids=str)
def test_interleaving_compiles(plan: InterleavePlan, capability: int) -> None:
    assert compile_cubin("join", interleave_glue(plan, POLICY.interleave_block), capability)


@pytest.mark.parametrize("length", [10, 2**31])
def test_many_parts_fit_into_the_parameters(length: int) -> None:
    large = layout_of(dt.int8, (length,), None, layout_on_gpu(np.zeros(1)).device)
    parts = (large,) * 500
    plans = plan_join(parts, 0, result_of(list(parts), 0), POLICY.block, POLICY.unroll)
    assert [number for each in plans for number in each.pieces] == list(range(500))
    for each in plans:
        assert each.index_bits == (32 if length == 10 else 64)
        assert 8 * (1 + len(each.pieces)) + len(each.tail) <= MAX_PARAMETERS
        assert each.word == (2 if length == 10 else 16)
