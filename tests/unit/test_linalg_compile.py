"""NVRTC compiles the kernels that prepare and finish calls of cuSOLVER and cuBLAS."""

import pytest

from xpops.engine.cuda.kernels.rescale import rescale_calls, rescale_glue
from xpops.engine.cuda.libraries.lu import slogdet_glue
from xpops.engine.cuda.libraries.solver import failures_glue
from xpops.engine.cuda.libraries.spectral import eigenvectors_glue
from xpops.engine.cuda.libraries.triangular import triangle_glue
from xpops.engine.cuda.runtime.compile import compile_cubin

ARCHITECTURES = (80, 90, 100)
SOURCES = {
    **{
        f"slogdet {c_type} {pivot}": slogdet_glue(c_type, pivot, 128)
        for c_type in ("float", "double", "complex<float>", "complex<double>")
        for pivot in ("int32", "int64")
    },
    "failures": failures_glue(128),
    **{f"triangle {size}": triangle_glue(size, 128) for size in (4, 8, 16)},
    **{call: rescale_glue(call, 256) for c_type in ("float", "double") for call in rescale_calls(c_type)},
    **{f"eigenvectors {c_type}": eigenvectors_glue(c_type, 128) for c_type in ("float", "double")},
}


@pytest.mark.parametrize("capability", ARCHITECTURES)
@pytest.mark.parametrize("name", SOURCES)
def test_every_kernel(name, capability):
    assert compile_cubin(name.split()[0], SOURCES[name], capability).startswith(b"\x7fELF")
