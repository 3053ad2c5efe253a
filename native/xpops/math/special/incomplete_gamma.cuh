// The incomplete gamma functions and their inverses, and the distributions that they are: gamma, Poisson, chi square.
//
// Near the mean of a large shape: Temme's uniform asymptotic expansion (SIAM J. Math. Anal. 10, 1979). Else the power
// series of the lower share, or the continued fraction of the upper one.
#pragma once

#include "xpops/math/pow.cuh"
#include "xpops/math/special/error.cuh"
#include "xpops/math/special/gamma_polynomials.cuh"

namespace xpops {
namespace detail {

// A logarithm as a sum of two numbers. The error of one number, times the result, is that of its exponential, which
// would be large in far tails.
template <class T> struct Exponent {
  T high, low;

  XPOPS_DEVICE void add(T term) {
    const T sum = high + term, part = sum - high;
    low += (high - (sum - part)) + (term - part);
    high = sum;
  }
  // exp(high + low + other), for a small `other`. Beyond the range of exp, `low` may be large.
  XPOPS_DEVICE T power(T other = 0) const { return high > -2000 ? exp(high) * exp(low + other) : T(0); }
};

// The logarithm of (x / a)^a exp(a - x); -infinity where its exponential underflows.
//
// For z = x / 2^k within a factor of sqrt(2) of a it is a (log(z / a) - (z / a - 1)) + k a log(2) + (z - x). With
// r = (z - a) / (z + a) the first part is -(z - a) r + 2 a r^3 (1/3 + r^2/5 + r^4/7 + ...); each large term is a sum of
// two numbers.
template <class T> XPOPS_NOINLINE Exponent<T> gamma_exponent(T a, T x) {
  constexpr bool kSingle = is_same_v<T, float>;
  constexpr T kLog2 = kSingle ? T(0.693359375) : T(0.693147180369123816490);  // times k it is exact
  constexpr T kLog2Low = kSingle ? T(-2.12194440054690583e-4) : T(1.90821492927058770002e-10);
  constexpr T kThird = T(2) / T(3);
  constexpr T kThirdLow = kSingle ? T(-1.98682149251302e-8) : T(3.70074341541718853e-17);
  const T ratio = x / a;
  if (!(ratio > T(1e-36) && ratio < 2000)) return {-kInfinity<T>, 0};
  if (a > T(1e36)) return {x == a ? T(0) : -kInfinity<T>, 0};  // the least distance is too large
  const T k = round(log2(ratio)), z = ldexp(x, static_cast<int>(-k)), distance = z - a, sum = z + a;
  const T sum_low = z > a ? a - (sum - z) : z - (sum - a);
  const T r = distance / sum, r_low = (fma(-r, sum, distance) - r * sum_low) / sum;
  const T square = distance * r, square_low = fma(distance, r, -square) + distance * r_low;
  const T ar = a * r, ar_low = fma(a, r, -ar) + a * r_low, s = r * r, s_low = fma(r, r, -s) + 2 * r * r_low;
  const T cube = ar * s, cube_low = fma(ar, s, -cube) + ar * s_low + ar_low * s;
  const T third = cube * kThird, third_low = fma(cube, kThird, -third) + cube * kThirdLow + cube_low * kThird;
  const T logarithm = k * kLog2, shift = a * logarithm;
  const T shift_low = fma(a, logarithm, -shift) + a * (k * kLog2Low);
  T rest;
  if constexpr (kSingle) rest = horner(s, 1 / 5.0f, 1 / 7.0f, 1 / 9.0f, 1 / 11.0f);
  else {
    rest = horner(s, 1 / 5.0, 1 / 7.0, 1 / 9.0, 1 / 11.0, 1 / 13.0, 1 / 15.0, 1 / 17.0, 1 / 19.0, 1 / 21.0, 1 / 23.0);
  }
  Exponent<T> found{-square, third_low - square_low + shift_low};
  found.add(third), found.add(shift), found.add(z), found.add(-x), found.add(2 * cube * s * rest);
  return found;
}

// x^a exp(-x) / gamma(a + 1).
template <class T> XPOPS_NOINLINE T gamma_term(T a, T x) {
  if (a < kStirling<T>) {  // a sum of 1 and a large number would be rounded
    const T half = exp(T(-0.5) * x);
    if (half == 0) return 0;  // the power may be infinite
    return pow(x, a) * half / (a < 1 ? tgamma(1 + a) : a * tgamma(a)) * half;
  }
  return gamma_exponent(a, x).power(-stirling(a)) / (kRootTwoPi<T> * sqrt(a));
}

// The lower or upper share for a large `a` and an x within 30 % of it. The tail's error function is scaled, because its
// operand would be rounded.
template <class T> XPOPS_NOINLINE T gamma_share_near(T a, T x, bool upper) {
  const Exponent<T> exponent = gamma_exponent(a, x);
  const bool below = x < a;
  const T square = isinf(exponent.high) ? T(0) : -exponent.high - exponent.low, eta = sqrt(2 * square / a);
  const T rest = temme_sum(below ? -eta : eta, 1 / a) / (kRootTwoPi<T> * sqrt(a));
  const T tail = exponent.power() * fma(T(0.5), erfcx(sqrt(square)), below ? -rest : rest);
  return below == upper ? 1 - tail : tail;
}

// The series of the lower share, without its factor gamma_term.
template <class T> XPOPS_DEVICE T gamma_series(T a, T x) {
  T term = 1, sum = 1;
  for (T n = 1; n < 2000 && term > sum * kEpsilon<T>; n += 1) {
    term *= x / (a + n);
    sum += term;
  }
  return sum;
}

// The continued fraction of the upper share, without its factor a gamma_term, for x >= a and x > 1. The number of terms
// is a bound of those that count, found by trials.
template <class T> XPOPS_DEVICE T gamma_fraction(T a, T x) {
  constexpr bool kSingle = is_same_v<T, float>;
  const T half = T(0.5) * a, most = kSingle ? T(16) : T(40);
  return upper_gamma_fraction(a, x, floor((half < most ? half : most) + (kSingle ? 5 + 24 / x : 12 + 90 / x)));
}

// The upper share for small x and a, where the lower one is not small.
template <class T> XPOPS_DEVICE T gamma_upper_small(T a, T x) {
  const T logarithm = a * log(x) - (a <= T(0.5) ? a * lgamma1p_factor(2 * a) : lgamma(a + 1));
  T term = 1, sum = 0;
  for (T n = 1; n < 100; n += 1) {
    term *= -x / n;
    const T part = term * a / (a + n);
    sum += part;
    if (abs(part) <= kEpsilon<T> * abs(sum)) break;
  }
  return -expm1(logarithm) - exp(logarithm) * sum;
}

// The lower share P(a, x), or the upper one, Q(a, x) = 1 - P(a, x).
template <class T> XPOPS_NOINLINE T gamma_share(T a, T x, bool upper) {
  if (!(a >= 0 && x >= 0) || (isinf(a) && isinf(x)) || (a == 0 && x == 0)) return kNan<T>;
  if (x == 0 || isinf(a)) return upper;
  if (isinf(x) || a == 0) return !upper;
  if (a >= 60 && abs(x - a) <= T(0.3) * a) return gamma_share_near(a, x, upper);
  if (upper && x <= T(1.1) && (x <= T(0.5) ? a * log(x) > T(-0.4) : a < x * T(1.1))) return gamma_upper_small(a, x);
  const bool by_series = x <= 1 || x < a;
  const T share = gamma_term(a, x) * (by_series ? gamma_series(a, x) : a * gamma_fraction(a, x));
  return by_series == upper ? 1 - share : share;
}

// The lower or upper share at a x. The product is rounded, and the density corrects the share for it.
template <class T> XPOPS_DEVICE T gamma_share_at_product(T shape, T a, T x, bool upper) {
  const T product = a * x, share = gamma_share(shape, product, upper);
  if (!(shape > 0 && isfinite(shape) && product > 0 && isfinite(product))) return share;
  const T part = shape * gamma_term(shape, product) * (fma(a, x, -product) / product);
  return upper ? share - part : share + part;
}

// A step of Newton's method for log(share / wanted) over the logarithm of x. The logarithm of a share is concave there,
// so that steps from the side of the tail never pass the solution, and a step from the other side leads to the side of
// the tail.
template <class T> XPOPS_DEVICE T newton_step(T share, T wanted, T slope) {
  const T step = log(share / wanted) * share / slope;
  return step > 40 ? T(40) : step < -40 ? T(-40) : step;
}
template <class T> inline constexpr T kCloseStep = is_same_v<T, float> ? T(1e-4)
                                                                       : T(1e-9);  // its square does not count

// The x with the lower share p, or with the upper share q; p + q is 1.
template <class T> XPOPS_NOINLINE T gamma_quantile(T a, T p, T q) {
  if (!(a >= 0 && p >= 0 && q >= 0)) return kNan<T>;
  if (p == 0) return 0;
  if (q == 0) return kInfinity<T>;
  if (a == 0 || isinf(a)) return kNan<T>;
  const bool upper = q < p;
  const T z = upper ? -normal_quantile(q) : normal_quantile(p);
  // Wilson and Hilferty's approximation, or the first term of the series.
  const T root = 1 - 1 / (9 * a) + z / (3 * sqrt(a));
  const T first = exp((log(p) + lgamma(a + 1)) / a);
  T x = root > T(0.3) && a > T(0.5) ? a * root * root * root : first;
  if (upper && a <= T(0.5)) x = q < T(0.1) ? -log(q) : first;
  T step = 0, back = 1, shrink = 1;
  for (int i = 0; i < 60; ++i) {
    const T share = gamma_share(a, x, upper);
    if (share > 0) {
      step = back = newton_step(share, upper ? q : p, a * gamma_term(a, x));
      shrink = T(0.5);
    } else {  // too far in the tail: back by a half of the step that led there, then by halves of that
      back *= shrink;
      step = -back;
    }
    x *= exp(upper ? step : -step);
    if (abs(step) <= kCloseStep<T>) break;
  }
  return x;
}

}  // namespace detail

struct Gammainc {
  template <class T> XPOPS_DEVICE T operator()(T a, T x) const { return detail::gamma_share(a, x, false); }
};

struct Gammaincc {
  template <class T> XPOPS_DEVICE T operator()(T a, T x) const { return detail::gamma_share(a, x, true); }
};

struct Gammaincinv {
  template <class T> XPOPS_DEVICE T operator()(T a, T p) const { return detail::gamma_quantile(a, p, 1 - p); }
};

struct Gammainccinv {
  template <class T> XPOPS_DEVICE T operator()(T a, T q) const { return detail::gamma_quantile(a, 1 - q, q); }
};

struct Chdtr {
  template <class T> XPOPS_DEVICE T operator()(T v, T x) const { return detail::gamma_share(v / 2, x / 2, false); }
};

struct Chdtrc {
  template <class T> XPOPS_DEVICE T operator()(T v, T x) const {
    return x < 0 ? T(1) : detail::gamma_share(v / 2, x / 2, true);
  }
};

struct Chdtri {
  template <class T> XPOPS_DEVICE T operator()(T v, T q) const { return 2 * detail::gamma_quantile(v / 2, 1 - q, q); }
};

struct Gdtr {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T x) const { return detail::gamma_share_at_product(b, a, x, false); }
};

struct Gdtrc {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T x) const { return detail::gamma_share_at_product(b, a, x, true); }
};

struct Pdtr {
  template <class T> XPOPS_DEVICE T operator()(T k, T m) const {
    return k < 0 ? detail::kNan<T> : detail::gamma_share(floor(k) + 1, m, true);
  }
};

struct Pdtrc {
  template <class T> XPOPS_DEVICE T operator()(T k, T m) const {
    return k < 0 ? detail::kNan<T> : detail::gamma_share(floor(k) + 1, m, false);
  }
};

struct Pdtri {
  template <class T> XPOPS_DEVICE T operator()(T k, T y) const {
    return !(k > -1 && y < 1) ? detail::kNan<T> : detail::gamma_quantile(trunc(k) + 1, 1 - y, y);
  }
};

}  // namespace xpops
