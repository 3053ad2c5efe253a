"""User-defined kernels on a GPU, against NumPy."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import xpops as xp

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(11)

SCALE = """
extern "C" __global__ void scale(const float* x, float* y, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * by;
}
"""
ARRIVALS = """
extern "C" __global__ void arrive(volatile int* arrived, int* seen) {
  if (threadIdx.x == 0) {
    atomicAdd(const_cast<int*>(arrived), 1);
    while (*arrived < gridDim.x) {}
    seen[blockIdx.x] = *arrived;
  }
}
"""
CLUSTER = """
extern "C" __global__ void ranks(int* rank) {
  int r, size;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  if (threadIdx.x == 0) rank[blockIdx.x] = 100 * size + r;
}
"""


def floats(*shape: int, dtype: Any = np.float32) -> NDArray:
    return RANDOM.normal(size=shape).astype(dtype)


def on(device: Any, host: Any) -> Any:
    return xp.asarray(np.asarray(host), device=device, copy=True)


class TestRaw:
    def test_a_kernel_is_called_like_a_function(self, cuda: Any) -> None:
        host = floats(1003)
        x, y = on(cuda, host), xp.zeros(1003, dtype=xp.float32, device=cuda)
        xp.kernel.RawKernel(SCALE, "scale")((4,), 256, (x, y, 2.5, 1003))
        np.testing.assert_array_equal(y.to_numpy(), host * np.float32(2.5))

    def test_nothing_is_launched_for_a_grid_of_0(self, cuda: Any) -> None:
        x = xp.zeros(0, dtype=xp.float32, device=cuda)
        xp.kernel.RawKernel(SCALE, "scale")(0, 256, (x, x, 2.5, 0))

    def test_arrays_of_torch_on_its_own_stream(self, cuda_torch: Any) -> None:
        torch = cuda_torch
        kernel = xp.kernel.RawKernel(SCALE, "scale")
        with torch.cuda.stream(torch.cuda.Stream()):
            x = torch.ones(1000, device="cuda") * 3
            y = torch.empty_like(x)
            versions = x._version, y._version
            kernel(4, 256, (x, y, 2.0, 1000))
            assert (y == 6).all()
            assert x._version == versions[0]
            assert y._version > versions[1]
        with pytest.raises(TypeError, match=r"args\[0\] \(x\) is an array of float64; accepted: float32"):
            kernel(4, 256, (x.double(), y, 2.0, 1000))

    def test_a_stream_of_torch(self, cuda_torch: Any) -> None:
        torch = cuda_torch
        x = xp.ones(1 << 20, dtype=xp.float32, device="cuda:0")
        y = xp.empty_like(x)
        xp.kernel.RawKernel(SCALE, "scale")(4096, 256, (x, y, 2.0, 1 << 20), stream=torch.cuda.Stream())
        assert (y.to_numpy() == 2).all()

    def test_instances_of_templates(self, cuda: Any) -> None:
        source = "template <class T, int N> __global__ void fill(T* x) { x[threadIdx.x] = N; }"
        module = xp.kernel.RawModule(source, name_expressions=["fill<float, 3>", "fill<int, 4>"])
        x, y = xp.zeros(32, dtype=xp.float32, device=cuda), xp.zeros(32, dtype=xp.int32, device=cuda)
        module.get_function("fill<float, 3>")(1, 32, (x,))
        module.get_function("fill<int, 4>")(1, 32, (y,))
        assert (x.to_numpy() == 3).all()
        assert (y.to_numpy() == 4).all()
        xp.kernel.RawKernel(source, "fill<int, 5>")(1, 32, (y,))
        assert (y.to_numpy() == 5).all()
        with pytest.raises(ValueError, match="module: there is no kernel 'other'; accepted: fill<"):
            module.get_function("other")(1, 32, (y,))

    def test_names_without_extern_c(self, cuda: Any) -> None:
        source = """
        __global__ void fill(float* x) { x[threadIdx.x] = 1; }
        namespace mine { __global__ void fill(float* x) { x[threadIdx.x] = 2; } }
        """
        module = xp.kernel.RawModule(source)
        x = xp.zeros(32, dtype=xp.float32, device=cuda)
        for name, value in (("fill", 1), ("mine::fill", 2), ("_Z4fillPf", 1), ("_ZN4mine4fillEPf", 2)):
            for _ in range(2):
                module.get_function(name)(1, 32, (x,))
                assert (x.to_numpy() == value).all()
        assert module.get_function("mine::fill").registers > 0

    def test_structures_and_our_headers(self, cuda: Any) -> None:
        class Line(ctypes.Structure):
            _fields_ = (("slope", ctypes.c_float), ("offset", ctypes.c_double))

        source = """
        #include <xpops/kps.cuh>
        struct Line { float slope; double offset; };
        extern "C" __global__ void line(double* x, Line a) {
          const double at = xpops::kps::IdentityFunctor<double, double>()(threadIdx.x);
          x[threadIdx.x] = a.slope * at + a.offset;
        }
        """
        x, kernel = xp.zeros(32, device=cuda), xp.kernel.RawKernel(source, "line")
        for line in (Line(2.0, 0.1), bytes(Line(2.0, 0.1))):
            kernel(1, 32, (x, line))
            np.testing.assert_allclose(x.to_numpy(), 2 * np.arange(32) + 0.1)
        with pytest.raises(TypeError, match=r"the arguments have \(8, 4\) bytes; accepted: \(8, 16\)"):
            kernel(1, 32, (x, np.float32(2)))

    def test_cooperative(self, cuda: Any) -> None:
        arrived, seen = (xp.zeros(n, dtype=xp.int32, device=cuda) for n in (1, 64))
        xp.kernel.RawKernel(ARRIVALS, "arrive")(64, 32, (arrived, seen), cooperative=True)
        assert (seen.to_numpy() == 64).all()
        with pytest.raises(xp.DeviceError, match="launching arrive: CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"):
            xp.kernel.RawKernel(ARRIVALS, "arrive")(1 << 20, 1024, (arrived, seen), cooperative=True)

    def test_clusters(self, cuda: Any) -> None:
        ranks = xp.zeros(8, dtype=xp.int32, device=cuda)
        xp.kernel.RawKernel(CLUSTER, "ranks")(8, 32, (ranks,), cluster=4)
        assert ranks.to_numpy().tolist() == [400, 401, 402, 403] * 2

    def test_dynamic_shared_memory(self, cuda: Any) -> None:
        source = """
        extern "C" __global__ void turn(int* x) {
          extern __shared__ int kept[];
          kept[threadIdx.x + 20000] = x[threadIdx.x];
          __syncthreads();
          x[threadIdx.x] = kept[20000 + blockDim.x - 1 - threadIdx.x];
        }
        """
        x = xp.arange(64, dtype=xp.int32, device=cuda)
        xp.kernel.RawKernel(source, "turn")(1, 64, (x,), shared=4 * 20064)
        assert x.to_numpy().tolist() == list(range(63, -1, -1))

    def test_what_a_kernel_needs(self, cuda: Any) -> None:
        kernel = xp.kernel.RawKernel(SCALE, "scale")
        assert 0 < kernel.registers < 64
        assert kernel.shared_bytes == 0
        assert kernel.max_threads == 1024
        assert kernel.occupancy(256) == 8
        assert kernel.occupancy(256, shared=40 << 10) < 8
        x = xp.zeros(4, dtype=xp.float32, device=cuda)
        with pytest.raises(ValueError, match=r"block is \(64, 64, 1\), 4096 threads; accepted: up to 1024"):
            kernel(1, (64, 64), (x, x, 1.0, 4))

    def test_what_is_read_only_is_not_written(self, cuda: Any) -> None:
        x = xp.broadcast_to(xp.ones(1, dtype=xp.float32, device=cuda), (4,))
        with pytest.raises(ValueError, match=r"scale: args\[1\] \(y\) is read-only; accepted: a writable array"):
            xp.kernel.RawKernel(SCALE, "scale")(1, 32, (x, x, 1.0, 4))


AXPY = xp.kernel.ElementwiseKernel("T a, T x, T y", "T z", "z = a * x + y", "axpy")
ORDER = xp.kernel.ElementwiseKernel("float32 x, T y", "int64 z, T w", "z = i * n; w = y", "order")


class TestElementwise:
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint32])
    @pytest.mark.parametrize("layout", ["whole", "row", "column", "shifted", "backwards"])
    def test_layouts(self, cuda: Any, dtype: Any, layout: str) -> None:
        host = RANDOM.integers(0, 30, (129, 515)).astype(dtype)
        views: dict[str, tuple[Any, Any]] = {
            "whole": (np.s_[:, :], np.s_[:, :]),
            "row": (np.s_[:, :], np.s_[:1, :]),
            "column": (np.s_[:, :], np.s_[:, 3:4]),
            "shifted": (np.s_[:, 1:], np.s_[:, :-1]),
            "backwards": (np.s_[::-1, ::2], np.s_[:, ::-2]),
        }
        left, right = views[layout]
        x = on(cuda, host)
        wanted = dtype(3) * host[left] + host[right]
        for _ in range(2):  # the second time from memory
            np.testing.assert_array_equal(AXPY(3, x[left], x[right]).to_numpy(), wanted)
        apart = on(cuda, np.ascontiguousarray(host[left])), on(cuda, np.ascontiguousarray(host[right]))
        np.testing.assert_array_equal(AXPY(3, *apart).to_numpy(), wanted)

    def test_views_and_transposed_ones(self, cuda: Any) -> None:
        host = floats(300, 400)
        x = on(cuda, host)
        np.testing.assert_allclose(
            AXPY(2, x[:, :300], x[:, 100:].T).to_numpy(), 2 * host[:, :300] + host[:, 100:].T, 1e-5
        )
        z, w = ORDER(x[::-1, ::3], x[:, ::3])
        assert (z.to_numpy() == (np.arange(z.size) * z.size).reshape(z.shape)).all()
        np.testing.assert_array_equal(w.to_numpy(), host[:, ::3])

    def test_more_than_32_bits_of_elements(self, cuda: Any) -> None:
        last = xp.kernel.ElementwiseKernel("int8 x", "int8 y", "y = i == n - 1 ? 2 : x")
        y = last(xp.ones((1 << 31) + 5, dtype=xp.int8, device=cuda))
        assert int(xp.sum(y, dtype=xp.int64)) == (1 << 31) + 6
        assert int(y[-1]) == 2

    def test_arrays_of_torch(self, cuda_torch: Any) -> None:
        torch = cuda_torch
        x = torch.randn(70, 64, device="cuda", dtype=torch.bfloat16)
        got = AXPY(2.0, x, x.T[:, :1].T)
        assert isinstance(got, torch.Tensor)
        torch.testing.assert_close(got, (2 * x.float() + x.T[:, :1].T.float()).bfloat16())
        step = xp.kernel.ElementwiseKernel("T grad, T rate", "T param, T mean", "mean += grad; param -= rate * mean")
        grad, param, mean = (torch.randn(1000, device="cuda") for _ in range(3))
        wanted, version = param - 0.1 * (mean + grad), param._version
        assert step(grad, 0.1, param, mean)[0] is param
        torch.testing.assert_close(param, wanted)
        assert param._version > version

    def test_arrays_of_cupy(self, cuda: Any) -> None:
        cupy = pytest.importorskip("cupy")
        x = cupy.arange(1000, dtype=cupy.float32)
        got = AXPY(2.0, x, x)
        assert isinstance(got, cupy.ndarray)
        assert (got == 3 * x).all()
        theirs = cupy.ElementwiseKernel("T x, raw T y", "T z", "z = x - y[_ind.size() - 1 - i]", "back")
        ours = xp.kernel.ElementwiseKernel("T x, raw T y", "T z", "z = x - y[n - 1 - i]", "back")
        assert (ours(x, x) == theirs(x, x)).all()

    def test_again_and_with_other_scalars(self, cuda: Any) -> None:
        x = on(cuda, floats(64, 64))
        for a in (1.0, 2.0, -3.0):
            np.testing.assert_allclose(AXPY(a, x, x).to_numpy(), (a + 1) * x.to_numpy(), rtol=1e-5, atol=1e-6)
            out = xp.zeros_like(x)
            assert AXPY(a, x, x, out=out) is out
            np.testing.assert_allclose(out.to_numpy(), (a + 1) * x.to_numpy(), rtol=1e-5, atol=1e-6)

    def test_atomics_and_scalars_alone(self, cuda: Any) -> None:
        x, places = on(cuda, np.ones(10000, np.float32)), on(cuda, RANDOM.integers(0, 7, 10000))
        add = xp.kernel.ElementwiseKernel("T x, int64 at", "raw T y", "atomicAdd(&y[at], x)")
        y = xp.zeros(7, dtype=xp.float32, device=cuda)
        add(x, places, out=y)
        np.testing.assert_array_equal(y.to_numpy(), np.bincount(places.to_numpy(), minlength=7))
        xp.set_default_device(cuda)
        try:
            line = xp.kernel.ElementwiseKernel("T start, T step", "T y", "y = start + i * step")(
                1.0, np.float64(2), size=4
            )
        finally:
            xp.set_default_device(None)
        assert line.to_numpy().tolist() == [1, 3, 5, 7]

    def test_errors_point_into_the_operation(self, cuda: Any) -> None:
        kernel = xp.kernel.ElementwiseKernel("T x", "T y", "T z = x;\ny = nowhere;", "spoiled")
        with pytest.raises(xp.CompileError, match=r"spoiled\.operation\(2\): error: identifier"):
            kernel(xp.ones(3, device=cuda))

    def test_read_only_results(self, cuda: Any) -> None:
        x = xp.ones(3, device=cuda)
        with pytest.raises(ValueError, match="axpy: z is read-only"):
            AXPY(1.0, x, x, out=xp.broadcast_to(xp.ones(1, device=cuda), (3,)))


SWISH = xp.kernel.functor(
    "struct Swish { template <class T> XPOPS_DEVICE T operator()(T x, T b) const { return x / (1 + exp(-b * x)); } };"
)


class TestFunctor:
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_values(self, cuda: Any, dtype: Any) -> None:
        host = floats(301, 77, dtype=dtype)
        wide = host.astype(np.float64)
        for _ in range(2):  # the second time from memory
            got = SWISH(on(cuda, host), 2.0).to_numpy()
            assert got.dtype == dtype
            eps = float(np.finfo(dtype).eps)
            np.testing.assert_allclose(got, wide / (1 + np.exp(-2 * wide)), rtol=8 * eps, atol=eps)

    def test_arrays_of_torch_and_a_dtype_of_the_result(self, cuda_torch: Any) -> None:
        torch = cuda_torch
        x = torch.randn(100, 40, device="cuda")
        got = SWISH(x, x[:1].half(), result=xp.float64)
        assert got.dtype == torch.float64
        wanted = x / (1 + torch.exp(-x[:1].half().float() * x))
        torch.testing.assert_close(got, wanted.double(), rtol=1e-5, atol=1e-6)


NORM = xp.kernel.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
DOT = xp.kernel.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")
SPREAD = xp.kernel.ReductionKernel(
    "T x",
    "T y",
    "Range{x, x}",
    "Range{min(a.low, b.low), max(a.high, b.high)}",
    "y = a.high - a.low",
    "Range{1e30f, -1e30f}",
    "spread",
    reduce_type="Range",
    preamble="struct Range { float low, high; };",
)
NEAREST = xp.kernel.ReductionKernel(
    "T x, T y", "T z", "Gap{x, y, x > y ? x - y : y - x}", "a.gap <= b.gap ? a : b", "z = a.gap",
    None, "nearest", reduce_type="Gap", preamble="struct Gap { T x, y, gap; };",
)  # fmt: skip
MIXED = xp.kernel.ReductionKernel(
    "int8 x, U y, bool on, int64 s, U t", "int64 z", "on ? x * s + int(y) : int(t)", "a + b", "z = a", 0, "mixed"
)


class TestReduction:
    @pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), ()])
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    def test_axes(self, cuda: Any, axis: Any, dtype: Any) -> None:
        host = floats(65, 33, 130, dtype=dtype)
        x, wide = on(cuda, host), host.astype(np.float64)
        for keepdims in (False, True):
            got = NORM(x, axis=axis, keepdims=keepdims).to_numpy()
            wanted = np.sqrt((wide**2).sum(axis, keepdims=keepdims))
            np.testing.assert_allclose(got, wanted, rtol=16 * float(np.finfo(dtype).eps))
        got = NORM(xp.permute_dims(x, (2, 0, 1)), axis=0).to_numpy()
        np.testing.assert_allclose(got, np.sqrt((wide**2).sum(2)), rtol=16 * float(np.finfo(dtype).eps))

    def test_many_elements_and_the_same_bits(self, cuda: Any) -> None:
        host = floats(5_000_003)
        x = on(cuda, host)
        first = float(NORM(x))
        np.testing.assert_allclose(first, np.sqrt((host.astype(np.float64) ** 2).sum()), rtol=1e-5)
        assert all(float(NORM(x)) == first for _ in range(20))
        np.testing.assert_allclose(float(SPREAD(x)), np.ptp(host), rtol=1e-6)
        np.testing.assert_allclose(float(DOT(x, x)), (host.astype(np.float64) ** 2).sum(), rtol=1e-5)

    @pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2), ()])
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
    def test_several_operands(self, cuda: Any, axis: Any, dtype: Any) -> None:
        host = (floats(65, 33, 132) / 8).astype(dtype)
        x, limits = on(cuda, host), np.finfo(dtype)
        whole, shifted = np.s_[:, :, :], np.s_[:, :, 1:]
        for left, right in (
            (whole, whole),
            (whole, np.s_[0, 0]),
            (whole, np.s_[:1, :, :1]),
            (shifted, shifted),
            (shifted, np.s_[:, :, :-1]),
            (np.s_[::-1, ::2, ::-1], np.s_[:1, ::-2, :1]),
            (np.s_[0, :, :1], np.s_[0, 0]),
        ):
            wide = host[left].astype(np.complex128) * host[right]
            if axis is not None and wide.ndim <= np.max(axis, initial=0):
                continue
            got = DOT(x[left], x[right], axis=axis).to_numpy()
            assert got.dtype == dtype
            lost = 64 * float(limits.eps) * np.abs(wide).sum(axis) + float(limits.smallest_subnormal)
            assert (np.abs(got.astype(np.complex128) - wide.sum(axis)) <= lost).all()

    def test_operands_that_lie_across_each_other(self, cuda: Any) -> None:
        host = floats(300, 300)
        x, difference = on(cuda, host), host - host.T
        for axis in (None, 0, 1):
            got = NEAREST(x, x.T, axis=axis).to_numpy()  # its states are never in memory
            np.testing.assert_array_equal(got, np.abs(difference).min(axis))
            wide = (host.astype(np.float64) * host.T).sum(axis)
            np.testing.assert_allclose(DOT(x, x.T, axis=axis).to_numpy(), wide, rtol=1e-4, atol=1e-3)

    @pytest.mark.parametrize("shape", [(5_000_003,), (3, 1_000_001), (100_000, 7), (3000, 1024)])
    def test_several_operands_and_states_that_are_structures(self, cuda: Any, shape: tuple[int, ...]) -> None:
        host, other = floats(*shape), floats(shape[-1])
        x, y = on(cuda, host), on(cuda, other)
        for axis in (None, *range(len(shape))):
            wanted = np.abs(host - other).min(axis)
            np.testing.assert_array_equal(NEAREST(x, y, axis=axis).to_numpy(), wanted)
            first = DOT(x, y, axis=axis).to_numpy()
            assert all((DOT(x, y, axis=axis).to_numpy() == first).all() for _ in range(5))

    def test_mixed_dtypes_and_scalars(self, cuda: Any) -> None:
        x = RANDOM.integers(-100, 100, (500, 700)).astype(np.int8)
        y, flags = RANDOM.integers(-9, 9, 700).astype(np.float64), RANDOM.random((500, 1)) < 0.5
        for axis in (None, 0, 1):
            for s, t in ((3, 2.5), (-(2**40), -7)):
                wanted = np.where(flags, x * np.int64(s) + y.astype(np.int64), np.int64(t)).sum(axis)
                got = MIXED(on(cuda, x), on(cuda, y), on(cuda, flags), s, t, axis=axis)
                np.testing.assert_array_equal(got.to_numpy(), wanted)

    def test_more_than_32_bits_of_products(self, cuda: Any) -> None:
        x = xp.ones((1 << 31) + 5, dtype=xp.int8, device=cuda)
        total = xp.kernel.ReductionKernel("T x, T y", "int64 z", "x * y", "a + b", "z = a", "0")
        assert int(total(x, 2)) == 2 * x.size
        assert int(total(x[1:], x[:-1])) == x.size - 1

    def test_errors_point_into_what_is_made_of_elements(self, cuda: Any) -> None:
        kernel = xp.kernel.ReductionKernel("T x, T y", "T z", "x *\n nowhere", "a + b", "z = a", "0", "spoiled")
        with pytest.raises(xp.CompileError, match=r"spoiled\.map_expr\(2\): error: identifier"):
            kernel(xp.ones(3, device=cuda), 1.0)

    def test_empty_arrays(self, cuda: Any) -> None:
        assert NORM(xp.zeros((0, 3), device=cuda), axis=0).to_numpy().tolist() == [0, 0, 0]

    def test_arrays_of_torch(self, cuda_torch: Any) -> None:
        torch = cuda_torch
        x = torch.randn(300, 200, device="cuda")
        torch.testing.assert_close(NORM(x, axis=1), x.norm(dim=1))
        torch.testing.assert_close(DOT(x, x[0], axis=1), (x * x[0]).sum(1), rtol=1e-4, atol=1e-4)
        half = x.bfloat16()
        wanted = (half.float() * half[0].float()).sum(1).bfloat16()
        torch.testing.assert_close(DOT(half, half[0], axis=1), wanted)

    def test_as_cupy(self, cuda: Any) -> None:
        cupy = pytest.importorskip("cupy")
        theirs = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm_of_rows")
        x = cupy.random.standard_normal((100, 130), dtype=cupy.float32)
        for axis in (None, 0, 1):
            cupy.testing.assert_allclose(NORM(x, axis=axis), theirs(x, axis=axis), rtol=1e-5)
        product = cupy.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot")
        for axis in (None, 0, 1):
            for y in (x[::-1], x[0], x[:, :1]):
                ours = DOT(x, y, axis=axis)
                cupy.testing.assert_allclose(ours, product(x, y, axis=axis), rtol=1e-4, atol=1e-4)


HIGHEST = xp.kernel.ScanKernel("T x", "T y", "x", "a > b ? a : b", "y = a", "highest")
LAST = xp.kernel.ScanKernel("T x", "int32 y", "int(x)", "b >= 0 ? b : a", "y = a", "last")


class TestScan:
    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    @pytest.mark.parametrize("shape", [(1_000_003,), (3, 70_001), (5000, 33), (40_000, 64), (20, 300, 7)])
    def test_axes(self, cuda: Any, shape: tuple[int, ...], dtype: Any) -> None:
        host = floats(*shape, dtype=dtype)
        x = on(cuda, host)
        for axis in range(len(shape)):
            got = HIGHEST(x, axis=axis).to_numpy()
            np.testing.assert_array_equal(got, np.maximum.accumulate(host, axis))

    @pytest.mark.parametrize("shape", [(1_000_003,), (5000, 33), (33, 5000)])
    def test_states_that_are_structures(self, cuda: Any, shape: tuple[int, ...]) -> None:
        extremes = xp.kernel.ScanKernel(
            "T x",
            "T y",
            "Range{x, x}",
            "Range{min(a.low, b.low), max(a.high, b.high)}",
            "y = a.high - a.low",
            "extremes",
            scan_type="Range",
            preamble="struct Range { T low, high; };",
        )
        host = floats(*shape)
        x = on(cuda, host)
        for axis in range(len(shape)):
            wanted = np.maximum.accumulate(host, axis) - np.minimum.accumulate(host, axis)
            np.testing.assert_array_equal(extremes(x, axis=axis).to_numpy(), wanted)

    def test_from_left_to_right(self, cuda: Any) -> None:
        host = np.where(RANDOM.random(2_000_000) < 0.01, np.arange(2_000_000), -1)
        host[0] = 0
        np.testing.assert_array_equal(LAST(on(cuda, host)).to_numpy(), np.maximum.accumulate(host))

    def test_arrays_of_torch(self, cuda_torch: Any) -> None:
        x = cuda_torch.randn(300, 200, device="cuda")
        assert (HIGHEST(x, axis=1) == cuda_torch.cummax(x, 1).values).all()
