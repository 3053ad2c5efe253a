// Smooth activation functions. Their tails have the same relative accuracy as the rest, because no number close to 1 is
// subtracted from 1.
//
// The Narrow functors compute results of 16 bits and less. They take elements as they are stored, and use the
// hardware's exponential and reciprocal and minimax polynomials (from linear programming, at Chebyshev points). All
// results in float16 but a few dozen of 65536 are correctly rounded.
#pragma once

#include "xpops/math/special/normal_tail.cuh"
#include "xpops/math/scaled_exp.cuh"

namespace xpops {
namespace detail {

// y / (1 + exp(-v)). `up` is v > 0, `minus` is -|v|, and `low` is the rounding error of minus, which is added to it.
template <class T> XPOPS_DEVICE T logistic(T y, bool up, T minus, T low) {
  const T power = scaled_exp(packed::maximum(minus, kNothing<T>), low);
  const T share = reciprocal(fma(power, kUnscale<T>, T(1)));
  return up ? y * share : y * power * share * kUnscale<T>;
}

// Twice the argument of tanh is a (kFirst + kFirstLow + (kThird + kThirdLow) a^2). kFirst has few digits, so that the
// rounding error of its sum with another number can be computed exactly.
template <class T> inline constexpr T kFirst = is_same_v<T, float> ? T(0x1.98845p+0) : T(0x1.9884533d436p+0);
template <class T>
inline constexpr T kFirstLow = is_same_v<T, float> ? T(1.930778986805098e-07) : T(1.7885919910836427e-14);
template <class T> inline constexpr T kThird = is_same_v<T, float> ? T(0x1.2444f2p-4) : T(0.07135481627260025);
template <class T>
inline constexpr T kThirdLow = is_same_v<T, float> ? T(2.3988323959931355e-09) : T(-6.175149918155315e-19);

// log(1 + x) for x from 0 to 1.
XPOPS_DEVICE float log1p_unit(float x) {
  return x * horner(x, 1.0f, -0.499999791f, 0.333324969f, -0.249864966f, 0.198858202f, -0.160876229f, 0.12377996f,
                    -0.0818804055f, 0.0410065725f, -0.0131878266f, 0.00198669662f);
}
XPOPS_DEVICE double log1p_unit(double x) { return log1p(x); }

}  // namespace detail

struct Sigmoid {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::logistic(T(1), x > 0, -abs(x), T(0)); }
};

struct Silu {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::logistic(x, x > 0, -abs(x), T(0)); }
};

// x times the distribution function of the standard normal distribution at x: max(x, 0) - |x| P(Z > |x|). The product
// with 0 preserves the sign of zeros, and is NaN for negative infinity, as torch's result is.
struct Gelu {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    const T above = packed::minimum(abs(x), detail::kFar<T>) * detail::scaled_tail(x);
    return fma(above, -kUnscale<T>, x < 0 ? x * 0 : x);
  }
};

// The approximation of Gelu by tanh: (1 + tanh(v / 2)) / 2 is the logistic function of v.
struct GeluTanh {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    using detail::kFirst, detail::kFirstLow, detail::kThird, detail::kThirdLow;
    const T a = packed::minimum(abs(x), detail::kFar<T> / 2), square = mul_rn(a, a);
    const T slope = fma(kThird<T>, square, kFirst<T>);
    const T slope_low = fma(kThird<T>, square, add_rn(kFirst<T>, -slope)) +
                        fma(kThird<T>, fma(a, a, -square), fma(kThirdLow<T>, square, kFirstLow<T>));
    const T argument = mul_rn(slope, a), low = fma(slope_low, a, fma(slope, a, -argument));
    return detail::logistic(x, x > 0, -argument, -low);
  }
};

// log(1 + exp(beta x)) / beta, or x if beta x is above the threshold.
struct Softplus {
  template <class T> XPOPS_DEVICE T operator()(T x, T beta, T threshold) const {
    const T scaled = mul_rn(x, beta), size = abs(scaled);
    const T low = size < -kNothing<T> ? fma(x, beta, -scaled) : T(0);
    const T power = scaled_exp(packed::maximum(-size, kNothing<T>), scaled > 0 ? -low : low) * kUnscale<T>;
    const T tail = detail::log1p_unit(power), y = scaled > 0 ? scaled + (tail + low) : tail;
    // Above 100 the result is x in every dtype, and beta * x may be infinite. A y of 0 is not divided by beta, because
    // 1 / beta is infinite for a subnormal beta, and 0 times infinity is NaN.
    return scaled > threshold || scaled > T(100) ? x : y == 0 ? y : y * (T(1) / beta);
  }
};

namespace detail {

template <class Out> XPOPS_DEVICE float narrow_logistic(float y, float v) {
  const float power = narrow_exp2<Out>(-kLog2e * abs(v)), share = fast_reciprocal(1.0f + power);
  return y * ((v > 0 ? 1.0f : power) * share);
}

}  // namespace detail

template <class Out> struct NarrowSigmoid {
  template <class X> XPOPS_DEVICE Out operator()(X x) const {
    return narrowed<Out>(detail::narrow_logistic<Out>(1.0f, widened(x)));
  }
};

template <class Out> struct NarrowSilu {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    return narrowed<Out>(detail::narrow_logistic<Out>(x, x));
  }
};

template <class Out> struct NarrowGelu {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored), inverse = fast_reciprocal(abs(x) + 2.5f);
    const float power = detail::narrow_exp2<Out>(x * x * (-0.5f * detail::kLog2e));
    const float factor = horner(fma(-5.0f, inverse, 1.0f), 0.706656694f, -0.433692545f, 0.131985471f, 0.00925074145f,
                                -0.0163564794f, -0.00168942218f, 0.00232422049f, 0.000741154072f);
    const float above = power * inverse * factor;
    return narrowed<Out>(x * (x > 0 ? 1.0f - above : above));
  }
};

template <class Out> struct NarrowGeluTanh {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    return narrowed<Out>(detail::narrow_logistic<Out>(x, x * fma(0.0713548163f, x * x, 1.59576912f)));
  }
};

template <class Out> struct NarrowSoftplus {
  template <class X> XPOPS_DEVICE Out operator()(X stored, float beta, float threshold) const {
    const float x = widened(stored), scaled = x * beta;
    const float power = detail::narrow_exp2<Out>(-detail::kLog2e * abs(scaled));
    const float y = power * horner(power, 0.99999994f, -0.499994457f, 0.333181202f, -0.248353988f, 0.190768808f,
                                   -0.136022478f, 0.0775160864f, -0.0290740654f, 0.00512610236f);
    const float sum = (scaled > 0 ? scaled : 0.0f) + y;
    return narrowed<Out>(scaled > threshold || scaled > 100.0f ? x : sum == 0 ? sum : sum * (1.0f / beta));
  }
};

}  // namespace xpops
