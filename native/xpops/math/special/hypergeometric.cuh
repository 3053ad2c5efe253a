// Kummer's confluent hypergeometric function, and Legendre functions.
#pragma once

#include "xpops/math/pow.cuh"
#include "xpops/math/special/real.cuh"

namespace xpops {
namespace detail {

template <class T> XPOPS_DEVICE bool is_pole(T x) { return x <= 0 && is_whole(x); }

// The power series of 1F1(a; b; x).
template <class T> XPOPS_DEVICE T kummer_series(T a, T b, T x) {
  T term = 1, sum = 1;
  for (T n = 0; n < 5000; n += 1) {
    term *= (a + n) / (b + n) * (x / (n + 1));
    sum += term;
    if (term == 0 || (n > -a && n > -b && abs(term) <= kEpsilon<T> * T(0.1) * abs(sum))) break;
  }
  return sum;
}

// The asymptotic series with the terms (a)_n (b)_n / (n! x^n).
template <class T> XPOPS_DEVICE T kummer_far(T a, T b, T x) {
  T term = 1, sum = 1;
  for (T n = 0; n < 200; n += 1) {
    const T factor = (a + n) / x * ((b + n) / (n + 1));
    if (n > abs(a) + abs(b) && abs(factor) > 1) break;
    term *= factor;
    sum += term;
    if (abs(term) <= kEpsilon<T> * T(0.1) * abs(sum)) break;
  }
  return sum;
}

template <class T> XPOPS_NOINLINE T kummer(T a, T b, T x) {
  if (isnan(a) || isnan(b) || isnan(x)) return a + b + x;
  if (is_pole(b) && !(is_pole(a) && a >= b)) return kInfinity<T>;
  if (a == 0 || x == 0) return 1;
  if (a == b) return exp(x);
  if (is_pole(a)) return kummer_series(a, b, x);
  const T rest = b - a;
  if (is_pole(rest)) return exp(x) * kummer_series(rest, b, -x);
  const bool is_far = abs(x) > 40 + (abs(a) + 1) * (abs(rest) + 1);
  if (x < 0) {
    if (is_far) return tgamma(b) / tgamma(rest) * pow(-x, -a) * kummer_far(a, 1 - rest, -x);
    return exp(x) * kummer_series(rest, b, -x);
  }
  if (!is_far) return kummer_series(a, b, x);
  const T root = exp(T(0.5) * x);
  return root * (tgamma(b) / tgamma(a)) * pow(x, -rest) * kummer_far(1 - a, rest, x) * root;
}

// The Legendre function of order m >= 0 and degree v from m to m + 2, by the hypergeometric series in (1 - x) / 2.
// `scale` is (-1)^m (1 - x^2)^(m / 2).
template <class T> XPOPS_DEVICE T legendre_series(T m, T v, T x, T scale) {
  T factor = scale;  // times gamma(v + m + 1) / (2^m m! gamma(v - m + 1))
  for (T k = 1; k <= m; k += 1) factor *= (v + k) * (v + 1 - k) / (2 * k);
  const T z = T(0.5) * (1 - x);
  T term = 1, sum = 1;
  for (T n = 0; n < 50000; n += 1) {
    term *= (m - v + n) * (m + v + 1 + n) / ((m + 1 + n) * (n + 1)) * z;
    sum += term;
    if (term == 0 || (n > 2 && abs(term) <= kEpsilon<T> * T(0.1) * (1 - z) * abs(sum))) break;
  }
  return factor * sum;
}

// The Legendre function of order m and degree v. The recurrence over the degree starts with its fraction.
template <class T> XPOPS_NOINLINE T legendre(T m, T v, T x) {
  if (v < 0) v = -v - 1;
  const T order = abs(trunc(m));
  if (!(abs(x) <= 1 && v <= kMostSteps<T> && order <= kMostSteps<T>)) return kNan<T>;
  T ratio = 1;  // of a negative order to the positive one: (-1)^m gamma(v - m + 1) / gamma(v + m + 1)
  for (T k = 1 - order; m < 0 && k <= order; k += 1) ratio /= v + k;
  if (m < 0 && is_odd(order)) ratio = -ratio;
  if (is_whole(v) && v < order) return m < 0 ? kInfinity<T> : T(0);
  const T fraction = v - floor(v), base = (1 - x) * (1 + x);
  if (x == -1 && fraction != 0) return order == 0 ? -kInfinity<T> : kInfinity<T>;
  T scale = 1;
  for (T k = 1; k < order; k += 2) scale *= base;
  if (is_odd(order)) scale *= -sqrt(base);
  if (abs(x) == 1 && order > 0) return 0;
  if (v < order + 1) return ratio * legendre_series(order, v, x, scale);
  T degree = order + fraction + 1;
  T last = legendre_series(order, degree - 1, x, scale), value = legendre_series(order, degree, x, scale);
  for (; degree < v - T(0.5); degree += 1) {
    const T next = ((2 * degree + 1) * x * value - (degree + order) * last) / (degree - order + 1);
    last = value;
    value = next;
  }
  return ratio * value;
}

}  // namespace detail

struct Hyp1f1 {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T x) const { return detail::kummer(a, b, x); }
};

struct Lpmv {
  template <class T> XPOPS_DEVICE T operator()(T m, T v, T x) const { return detail::legendre(m, v, x); }
};

}  // namespace xpops
