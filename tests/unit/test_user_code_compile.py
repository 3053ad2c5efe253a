"""Ordinary CUDA C++ in users' kernels compiles for every architecture, with CUDA's headers and without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import xpops as xp
from tests.unit.test_kernel_compile import GPU, module, reduction_source, source_of, vector
from xpops.api.kernel import ElementwiseKernel, ReductionKernel, functor
from xpops.api.kernel.functor import functor_call
from xpops.core import config
from xpops.core import dtypes as dt
from xpops.engine.cuda.runtime import cache, compile, headers
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.runtime.headers import cuda_directories, headers_of
from xpops.engine.cuda.tuning import tuning_of
from xpops.engine.cuda.user.arguments import Parameter, parameters_of
from xpops.engine.cuda.user.elementwise import user_source
from xpops.plan.functor import parse_functor

CAPABILITIES = (80, 90, 100, 120)


@pytest.fixture
def cuda_headers() -> tuple[Path, ...]:
    if not cuda_directories():
        pytest.skip("needs CUDA's headers: those of a toolkit, or of the packages that the extra `test` names")
    return cuda_directories()


@pytest.fixture
def no_cuda_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    for where in (compile, headers):
        monkeypatch.setattr(where, "cuda_directories", lambda: ())


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache on disk."""
    monkeypatch.setattr(config, "cache_directory", lambda: tmp_path / "cache")
    cache.disk.cache_clear()
    yield
    cache.disk.cache_clear()


# Written once for any number.
GENERIC = """
template <class T> struct Plus {
  inline T initial() { return static_cast<T>(0.0f); }
  __device__ T operator()(const T a, const T b) const { return b + a; }
};
template <class T> struct Either { __device__ T operator()(const T a, const T b) const { return b || a; } };
template <class T> struct Least {
  inline T initial() { return static_cast<T>(std::numeric_limits<T>::max()); }
  __device__ T operator()(const T a, const T b) const { return (b < a) ? b : a; }
};
template <class T> struct Scaled {
  __device__ explicit Scaled(int n) : by((float)(1.0 / n)) {}
  __device__ T operator()(const T x) const { return static_cast<T>(static_cast<float>(x) * by); }
  float by;
};
template <class T> __device__ T warp_sum(T v) {
  for (int step = 16; step > 0; step /= 2) v = v + __shfl_down_sync(0xffffffff, v, step);
  return v;
}
constexpr int smaller(int a, int b) { return a < b ? a : b; }
int twice(int a) { return 2 * a; }  // without an annotation

template <class T> __global__ void generic(T* x, float* y, int n) {
  T v = 0.0, w = 0, u = 1.0f, pair[2] = {v, w};
  v += x[0] * x[1]; v -= 2; v *= 0.5; v /= 3.0f; ++v; v--; v = 1; v = 2.5f; v = 1e-3;
  x[1] = Plus<T>()(v, w); x[2] = Either<T>()(v, u); x[3] = Least<T>()(v, Least<T>().initial()); x[4] = Scaled<T>(3)(v);
  x[5] = warp_sum(v);
  float f = 0; f += v; f = v; y[0] = v * 2.0f + f;
  y[1] = expf(v) + sqrtf(v) + fmaxf(v, 0.0f) + max(v, w) + min(v, w) + __expf(v) + rsqrtf(v);
  x[6] = exp(v) + tanh(v) - log1p(v) * pow(v, w) + std::exp(v) + std::abs(v) + floor(v) + ceilf(v) + round(v) + erf(v);
  x[7] = v > 0 ? v : 0; x[8] = v < 0.0f ? v * 2 : T(0.1f) * v; x[9] = -v; x[10] = abs(v) + fma(v, w, u);
  if (v) x[11] = v;
  if (!v || v != v || isnan(v) || isinf(v)) x[12] = 3 + v - 2 * v / u;
  int i = static_cast<int>(v); double d = static_cast<double>(v); x[13] = i; x[14] = d; x[15] = T(i) + T(d) + T(n);
  x[16] = std::max(v, w); x[17] = v * f; x[18] = (long long)v; x[19] = v > w && v >= 1 && 2 <= v && v == 3.0;
  x[20] = static_cast<T>(static_cast<xpops::bfloat16>(static_cast<float>(v))); x[21] = pair[1];
  x[22] = (unsigned char)v;
  x[23] = 1 / (1 + exp(-v)); x[24] = smaller(n, twice(n));
}
"""


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_halves_are_written_like_float(capability: int) -> None:
    names = [f"generic<{each}>" for each in ("float", "xpops::float16", "xpops::bfloat16")]
    assert module(GENERIC, name_expressions=names).cubin(capability)[0].startswith(b"\x7fELF")


