// abs, sign, exp, expm1, log, log1p, log2, log10, sqrt and pow of complex numbers.
#pragma once

#include "xpops/math/real.cuh"

namespace xpops {

template <class T> XPOPS_DEVICE bool isnan(complex<T> z) { return isnan(z.re) || isnan(z.im); }
template <class T> XPOPS_DEVICE bool isinf(complex<T> z) { return isinf(z.re) || isinf(z.im); }
template <class T> XPOPS_DEVICE bool isfinite(complex<T> z) { return isfinite(z.re) && isfinite(z.im); }

template <class T> XPOPS_DEVICE T abs(complex<T> z) { return hypot(z.re, z.im); }

// z / |z|. z is scaled first, so that |z| neither overflows nor is subnormal. 0 gives +0 + 0j. If one part is infinite,
// the result is its sign; if both are, the result is NaN, as in NumPy.
template <class T> XPOPS_DEVICE complex<T> sign(complex<T> z) {
  if (isnan(z)) return {limits<T>::nan(), limits<T>::nan()};
  if (z.re == 0 && z.im == 0) return {T(0), T(0)};
  if (isinf(z)) {
    if (isinf(z.re) && isinf(z.im)) return {limits<T>::nan(), limits<T>::nan()};
    return isinf(z.re) ? complex<T>(copysign(T(1), z.re), T(0)) : complex<T>(T(0), copysign(T(1), z.im));
  }
  T p = detail::inverse_power(abs(z.re) > abs(z.im) ? abs(z.re) : abs(z.im));
  T re = z.re * p, im = z.im * p, r = hypot(re, im);
  return {re / r, im / r};
}

namespace detail {

// s + e = x + y exactly (Knuth).
template <class T> XPOPS_DEVICE void two_sum(T x, T y, T& s, T& e) {
  s = add_rn(x, y);  // x and y are copies, so s may be the caller's x
  T t = add_rn(s, -x);
  e = add_rn(add_rn(x, -add_rn(s, -t)), add_rn(y, -t));
}

// x^2 + y^2 + z from the exact products and their errors, summed with a running compensation (Ogita, Rump and Oishi,
// "Accurate sum and dot product", 2005): the result is accurate even where the three nearly cancel.
template <class T> XPOPS_DEVICE T sum_of_squares_plus(T x, T y, T z) {
  T p = mul_rn(x, x), q = mul_rn(y, y), s, lost, e;
  two_sum(z, p, s, lost);
  const T terms[4] = {q, lost, fma(x, x, -p), fma(y, y, -q)};
  lost = T(0);
  for (int i = 0; i < 4; ++i) {
    two_sum(s, terms[i], s, e);
    lost = add_rn(lost, e);
  }
  return add_rn(s, lost);
}

// The base of log_abs: log_of(x) is the logarithm to it, and from_natural converts a natural logarithm.
template <class T> struct NaturalLog {
  static XPOPS_DEVICE T log_of(T x) { return log(x); }
  static XPOPS_DEVICE T from_natural(T x) { return x; }
};
template <class T> struct BinaryLog {
  static XPOPS_DEVICE T log_of(T x) { return log2(x); }
  static XPOPS_DEVICE T from_natural(T x) { return x * T(1.44269504088896340736); }
};
template <class T> struct DecimalLog {
  static XPOPS_DEVICE T log_of(T x) { return log10(x); }
  static XPOPS_DEVICE T from_natural(T x) { return x * T(0.434294481903251827651); }
};

// log |x + yj|. If the larger part is near 1, this is log1p(|z|^2 - 1) / 2, with |z|^2 - 1 in doubled precision. Else
// it is log(big) + log1p((small / big)^2) / 2, whose terms then cancel by at most a factor of 3.
template <class Log, class T> XPOPS_DEVICE T log_abs(T x, T y) {
  x = abs(x), y = abs(y);
  T big = x > y ? x : y, small = x > y ? y : x;
  if (isinf(x) || isinf(y)) return limits<T>::infinity();
  if (isnan(x) || isnan(y)) return limits<T>::nan();
  if (small == 0) return Log::log_of(big);
  if (big > T(0.5) && big < T(1.5)) return Log::from_natural(T(0.5) * log1p(sum_of_squares_plus(big, small, T(-1))));
  T ratio = small / big;
  return Log::log_of(big) + Log::from_natural(T(0.5) * log1p(ratio * ratio));
}

// scale * exp(x) * (cos y + j sin y) for finite x and y. If exp(x) would overflow, it is multiplied as several factors.
template <class T> XPOPS_DEVICE complex<T> exp_scaled(T x, T y, T scale) {
  // exp(kStep) is finite, and two steps suffice for every finite result.
  constexpr T kStep = is_same_v<T, float> ? T(88) : T(709);
  T s, c;
  sincos(y, s, c);
  c *= scale, s *= scale;
  T step = exp(kStep);
  for (int i = 0; i < 2 && x > kStep; ++i) {
    x -= kStep;
    c *= step, s *= step;
  }
  T e = exp(x);
  return {e * c, e * s};
}

}  // namespace detail

template <class T> XPOPS_DEVICE complex<T> exp(complex<T> z) {
  T x = z.re, y = z.im;
  if (y == 0) return {exp(x), y};
  if (!isfinite(y) && isinf(x)) return x > 0 ? complex<T>(x, limits<T>::nan()) : complex<T>(T(0), copysign(T(0), y));
  if (isnan(x) || !isfinite(y)) return {limits<T>::nan(), limits<T>::nan()};
  if (isinf(x)) {
    T m = x > 0 ? x : T(0);
    return {m * cos(y), m * sin(y)};
  }
  return detail::exp_scaled(x, y, T(1));
}

// (expm1(x) cos y - 2 sin^2(y / 2), exp(x) sin y). The standard requires +0 + 0j for -0 + 0j.
template <class T> XPOPS_DEVICE complex<T> expm1(complex<T> z) {
  T x = z.re, y = z.im;
  if (y == 0) return {x == 0 ? T(0) : expm1(x), y};
  if (!isfinite(x) || !isfinite(y) || x > T(80)) {
    complex<T> w = exp(z);
    return {w.re - T(1), w.im};
  }
  T s, c, half = sin(T(0.5) * y);
  sincos(y, s, c);
  return {fma(expm1(x), c, T(-2) * half * half), exp(x) * s};
}

template <class T> XPOPS_DEVICE complex<T> log(complex<T> z) {
  return {detail::log_abs<detail::NaturalLog<T>>(z.re, z.im), atan2(z.im, z.re)};
}
template <class T> XPOPS_DEVICE complex<T> log2(complex<T> z) {
  return {detail::log_abs<detail::BinaryLog<T>>(z.re, z.im), detail::BinaryLog<T>::from_natural(atan2(z.im, z.re))};
}
template <class T> XPOPS_DEVICE complex<T> log10(complex<T> z) {
  return {detail::log_abs<detail::DecimalLog<T>>(z.re, z.im), detail::DecimalLog<T>::from_natural(atan2(z.im, z.re))};
}

template <class T> XPOPS_DEVICE complex<T> log1p(complex<T> z) {
  T x = z.re, y = z.im, u = T(1) + x, re;
  if (y == 0 && x > T(-1)) {
    re = log1p(x);
  } else if (abs(u) + abs(y) < T(4) && abs(u) + abs(y) > T(0.5)) {
    re = T(0.5) * log1p(detail::sum_of_squares_plus(x, y, T(2) * x));  // |1 + z|^2 - 1
  } else {
    re = detail::log_abs<detail::NaturalLog<T>>(u, y);
  }
  return {re, atan2(y, u)};
}

// Kahan's method: t = sqrt((|x| + |z|) / 2) and y / (2 t). z is scaled by a power of 4 if |x| + |z| could overflow or
// be subnormal.
template <class T> XPOPS_DEVICE complex<T> sqrt(complex<T> z) {
  T x = z.re, y = z.im, ax = abs(x), ay = abs(y);
  if (isinf(y)) return {ay, y};
  if (isinf(x)) {
    if (x > 0) return {x, isnan(y) ? y : copysign(T(0), y)};
    return {isnan(y) ? y : T(0), copysign(ax, y)};
  }
  if (isnan(x) || isnan(y)) return {limits<T>::nan(), limits<T>::nan()};
  T big = ax > ay ? ax : ay;
  if (big == 0) return {T(0), y};
  constexpr int kUp = limits<T>::digits + 8 & ~1;
  constexpr T kFactor = T(uint64(1) << (kUp / 2));
  T before = T(1), after = T(1);
  if (big > limits<T>::max() / 8) before = T(1) / 16, after = T(4);
  if (big < limits<T>::min_normal() / limits<T>::epsilon()) before = kFactor * kFactor, after = T(1) / kFactor;
  T sx = ax * before, sy = ay * before;
  T t = sqrt(T(0.5) * (sx + hypot(sx, sy)));
  T u = sy / (T(2) * t) * after;
  t *= after;
  return x >= 0 ? complex<T>(t, copysign(u, y)) : complex<T>(u, copysign(t, y));
}

namespace detail {

template <class T> XPOPS_DEVICE complex<T> power_by_squaring(complex<T> x, int n) {
  complex<T> r(T(1), T(0));
  bool first = true;
  for (unsigned m = n < 0 ? -n : n; m != 0; m >>= 1) {
    if (m & 1) r = first ? x : r * x, first = false;
    if (m > 1) x = x * x;
  }
  return n < 0 ? complex<T>(T(1), T(0)) / r : r;
}

// log(x) in double. The square of the modulus is within the range of double, and its relative error is 2^-53. Near 1 its
// difference from 1 is the sum of two exact products, so that a large power of x is right there, too.
XPOPS_DEVICE complex<double> log_in_double(complex<float> x) {
  const double re = x.re, im = x.im;
  const double modulus = isinf(x.re) || isinf(x.im) ? limits<double>::infinity() : re * re + im * im;
  const bool swaps = abs(x.re) < abs(x.im);
  const double large = abs(swaps ? im : re), small = swaps ? re : im;
  const double beyond = (large - 1) * (large + 1) + small * small;
  const double twice = abs(beyond) < 0x1p-20 ? beyond - 0.5 * beyond * beyond : log(modulus);
  return {0.5 * twice, atan2(im, re)};
}
XPOPS_DEVICE complex<double> log_in_double(complex<double> x) { return log(x); }

// exp(x + yj) for a result that is rounded to float: the relative error is 2^-30. Taylor's polynomials of r, at most
// log(2) / 2, and of t, at most pi / 4.
XPOPS_DEVICE complex<float> exp_to_float(double x, double y) {
  if (!(abs(x) < 700 && abs(y) < 1e6)) {
    const complex<double> w = exp(complex<double>(x, y));
    return {static_cast<float>(w.re), static_cast<float>(w.im)};
  }
  const double n = round(x * 1.44269504088896340736), k = round(y * 0.636619772367581343076);
  const double r = fma(n, -0.693147180559945309417, x);
  const double t = fma(k, -6.12323399573676603587e-17, fma(k, -1.57079632679489661923, y)), u = t * t;
  double e = horner(r, 1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320);
  e *= bits_float(static_cast<uint64>(1023 + static_cast<int>(n)) << 52);  // 2^n, a normal number
  double s = t * horner(u, 1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800);
  double c = horner(u, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800);
  const int quadrant = static_cast<int>(k) & 3;
  if (quadrant & 1) {
    const double sine = s;
    s = c, c = -sine;
  }
  if (quadrant & 2) e = -e;
  return {static_cast<float>(e * c), static_cast<float>(e * s)};
}

}  // namespace detail

// If y is a real integer with |y| < 100, the power is computed by squaring, as in NumPy, and is exact for small
// integers. Else it is exp(y log(x)), in double even for complex<float>: the relative error grows with |y log(x)|.
template <class T> XPOPS_DEVICE complex<T> pow(complex<T> x, complex<T> y) {
  if (y.re == 0 && y.im == 0) return {T(1), T(0)};
  if (x.re == 0 && x.im == 0) {  // C leaves it open; 0 and NaN are NumPy's results
    const T zero = y.re > 0 ? T(0) : limits<T>::nan();
    return {zero, zero};
  }
  if (y.im == 0 && abs(y.re) < T(100) && y.re == trunc(y.re)) {
    return detail::power_by_squaring(x, static_cast<int>(y.re));
  }
  const double c = y.re, d = y.im;
  const complex<double> l = detail::log_in_double(x);
  // If d is 0, do not multiply it: 0 times an infinite logarithm is NaN.
  const complex<double> w = d == 0 ? complex<double>(c * l.re, c * l.im) : complex<double>(c, d) * l;
  if constexpr (is_same_v<T, float>) return detail::exp_to_float(w.re, w.im);
  else return exp(w);
}

}  // namespace xpops
