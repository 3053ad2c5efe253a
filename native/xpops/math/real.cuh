// Math functions with one name for float and double, so that functors are written once. complex.cuh adds overloads for
// complex numbers. Functors call them unqualified (`exp(x)`), so that argument-dependent lookup finds the overloads.
#pragma once

#include "xpops/core/traits.cuh"
#include "xpops/core/types.cuh"

#if !XPOPS_ON_GPU
#include <cmath>
#endif

namespace xpops {
namespace detail {

template <class T> inline constexpr T kPi = T(3.14159265358979323846);

}  // namespace detail

#define XPOPS_REAL_UNARY(name, f32, f64)                  \
  XPOPS_DEVICE float name(float x) { return ::f32(x); }   \
  XPOPS_DEVICE double name(double x) { return ::f64(x); }

#define XPOPS_REAL_BINARY(name, f32, f64)                             \
  XPOPS_DEVICE float name(float x, float y) { return ::f32(x, y); }   \
  XPOPS_DEVICE double name(double x, double y) { return ::f64(x, y); }

XPOPS_REAL_UNARY(exp, expf, exp)
XPOPS_REAL_UNARY(exp2, exp2f, exp2)
XPOPS_REAL_UNARY(expm1, expm1f, expm1)
XPOPS_REAL_UNARY(log, logf, log)
XPOPS_REAL_UNARY(log1p, log1pf, log1p)
XPOPS_REAL_UNARY(log2, log2f, log2)
XPOPS_REAL_UNARY(log10, log10f, log10)
XPOPS_REAL_UNARY(sqrt, sqrtf, sqrt)
XPOPS_REAL_UNARY(sin, sinf, sin)
XPOPS_REAL_UNARY(cos, cosf, cos)
XPOPS_REAL_UNARY(tan, tanf, tan)
XPOPS_REAL_UNARY(asin, asinf, asin)
XPOPS_REAL_UNARY(acos, acosf, acos)
XPOPS_REAL_UNARY(atan, atanf, atan)
XPOPS_REAL_UNARY(sinh, sinhf, sinh)
XPOPS_REAL_UNARY(cosh, coshf, cosh)
XPOPS_REAL_UNARY(tanh, tanhf, tanh)
XPOPS_REAL_UNARY(asinh, asinhf, asinh)
XPOPS_REAL_UNARY(acosh, acoshf, acosh)
XPOPS_REAL_UNARY(atanh, atanhf, atanh)
XPOPS_REAL_UNARY(ceil, ceilf, ceil)
XPOPS_REAL_UNARY(floor, floorf, floor)
XPOPS_REAL_UNARY(trunc, truncf, trunc)
XPOPS_REAL_UNARY(round, rintf, rint)  // halves to even; ::round rounds them away from 0
XPOPS_REAL_BINARY(atan2, atan2f, atan2)
XPOPS_REAL_BINARY(hypot, hypotf, hypot)
XPOPS_REAL_BINARY(fmod, fmodf, fmod)
XPOPS_REAL_BINARY(nextafter, nextafterf, nextafter)
XPOPS_REAL_BINARY(copysign, copysignf, copysign)

#undef XPOPS_REAL_UNARY
#undef XPOPS_REAL_BINARY

XPOPS_DEVICE float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
XPOPS_DEVICE double fma(double x, double y, double z) { return ::fma(x, y, z); }
XPOPS_DEVICE float abs(float x) { return detail::absolute(x); }
XPOPS_DEVICE double abs(double x) { return detail::absolute(x); }
XPOPS_DEVICE double pow(double x, double y) { return ::pow(x, y); }  // pow(float, float) is in pow.cuh

XPOPS_DEVICE bool signbit(float x) { return float_bits(x) >> 31; }
XPOPS_DEVICE bool signbit(double x) { return float_bits(x) >> 63; }
template <class T> XPOPS_DEVICE enable_if_t<is_floating_v<T>, bool> isnan(T x) { return x != x; }
template <class T> XPOPS_DEVICE enable_if_t<is_floating_v<T>, bool> isinf(T x) {
  return abs(x) == limits<T>::infinity();
}
template <class T> XPOPS_DEVICE enable_if_t<is_floating_v<T>, bool> isfinite(T x) { return abs(x) <= limits<T>::max(); }

template <class T> XPOPS_DEVICE void sincos(T x, T& sine, T& cosine) {
#if XPOPS_ON_GPU
  if constexpr (is_same_v<T, float>) {
    ::sincosf(x, &sine, &cosine);
  } else {
    ::sincos(x, &sine, &cosine);
  }
#else
  sine = sin(x);
  cosine = cos(x);
#endif
}

// c0 + x (c1 + x (c2 + ...)).
template <class T>
XPOPS_DEVICE T horner(T, T last) {
  return last;
}
template <class T, class... Rest>
XPOPS_DEVICE T horner(T x, T first, Rest... rest) {
  return fma(x, horner(x, rest...), first);
}
// The same with coefficients in a table.
template <class T, int kCount>
XPOPS_DEVICE T horner(T x, const T (&table)[kCount]) {
  T sum = table[kCount - 1];
#pragma unroll
  for (int i = kCount - 2; i >= 0; --i) sum = fma(x, sum, table[i]);
  return sum;
}

}  // namespace xpops
