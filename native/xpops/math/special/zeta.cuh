// The zeta function, and the derivatives of log(gamma(x)).
#pragma once

#include "xpops/math/pow.cuh"
#include "xpops/math/special/logarithm.cuh"

namespace xpops {
namespace detail {

// The zero of digamma, as a sum of two numbers.
template <class T> inline constexpr T kDigammaRoot = is_same_v<T, float> ? T(1.4616321f) : T(1.4616321449683622);
template <class T> inline constexpr T kDigammaRootLow = is_same_v<T, float> ? T(1.2438149938918909e-08)
                                                                     : T(9.549995429965697e-17);

// digamma(x) / (x - root) for x from 1 to 2, as a polynomial in 2 x - 3; fitted at Chebyshev points.
XPOPS_DEVICE float digamma_factor(float u) {
  return horner(u, 0.9510559f, -0.2118137f, 0.060135666f, -0.018550653f, 0.005936294f, -0.0019347703f, 0.0006389825f,
                -0.000211742f, 6.6051434e-05f, -2.1663389e-05f, 1.0969605e-05f, -3.761455e-06f);
}
XPOPS_TABLE double kDigammaTable[] = {
    0.9510558760318328, -0.2118137106407303, 0.06013562106019684, -0.018550615381735008, 0.005936795278301761,
    -0.0019350666648613071, 0.0006368880303865817, -0.00021074841138175561, 6.995018825112794e-05,
    -2.3258242519113285e-05, 7.741234508636364e-06, -2.578093954045772e-06, 8.589060721930695e-07,
    -2.863161166883193e-07, 9.543298288278275e-08, -3.162911147408454e-08, 1.0527692435026686e-08,
    -3.7083753242807277e-09, 1.2469984616707403e-09, -2.7580994814377e-10, 8.734528429142953e-11,
    -8.50550766013261e-11, 2.918622732168261e-11};
XPOPS_DEVICE double digamma_factor(double u) { return horner(u, kDigammaTable); }

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
  return result + (x - kDigammaRoot<T> - kDigammaRootLow<T>)*digamma_factor(2 * x - 3);
}

// B(2 k) / (2 k)!, from k = 1.
XPOPS_TABLE double kBernoulli[] = {
    0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07, 2.08767569878681e-08,
    -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
    -2.174868698558062e-16, 5.5090028283602295e-18, -1.3954464685812522e-19, 3.534707039629467e-21,
    -8.953517427037546e-23, 2.267952452337683e-24, -5.744790668872202e-26};
XPOPS_TABLE float kBernoulliFloat[] = {
    0.083333336f, -0.0013888889f, 3.3068784e-05f, -8.267196e-07f, 2.0876756e-08f, -5.2841903e-10f, 1.3382536e-11f,
    -3.3896803e-13f};
XPOPS_DEVICE auto& bernoulli(double) { return kBernoulli; }
XPOPS_DEVICE auto& bernoulli(float) { return kBernoulliFloat; }

// The sum over k of table[k] s (s + 1) ... (s + 2 k) scale^k: the corrections of the Euler-Maclaurin formula.
template <class T, int kCount> XPOPS_DEVICE T corrections(T s, T scale, const T (&table)[kCount]) {
  T sum = 0;
#pragma unroll
  for (int k = kCount - 1; k >= 0; --k) {
    const T above = s + T(2 * k + 1);
    sum = fma(fma(above, above, above) * scale, sum, table[k]);
  }
  return s * sum;
}

// The sum of (q + k)^-s over k >= 1 for s > 1 and q > 0, divided by q^-s, by the Euler-Maclaurin formula. The formula begins at
// a q + k so large that it is exact, or that nothing is left. Small terms are added first.
template <class T> XPOPS_DEVICE T hurwitz_rest(T s, T q) {
  constexpr bool kSingle = is_same_v<T, float>;
  const T enough = fma(s, T(kSingle ? 0.48 : 0.54), T(kSingle ? 3 : 6.5)), inverse = 1 / (q > T(1e-30) ? q : T(1e-30));
  const T near = enough - q, tiny = q * (exp2(T(kSingle ? 28 : 56) / s) - (1 - kEpsilon<T>));
  const T count = ceil(near < tiny ? near : tiny);
  const T last = count > 0 ? q + count : q, step = 1 / last;
  T factor = near > tiny ? T(0) : last / (s - 1) + T(0.5) + step * corrections(s, step * step, bernoulli(s)), sum = 0;
#pragma unroll 1
  for (T k = count; k > 0; k -= 1) {
    const T ratio = fma(k, inverse, T(1));
    sum = fma(exp_negative(-s * logarithm(ratio, fma(k, inverse, 1 - ratio))), factor, sum);
    factor = 1;
  }
  return count > 0 ? sum : factor - 1;
}

// The sum of (q + k)^-s over k >= 0 for s > 1.
template <class T> XPOPS_NOINLINE T hurwitz(T s, T q) {
  T negative = 0;  // with the first term of a positive base, which often cancels others
  for (const T least = q < 0 ? T(1) : T(0); q < least; q += 1) negative += pow(q, -s);
  const T first = pow(q, -s);
  return first == 0 || isinf(first) ? first + negative : fma(first, hurwitz_rest(s, q), first + negative);
}

// zeta(1 + u) - 1 / u for |u| <= 1: its Taylor series, with Stieltjes' constants.
XPOPS_DEVICE float zeta_without_pole(float u) {
  return horner(u, 0.577215665f, 0.0728158455f, -0.0048451816f, -0.000342305737f, 9.68904194e-05f, -6.61103181e-06f,
                -3.31624091e-07f, 1.04620946e-07f, -8.7332181e-09f, 9.47827778e-11f);
}
XPOPS_TABLE double kWithoutPole[] = {
    0.5772156649015329, 0.07281584548367673, -0.00484518159643616, -0.00034230573671722433, 9.689041939447084e-05,
    -6.6110318108421895e-06, -3.316240908752772e-07, 1.0462094584479188e-07, -8.733218100273798e-09,
    9.47827778276236e-11, 5.658421927608708e-11, -6.768689863513697e-12, 3.4921159366720317e-13,
    4.4104247417577536e-15, -2.3997862217709992e-15, 2.1677312200726828e-16, -9.544466076366965e-18,
    -7.387676660538637e-20};
XPOPS_DEVICE double zeta_without_pole(double u) { return horner(u, kWithoutPole); }

// (zeta(x) - 1) 2^x for x >= 2, by the Euler-Maclaurin formula from k = 10, or 6 for float. Each of k^-x is an exponential for
// a prime k, and a product for others.
XPOPS_TABLE double kFromTen[] = {
    0.008333333333333333, -1.388888888888889e-06, 3.306878306878307e-10, -8.267195767195767e-14, 2.08767569878681e-17,
    -5.284190138687493e-21, 1.338253653068468e-24, -3.389680296322583e-28, 8.586062056277845e-32};
XPOPS_DEVICE double zetac_scaled(double x) {
  const double s = x < 120 ? x : 120, two = exp2(-s), three = exp_negative(s * -0.4054651081081644);  // log(3 / 2)
  const double five = exp_negative(s * -0.9162907318741551), seven = exp_negative(s * -1.252762968495368);
  const double sum = three + (two + (five + (three * two + (seven + two * (two + three * three)))));
  const double rest = 10 / (s - 1) + 0.5 + corrections(s, 1.0, kFromTen);
  return 1 + fma(five * two, rest, sum);
}
XPOPS_TABLE float kFromSix[] = {0.013888889f, -6.430041e-06f, 4.252673e-09f, -2.9532449e-12f};
XPOPS_DEVICE float zetac_scaled(float x) {
  const float s = x < 60 ? x : 60, two = exp2(-s);
  const float three = exp_negative(s * -0.4054651f), five = exp_negative(s * -0.9162907f);
  const float rest = 6 / (s - 1) + 0.5f + corrections(s, 1.0f, kFromSix);
  return 1 + fma(three * two, rest, three + (two + five));
}

// zeta(1 + u) for u >= -1/2.
template <class T> XPOPS_DEVICE T zeta_right(T u) {
  return u <= 1 ? 1 / u + zeta_without_pole(u) : fma(exp2(-1 - u), zetac_scaled(1 + u), T(1));
}

template <class T> XPOPS_NOINLINE T riemann(T x) {
  if (x == 1) return kInfinity<T>;
  if (!(x < T(0.5))) return isinf(x) ? T(1) : zeta_right(x - 1);
  if (isinf(x)) return kNan<T>;
  // Reflection: zeta(x) = 2 (2 pi)^-y sin(pi x / 2) gamma(y) zeta(y), where y is 1 - x.
  if (x == 0) return T(-0.5);
  const T y = 1 - x, sine = sin_pi(T(0.5) * x);
  T scale;
  if (y < kStirling<T>) {
    scale = 2 * tgamma(y) * pow(2 * kPi<T>, -y);
  } else {
    scale = 2 * pow(y / T(17.0794684453471341309), y - T(0.5)) * exp(stirling(y) - T(0.5));  // 2 pi e
  }
  return sine == 0 ? T(0) : scale * sine * zeta_right(-x);
}

// The sum of (q + k)^-x for x > 1.
template <class T> XPOPS_DEVICE T zeta(T x, T q) {
  if (x == 1) return kInfinity<T>;
  if (!(x > 1) || isnan(q)) return kNan<T>;
  if (q <= 0 && is_whole(q)) return kInfinity<T>;
  // Below the limit the sum would take too long.
  return q < 0 && (!is_whole(x) || q < -kMostSteps<T>) ? kNan<T> : hurwitz(x, q);
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
    return isinf(x) ? T(0) : exp2(-x) * detail::zetac_scaled(x);
  }
};

}  // namespace xpops
