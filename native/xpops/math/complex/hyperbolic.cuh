// sinh, cosh, tanh and sin, cos, tan of complex numbers.
#pragma once

#include "xpops/math/complex/exponential.cuh"

namespace xpops {
namespace detail {

// If |x| is larger, exp(-|x|) is negligible against exp(|x|): for sinh and cosh, and for tanh.
template <class T> inline constexpr T kLargeSinh = is_same_v<T, float> ? T(10) : T(22);
template <class T> inline constexpr T kLargeTanh = is_same_v<T, float> ? T(11) : T(22);

}  // namespace detail

template <class T> XPOPS_DEVICE complex<T> sinh(complex<T> z) {
  T x = z.re, y = z.im;
  if (y == 0) return {sinh(x), y};
  if (!isfinite(y)) {
    if (x == 0 || isinf(x)) return {x, limits<T>::nan()};
    return {limits<T>::nan(), limits<T>::nan()};
  }
  if (isnan(x)) return {x, x};
  if (isinf(x)) return {x * cos(y), abs(x) * sin(y)};
  if (abs(x) > detail::kLargeSinh<T>) {
    complex<T> w = detail::exp_scaled(abs(x), y, T(0.5));
    return {copysign(T(1), x) * w.re, w.im};
  }
  T s, c;
  sincos(y, s, c);
  return {sinh(x) * c, cosh(x) * s};
}

template <class T> XPOPS_DEVICE complex<T> cosh(complex<T> z) {
  T x = z.re, y = z.im, one = copysign(T(1), x);
  if (y == 0) return {cosh(x), y * one};
  if (!isfinite(y)) {
    if (x == 0) return {limits<T>::nan(), copysign(T(0), y) * one};
    return {isinf(x) ? abs(x) : limits<T>::nan(), limits<T>::nan()};
  }
  if (isnan(x)) return {x, x};
  if (isinf(x)) return {abs(x) * cos(y), x * sin(y)};
  if (abs(x) > detail::kLargeSinh<T>) {
    complex<T> w = detail::exp_scaled(abs(x), y, T(0.5));
    return {w.re, one * w.im};
  }
  T s, c;
  sincos(y, s, c);
  return {cosh(x) * c, sinh(x) * s};
}

// Kahan's formula ("Branch cuts for complex elementary functions", 1987), with t = tan y, which is never infinite.
template <class T> XPOPS_DEVICE complex<T> tanh(complex<T> z) {
  T x = z.re, y = z.im;
  if (y == 0) return {tanh(x), y};
  if (isinf(x)) return {copysign(T(1), x), copysign(T(0), y)};
  if (!isfinite(y) || isnan(x)) return {x == 0 ? x : limits<T>::nan(), limits<T>::nan()};
  if (abs(x) > detail::kLargeTanh<T>) {
    T s, c, e = exp(-abs(x));
    sincos(y, s, c);
    return {copysign(T(1), x), T(4) * s * c * e * e};
  }
  T t = tan(y), s = sinh(x), b = T(1) + t * t, d = T(1) + b * s * s;
  return {b * sqrt(T(1) + s * s) * s / d, t / d};
}

// sin z = -j sinh(jz), cos z = cosh(jz), tan z = -j tanh(jz), where jz = (-y, x) needs no arithmetic.
template <class T> XPOPS_DEVICE complex<T> sin(complex<T> z) {
  complex<T> w = sinh(complex<T>(-z.im, z.re));
  return {w.im, -w.re};
}
template <class T> XPOPS_DEVICE complex<T> cos(complex<T> z) { return cosh(complex<T>(-z.im, z.re)); }
template <class T> XPOPS_DEVICE complex<T> tan(complex<T> z) {
  complex<T> w = tanh(complex<T>(-z.im, z.re));
  return {w.im, -w.re};
}

}  // namespace xpops
