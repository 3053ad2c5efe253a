"""NVRTC compiles the kernels of selection and counting. It needs no GPU."""

import pytest

from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.gather import scatter_glue
from xpops.engine.cuda.kernels.histogram import histogram_glue
from xpops.engine.cuda.kernels.selection.tiles import count_glue, scan_glue, tiling_of
from xpops.engine.cuda.kernels.selection.writers import groups_glue, select_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of

GPU = Device("cuda")
BINS = tuning_of(90).histogram
ARCHITECTURES = (80, 90, 100)


def layout(dtype, size=1000, align=16):
    return layout_of(dtype, (size,), None, GPU, align)


def tiling(predicate="NonZero", dtype=dt.bool, itemsize=4, size=1000, align=16):
    return tiling_of(predicate, layout(dtype, size, align), itemsize, tuning_of(90).select)


SOURCES = {
    "count": count_glue(tiling()),
    "count misaligned": count_glue(tiling(align=1)),
    "count runs": count_glue(tiling("Differs", dt.float32)),
    "scan": scan_glue(tiling()),
    "scan 64-bit": scan_glue(tiling(size=2**32)),
    "elements": select_glue(tiling(), "Elements<uint32, 4>", "SelectParams<5>"),
    "bytes": select_glue(tiling(itemsize=1), "Elements<uint8, 16>", "SelectParams<5>"),
    "wide elements": select_glue(tiling(itemsize=16), "Elements<uint4, 1>", "SelectParams<5>"),
    "misaligned elements": select_glue(tiling(align=1), "Elements<uint32, 1>", "SelectParams<5>"),
    "runs": select_glue(tiling("Differs", dt.int64, 8), "Elements<uint2, 2>", "SelectParams<5>"),
    "indices": select_glue(tiling(itemsize=1), "Indices<1, uint64>", "SelectParams<4, 1, uint64>"),
    "coordinates": select_glue(tiling(itemsize=1), "Indices<3, uint32>", "SelectParams<6, 3, uint32>"),
    "replaced": select_glue(tiling(itemsize=1), "Replaced<uint32, 1, uint32>", "StridedParams<1, uint32>"),
    "gathered": select_glue(tiling(itemsize=2), "Gathered<uint16, 2, uint32>", "StridedParams<2, uint32>"),
    "gathered wide": select_glue(tiling(itemsize=16), "Gathered<uint4, 3, uint64>", "StridedParams<3, uint64>"),
    "replaced wide": select_glue(tiling(itemsize=1), "Replaced<uint4, 3, uint64>", "StridedParams<3, uint64>"),
    "groups": groups_glue(tiling("Differs", dt.complex128, 16)),
    "place": scatter_glue(4, 1, 32, 256),
    "place strided": scatter_glue(2, 3, 64, 256),
    "bincount": histogram_glue(layout(dt.int32), 256, BINS),
    "bincount wide": histogram_glue(layout(dt.uint64), 10**6, BINS),
    "bincount misaligned": histogram_glue(layout(dt.uint8, align=1), 1024, BINS),
}


@pytest.mark.parametrize("capability", ARCHITECTURES)
@pytest.mark.parametrize("name", SOURCES)
def test_every_kernel(name, capability):
    assert compile_cubin(name, SOURCES[name], capability).startswith(b"\x7fELF")


@pytest.mark.parametrize("dtype", dt.INFO, ids=str)
def test_every_dtype(dtype):
    assert compile_cubin("count", count_glue(tiling("NonZero", dtype)), 90)
    assert compile_cubin("runs", count_glue(tiling("Differs", dtype)), 90)
