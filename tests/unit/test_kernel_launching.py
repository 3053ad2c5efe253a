"""What raw kernels take besides pointers and numbers: accessors, templates, grids by shape, configurations."""

from __future__ import annotations

import ctypes
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.host_compile import build
from tests.unit.conftest import PretendedEngine
from tests.unit.test_kernel_calls import Recorded
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.user.accessors import Accessor, packed_accessor
from xpops.engine.cuda.user.arguments import Parameter, parameters_of
from xpops.engine.cuda.user.raw import Module
from xpops.engine.cuda.user.templates import template_of

GPU = Device("cuda")
INTEGERS = ("uint16", "int64", "int32", "uint64")
CAPABILITIES = (80, 90, 100, 120)

# Sums over the last axis, with every way to index. As in kernels for PyTorch's extensions, but for the arithmetic.
SUMS = """
#include <xpops/names/torch.cuh>

template <typename scalar_t>
__global__ void sums(const torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits> x,
                     const xpops::Accessor64<const scalar_t, 1> weights, xpops::Accessor<scalar_t, 2, long long> out,
                     scalar_t by, const int rows) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= out.size(1)) return;
  for (int row = 0; row < rows; ++row) {
    scalar_t sum = 0.0f;
    for (int k = 0; k < x.size(2); ++k) sum += x[row][column][k] * weights[k] + by * x(row, column, k);
    out[row][column] = sum;
  }
}
"""


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("element", ["float", "double"])
def test_accessors_compile(capability: int, element: str) -> None:
    assert compile_cubin("sums", SUMS, capability, expressions=(f"sums<{element}>",))


READER = """
#include <xpops/index/accessor.cuh>
using namespace xpops;

extern "C" void run(Accessor%(bits)d<int, 3> x, const Accessor%(bits)d<const int, 3> y, long* seen) {
  for (int i = 0; i < x.size(0); ++i)
    for (int j = 0; j < x.size(1); ++j)
      for (int k = 0; k < x.size(2); ++k) {
        *seen++ = y[i][j][k] + 2 * y(i, j, k) + x.stride(1) * (x[i][j].data() == x.data() + i * x.stride(0) + j * x.stride(1));
        x[i][j][k] = -y[i][j][k];
        x(i, j, k) += 1;
      }
}
"""  # noqa: E501


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("steps", [(slice(None),) * 3, np.s_[::2, ::-1, 1:], np.s_[:, :1, ::-3]], ids=str)
def test_accessors_index_any_layout(bits: int, steps: Any) -> None:
    host = np.arange(4 * 6 * 7, dtype=np.int32).reshape(4, 6, 7).transpose(0, 2, 1)
    x, y = host[steps], (host * 5)[steps]
    wanted = -y + 1
    seen = np.zeros(y.shape, np.int64)
    strides = 3 * y.ravel() + layout(y).strides[1]
    build(READER % {"bits": bits}).run(accessor(x, bits), accessor(y, bits), seen.ctypes.data_as(ctypes.c_void_p))
    np.testing.assert_array_equal(seen.ravel(), strides)
    np.testing.assert_array_equal(x, wanted)


