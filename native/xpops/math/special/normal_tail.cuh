// The tail of the standard normal distribution.
#pragma once

#include "xpops/math/scaled_exp.cuh"

namespace xpops {
namespace detail {

// erfc(a / sqrt(2)) / 2 * exp(a * a / 2) * (a + kMiddle) as a polynomial in u = (a - kMiddle) / (a + kMiddle). The
// error is below 2^-29 for float and 2^-52 for double, for |x| <= 39: beyond, the product is 0.
template <class T> inline constexpr T kMiddle = is_same_v<T, float> ? T(3) : T(4.5);

XPOPS_DEVICE float tail_factor(float u) {
  return horner(u, 0.729083717f, -0.509332001f, 0.230017677f, -0.0472627468f, -0.0104622934f, 0.00696981326f,
                0.00102413574f, -0.00103422208f, -0.000244582654f, 0.000133125912f, 5.53559657e-05f);
}
XPOPS_TABLE double kTailTable[] = {
    0.7632305289702032,      -0.6402577602526173,    0.4464525170556785,      -0.2531417999509452,
    0.11138259657019556,     -0.033871326177873876,  0.004223613380869944,    0.0017488305779481995,
    -0.0009177465117992581,  6.381074135105245e-06,  0.00011204276564601879,  -1.593273069455013e-05,
    -1.4236104047347632e-05, 3.189195747295116e-06,  2.1430671958163885e-06,  -4.984654854755787e-07,
    -3.788782740440246e-07,  6.000617529729922e-08,  6.911707060715889e-08,   -2.2447686446947856e-09,
    -9.719541714313239e-09,  -8.39260474554159e-10,  4.79163178460268e-10};
XPOPS_DEVICE double tail_factor(double u) { return horner(u, kTailTable); }

// For |x| >= kFar the tail is 0 or the whole. So Gelu is x or 0, and GeluTanh is so for |x| >= kFar / 2.
template <class T> inline constexpr T kFar = is_same_v<T, float> ? T(40) : T(60);

// 2^64 times the probability that a standard normal number is above |x|.
template <class T> XPOPS_DEVICE T scaled_tail(T x) {
  const T a = packed::minimum(abs(x), kFar<T>), half = T(-0.5) * a, square = mul_rn(half, a);
  const T power = scaled_exp(square, fma(half, a, -square)), inverse = reciprocal(a + kMiddle<T>);
  return power * inverse * tail_factor(fma(-2 * kMiddle<T>, inverse, T(1)));
}

}  // namespace detail
}  // namespace xpops