INTEGERS = (*tuple(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)), "size_t", "long", "bool")
FLOATS = ("float", "double", "xpops::float16", "xpops::bfloat16", "xpops::float8_e5m2")
ATOMICS = """
template <class T> __global__ void numbers(T* x, T v) {
  x[1] = atomicAdd(x, v); x[2] = atomicSub(x, v); x[3] = atomicMax(x, v); x[4] = atomicMin(x, v);
  x[5] = atomicExch(x, v); x[6] = atomicCAS(x, v, v);
  FastAtomicAdd(x, 3, 7, v);
  xpops::FastAtomicAdd(x, threadIdx.x, size_t(8), v);
}
template <class T> __global__ void bits(T* x, T v) {
  x[1] = atomicAnd(x, v); x[2] = atomicOr(x, v); x[3] = atomicXor(x, v);
}
__device__ float atomicMax(float* at, float x) { return *at = x; }  // a source may have its own
extern "C" __global__ void mixed(xpops::complex<float>* z, float* y, unsigned* u) {
  __shared__ xpops::float16 shared[2];
  atomicAdd(z, xpops::complex<float>(1, 2)); atomicMax(y, 1.0f); atomicAdd(y, 1); atomicAdd(u, 1); atomicInc(u, 3);
  atomicAdd(shared + 1, xpops::float16(y[1]));
}
"""


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_atomic_functions(capability: int) -> None:
    names = [*(f"numbers<{each}>" for each in (*INTEGERS, *FLOATS)), *(f"bits<{each}>" for each in INTEGERS)]
    assert module(ATOMICS, name_expressions=names).cubin(capability)


FAST = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <class T> __global__ void cuda_halves(T* x, T v) {
  FastAtomicAdd(x, 3, 7, v); FastAtomicAdd(x, threadIdx.x, size_t(8), 1.0f); FastAtomicAdd(x, 0ll, 2ll, __hmul(v, v));
}
"""


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_fast_atomics_of_cuda_halves(capability: int) -> None:
    """They are those of our halves: pairs, where the architecture has them."""
    for each, pair in (("half", "f16x2"), ("__nv_bfloat16", "bf16x2")):
        made = xp.kernel.RawKernel(FAST, f"cuda_halves<{each}>").compile(capability)
        assert (f"red.add.noftz.{pair}" in made.ptx) == (each == "half" or capability >= 90)


STANDARD = """
#include <algorithm>
#include <assert.h>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>
#include <utility>

namespace std { template <class T> struct is_integral { static constexpr int value = 7; }; }  // as other code does
typedef int int32_t;
static_assert(std::is_integral<int>::value == 7, "");
static_assert(std::is_pointer<int* const>::value && !std::is_pointer<int>::value, "");
static_assert(std::is_same_v<std::remove_pointer_t<int* const>, int>, "");
static_assert(std::is_same_v<std::decay_t<const int&>, int> && std::is_signed_v<int> && std::is_unsigned_v<size_t>, "");
static_assert(std::is_same_v<std::common_type_t<int, float>, float>, "");
static_assert(std::is_convertible_v<int, float> && std::is_base_of_v<std::true_type, std::is_same<int, int>>, "");
static_assert(sizeof(std::aligned_storage<12, 4>::type) == 12 && alignof(std::aligned_storage<16, 16>::type) == 16, "");
static_assert(sizeof(int8_t) + sizeof(int16_t) + sizeof(uint32_t) + sizeof(int64_t) + sizeof(std::uintptr_t) == 23, "");
static_assert(std::numeric_limits<int>::max() == INT_MAX && std::numeric_limits<int64_t>::min() == INT64_MIN, "");
static_assert(std::numeric_limits<uint8_t>::max() == UCHAR_MAX && std::numeric_limits<bool>::max(), "");
static_assert(std::numeric_limits<float>::epsilon() == FLT_EPSILON, "");
static_assert(std::numeric_limits<double>::lowest() == -DBL_MAX && std::numeric_limits<double>::min() == DBL_MIN, "");
static_assert(std::numeric_limits<float>::infinity() == INFINITY, "");
static_assert(__builtin_bit_cast(short, std::numeric_limits<xpops::float16>::max()) == 0x7bff, "");
static_assert(__builtin_bit_cast(short, std::numeric_limits<xpops::bfloat16>::epsilon()) == 0x3c00, "");
static_assert(std::numeric_limits<int>::digits == 31 && std::min(3, 4) == 3 && std::clamp(7, 1, 5) == 5, "");
static_assert(offsetof(float4, y) == 4 && std::is_invocable_v<int (*)(float), int>, "");

