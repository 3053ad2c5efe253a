// The incomplete beta function and its inverse, and the distributions that it is: binomial, negative binomial, F,
// Student's t.
//
// A share is that of the beta distribution. Functions take x and y = 1 - x, so that both have all digits.
#pragma once

#include "xpops/math/pow.cuh"
#include "xpops/math/special/gamma.cuh"
#include "xpops/math/special/incomplete_gamma.cuh"

namespace xpops {
namespace detail {

// A share x = n / (n + d), and y = 1 - x, of numbers that are sums of two.
//
// The smaller one of x and y lacks `rest`. The other one lacks what follows from it: functions to a large power are as
// exact as their operands only if nothing is lost.
template <class T> struct Parts {
  T x, y, rest;

  XPOPS_DEVICE Parts(T x, T y, T rest = 0) : x(x), y(y), rest(rest) {}
  XPOPS_DEVICE Parts(T n, T n_rest, T d, T d_rest) {
    const T sum = n + d, sum_rest = (n > d ? d - (sum - n) : n - (sum - d)) + n_rest + d_rest;
    x = n / sum, y = d / sum;
    rest = (n < d ? fma(-x, sum, n) + n_rest - x * sum_rest : fma(-y, sum, d) + d_rest - y * sum_rest) / sum;
  }
  XPOPS_DEVICE Parts swapped() const { return Parts(y, x, rest); }
};

// (x scale / a)^(a / 2), where x and scale lack x_rest and scale_rest. What the quotient lacks is a factor.
template <class T> XPOPS_NOINLINE T root_of_power(T x, T x_rest, T scale, T scale_rest, T divisor, T a) {
  const T product = x * scale, product_rest = fma(x, scale, -product) + x * scale_rest + x_rest * scale;
  const T quotient = product / divisor, rest = fma(-quotient, divisor, product) + product_rest;
  const T power = pow(quotient, T(0.5) * a);
  return power > 0 && product > limits<T>::min_normal() ? power * exp(T(0.5) * a * (rest / product)) : power;
}

// 1 / gamma(a). A sum of 1 and a large number would be rounded.
template <class T> XPOPS_NOINLINE T over_gamma(T a) { return a < 1 ? a / tgamma(1 + a) : 1 / tgamma(a); }

// (a / e)^a / gamma(a), divided by sqrt(2 pi); for a < kStirling exp(-a) / gamma(a).
template <class T> XPOPS_NOINLINE T beta_factor(T a) {
  return a < kStirling<T> ? exp(-a) * over_gamma(a) : sqrt(a) / kRootTwoPi<T> * exp(-stirling(a));
}

// x^a y^b / beta(a, b).
//
// Its logarithm may be large, so that it is a product of powers and not their exponential. Stirling's formula takes the
// large factors of the gamma functions into the powers, which are near 1 near the mean. If a power might overflow, the
// exponent is computed from the distance from the mean (A. R. DiDonato and A. H. Morris, ACM TOMS 18, 1992).
template <class T> XPOPS_NOINLINE T beta_term(T a, T b, const Parts<T>& p) {
  const T sum = a + b, sum_rest = a > b ? b - (sum - a) : a - (sum - b), x = p.x, y = p.y;
  const T least = a < b ? a : b, most = a < b ? b : a;
  if (least >= kStirling<T> && least * log1p(most / least) > T(is_same_v<T, float> ? 70 : 600)) {
    const T distance = a > b ? fma(sum, y, -b) : fma(-sum, x, a);
    const T exponent = a * log_minus(sum * x, a, -distance) + b * log_minus(sum * y, b, distance);
    return sqrt(a * (b / sum)) / kRootTwoPi<T> * exp(exponent - (stirling(a) + stirling(b) - stirling(sum)));
  }
  const T x_rest = x < y ? p.rest : (1 - x) - y - p.rest, y_rest = x < y ? (1 - y) - x - p.rest : p.rest;
  const bool is_small = sum < kStirling<T>;
  const T scale = is_small ? T(1) : sum, scale_rest = is_small ? T(0) : sum_rest;
  const T by_x = root_of_power(x, x_rest, scale, scale_rest, is_small || a < kStirling<T> ? T(1) : a, a);
  const T by_y = root_of_power(y, y_rest, scale, scale_rest, is_small || b < kStirling<T> ? T(1) : b, b);
  if (by_x == 0 || by_y == 0) return 0;  // the other one may be infinite
  const T factor = is_small ? over_gamma(a) / over_gamma(sum) * over_gamma(b) * (1 + log(sum + T(0.5)) * sum_rest)
                            : beta_factor(a) * beta_factor(b) * (kRootTwoPi<T> / sqrt(sum)) * exp(stirling(sum));
  return by_x * by_y * factor * (by_x * by_y);
}

// The continued fraction of the lower share, without its factor beta_term / a (BFRAC of DiDonato and Morris, by the
// modified method of Lentz). Its terms are positive up to m = b, so that nothing cancels.
template <class T> XPOPS_DEVICE T beta_fraction(T a, T b, T x, T y) {
  const T distance = fma(a, y, fma(-b, x, T(1)));
  T c = distance / (a + 1), d = 0, result = c, lead = 1;
  for (T m = 1; m < 10000; m += 1) {
    const T step = a + 2 * m - 1, turn = m * (b - m) * x / step;
    const T numerator = lead * ((a + b + m - 1) * x / step) * turn;
    const T denominator = m + turn + (a + m) * ((distance + m * (1 + y)) / (step + 2));
    d = 1 / fma(numerator, d, denominator);
    c = denominator + numerator / c;
    const T factor = c * d;
    result *= factor;
    if (abs(factor - 1) <= kEpsilon<T>) break;
    lead = a + m;
  }
  return 1 / result;
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
template <class T> XPOPS_NOINLINE T beta_share(T a, T b, Parts<T> p, bool upper) {
  const T x = p.x, y = p.y;
  if (!(a >= 0 && b >= 0 && x >= 0 && y >= 0) || (a == 0 && b == 0)) return kNan<T>;
  if (x == 0 || y == 0) return upper == (x == 0);
  if (a == 0 || isinf(b)) return !upper;
  if (b == 0 || isinf(a)) return upper;
  // The smaller share is computed, on the side of the mean; the fraction is too long there for a small shape.
  const T more = a < T(0.5) || b < T(0.5) ? T(1) : T(0);
  const bool swapped = x * (b + more) > y * (a + more);
  if (swapped) {
    const T other = a;
    a = b, b = other, p = p.swapped();
  }
  const bool by_series = b * p.x <= 1 && p.x <= T(0.7);
  const T share = beta_term(a, b, p) / a * (by_series ? beta_series(a, b, p.x) : beta_fraction(a, b, p.x, p.y));
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
      T step = 0, back = 1, shrink = 1;
      for (int i = 0; i < 60 && p > 0; ++i) {
        const Parts<T> parts(x, y);
        const T share = beta_share(a, b, parts, false);
        if (share > 0) {
          step = back = newton_step(share, p, beta_term(a, b, parts));
          shrink = T(0.5);
        } else {  // too far in the tail: back by a half of the step that led there, then by halves of that
          back *= shrink;
          step = -back;
        }
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
template <class T> XPOPS_DEVICE T power_of_rest(T p, T n) {
  const T q = 1 - p, root = q > 0 ? root_of_power(q, (1 - q) - p, T(1), T(0), T(1), n) : q;
  return root * root;
}

template <class T> XPOPS_DEVICE bool is_share(T p) { return p >= 0 && p <= 1; }

// P(F < x), or P(F > x), for F with a and b degrees of freedom.
template <class T> XPOPS_DEVICE T f_share(T a, T b, T x, bool upper) {
  if (!(a > 0 && b > 0 && x >= 0) || isinf(a) || isinf(b)) return kNan<T>;
  const T product = a * x;
  const Parts<T> parts = isinf(product) ? Parts<T>(1, 0) : Parts<T>(product, fma(a, x, -product), b, 0);
  return beta_share(a / 2, b / 2, parts, upper);
}

// P(T > t) for t >= 0 and a T with Student's distribution.
template <class T> XPOPS_DEVICE T student_tail(T df, T t) {
  const T square = t * t;
  const Parts<T> parts = isinf(square) ? Parts<T>(0, 1) : Parts<T>(df, 0, square, fma(t, t, -square));
  return T(0.5) * beta_share(df / 2, T(0.5), parts, false);
}

}  // namespace detail

struct Betainc {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T x) const {
    return detail::beta_share(a, b, {x, 1 - x}, false);
  }
};

struct Betaincc {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T x) const {
    return detail::beta_share(a, b, {x, 1 - x}, true);
  }
};

struct Betaincinv {
  template <class T> XPOPS_DEVICE T operator()(T a, T b, T p) const {
    return detail::BetaQuantile<T>(a, b, p, 1 - p).x;
  }
};

}  // namespace xpops
