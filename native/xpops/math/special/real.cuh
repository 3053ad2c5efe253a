// More functions of real numbers with one name for float and double, and what several special functions share.
// On a GPU the first ones are those of CUDA, on the host those of the C library.
#pragma once

#include "xpops/math/real.cuh"

namespace xpops {

#define XPOPS_C_FUNCTION(name)                                \
  XPOPS_DEVICE float name(float x) { return ::name##f(x); }   \
  XPOPS_DEVICE double name(double x) { return ::name(x); }

XPOPS_C_FUNCTION(cbrt)
XPOPS_C_FUNCTION(exp10)
XPOPS_C_FUNCTION(erf)
XPOPS_C_FUNCTION(erfc)
XPOPS_C_FUNCTION(lgamma)
XPOPS_C_FUNCTION(tgamma)
XPOPS_C_FUNCTION(j0)
XPOPS_C_FUNCTION(j1)
XPOPS_C_FUNCTION(y0)
XPOPS_C_FUNCTION(y1)

#undef XPOPS_C_FUNCTION

XPOPS_DEVICE float ldexp(float x, int power) { return ::ldexpf(x, power); }
XPOPS_DEVICE double ldexp(double x, int power) { return ::ldexp(x, power); }

namespace detail {

template <class T> inline constexpr T kEuler = T(0.57721566490153286061);
template <class T> inline constexpr T kHalfRoot = T(0.70710678118654752440);  // sqrt(1 / 2)
template <class T> inline constexpr T kRootTwoPi = T(2.50662827463100050242);
template <class T> inline constexpr T kEpsilon = limits<T>::epsilon();
template <class T> inline constexpr T kInfinity = limits<T>::infinity();
template <class T> inline constexpr T kNan = limits<T>::nan();

template <class T> XPOPS_DEVICE bool is_whole(T x) { return floor(x) == x; }
template <class T> XPOPS_DEVICE bool is_odd(T x) { return floor(T(0.5) * x) * 2 != x; }  // x is whole

// (sin(pi x) - pi x) / x^3 from x^2, for |x| <= 1/2. Minimax fits (Remez) with errors of 2^-32 and 2^-58.
XPOPS_DEVICE float sin_pi_rest(float u) {
  return horner(u, -5.1677127f, 2.5501637f, -0.5992589f, 0.08208293f, -0.0070829154f);
}
XPOPS_TABLE double kSinPiTable[] = {
    -5.16771278004997, 2.5501640398773398, -0.5992645293203276, 0.08214588659638117, -0.007370430715400908,
    0.00046630084931626684, -2.190612960758667e-05, 7.724920539214728e-07};
XPOPS_DEVICE double sin_pi_rest(double u) { return horner(u, kSinPiTable); }

// sin(pi x). The reductions are exact.
template <class T> XPOPS_DEVICE T sin_pi(T x) {
  constexpr T kLow = is_same_v<T, float> ? T(-8.742278e-08) : T(1.2246467991473532e-16);  // pi - kPi
  const T rest = x - 2 * round(T(0.5) * x), size = abs(rest), folded = size > T(0.5) ? 1 - size : size;
  const T u = folded * folded;
  return copysign(fma(folded, kPi<T>, folded * fma(u, sin_pi_rest(u), kLow)), rest);
}

// log(1 + u) - u. Near 0 it is r (2 (r^2 / 3 + r^4 / 5 + ...) - u), where r is u / (2 + u).
template <class T> XPOPS_NOINLINE T log1p_minus(T u) {
  if (!(u > T(-0.4) && u < T(0.6))) return log1p(u) - u;
  const T r = u / (2 + u), s = r * r;
  T sum;
  if constexpr (is_same_v<T, float>) {
    sum = horner(s, 1 / 3.0f, 1 / 5.0f, 1 / 7.0f, 1 / 9.0f, 1 / 11.0f, 1 / 13.0f);
  } else {
    sum = horner(s, 1 / 3.0, 1 / 5.0, 1 / 7.0, 1 / 9.0, 1 / 11.0, 1 / 13.0, 1 / 15.0, 1 / 17.0, 1 / 19.0, 1 / 21.0,
                 1 / 23.0, 1 / 25.0, 1 / 27.0);
  }
  return r * fma(2 * s, sum, -u);
}

// Functions that need more steps of a recurrence have the result NaN.
template <class T> inline constexpr T kMostSteps = T(10000);

// log(x / y) - (x - y) / y, from the difference of x and y.
template <class T> XPOPS_DEVICE T log_minus(T x, T y, T difference) {
  const T u = difference / y;
  return abs(u) < T(0.4) ? log1p_minus(u) : log(x / y) - u;
}

// Stirling's correction: the logarithm of gamma(x) / (sqrt(2 pi / x) (x / e)^x), for x >= kStirling.
template <class T> inline constexpr T kStirling = T(10);

template <class T> XPOPS_DEVICE T stirling(T x) {
  const T inverse = 1 / x, s = inverse * inverse;
  if constexpr (is_same_v<T, float>) return inverse * horner(s, 1 / 12.0f, -1 / 360.0f, 1 / 1260.0f);
  else {
    return inverse * horner(s, 1 / 12.0, -1 / 360.0, 1 / 1260.0, -1 / 1680.0, 1 / 1188.0, -691 / 360360.0, 1 / 156.0);
  }
}

// The continued fraction of the upper incomplete gamma function of a and x, without its factor x^a exp(-x). It is
// computed from its last term on, which rounds less often than a product of its convergents.
template <class T> XPOPS_DEVICE T upper_gamma_fraction(T a, T x, T terms) {
  const T first = x + 1 - a;
  T result = first + 2 * terms;
  for (T i = terms; i > 0; i -= 1) result = (first + 2 * (i - 1)) + i * (a - i) / result;
  return 1 / result;
}

}  // namespace detail
}  // namespace xpops
