// Kernels around the calls of cuSOLVER and cuBLAS: determinants, reports of failures, triangles, complex eigenvectors.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/core/types.cuh>
#include <xpops/index/divmod.cuh>
#include <xpops/math/exponential.cuh>

namespace xpops {

// Determinants from LU decompositions of `count` matrices with `size` rows. Pivots count from 1.
struct SlogdetParams {
  uint64 sign, logabsdet, factors, pivots;
  uint64 count, size;
};

namespace detail {

template <class T> struct Determinant {
  using Real = T;
  static XPOPS_DEVICE T size(T x) { return abs(x); }
  static XPOPS_DEVICE T sign(T x, T) { return x > T(0) ? T(1) : x < T(0) ? T(-1) : x; }
  static XPOPS_DEVICE T product(T x, T y) { return x * y; }
};

template <class T> struct Determinant<complex<T>> {
  using Real = T;
  static XPOPS_DEVICE T size(complex<T> x) { return hypot(x.re, x.im); }
  static XPOPS_DEVICE complex<T> sign(complex<T> x, T size) {
    return size == T(0) ? complex<T>(T(0)) : complex<T>(x.re / size, x.im / size);
  }
  static XPOPS_DEVICE complex<T> product(complex<T> x, complex<T> y) {
    return complex<T>(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);
  }
};

}  // namespace detail

// A warp computes one matrix. The order of products and sums depends only on the size.
template <class T, class Pivot> XPOPS_DEVICE void slogdet(const SlogdetParams& params) {
  using Of = detail::Determinant<T>;
  using Real = typename Of::Real;
  const uint64 matrix = (static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
  if (matrix >= params.count) return;
  const T* factors = reinterpret_cast<const T*>(params.factors) + matrix * params.size * params.size;
  const Pivot* pivots = reinterpret_cast<const Pivot*>(params.pivots) + matrix * params.size;
  T sign = T(Real(1));
  Real sum = Real(0);
  for (uint64 i = lane(); i < params.size; i += kWarp) {
    const T x = factors[i * (params.size + 1)];
    const Real size = Of::size(x);
    sign = Of::product(sign, Of::sign(x, size));
    if (static_cast<uint64>(pivots[i]) != i + 1) sign = Of::product(sign, T(Real(-1)));
    sum += log(size);
  }
#pragma unroll
  for (int mask = kWarp / 2; mask > 0; mask /= 2) {
    sign = Of::product(sign, shuffle_xor(sign, mask));
    sum += shuffle_xor(sum, mask);
  }
  if (lane() != 0) return;
  reinterpret_cast<T*>(params.sign)[matrix] = sign;
  reinterpret_cast<Real*>(params.logabsdet)[matrix] = sum;
}

// Reports to the host (xpops/engine/cuda/runtime/faults.py) a matrix whose entry in `infos` is not 0, if there is one.
struct FailureParams {
  uint64 infos;
  uint64 report, code, count;
};

XPOPS_DEVICE void report_failures(const FailureParams& params) {
  const uint64 i = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= params.count || reinterpret_cast<const int32*>(params.infos)[i] == 0) return;
  *reinterpret_cast<volatile uint64*>(params.report) = params.code | i;
}

// Writes zeros below the diagonal of matrices with `size` words in total.
struct TriangleParams {
  uint64 x;
  uint64 size;
  FastDivMod<uint64> columns, rows;
};

template <class W> XPOPS_DEVICE void triangle(const TriangleParams& params) {
  const uint64 i = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= params.size) return;
  uint64 row = i;
  const uint64 column = params.columns.divmod(row);
  row = params.rows.divmod(row);
  if (row > column) reinterpret_cast<W*>(params.x)[i] = W{};
}

// Writes the complex eigenvectors of real matrices, one per row, in the order of the eigenvalues. For a conjugate pair,
// the input has the real parts in one row and the imaginary parts in the next. The first eigenvalue of the pair has the
// positive imaginary part.
struct EigenvectorParams {
  uint64 out, rows, values;
  uint64 size;  // elements of all matrices
  FastDivMod<uint64> columns;
};

template <class T> XPOPS_DEVICE void eigenvectors(const EigenvectorParams& params) {
  const uint64 i = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= params.size) return;
  const T* rows = reinterpret_cast<const T*>(params.rows);
  uint64 row = i;
  params.columns.divmod(row);
  const uint64 length = params.columns.divisor;
  const T sign = reinterpret_cast<const complex<T>*>(params.values)[row].im;
  complex<T> found(rows[i]);
  if (sign > T(0)) found = complex<T>(rows[i], rows[i + length]);
  if (sign < T(0)) found = complex<T>(rows[i - length], -rows[i]);
  reinterpret_cast<complex<T>*>(params.out)[i] = found;
}

}  // namespace xpops
