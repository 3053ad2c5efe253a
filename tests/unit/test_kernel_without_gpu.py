"""Kernels of users, compiled for GPUs that are not there: source, machine code, PTX, resources."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.engine.cuda.runtime.compile import PRELUDE, options_for
from xpops.engine.cuda.runtime.headers import headers_of

CAPABILITIES = (80, 90, 100, 120)
SPILLS = """
__constant__ float table[16];
extern "C" __global__ void __launch_bounds__(1024) k(float* x, const int* at, int n) {
  __shared__ float s[64];
  float a[64];
  for (int i = 0; i < 64; i++) a[i] = x[i * n] * table[i % 16];
  for (int i = 0; i < n; i++) a[at[i]] += a[at[i + 1]];
  s[threadIdx.x % 64] = a[n];
  __syncthreads();
  x[threadIdx.x] = s[63 - threadIdx.x % 64] + a[at[0]];
}
extern "C" __global__ void other(float* x) { x[threadIdx.x] = 1; }
"""


@pytest.fixture(autouse=True)
def stacks() -> None:
    """In place of the fixture for all tests: one of these kernels spills on purpose."""


def ptxas_says(source: str, name: str, capability: int) -> tuple[int, int, int]:
    """Registers, shared memory and stack in the log of NVRTC's own compiler."""
    from cuda.bindings import nvrtc

    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"k.cu", 0, None, None)
    # NVRTC takes what it compiled before from a cache of its own, where there is a driver; then the log is empty.
    given = (f"--pre-include={PRELUDE}", "--ptxas-options=-v", "--no-cache")
    options = [each.encode() for each in options_for(capability, headers_of(source, given), given)]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    assert error == nvrtc.nvrtcResult.NVRTC_SUCCESS
    log = bytes(nvrtc.nvrtcGetProgramLogSize(program)[1])
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(program)
    (text,) = (part for part in log.decode().split("Compiling entry function") if part.startswith(f" '{name}'"))

    def number(pattern: str) -> int:
        found = re.search(pattern, text)
        return int(found[1]) if found else 0

    return number(r"Used (\d+) registers"), number(r"(\d+) bytes smem"), number(r"(\d+) bytes stack frame")


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("name", ["k", "other"])
def test_resources_are_those_of_the_log(capability: int, name: str) -> None:
    for _ in range(2):
        made = xp.kernel.RawKernel(SPILLS, name).compile(capability)
        registers, shared, stack = ptxas_says(SPILLS, name, capability)
        assert made.resources[:3] == (registers, shared, stack)
        assert made.resources.constant_bytes == 64
        assert (stack > 0) == (name == "k")
        assert repr(made) == (
            f"<kernel {name} for sm_{capability}: {registers} registers, {shared} B shared, {stack} B local>"
        )
        assert made.source == SPILLS
        assert f".target sm_{capability}" in made.ptx
        assert made.cubin.startswith(b"\x7fELF")


def test_a_template() -> None:
    source = "template <class T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }"
    module = xp.kernel.RawModule(source, name_expressions=["scale<float>", "scale<double>"])
    for name in ("scale<float>", "scale<double>"):
        made = module.get_function(name).compile(90)
        assert made.resources.registers > 0
        assert ".entry" in made.ptx
    with pytest.raises(ValueError, match="there is no kernel 'scale<int>'"):
        _ = module.get_function("scale<int>").compile(90).resources


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_an_elementwise_kernel(capability: int) -> None:
    kernel = xp.kernel.ElementwiseKernel("T x, T y", "T z", "z = x * y + 1", "fma_like")
    for dtype in (xp.float32, xp.float64, xp.float16):
        x = np.ones((5, 7), dtype)
        made = kernel.compile(capability, x, xp.asarray(x, device="cpu"))
        assert "z = x * y + 1" in made.source
        assert made.resources.registers > 0
        assert made.resources.local_bytes == 0
        assert f".target sm_{capability}" in made.ptx
    # Another layout is another kernel; a scalar is a parameter.
    assert kernel.compile(capability, x, x.T.copy().T).source != kernel.compile(capability, x, x).source
    assert kernel.compile(capability, x, 2.0).source != kernel.compile(capability, x, x).source


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_reductions_and_scans(capability: int) -> None:
    total = xp.kernel.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot_like")
    highest = xp.kernel.ScanKernel("T x", "T y", "x", "a > b ? a : b", "y = a", "highest")
    x = np.ones((130, 70), np.float32)
    for axis in (None, 0, 1, (0, 1)):
        (made,) = total.compile(capability, x, x, axis=axis)
        assert "x * y" in made.source
        assert made.resources.registers > 0
    mapped, reduced = total.compile(capability, x, x.T.copy().T, axis=1)  # a tiled kernel writes the products first
    assert "x * y" in mapped.source
    assert "a + b" in reduced.source
    for axis in (0, 1):
        made = highest.compile(capability, x, axis=axis)
        assert "a > b" in made.source
        assert made.resources[:3] == ptxas_says(made.source, "xpops_kernel", capability)
    with pytest.raises(ValueError, match="axis is None"):
        highest.compile(capability, x)


def test_what_is_refused() -> None:
    kernel = xp.kernel.RawKernel(SPILLS, "k")
    wrong: Any = "sm_90"
    with pytest.raises(TypeError, match=r"k: capability is .*accepted: an integer like 90"):
        kernel.compile(wrong)
    with pytest.raises(xp.CompileError):
        kernel.compile(20)
    with pytest.raises(ValueError, match=r"NVRTC does not know sm_990"), pytest.warns(match="does not know sm_990"):
        kernel.compile(990)
    with pytest.raises(ValueError, match="there is no kernel 'nothing'; accepted: "):
        _ = xp.kernel.RawKernel(SPILLS, "nothing").compile(90).resources
