"""NVRTC compiles the kernels of gathering and scattering. It needs no GPU."""

import pytest

from xpops.core import dtypes as dt
from xpops.engine.cuda.kernels.gather import gather_glue, staged_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.gather import GatherPlan, plan_gather
from xpops.plan.staged_gather import StagedGatherPlan

ARCHITECTURES = (80, 90, 100)
POLICY = tuning_of(90).gather


def plan(row, itemsize=4, align=16, step=1):
    return plan_gather((100, row), (0, step), (row, 1), ((1, 0),), (row * step,), (1000,), itemsize, align, POLICY)


WIDE: GatherPlan = plan(64)._replace(index_bits=64, place_bits=64, rank=3)
SOURCES = {
    "elements": gather_glue(plan(1), (dt.int64,), False),
    "bytes": gather_glue(plan(1, 1), (dt.uint8,), False),
    "short rows": gather_glue(plan(4, 8), (dt.int32,), False),
    "long rows": gather_glue(plan(64), (dt.int64,), False),
    "strided rows": gather_glue(plan(64, step=3), (dt.int16,), False),
    "wide": gather_glue(WIDE, (dt.uint64, dt.int8, dt.uint32), False),
    "staged": staged_glue(StagedGatherPlan(4, 12 << 10, 1, "kAll", 4, 1, 32, 1, b""), dt.int64, POLICY),
    "staged runs": staged_glue(StagedGatherPlan(1, 48 << 10, 1, "kInner", 8, 1, 32, 1, b""), dt.int32, POLICY),
    "staged wide": staged_glue(StagedGatherPlan(16, 3 << 10, 3, "kNone", 1, 4, 64, 1, b""), dt.uint8, POLICY),
    "set elements": gather_glue(plan(1, 2), (dt.int64,), True),
    "set long rows": gather_glue(plan(64), (dt.int64, dt.int64), True),
    "set wide": gather_glue(WIDE, (dt.uint16,), True),
}


@pytest.mark.parametrize("capability", ARCHITECTURES)
@pytest.mark.parametrize("name", SOURCES)
def test_every_kind_of_kernel_compiles(name, capability):
    assert compile_cubin(name, SOURCES[name], capability)


@pytest.mark.parametrize(
    ("row", "itemsize", "align", "word", "words", "pieces"),
    [
        (64, 4, 16, 16, 2, 1),
        (63, 4, 16, 4, 4, 1),
        (62, 4, 16, 8, 2, 1),
        (64, 4, 4, 4, 4, 1),
        (63, 2, 16, 2, 8, 1),
        (64, 1, 1, 1, 16, 1),
        (4, 4, 16, 16, 1, 2),
        (3, 16, 16, 16, 1, 2),
        (5, 2, 16, 2, 1, 8),
    ],
)
def test_words(row, itemsize, align, word, words, pieces):
    found = plan(row, itemsize, align)
    assert (found.word, found.words, found.pieces) == (word, words, pieces)


def test_large_arrays_count_with_64_bits():
    assert plan_gather((2**31, 1), (0, 0), (1, 0), ((1, 0),), (1,), (5,), 1, 1, POLICY).index_bits == 64
    assert plan_gather((4, 2**31), (0, 1), (2**31, 1), ((1, 0),), (2**31,), (5,), 1, 16, POLICY).index_bits == 32
