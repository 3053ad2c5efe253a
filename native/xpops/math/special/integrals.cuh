// Exponential integrals, the dilogarithm and complete elliptic integrals.
#pragma once

#include "xpops/math/special/real.cuh"

namespace xpops {
namespace detail {

// x exp(x) exp1(x) for x >= 1/2, as a polynomial in (x - 3) / (x + 2); fitted at Chebyshev points.
XPOPS_DEVICE float e1_factor(float u) {
  return horner(u, 0.78625125f, 0.2416748f, -0.044758074f, 0.021869443f, -0.0080709f, 0.0042259353f, -0.0019190033f,
                0.0010821127f, -0.00055811176f, 0.0002217069f, -8.863832e-05f, 0.00023061565f, -0.0001625484f,
                -9.645053e-05f, 7.622755e-05f, 6.4179636e-05f, -4.2513693e-05f);
}
XPOPS_DEVICE double e1_factor(double u) {
  return horner(u, 0.7862512207659554, 0.2416748051063699, -0.044758095602891346, 0.02186912819525672,
                -0.008070348098674095, 0.00423019176103141, -0.0019244573143820253, 0.0010565990878340617,
                -0.0005314246134949434, 0.0003014292625254053, -0.00016069620580894245, 9.336765702577507e-05,
                -5.1679654896998764e-05, 3.0579462516186754e-05, -1.7429179809854647e-05, 1.0507591398533474e-05,
                -5.850865890726252e-06, 3.409715052700249e-06, -2.8096958201682094e-06, 2.140421172124333e-06,
                8.034434449350491e-07, -1.3777165207670889e-06, -3.2285502831794033e-06, 3.425380180385709e-06,
                3.9454962152695285e-06, -4.175735068339073e-06, -4.187264124849229e-06, 4.156803789627226e-06,
                3.0358590583160703e-06, -2.8943251567049095e-06, -1.5464673221276809e-06, 1.4071744750709124e-06,
                4.794762422140485e-07, -4.189530010700413e-07, -7.340658435034726e-08, 6.099018635586176e-08);
}

// The sum of x^k / (k k!) over k >= 1.
template <class T> XPOPS_DEVICE T exponential_series(T x) {
  T power = x, sum = x;
  for (T k = 2; k < 200; k += 1) {
    power *= x / k;
    const T part = power / k;
    sum += part;
    if (abs(part) <= kEpsilon<T> * abs(sum)) break;
  }
  return sum;
}

template <class T> XPOPS_NOINLINE T exponential_integral(T x) {
  if (x == 0) return kInfinity<T>;
  if (!(x > 0)) return kNan<T>;
  if (x <= T(0.5)) return -kEuler<T> - log(x) - exponential_series(-x);
  return exp(-x) / x * e1_factor(fma(T(-5), 1 / (x + 2), T(1)));
}

// The continued fraction of expn(n, x), for x > 1 or n >= 20. The number of terms is a bound of those that count, found
// by trials.
template <class T> XPOPS_DEVICE T expn_fraction(T n, T x) {
  constexpr bool kSingle = is_same_v<T, float>;
  const T some = kSingle ? 7 + 24 / x : 16 + 90 / x, most = kSingle ? T(20) : T(50);
  return upper_gamma_fraction(1 - n, x, floor(n >= 20 && some > most ? most : some)) * exp(-x);
}

// The power series of expn(n, x), for x <= 1 and n >= 2.
template <class T> XPOPS_DEVICE T expn_series(T n, T x) {
  T harmonic = 0, power = 1, sum = 1 / (1 - n);
  for (T m = 1; m < 200; m += 1) {
    power *= -x / m;
    harmonic += 1 / m;
    const bool is_logarithm = m == n - 1;
    const T part = is_logarithm ? -power * (harmonic - kEuler<T> - log(x)) : power / (m - n + 1);
    sum += part;
    if (m > n && abs(part) <= kEpsilon<T> * abs(sum)) break;
  }
  return -sum;
}

// -log(x) log(1 - x) + pi^2 / 6 - spence(1 - x) is spence(x). Near 1: a series in log(x) with Bernoulli numbers.
template <class T> XPOPS_DEVICE T spence_near(T x) {
  const T w = -log(x), s = w * w;
  return w + s * (T(-0.25) + w * horner(s, T(1 / 36.0), T(-1 / 3600.0), T(1 / 211680.0), T(-1 / 10886400.0),
                                        T(1 / 526901760.0), T(-4.0647616451442255e-11), T(8.9216910204564526e-13),
                                        T(-1.9939295860721076e-14), T(4.518980029619918e-16)));
}

}  // namespace detail

struct Exp1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::exponential_integral(x); }
};

struct Expi {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if (x < 0) return -detail::exponential_integral(-x);
    if (x == 0 || isinf(x)) return x == 0 ? -detail::kInfinity<T> : x;
    if (x <= T(is_same_v<T, float> ? 20 : 40)) return detail::kEuler<T> + log(x) + detail::exponential_series(x);
    T term = 1, sum = 1;
    for (T k = 1; term > detail::kEpsilon<T> * T(0.1) && k < x; k += 1) {
      term *= k / x;
      sum += term;
    }
    const T root = exp(T(0.5) * x);
    return root / x * sum * root;
  }
};

struct Expn {
  template <class T> XPOPS_DEVICE T operator()(T order, T x) const {
    const T n = trunc(order);
    if (!(n >= 0 && x >= 0)) return detail::kNan<T>;
    if (x == 0) return n < 2 ? detail::kInfinity<T> : 1 / (n - 1);
    if (isinf(x)) return 0;
    if (n == 0) return exp(-x) / x;
    if (n == 1) return detail::exponential_integral(x);
    return x <= 1 && n < 20 ? detail::expn_series(n, x) : detail::expn_fraction(n, x);
  }
};

// The integral of log(t) / (1 - t) from 1 to x, which is the dilogarithm of 1 - x.
struct Spence {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    constexpr T kLimit = T(1.64493406684822643647);  // pi^2 / 6
    if (!(x >= 0)) return detail::kNan<T>;
    const bool far = x > 2;
    const T y = far ? 1 / x : x;
    const T near = y >= T(0.5) ? detail::spence_near(y)
                   : y == 0    ? kLimit
                               : kLimit - log(y) * log1p(-y) - detail::spence_near(1 - y);
    const T logarithm = log(x);
    return far ? -near - T(0.5) * logarithm * logarithm : near;
  }
};

// The complete elliptic integral of the first kind of 1 - p, by the arithmetic-geometric mean of 1 and sqrt(p).
struct Ellipkm1 {
  template <class T> XPOPS_DEVICE T operator()(T p) const {
    if (!(p > 0)) return p == 0 ? detail::kInfinity<T> : detail::kNan<T>;
    if (isinf(p)) return 0;
    T a = 1, b = sqrt(p);
    for (int i = 0; i < 30 && abs(a - b) > 2 * detail::kEpsilon<T> * a; ++i) {
      const T mean = T(0.5) * (a + b);
      b = sqrt(a * b);
      a = mean;
    }
    return detail::kPi<T> / (a + b);
  }
};

struct Ellipk {
  template <class T> XPOPS_DEVICE T operator()(T m) const { return Ellipkm1()(1 - m); }
};

}  // namespace xpops
