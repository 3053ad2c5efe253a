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
    with pytest.raises(ValueError, match="there is no kernel 'scale<int>'; accepted: scale<float>, scale<double>"):
        module.get_function("scale<int>").compile(90)
    for name in ("scale", "s"):  # neither the template nor the end of a name is a kernel
        with pytest.raises(ValueError, match=f"there is no kernel '{name}'; accepted: scale<float>, scale<double>"):
            module.get_function(name).compile(90)
    with pytest.raises(ValueError, match="accepted: nothing, as the module has no kernels; a template has none but"):
        xp.kernel.RawKernel(source, "scale").compile(90)


NAMES = """
__global__ void plain(float* x) {
  __shared__ float s[8];
  s[7 - threadIdx.x] = *x;
  __syncthreads();
  *x = s[threadIdx.x];
}
extern "C" __global__ void linked(float* x) { *x = 2; }
__global__ void over(float* x) { *x = 1; }
__global__ void over(double* x) { *x = 1; }
static __global__ void hidden(float* x) { *x = 3; }
namespace a {
__global__ void inner(float* x) { *x = 4; }
__global__ void plain(float* x) { *x = 4; }
__global__ void twice(float* x) { *x = 5; }
namespace b { __global__ void twice(float* x) { *x = 6; } }
namespace { __global__ void unnamed(float* x) { *x = 7; } }
}
namespace std { __global__ void within(float* x) { *x = 8; } }
template <class T> __global__ void filled(T* x) { *x = 9; }
template __global__ void filled<float>(float*);
"""


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("plain", "_Z5plainPf"),
        ("::plain", "_Z5plainPf"),
        ("linked", "linked"),
        ("inner", "_ZN1a5innerEPf"),
        ("a::inner", "_ZN1a5innerEPf"),
        ("b::twice", "_ZN1a1b5twiceEPf"),
        ("within", "_ZSt6withinPf"),
        ("_Z4overPd", "_Z4overPd"),
        ("hidden", "_Z6hiddenPf"),
        ("(void (*)(float*))over", "_Z4overPf"),
    ],
)
def test_kernels_are_found_by_the_names_in_the_source(name: str, symbol: str, capability: int) -> None:
    module = xp.kernel.RawModule(NAMES, name_expressions=["hidden", "(void (*)(float*))over"])
    for _ in range(2):
        made = module.get_function(name).compile(capability)
        assert made._symbol == symbol
        assert (made.resources.shared_bytes > 0) == (name.endswith("plain"))
        assert f".entry {symbol}(" in made.ptx


def test_names_of_several_kernels_and_of_none_are_refused() -> None:
    module = xp.kernel.RawModule(NAMES, name="names", name_expressions=["a::unnamed"])
    assert "unnamed" in module.get_function("unnamed").compile(90)._symbol
    with pytest.raises(ValueError, match=r"names: several kernels are called 'over'; accepted: _Z4over") as caught:
        module.get_function("over").compile(90)
    assert {"_Z4overPf", "_Z4overPd"} == set(re.findall(r"_Z\w+", str(caught.value)))
    with pytest.raises(ValueError, match="several kernels are called 'twice'"):
        module.get_function("twice").compile(90)
    with pytest.raises(ValueError, match="names: there is no kernel 'wrong'; accepted: ") as caught:
        module.get_function("wrong").compile(90)
    accepted = str(caught.value).partition("accepted: ")[2].split(", ")
    named = {
        "plain",
        "linked",
        "hidden",
        "over",
        "a::inner",
        "a::plain",
        "a::twice",
        "a::b::twice",
        "a::unnamed",
        "std::within",
    }
    assert set(accepted) == named | {"filled<...>"}


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
    mapped, reduced = total.compile(capability, x, x.T.copy().T, axis=1)  # the products are written first
    assert "x * y" in mapped.source
    assert "a + b" in reduced.source
    for axis in (0, 1):
        made = highest.compile(capability, x, axis=axis)
        assert "a > b" in made.source
        assert made.resources[:3] == ptxas_says(made.source, "xpops_kernel", capability)
    with pytest.raises(ValueError, match="axis is None"):
        highest.compile(capability, x)


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_functor(capability: int) -> None:
    source = (
        "template <class T> struct Leaky { float slope; T operator()(T x) const { return x > T(0) ? x : T(slope); } };"
    )
    leaky = xp.kernel.functor(source, parameters="float32 slope")
    x = np.ones((5, 7), np.float32)
    made = leaky.compile(capability, x, slope=0.1)
    assert "struct Leaky" in made.source
    assert made.resources.local_bytes == 0
    assert f".target sm_{capability}" in made.ptx
    # A kernel depends on the dtypes of parameters, not on their values.
    assert leaky.compile(capability, x, slope=0.2).source == made.source
    assert leaky.compile(capability, x, slope=0.1, result=xp.float64).source != made.source
    with pytest.raises(TypeError, match="Leaky: parameters are missing; accepted: slope, by name"):
        leaky.compile(capability, x)


def test_what_is_refused() -> None:
    kernel = xp.kernel.RawKernel(SPILLS, "k")
    wrong: Any = "sm_90"
    with pytest.raises(TypeError, match=r"k: capability is .*accepted: an integer like 90"):
        kernel.compile(wrong)
    for wrong in (True, np.True_, 9.0, None):
        with pytest.raises(TypeError, match=r"k: capability is .*; accepted: an integer like 90"):
            kernel.compile(wrong)
    each = xp.kernel.ElementwiseKernel("T x", "T y", "y = x", "each")
    for number in (-90, 0, 12, 20, 990, 2**70):
        with pytest.raises(ValueError, match=rf"k: capability is {number}; accepted: .*80.* 90, .*, which NVRTC \d+"):
            kernel.compile(number)
        with pytest.raises(ValueError, match=f"each: capability is {number}; accepted: "):
            each.compile(number, np.ones(3, np.float32))
    assert kernel.compile(np.int64(90)).capability == 90
    with pytest.raises(ValueError, match=r"nothing: there is no kernel 'nothing'; accepted: (k, other|other, k)$"):
        xp.kernel.RawKernel(SPILLS, "nothing").compile(90)
