// The incomplete beta function and its inverse, and the distributions that it is: binomial, negative binomial, F,
// Student's t.
//
// A share is that of the beta distribution. Functions take x and y = 1 - x, so that both have all digits.
#pragma once

#include "xpops/math/special/gamma.cuh"
#include "xpops/math/special/incomplete_gamma.cuh"

namespace xpops {
namespace detail {

// x^a y^b / beta(a, b). For large a and b it is computed from the distance from the mean (A. R. DiDonato and
// A. H. Morris, ACM TOMS 18, 1992).
template <class T> XPOPS_NOINLINE T beta_term(T a, T b, T x, T y) {
  const T sum = a + b;
  if (a >= kStirling<T> && b >= kStirling<T>) {
    const T distance = a > b ? fma(sum, y, -b) : fma(-sum, x, a);
    const T exponent = a * log_minus(sum * x, a, -distance) + b * log_minus(sum * y, b, distance);
    return sqrt(a * (b / sum)) / kRootTwoPi<T> * exp(exponent - (stirling(a) + stirling(b) - stirling(sum)));
  }
  if (sum < T(is_same_v<T, float> ? 15 : 30)) {
    const T by_x = x < T(0.5) ? pow(x, a) : exp(a * log1p(-y)), by_y = y < T(0.5) ? pow(y, b) : exp(b * log1p(-x));
    return by_x * (tgamma(sum) / tgamma(a)) * by_y / tgamma(b);
  }
  const T log_x = x < T(0.5) ? log(x) : log1p(-y), log_y = y < T(0.5) ? log(y) : log1p(-x);
  return exp(a * log_x + b * log_y - log_beta(a, b));
}

// The continued fraction of the lower share, without its factor beta_term / a (the modified method of Lentz).
template <class T> XPOPS_DEVICE T beta_fraction(T a, T b, T x) {
  const T sum = a + b;
  T c = 1, d = 1 / (1 - sum * x / (a + 1)), result = d;
  for (T m = 1; m < 10000; m += 1) {
    const T even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / fma(even, d, T(1));
    c = 1 + even / c;
    result *= d * c;
    const T odd = -(a + m) * (sum + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / fma(odd, d, T(1));
    c = 1 + odd / c;
    const T factor = d * c;
    result *= factor;
    if (abs(factor - 1) <= kEpsilon<T>) break;
  }
  return result;
}

// The power series of the lower share, without its factor beta_term / a, for x b <= 1.
template <class T> XPOPS_DEVICE T beta_series(T a, T b, T x) {
  T term = 1, sum = 1;
  for (T n = 1; n < 1000; n += 1) {
    term *= (n - b) / n * x;
    const T part = term * a / (a + n);
    sum += part;
    if (abs(part) <= kEpsilon<T> * abs(sum)) break;
  }
  return sum * exp(-b * log1p(-x));
}

// The lower share I_x(a, b), or the upper one.
template <class T> XPOPS_NOINLINE T beta_share(T a, T b, T x, T y, bool upper) {
  if (!(a >= 0 && b >= 0 && x >= 0 && y >= 0) || (a == 0 && b == 0)) return kNan<T>;
  if (x == 0 || y == 0) return upper == (x == 0);
  if (a == 0 || isinf(b)) return !upper;
  if (b == 0 || isinf(a)) return upper;
  const bool swapped = x > (a + 1) / (a + b + 2);
  if (swapped) {
    T other = a;
    a = b, b = other, other = x, x = y, y = other;
  }
  const T sum = b * x <= 1 && x <= T(0.7) ? beta_series(a, b, x) : beta_fraction(a, b, x);
  const T share = beta_term(a, b, x, y) / a * sum;
  return swapped == upper ? share : 1 - share;
}

// The x, and y = 1 - x, with the lower share p and the upper share q. Newton's method over log(x / y), see newton_step.
template <class T> struct BetaQuantile {
  T x, y;

  XPOPS_DEVICE BetaQuantile(T a, T b, T p, T q) {
    const bool swapped = q < p;  // the smaller share is wanted of the lower tail
    if (swapped) {
      T other = a;
      a = b, b = other, p = q;
    }
    if (!(a > 0 && b > 0 && p >= 0)) {
      x = y = kNan<T>;
    } else {
      x = a / (a + b), y = b / (a + b);
      const T first = exp((log(p) + log(a) + log_beta(a, b)) / a);  // the first term of the series
      if (first < x) x = first, y = 1 - first;
      for (int i = 0; i < 60 && p > 0; ++i) {
        const T step = newton_step(beta_share(a, b, x, y, false), p, beta_term(a, b, x, y));
        const T part = x * exp(-step), sum = part + y;
        x = part / sum, y = y / sum;
        if (abs(step) <= kCloseStep<T>) break;
      }
    }
    if (swapped) {
      const T other = x;
      x = y, y = other;
    }
  }
};

// (1 - p)^n.
template <class T> XPOPS_DEVICE T power_of_rest(T p, T n) { return exp(n * log1p(-p)); }

template <class T> XPOPS_DEVICE bool is_share(T p) { return p >= 0 && p <= 1; }

// P(F < x), or P(F > x), for F with a and b degrees of freedom.
template <class T> XPOPS_DEVICE T f_share(T a, T b, T x, bool upper) {
  if (!(a > 0 && b > 0 && x >= 0) || isinf(a) || isinf(b)) return kNan<T>;
  const T ratio = isinf(x) ? x : a * x / b;
  return beta_share(a / 2, b / 2, isinf(ratio) ? T(1) : ratio / (1 + ratio), 1 / (1 + ratio), upper);
}

// P(T > t) for t >= 0 and a T with Student's distribution.
template <class T> XPOPS_DEVICE T student_tail(T df, T t) {
  const T ratio = t / sqrt(df) * (t / sqrt(df));
  return T(0.5) * beta_share(df / 2, T(0.5), 1 / (1 + ratio), isinf(ratio) ? T(1) : ratio / (1 + ratio), false);
}

}  // namespace detail

struct Betainc {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T x) const {
    return detail::beta_share(a, b, x, 1 - x, false);
  }
};

struct Betaincc {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T x) const { return detail::beta_share(a, b, x, 1 - x, true); }
};

struct Betaincinv {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T p) const {
    return detail::BetaQuantile<T>(a, b, p, 1 - p).x;
  }
};

}  // namespace xpops