extern "C" __global__ void f(float* x, uint8_t* y) {
  std::swap(x[0], x[1]);
  auto both = std::make_pair(x[0], std::move(x[1]));
  *x = std::sqrt(both.first) + std::abs(-both.second) + std::trunc(*x) + std::pow(*x, 2.0f) + float(M_PI) + NAN;
  memcpy(y, x, 4);
  std::memset(y, 0, 2);
}
__device__ void tell(int x) {
  assert(x < 3);
  printf("%d", x);
}
"""


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_standard_headers(capability: int) -> None:
    assert module(STANDARD).cubin(capability)


HALF_NAMES = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <class T, typename std::enable_if<std::is_same<half, T>::value>::type* = nullptr>
__device__ void add_as_pair(T* base, size_t offset, size_t length, T value) {
  __half* at = reinterpret_cast<__half*>(base + offset);
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof(__half2) == 0 && offset + 1 < length) {
    __half2 both;
    both.x = value;
    both.y = __float2half_rz(0);
    atomicAdd(reinterpret_cast<__half2*>(at), both);
  } else {
    atomicAdd(reinterpret_cast<half*>(base) + offset, static_cast<__half>(value));
  }
}
extern "C" __global__ void f(half* x, float* y, half2* z, nv_bfloat16* b, __nv_bfloat162* c, xpops::float16* ours) {
  add_as_pair(x, 1, 4, x[1]);
  const float2 wide = __half22float2(*reinterpret_cast<const half2*>(x));
  half h = 0.5f; h += x[1]; h = h * h + half(1); y[0] = float(h) + wide.x;
  z[0] = __hadd2(z[1], z[2]) + __floats2half2_rn(1, 2); z[1] = __hfma2(z[0], z[1], __float2half2_rn(2));
  x[3] = __low2half(z[0]); x[4] = __hgt(x[1], x[2]) ? __hmul(x[1], x[2]) : __hsub(x[1], x[2]);
  z[3] = __halves2half2(x[1], x[2]); z[4] = __shfl_down_sync(0xffffffff, z[4], 1);
  x[5] = __shfl_xor_sync(0xffffffff, x[5], 1);
  x[6] = hexp(x[6]); z[5] = h2exp(z[6]); y[4] = __half2float(x[1]); x[7] = __float2half(y[5]); x[8] = __int2half_rn(3);
  y[6] = __half2int_rz(x[8]); z[7] = __half2half2(x[1]); z[9] = __float22half2_rn(wide);
  if (__hisnan(x[1]) || __heq(x[1], x[2]) || __hbgt2(z[1], z[2])) x[9] = __hmax(x[1], __habs(x[2]));
  x[10] = __ushort_as_half(__half_as_ushort(x[3])); x[11] = __hneg(x[3]); x[12] = __float2half_ru(y[1]);
  b[0] = __hadd(b[1], b[2]); b[1] = __float2bfloat16(y[1]); y[7] = __bfloat162float(b[0]); c[0] = __hmul2(c[1], c[2]);
  c[1] = __floats2bfloat162_rn(1, 2); atomicAdd(b, b[1]); y[8] = __low2float(c[1]);
  // Between CUDA's types and ours.
  xpops::float16 v = x[0]; half w(v); x[1] = v; ours[1] = w; v += w; ours[2] = v * x[2]; ours[3] = __hadd(v, v);
  x[2] = exp(v);
  xpops::bfloat16 p = b[0]; b[1] = p; FastAtomicAdd(ours, 1, 2, w); y[9] = v < w;
}
"""


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_halves_of_cuda(cuda_headers: tuple[Path, ...], capability: int) -> None:
    assert set(cuda_headers) < set(headers_of(HALF_NAMES).directories)
    assert module(HALF_NAMES).cubin(capability)


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_halves_without_cudas_headers(no_cuda_headers: None, capability: int) -> None:
    assert module(HALF_NAMES).cubin(capability)


