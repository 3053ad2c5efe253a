// The zeta function, and the derivatives of log(gamma(x)).
#pragma once

#include "xpops/math/special/real.cuh"

namespace xpops {
namespace detail {

// The zero of digamma, as a sum of two numbers.
template <class T> inline constexpr T kRoot = is_same_v<T, float> ? T(1.4616321f) : T(1.4616321449683622);
template <class T> inline constexpr T kRootLow = is_same_v<T, float> ? T(1.2438149938918909e-08)
                                                                     : T(9.549995429965697e-17);

// digamma(x) / (x - root) for x from 1 to 2, as a polynomial in 2 x - 3; fitted at Chebyshev points.
XPOPS_DEVICE float digamma_factor(float u) {
  return horner(u, 0.9510559f, -0.2118137f, 0.060135666f, -0.018550653f, 0.005936294f, -0.0019347703f, 0.0006389825f,
                -0.000211742f, 6.6051434e-05f, -2.1663389e-05f, 1.0969605e-05f, -3.761455e-06f);
}
XPOPS_DEVICE double digamma_factor(double u) {
  return horner(u, 0.9510558760318328, -0.2118137106407303, 0.06013562106019684, -0.018550615381735008,
                0.005936795278301761, -0.0019350666648613071, 0.0006368880303865817, -0.00021074841138175561,
                6.995018825112794e-05, -2.3258242519113285e-05, 7.741234508636364e-06, -2.578093954045772e-06,
                8.589060721930695e-07, -2.863161166883193e-07, 9.543298288278275e-08, -3.162911147408454e-08,
                1.0527692435026686e-08, -3.7083753242807277e-09, 1.2469984616707403e-09, -2.7580994814377e-10,
                8.734528429142953e-11, -8.50550766013261e-11, 2.918622732168261e-11);
}

template <class T> XPOPS_NOINLINE T digamma(T x) {
  if (x == 0) return copysign(kInfinity<T>, -x);
  T result = 0;
  if (x < 0) {  // reflection
    if (is_whole(x)) return kNan<T>;
    const T rest = x - round(x);
    result = -kPi<T> / tan(kPi<T> * rest);
    x = 1 - x;
  }
  if (x >= kStirling<T>) {
    const T s = 1 / (x * x);
    return result + (log(x) - T(0.5) / x -
                     s * horner(s, T(1 / 12.0), T(-1 / 120.0), T(1 / 252.0), T(-1 / 240.0), T(1 / 132.0),
                                T(-691 / 32760.0), T(1 / 12.0)));
  }
  for (; x > 2; result += 1 / x) x -= 1;
  if (x < 1) {
    result -= 1 / x;
    x += 1;
  }
  return result + (x - kRoot<T> - kRootLow<T>)*digamma_factor(2 * x - 3);
}

// The sum of (q + k)^-s over k >= 0, continued to s < 1, by the Euler-Maclaurin formula. `above` is s - 1.
template <class T> XPOPS_NOINLINE T hurwitz(T s, T above, T q) {
  T sum = 0, power = pow(q, -s);
  for (const T enough = abs(s) < 200 ? 10 + T(0.5) * abs(s) : T(110); q < enough; power = pow(q, -s)) {
    if (q > 0 && power * q <= T(0.1) * kEpsilon<T> * abs(sum * above)) return sum;
    sum += power;
    q += 1;
  }
  if (power == 0) return sum;
  // B(2 k) / (2 k)!
  const T factors[] = {T(8.3333333333333333e-02),  T(-1.3888888888888889e-03), T(3.3068783068783069e-05),
                       T(-8.2671957671957672e-07), T(2.0876756987868099e-08),  T(-5.2841901386874932e-10),
                       T(1.3382536530684679e-11),  T(-3.3896802963225829e-13), T(8.5860620562778446e-15),
                       T(-2.1748686985580619e-16)};
  T rest = q / above + T(0.5), product = s / q;
  for (int k = 0; k < 10; ++k) {
    rest += factors[k] * product;
    product *= (s + (2 * k + 1)) * (s + (2 * k + 2)) / (q * q);
  }
  return sum + power * rest;
}

// zeta(1 + u) - 1 / u for |u| <= 1: its Taylor series, with Stieltjes' constants.
XPOPS_DEVICE float zeta_without_pole(float u) {
  return horner(u, 0.577215665f, 0.0728158455f, -0.0048451816f, -0.000342305737f, 9.68904194e-05f, -6.61103181e-06f,
                -3.31624091e-07f, 1.04620946e-07f, -8.7332181e-09f, 9.47827778e-11f);
}
XPOPS_DEVICE double zeta_without_pole(double u) {
  return horner(u, 0.5772156649015329, 0.07281584548367673, -0.00484518159643616, -0.00034230573671722433,
                9.689041939447084e-05, -6.6110318108421895e-06, -3.316240908752772e-07, 1.0462094584479188e-07,
                -8.733218100273798e-09, 9.47827778276236e-11, 5.658421927608708e-11, -6.768689863513697e-12,
                3.4921159366720317e-13, 4.4104247417577536e-15, -2.3997862217709992e-15, 2.1677312200726828e-16,
                -9.544466076366965e-18, -7.387676660538637e-20);
}

template <class T> XPOPS_NOINLINE T riemann(T x) {
  if (x == 1) return kInfinity<T>;
  if (x >= T(0.5) && x <= 2) return 1 / (x - 1) + zeta_without_pole(x - 1);
  if (!(x < T(0.5))) return isinf(x) ? T(1) : hurwitz(x, x - 1, T(1));
  if (isinf(x)) return kNan<T>;
  // Reflection: zeta(x) = 2 (2 pi)^-y sin(pi x / 2) gamma(y) zeta(y), where y is 1 - x.
  if (x == 0) return T(-0.5);
  const T y = 1 - x, other = y > T(is_same_v<T, float> ? 30 : 60) ? T(1) : hurwitz(y, -x, T(1));
  const T sine = sin_pi(T(0.5) * x);
  T scale;
  if (y < kStirling<T>) {
    scale = 2 * tgamma(y) * pow(2 * kPi<T>, -y);
  } else {
    scale = 2 * pow(y / T(17.0794684453471341309), y - T(0.5)) * exp(stirling(y) - T(0.5));  // 2 pi e
  }
  return sine == 0 ? T(0) : scale * sine * other;
}

// The sum of (q + k)^-x for x > 1.
template <class T> XPOPS_DEVICE T zeta(T x, T q) {
  if (x == 1) return kInfinity<T>;
  if (!(x > 1) || isnan(q)) return kNan<T>;
  if (q <= 0 && is_whole(q)) return kInfinity<T>;
  // Below the limit the sum would take too long.
  return q < 0 && (!is_whole(x) || q < -kMostSteps<T>) ? kNan<T> : hurwitz(x, x - 1, q);
}

}  // namespace detail

struct Psi {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::digamma(x); }
};

struct Polygamma {
  template <class T> XPOPS_DEVICE T operator()(T n, T x) const {
    if (n == 0) return detail::digamma(x);
    const T size = tgamma(n + 1) * detail::zeta(n + 1, x);
    return detail::is_odd(n) ? size : -size;
  }
};

struct Zeta {
  template <class T> XPOPS_DEVICE T operator()(T x, T q) const { return detail::zeta(x, q); }
};

struct RiemannZeta {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::riemann(x); }
};

struct Zetac {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if (x == 1) return detail::kInfinity<T>;
    if (x < 0) return detail::riemann(x) - 1;
    if (x <= 2) return 1 / (x - 1) + (detail::zeta_without_pole(x - 1) - 1);
    return isinf(x) ? T(0) : detail::hurwitz(x, x - 1, T(2));
  }
};

}  // namespace xpops
