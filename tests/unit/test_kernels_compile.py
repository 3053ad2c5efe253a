"""Every template compiles for every supported architecture. NVRTC needs no GPU."""

from pathlib import Path

import pytest

from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.errors import CompileError
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.arange import arange_glue
from xpops.engine.cuda.kernels.elementwise import planned
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.result import result_layout
from xpops.plan.signature import signature_of

GPU = Device("cuda")
ARCHITECTURES = (80, 90, 100)


def layout(dtype, *shape, strides=None, align=16):
    return layout_of(dtype, shape, strides, GPU, align)


def source(op, *operands, dtype=None):
    signature = signature_of(op, operands, dtype)
    return planned(op, signature, operands, result_layout(signature, operands, GPU), 90)[1].source


F32, F16, C64 = dt.float32, dt.float16, dt.complex64
FAMILIES = {
    "linear": (layout(F32, 64), layout(F32, 64)),
    "scalar": (layout(F32, 64), float),
    "half": (layout(F16, 64), layout(dt.bfloat16, 64)),
    "complex scalar": (layout(C64, 64), complex),
    "uniform": (layout(F32, 64), layout(F32)),
    "vector": (layout(F32, 64, 64), layout(F32, 64)),
    "splat": (layout(F32, 64, 64), layout(F32, 64, 1)),
    "gather": (layout(F32, 64, 3), layout(F32, 3)),
    "misaligned": (layout(F32, 64, align=4), layout(F32, 64)),
    "64-bit": (layout(dt.uint8, 2**16, 2**16), layout(dt.uint8, 2**16, 1)),
    "tiled": (layout(F32, 64, 64, strides=(1, 64)), layout(F32, 64, 64)),
    "tiled scalar": (layout(F32, 64, 64), layout(F32, 64, 64, strides=(1, 64))),
    "tiled batch": (layout(F32, 4, 5, 64, 64, strides=(40960, 8192, 1, 64)), layout(F32, 64, 64)),
    "boxed": (layout(F16, 4, 12, 1000, 3, strides=(3, 12, 144, 1)), layout(F16, 4, 12, 1000, 3)),
    "boxed batch": (layout(dt.int8, 99, 5, 512, 4, strides=(1, 396, 1980, 99)), layout(F32, 99, 5, 512, 4)),
    "boxed 64-bit": (layout(F32, 64, 512, 3, strides=(1, 64, 2**30)), layout(F32, 64, 512, 3)),
}


@pytest.mark.parametrize("capability", ARCHITECTURES)
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family(name, capability):
    assert ("elementwise_boxed<" in source(OPERATORS["add"], *FAMILIES[name])) == name.startswith("boxed")
    assert compile_cubin(name, source(OPERATORS["add"], *FAMILIES[name]), capability).startswith(b"\x7fELF")


@pytest.mark.parametrize("op", OPERATORS.values(), ids=lambda op: op.name)
def test_every_operator(op):
    accepted = dt.CATEGORIES[op.accepts]
    dtype = next(candidate for candidate in (F32, dt.int32, dt.bool) if candidate in accepted)
    operands = [layout(dt.bool if op.condition and not i else dtype, 64) for i in range(op.arity)]
    assert compile_cubin(op.name, source(op, *operands), 90)


@pytest.mark.parametrize("out", dt.INFO, ids=str)
def test_every_cast_target(out):
    assert compile_cubin("cast", source(IDENTITY, layout(F32, 64), dtype=out), 90)


@pytest.mark.parametrize("dtype", [dt.int8, F16, F32, dt.float64, dt.uint64], ids=str)
def test_arange(dtype):
    assert compile_cubin("arange", arange_glue(layout(dtype, 64), 128, 2).source, 90)


@pytest.mark.parametrize(("align", "pack"), [(16, 2), (8, 1)])
def test_arange_at_any_alignment(align, pack):
    """A part of an array may begin at any element. Its alignment limits the width of an access."""
    part = layout(dt.float64, 3, align=align)
    assert f"128, 2, {pack}>(params)" in arange_glue(part, 128, 2).source
    assert compile_cubin("arange", arange_glue(part, 128, 2).source, 90)


def test_a_failure_tells_all():
    with pytest.raises(CompileError) as caught:
        compile_cubin("broken", "int main( {", 90)
    assert caught.value.key == "broken"
    assert "--gpu-architecture=sm_90" in caught.value.options
    assert "   1 | int main( {" in str(caught.value)
    assert "error" in caught.value.log


def test_a_gpu_that_is_too_old_for_the_compiler():
    with pytest.raises(CompileError, match="sm_30"):
        compile_cubin("past", "", 30)


@pytest.mark.parametrize("step", [1, -1])
def test_all_functors_in_one_kernel(step: int) -> None:
    """A fused function may call any of them: no two headers define a name differently."""
    native = Path(__file__).parents[2] / "native"
    headers = sorted(str(each.relative_to(native)) for each in (native / "xpops/math").rglob("*.cuh"))[::step]
    lines = [
        *(f"#include <{each}>" for each in headers),
        'extern "C" __global__ void xpops_kernel(float* x) { *x = 1; }',
    ]
    assert len(headers) > 40
    assert compile_cubin("all functors", "\n".join(lines), 90)
