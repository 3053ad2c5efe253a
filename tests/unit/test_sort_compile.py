"""The sorting kernels compile for every architecture."""

import pytest

from tests.unit.test_kernels_compile import ARCHITECTURES, layout
from xpops.core import dtypes as dt
from xpops.engine.cuda.kernels.searchsorted import search_glue, tree_glue
from xpops.engine.cuda.kernels.sort import Sort, plan_radix, plan_rows, radix_sources, row_source
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.search import plan_search

POLICY, SEARCH = tuning_of(90).sort, tuning_of(90).search
ROWS = {
    "a row in a thread": Sort(dt.float32, 9, 20, True, None, False, 20, POLICY),
    "a row in two threads": Sort(dt.float32, 9, 64, True, None, False, 64, POLICY),
    "a row in a block": Sort(dt.float32, 9, 4096, True, None, True, 4096, POLICY),
    "64-bit": Sort(dt.int64, 9, 100, True, None, False, 100, POLICY),
    "placed words": Sort(dt.bfloat16, 9, 600, True, dt.int64, False, 600, POLICY),
    "placed longs": Sort(dt.float32, 9, 4096, True, dt.int64, True, 4096, POLICY),
    "placed triples": Sort(dt.float64, 9, 2048, False, dt.int64, False, 2048, POLICY),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows(name):
    assert compile_cubin("sort", row_source(ROWS[name], plan_rows(ROWS[name])), 90)


@pytest.mark.parametrize(("itemsize", "index_bytes"), POLICY.passes)
def test_radix(itemsize, index_bytes):
    dtype = {1: dt.bool, 2: dt.float16, 4: dt.int32, 8: dt.float64}[itemsize]
    length = 2**33 if index_bytes == 8 else 2**20
    call = Sort(dtype, 1, length, True, dt.int64 if index_bytes else None, False, length, POLICY)
    for source in radix_sources(call, plan_radix(call)):
        assert compile_cubin("sort", source, 90)


@pytest.mark.parametrize("capability", ARCHITECTURES)
def test_every_architecture(capability):
    short = Sort(dt.float32, 9, 64, True, None, False, 64, POLICY)
    long = Sort(dt.float32, 1, 2**20, True, dt.int64, False, 2**20, POLICY)
    for source in (row_source(short, plan_rows(short)), *radix_sources(long, plan_radix(long))):
        assert compile_cubin("sort", source, capability)


@pytest.mark.parametrize("capability", ARCHITECTURES)
def test_searchsorted(capability):
    x, order, large = layout(dt.float32, 2**20), layout(dt.int16, 2**20), layout(dt.uint8, 2**32)
    sources = [tree_glue(x, order, dt.float32, SEARCH), tree_glue(large, None, dt.int64, SEARCH)]
    for x1, x2, sorter, loop, right, searches in (
        (x, x, None, dt.float32, False, 2**20),
        (x, float, order, dt.float32, True, 1),
        (x, x, order, dt.float32, True, 2**20),
        (layout(dt.bfloat16, 2**20, align=2), layout(dt.bfloat16, 9), None, dt.bfloat16, True, 2**20),
        (large, layout(dt.int64, 9), None, dt.int64, True, 2**30),
    ):
        plan = plan_search(x1.size, searches, loop.itemsize, 132, SEARCH)
        sources.append(search_glue(x1, x2, sorter, loop, right, plan, SEARCH).source)
    for source in sources:
        assert compile_cubin("searchsorted", source, capability)
