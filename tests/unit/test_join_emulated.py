"""The kernel that joins arrays, without a GPU, and that NVRTC compiles it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, contiguous_strides, layout_of
from xpops.engine.cuda.kernels.join import join_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.join import MAX_PIECES, JoinPlan, Piece, piece_of, plan_join

RANDOM = np.random.default_rng(7)
ENGINE = EmulatedEngine()


def concatenation(hosts: list[Any], axis: int) -> tuple[Layout, tuple[Piece, ...]]:
    layouts = [layout_on_gpu(host) for host in hosts]
    shape = list(hosts[0].shape)
    shape[axis] = sum(host.shape[axis] for host in hosts)
    out = layout_of(layouts[0].dtype, tuple(shape), None, layouts[0].device)
    step, start, pieces = contiguous_strides(out.shape)[axis], 0, []
    for number, x in enumerate(layouts):
        pieces.append(piece_of(number, x, 0, x.shape, x.strides, out, start * step, out.strides))
        start += x.shape[axis]
    return out, tuple(pieces)


def joined(hosts: list[Any], axis: int) -> Any:
    out, pieces = concatenation(hosts, axis)
    kernel = ENGINE.join(pieces, out)
    assert kernel is not None
    (found,) = run(ENGINE, (out,), kernel, *hosts)
    return found


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.complex128], ids=str)
@pytest.mark.parametrize("widths", [(16, 32), (5, 4, 7), (1, 1), (1, 3000, 16), (1024, 1025, 1023)], ids=str)
def test_rows(dtype: Any, widths: tuple[int, ...]) -> None:
    hosts = [RANDOM.integers(0, 100, (5, width)).astype(dtype) for width in widths]
    assert np.array_equal(joined(hosts, 1), np.concatenate(hosts, 1))
    hosts = [RANDOM.integers(0, 100, (width, 3)).astype(dtype) for width in widths]
    assert np.array_equal(joined(hosts, 0), np.concatenate(hosts, 0))


@pytest.mark.parametrize("count", [2, 3, 33, MAX_PIECES, MAX_PIECES + 1, 150])
def test_every_number_of_pieces(count: int) -> None:
    hosts = [RANDOM.normal(size=(int(n), 3)) for n in RANDOM.integers(1, 1500, count)]
    assert np.array_equal(joined(hosts, 0), np.concatenate(hosts))


def test_views() -> None:
    base = RANDOM.normal(size=(40, 40)).astype(np.float32)
    views = [base[:, 1:9], base[::-1, 4:20], base[:, :4]]
    assert np.array_equal(joined(views, 1), np.concatenate(views, 1))
    assert np.array_equal(joined([base[0, ::2], base[1, ::-1]], 0), np.concatenate([base[0, ::2], base[1, ::-1]]))


def test_what_lies_in_no_rows_is_left_to_others() -> None:
    base = np.zeros((8, 8, 8), np.float32)
    assert ENGINE.join(*reversed(concatenation([base[:, ::2, ::2]] * 2, 0))) is None
    assert ENGINE.join(*reversed(concatenation([base], 0))) is None
    out, pieces = concatenation([base, base], 0)
    assert ENGINE.join(pieces, layout_of(dt.float64, out.shape, None, out.device)) is None


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize(
    ("plan", "pieces"),
    [(JoinPlan(1, 32, 1, b""), 2), (JoinPlan(16, 32, 1, b""), MAX_PIECES), (JoinPlan(4, 64, 1, b""), 3)],
    ids=["bytes", "many", "wide"],
)
def test_it_compiles(plan: JoinPlan, pieces: int, capability: int) -> None:
    assert compile_cubin("join", join_glue(plan, pieces, tuning_of(capability).join), capability)


def test_many_large_pieces_fit_into_the_parameters() -> None:
    large = layout_of(dt.int8, (2**31,), None, layout_on_gpu(np.zeros(1)).device)
    out = layout_of(dt.int8, (MAX_PIECES * 2**31,), None, large.device)
    pieces = [piece_of(n, large, 0, large.shape, large.strides, out, n * 2**31, (1,)) for n in range(MAX_PIECES)]
    plan = plan_join(tuple(pieces), out, 1024)
    assert plan is not None
    assert (plan.word, plan.index_bits) == (16, 64)
    assert 8 * (1 + MAX_PIECES) + len(plan.tail) <= 4096