OF_CUDA = {
    "cooperative groups": """
        #include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        extern "C" __global__ void f(int* x) {
          auto tile = cg::tiled_partition<8>(cg::this_thread_block());
          *x = tile.shfl_down(*x, 1);
          cg::this_grid().sync();
        }
    """,
    "CUB": """
        #include <cub/block/block_reduce.cuh>
        extern "C" __global__ void f(float* x) {
          __shared__ typename cub::BlockReduce<float, 128>::TempStorage room;
          const float sum = cub::BlockReduce<float, 128>(room).Sum(x[threadIdx.x]);
          if (threadIdx.x == 0) *x = sum;
        }
    """,
    "libcu++": """
        #include <cuda/std/array>
        #include <cuda/atomic>
        extern "C" __global__ void f(int* x) {
          cuda::std::array<int, 2> both{1, 2};
          const int64_t same = std::is_same<int, int>::value;
          cuda::atomic_ref<int, cuda::thread_scope_device>(*x).fetch_add(both[1] + same);
        }
    """,
    "textures": 'extern "C" __global__ void f(float* x, cudaTextureObject_t t) { *x = tex1Dfetch<float>(t, 0); }',
}


@pytest.mark.parametrize("name", OF_CUDA)
def test_headers_of_cuda_are_read_once(name: str, cold: None, cuda_headers: tuple[Path, ...]) -> None:
    before = cache.compilations
    for _ in range(2):
        assert module(OF_CUDA[name]).cubin(90)
    assert cache.compilations - before == 1


def test_headers_in_preambles(cuda_headers: tuple[Path, ...]) -> None:
    preamble = """
    #include <cuda_fp16.h>
    __device__ float twice(float x) { return __half2float(__hadd(__float2half(x), __float2half(x))); }
    """
    kernel = ElementwiseKernel("T x", "T y", "int64_t n2 = 2; y = twice(x) * n2", preamble=preamble)
    for dtype in (dt.float16, dt.float32):
        assert compile_cubin("kernel", source_of(kernel, vector(dtype)), 90)


def test_headers_that_are_missing(no_cuda_headers: None) -> None:
    message = r"cooperative_groups\.h: CUDA's headers were not found; install them \(pip install nvidia-cuda-runtime "
    with pytest.raises(xp.CompileError, match=message):
        module(OF_CUDA["cooperative groups"]).cubin(90)


def test_headers_that_nobody_has(cuda_headers: tuple[Path, ...]) -> None:
    message = r"nobody/has\.h: no such header in .*standard, .*, or in a directory of options"
    with pytest.raises(xp.CompileError, match=message):
        module("#include <nobody/has.h>\n").cubin(90)


def test_a_half_without_its_header() -> None:
    for name, header in (("half", "fp"), ("__half2", "fp"), ("nv_bfloat16", "bf")):
        with pytest.raises(xp.CompileError, match=rf"{name} is a type of CUDA's header: #include <cuda_{header}16\.h>"):
            module(f'extern "C" __global__ void f({name}* x) {{}}').cubin(90)


def test_names_of_parameters() -> None:
    source = "__global__ void f(float* constant, const half* volatile_x, std::int64_t n, const_iterator* at) {}"
    assert parameters_of(source, "f") == (
        Parameter("constant", True, False, dt.float32),
        Parameter("volatile_x", True, True, dt.float16),
        Parameter("n", False, False, dt.int64),
        Parameter("at", True, False, None),
    )


# Errors.

UNFINISHED = [
    ("y = x +", r"operation\(1\): error: expected an expression"),
    ("T z = x;\ny = x * z -  // the end\n\n", r"operation\(2\): error: expected an expression"),
    ("y = x;\ny = (x + 2", r"operation\(2\): error: \"\(\" has no partner"),
    ("y = x;\nif (x > 0) {  // }\n  y = '}' + x;", r"operation\(2\): error: \"{\" has no partner"),
    ("y = x;\n}", r"operation\(2\): error: \"}\" has no partner"),
    ("y = x;\ny = x * 2\n", None),
]


@pytest.mark.parametrize(("text", "message"), UNFINISHED)
def test_errors_at_the_end_of_an_operation(text: str, message: str | None) -> None:
    source = source_of(ElementwiseKernel("T x", "T y", text, "unfinished"), vector(dt.float32))
    if message is None:
        assert compile_cubin("unfinished", source, 90)
        return
    with pytest.raises(xp.CompileError) as raised:
        compile_cubin("unfinished", source, 90)
    assert raised.match(r"NVRTC failed on unfinished\nunfinished\." + message)
    assert "partner" in message or "unfinished.cu(" not in raised.value.log