def layout(x: Any) -> Any:
    return layout_of(x.dtype, x.shape, tuple(each // x.itemsize for each in x.strides), GPU)


def accessor(x: Any, bits: int) -> Any:
    """The structure that a kernel takes, by value."""
    number = ctypes.c_int32 if bits == 32 else ctypes.c_int64

    class Given(ctypes.Structure):
        _fields_ = (("first", ctypes.c_uint64), ("lengths", number * x.ndim), ("steps", number * x.ndim))

    packed = packed_accessor(Accessor(str(x.ndim), bits), layout(x), x.ctypes.data, "run: args[0]")
    assert len(packed) == ctypes.sizeof(Given)
    return Given.from_buffer_copy(packed)


def test_accessors_that_are_refused() -> None:
    what = "f: args[0] (x)"
    with pytest.raises(TypeError, match=r"f: args\[0\] \(x\) has 2 axes; accepted: 3, as the kernel has it"):
        packed_accessor(Accessor("3", 32), layout_of(dt.int8, (2, 2), None, GPU), 0, what)
    large = layout_of(dt.int8, (2, 2), (2**31 - 2, 1), GPU)
    assert len(packed_accessor(Accessor("2", 32), large, 0, what)) == 24
    for beyond in (layout_of(dt.int8, (2, 2), (2**31 - 1, 1), GPU), layout_of(dt.int8, (2,), (-(2**31),), GPU)):
        with pytest.raises(ValueError, match=r"reaches 2147483648 elements from its first one; accepted: fewer than"):
            packed_accessor(Accessor(str(beyond.ndim), 32), beyond, 0, what)
        assert packed_accessor(Accessor("kRank", 64), beyond, 0, what)


def test_what_a_source_says_of_templates_and_accessors() -> None:
    found = parameters_of(SUMS, "sums")
    assert found == (
        Parameter("x", True, True, None, "scalar_t", Accessor("3", 32)),
        Parameter("weights", True, True, None, "scalar_t", Accessor("1", 64)),
        Parameter("out", True, False, None, "scalar_t", Accessor("2", 64)),
        Parameter("by", False, False, None, "scalar_t"),
        Parameter("rows", False, True, dt.int32),
    )
    assert [each.dtype for each in parameters_of(SUMS, "sums<double>") or ()] == [*[dt.float64] * 4, dt.int32]
    two = "template <class A, class B = float, int... N> __global__ void f(const A* a, B b, Pair<A, B> c, A& d) {}"
    assert parameters_of(two, "f<xpops::float16, unsigned char, 3>") == (
        Parameter("a", True, True, dt.float16, "A"),
        Parameter("b", False, False, dt.uint8, "B"),
        Parameter("c", False, False, None),
        Parameter("d", False, False, None),
    )


VOID = "__global__ void "
TEMPLATES = (
    ("template <class T> static __global__ void f(T* x) {}", "T"),
    ("template <class T> __launch_bounds__(64) void __global__ f(T* x) {}", "T"),
    ("template <class T, int N = (3 + 1)> __global__ void f(T* x) {}", "T N="),
    ("template <class T, class U = std::pair<T, int>> __global__ void f(U* x) {}", "T U="),
    ("template <typename T, typename = std::enable_if_t<(sizeof(T) > 1)>> __global__ void f(T* x) {}", "T ="),
    ("template <class T> T g(T x) { return x; } __global__ void f(float* x) {}", ""),
)


@pytest.mark.parametrize(("source", "wanted"), TEMPLATES)
def test_templates_are_found(source: str, wanted: str) -> None:
    assert " ".join(name + "=" * optional for name, optional in template_of(source, "f")) == wanted


PARAMETERS: tuple[tuple[str, Any], ...] = (
    ("A<B<int, int>, C<int>> p, int n", [("p", None), ("n", "int32")]),
    ("unsigned short int a, long int b, signed c, long long unsigned d", [*zip("abcd", INTEGERS, strict=True)]),
    ("int n = 4, float x = g(1, 2)", [("n", "int32"), ("x", "float32")]),
    ("const float * /* , int k */ x, \\\n int n", [("x", "float32"), ("n", "int32")]),
    ("T... x", None),
    ("float (&x)[4]", None),
)


@pytest.mark.parametrize(("text", "wanted"), PARAMETERS)
def test_parameters_are_found(text: str, wanted: Any) -> None:
    found = parameters_of(f'const char* url = "http://x"; {VOID}f({text}) {{}}', "f")
    assert (found and [(each.name, each.dtype and str(each.dtype)) for each in found]) == wanted


@pytest.mark.parametrize(
    ("text", "ndim", "bits", "const"),
    [
        ("Accessor<float, 2> const a", "2", 32, True),
        ("const __grid_constant__ ::xpops::Accessor32<float, kRank> a", "kRank", 32, True),
        ("Accessor<Pair<int, int>, 2, size_t> a", "2", 64, False),
        ("Accessor<float const, 2> a", "2", 32, True),
    ],
)
def test_accessors_are_found(text: str, ndim: str, bits: int, const: bool) -> None:
    (found,) = parameters_of(f"{VOID}f({text}) {{}}", "f") or ()
    assert (found.name, found.const, found.accessor) == ("a", const, Accessor(ndim, bits))


def test_kernels_of_one_name_with_other_parameters_have_none() -> None:
    both = f"namespace a {{ {VOID}f(float* x, int n) {{}} }} namespace b {{ {VOID}f(float* x, float n) {{}} }}"
    assert parameters_of(both, "b::f") is None
    declared = parameters_of(f"{VOID}f(float*, int); {VOID}f(float* x, int n) {{}}", "f")
    assert [each.dtype for each in declared or ()] == [dt.float32, dt.int32]


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> tuple[Recorded, list[str]]:
    """Records launches, and the names of the kernels, without a compiler."""
    recorded, names = Recorded(), list[str]()

    def function(self: Module, engine: Any, name: str) -> Any:
        names.append(name)
        assert self.expressions == ((name,) if "<" in name else ())
        return recorded

    monkeypatch.setattr(Module, "function", function)
    return recorded, names


def test_instances_are_chosen_by_the_arguments(pretended: PretendedEngine, launched: Any) -> None:
    recorded, names = launched
    kernel = xp.kernel.RawKernel(SUMS, "sums")
    recorded.sizes = (32, 24, 40, 4, 4)
    for dtype, text in ((np.float32, "float"), (np.float64, "double"), (np.float32, "float"), (np.int64, "long long")):
        x = pretended.array(np.ones((4, 5, 6), dtype))
        recorded.sizes = (32, 24, 40, x.dtype.itemsize, 4)
        for by in (3, x.dtype.type(3)):
            kernel(1, 32, (x, x[0, 0, :], xp.permute_dims(x, (1, 0, 2))[:, :, 0], by, 4))
            assert f"sums<{text}>" in names
            _, _, arguments, *_ = recorded.calls[-1]
            assert (
                arguments[0]
                == np.array([x._data], np.int64).tobytes() + np.array([4, 5, 6, 30, 6, 1], np.int32).tobytes()
            )
            assert arguments[2] == np.array([x._data, 5, 4, 6, 30], np.int64).tobytes()
            assert arguments[3] == np.array(3, dtype).tobytes()
    assert len(names) == 3 * 2, "a call like an earlier one looks nothing up"
    with pytest.raises(
        TypeError, match=r"sums: args\[2\] has dtype int64, but scalar_t is float32 before it; accepted"
    ):
        kernel(1, 32, (*[pretended.array(np.ones((1, 1, 1), np.float32))] * 2, x, 3, 4))
    with pytest.raises(
        TypeError, match=r"sums<long long>: args\[1\] \(weights\) has 3 axes; accepted: 1, as the kernel"
    ):
        kernel(1, 32, (x, x, x, 3, 4))
    with pytest.raises(TypeError, match=r"sums<long long>: args\[2\] \(out\) is 3; the kernel takes a pointer"):
        kernel(1, 32, (x, x[0, 0, :], 3, 3, 4))


# A warp's sum, and other names of Paddle's, as its pages use them.
WARP = """
#include <xpops/names/paddle.cuh>

template <typename T>
__device__ T total(T x) {
  unsigned mask = 0u;
  CREATE_SHFL_MASK(mask, true);
  for (int reach = 16; reach > 0; reach /= 2) x = x + phi::backends::gpu::CudaShuffleDownSync(mask, x, reach);
  return x;
}

extern "C" __global__ void warp_total(const float* x, float* y, phi::kps::IndexCalculator places, int n) {
  PADDLE_ENFORCE_NE(n, 0, "nothing to sum");
  typename ::phi::dtype::MPTypeTrait<phi::dtype::float16>::Type each[1];
  kps::details::ReadData(each, x + places(threadIdx.x), 1);
  each[0] = total(each[0]);
  if (threadIdx.x == 0) kps::details::WriteData(y, each, 1);
  static_assert(phi::DDim::kMaxRank == 9, "as BroadcastConfig has it");
}
"""


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_the_names_of_paddle_compile(capability: int) -> None:
    assert compile_cubin("warp_total", WARP, capability)


FILL = "template <class T, int N, bool kOdd = false> __global__ void fill(T* x, T value) {}"


def test_instances_in_brackets(pretended: PretendedEngine, launched: Any) -> None:
    recorded, names = launched
    x, recorded.sizes = pretended.array(np.ones(3, ml_dtypes.bfloat16)), (8, 2)
    kernel = xp.kernel.RawModule(FILL).get_function("fill")
    assert kernel[xp.bfloat16, 4] is kernel["bfloat16", np.int64(4)]
    kernel[x.dtype, 4, True](1, 1, (x, 2))
    assert names == ["fill<xpops::bfloat16, 4, true>"]
    assert recorded.calls[0][2][1] == ml_dtypes.bfloat16(2).tobytes()
    assert repr(kernel["Pair<int>", 1]) == "<kernel fill<Pair<int>, 1>>"
    with pytest.raises(
        TypeError, match="fill: no argument says what N is; accepted: the template's arguments in brackets"
    ):
        kernel(1, 1, (x, 2))
    assert repr(kernel["float", 1]) == "<kernel fill<float, 1>>"
    with pytest.raises(TypeError, match="fill: 0 template arguments; accepted: T, N, kOdd"):
        kernel[()]
    with pytest.raises(TypeError, match="fill: 4 template arguments; accepted: T, N, kOdd"):
        kernel[1, 2, 3, 4]
    with pytest.raises(TypeError, match="fill: dtype None is not supported; accepted: bool"):
        kernel[None]
    with pytest.raises(TypeError, match="f: 1 template arguments; accepted: none, as the kernel is no template"):
        xp.kernel.RawKernel('extern "C" __global__ void f() {}', "f")[1]
    with pytest.raises(TypeError, match="fill<int, 2>: 1 template arguments; accepted: none"):
        xp.kernel.RawKernel(FILL, "fill<int, 2>")[1]


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("dtype", [each for each in dt.INFO if each not in dt.FLOAT8], ids=str)
def test_instances_of_every_dtype_compile(dtype: Any, capability: int) -> None:
    kernel = xp.kernel.RawKernel("template <class T> __global__ void copy(const T* x, T* y) { *y = *x; }", "copy")
    cubin, names = kernel[dtype]._module.cubin(capability)
    (name,) = names.values()
    assert name in cubin


def test_grids_by_shape(pretended: PretendedEngine, launched: Any) -> None:
    recorded, _ = launched
    recorded.sizes = (8, 8)
    kernel = xp.kernel.RawKernel('extern "C" __global__ void f(float* x, float* y) {}', "f")
    for size, block, blocks in ((512, 256, 2), (513, 256, 3), (1, 256, 1), (0, 32, 0), (65, (8, 4), 3)):
        x, y = pretended.array(np.ones((size, 1), np.float32)), pretended.array(np.ones(min(size, 1), np.float32))
        kernel("elements", block, (y, x))
        assert recorded.calls[-1][0] == (blocks, 1, 1)
    with pytest.raises(
        ValueError, match="f: grid is 'rows'; accepted: one to three integers, 0 or more each, or 'elem"
    ):
        kernel("rows", 1, (x, y))
    with pytest.raises(ValueError, match="g: grid is 'elements', and no argument is an array; accepted: integers"):
        xp.kernel.RawKernel('extern "C" __global__ void g(int n) {}', "g")("elements", 1, (3,))


OFFSETS = """
#define __umulhi(x, y) static_cast<unsigned>((static_cast<unsigned long>(x) * (y)) >> 32)
#define __umul64hi(x, y) (x)
#include <xpops/kps/config.cuh>

extern "C" void run(const xpops::kps::%s& config, long* offsets, unsigned n) {
  for (unsigned i = 0; i < n; ++i) offsets[i] = config(i);
}
"""


def offsets_of(config: Any, name: str, size: int) -> Any:
    found = np.zeros(size, np.int64)
    build(OFFSETS % name).run(ctypes.byref(config), found.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint(size))
    return found


SHAPES = st.lists(st.integers(0, 4), max_size=5).map(tuple)


@given(st.data(), SHAPES)
def test_broadcast_configs(data: st.DataObject, out: tuple[int, ...]) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(out), max_size=len(out)))
    missing = data.draw(st.integers(0, len(out)))
    shape = tuple(length if keep else 1 for length, keep in zip(out, kept, strict=True))[missing:]
    strides = data.draw(st.none() | st.tuples(*[st.integers(-50, 50)] * len(shape)))
    config = xp.kernel.broadcast_config(shape, strides, out)
    used = strides or tuple(each // 8 for each in np.zeros(shape).strides)
    places = np.zeros(shape, np.int64)
    for axis, step in enumerate(used):
        places += np.expand_dims(np.arange(shape[axis]) * step, tuple(i for i in range(len(shape)) if i != axis))
    wanted = np.broadcast_to(places, out).ravel()
    np.testing.assert_array_equal(offsets_of(config, "BroadcastConfig", wanted.size), wanted)


@given(st.data(), SHAPES.filter(len))
def test_index_calculators(data: st.DataObject, shape: tuple[int, ...]) -> None:
    axes = tuple(data.draw(st.permutations(range(-len(shape), 0)))[: data.draw(st.integers(0, len(shape)))])
    x = np.arange(np.prod(shape)).reshape(shape)
    rest = [axis for axis in range(-len(shape), 0) if axis not in axes]
    wanted = x.transpose(*rest, *axes)[(0,) * len(rest)].ravel() if x.size else np.zeros(0)
    config = xp.kernel.index_calculator(shape, None, axes)
    np.testing.assert_array_equal(offsets_of(config, "IndexCalculator", wanted.size), wanted)


def test_configurations_that_are_refused() -> None:
    make, calculate = xp.kernel.broadcast_config, xp.kernel.index_calculator
    for divisor in (0, -1, 2**32):
        with pytest.raises(ValueError, match=rf"fast_divmod: divisor is {divisor}; accepted: 1 to 2\*\*32 - 1"):
            xp.kernel.fast_divmod(divisor)
    with pytest.raises(ValueError, match=r"broadcast_config: strides is \(1,\); accepted: 2 integers, as shape has"):
        make((2, 3), (1,), (2, 3))
    with pytest.raises(ValueError, match=r"broadcast_config: shape is \(2,\); accepted: what broadcasts to \(3,\)"):
        make((2,), None, (3,))
    with pytest.raises(ValueError, match=r"broadcast_config: shape is \(1, 2\); accepted: what broadcasts to \(2,\)"):
        make((1, 2), None, (2,))
    for out in ((1,) * 10, (2**16, 2**15)):
        with pytest.raises(
            ValueError, match=r"broadcast_config: out_shape is .*; accepted: at most 9 axes, fewer than 2"
        ):
            make((1,), None, out)
    for axes in ((0, 0), (0, -2), (2,), (-3,)):
        with pytest.raises(
            ValueError, match=r"index_calculator: axes is .*; accepted: different axes of an array with 2"
        ):
            calculate((2, 3), None, axes)
    with pytest.raises(
        ValueError, match=r"index_calculator: axes is \(0,\), of lengths \(2147483648,\); accepted: at most"
    ):
        calculate((2**31,), None, (0,))