def test_errors_at_the_end_of_other_texts() -> None:
    def failing(**texts: str) -> str:
        source = source_of(ElementwiseKernel("T x", "T y", "y = x", "bad", **texts), vector(dt.float32))
        with pytest.raises(xp.CompileError) as raised:
            compile_cubin("bad", source, 90)
        return raised.value.log

    assert "bad.loop_prep(1): error: expected an expression" in failing(loop_prep="T z = x *")
    assert "bad.after_loop(2): error: expected an expression" in failing(after_loop="\ny = y -")
    assert "bad.preamble(1): error" in failing(preamble="__device__ int f() { return 1 + }")
    for part, position in (("map_expr", 2), ("reduce_expr", 3), ("post_map_expr", 4), ("identity", 5)):
        texts = ["T x", "T y", "x", "a + b", "y = a", "0", "sum"]
        texts[position] += " +"
        with pytest.raises(xp.CompileError, match=rf"sum\.{part}\(1\): error: expected an expression"):
            compile_cubin("sum", reduction_source(ReductionKernel(*texts), vector(dt.float32), 0, (0,)), 90)


def test_the_log_comes_before_the_source_and_has_no_warnings_of_ours() -> None:
    outs, body = "T y, U z, raw T v", "z = nowhere[_ind.get()[0]]"
    kernel = ElementwiseKernel("T x, raw T w", outs, body, "bad", loop_prep="z = n;")
    specs = (vector(dt.float32), vector(dt.float32, 3), *[vector(dt.float32)] * 3)
    with pytest.raises(xp.CompileError) as raised:
        compile_cubin("bad", source_of(kernel, *specs, given=True), 90)
    text = str(raised.value)
    assert text.startswith('NVRTC failed on bad\nbad.operation(1): error: identifier "nowhere" is undefined')
    assert text.index("1 error detected") < text.index("options: ") < text.index("#include <xpops/user/prelude.cuh>")
    assert "bad.cu(" not in raised.value.log


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_specialisation_for_half_is_found(cuda_headers: tuple[Path, ...], capability: int) -> None:
    """With CUDA's header, a class template gets CUDA's type."""
    text = """
    #include <cuda_fp16.h>
    template <class To, class From> struct Convert;
    template <class To> struct Convert<To, half> {
      __device__ To operator()(half from) const { return static_cast<To>(static_cast<float>(from)); }
      __device__ void Apply2(To* to, const half* from) const {
        const float2 both = __half22float2(*reinterpret_cast<const half2*>(from));
        to[0] = static_cast<To>(both.x); to[1] = static_cast<To>(both.y);
      }
    };
    template <class From> struct Convert<half, From> {
      __device__ half operator()(From from) const { return static_cast<half>(from); }
    };
    """
    functor = parse_functor(text.replace("struct Convert;", "struct Convert {};"), "Convert<R, T>", "")
    for given, result in ((dt.float16, dt.float32), (dt.float16, dt.int32), (dt.float32, dt.float16)):
        call = functor_call(functor, (vector(given),), result, GPU)
        assert compile_cubin("Convert", user_source(call, tuning_of(capability).elementwise).source, capability)


STRUCTURES = {
    "aligned": ("struct A { %s }; struct alignas(8) B { %s };", "B"),
    "aligned by an expression": ("template <class T> struct alignas(alignof(T) * (1 + 1)) B { %s };", "B"),
    "with an attribute": ("struct [[nodiscard]] __align__(16) B final { %s };", "B"),
    "nested": ("struct B { struct Inner { int a; }; class Other {}; %s };", "B"),
    "before an enumeration": ("struct B { %s }; enum class Kind : int { kOne }; enum struct Way { kTwo };", "B"),
    "in a comment": ("struct B { %s }; // struct C {};\n/* struct D { */", "B"),
    "of an open namespace": ("namespace { struct B { %s }; }\ninline namespace v1 { struct C { %s }; }", "C"),
    "before others' namespaces": ("struct B { %s }; namespace mine { struct C { %s }; }", "B"),
    "with a base": ("struct Base { int a; }; struct B : Base { %s };", "B"),
    "defined before its part": ("struct B { struct Part; %s }; struct B::Part { int a; };", "B"),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_last_structure_of_a_source_is_the_functor(name: str) -> None:
    text, wanted = STRUCTURES[name]
    call = "template <class S> S operator()(S x) const { return x + x; }"
    source = text.replace("%s", call)
    assert parse_functor(source, None, "").name == wanted
    assert functor(source).compile(90, xp.ones(8, dtype=xp.float32, device="cpu")).resources.registers > 0


def test_structures_within_others_are_no_functors() -> None:
    with pytest.raises(ValueError, match=r"functor: name is 'Inner'; accepted: a structure of the source: Outer$"):
        functor("struct Outer { struct Inner {}; };", "Inner")
