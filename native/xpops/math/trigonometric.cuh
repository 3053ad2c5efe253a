// Circular and hyperbolic functions and their inverses.
// For a complex dtype include complex.cuh too: the unqualified calls find its overloads by argument-dependent lookup.
#pragma once

#include "xpops/math/narrow/turns.cuh"
#include "xpops/math/real.cuh"
#include "xpops/math/scaled_exp.cuh"

namespace xpops {

struct Sin {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return sin(x); }
};

struct Cos {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return cos(x); }
};

struct Tan {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return tan(x); }
};

struct Asin {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return asin(x); }
};

struct Acos {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return acos(x); }
};

struct Atan {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return atan(x); }
};

struct Sinh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return sinh(x); }
};

struct Cosh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return cosh(x); }
};

struct Tanh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return tanh(x); }
};

struct Asinh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return asinh(x); }
};

struct Acosh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return acosh(x); }
};

struct Atanh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return atanh(x); }
};

struct Atan2 {
  template <class T> XPOPS_DEVICE T operator()(T y, T x) const { return atan2(y, x); }
};

namespace detail {

// Above 1/2 it is base - 2 asin(sqrt((1 - x) / 2)), else base + asin(x). NaN if x is above 1.
XPOPS_DEVICE float narrow_asin(float x, float base) {
  const bool is_far = x > 0.5f;
  const float rest = fma(-0.5f, x, 0.5f), t = is_far ? -2.0f * fast_sqrt(rest) : x;
  return fma(t, horner(is_far ? rest : x * x, 0.99999851f, 0.166852191f, 0.0714840069f, 0.0650675744f), base);
}

// atan(t) / t for t from -1 to 1, as a function of t^2.
XPOPS_DEVICE float atan_factor(float square) {
  return horner(square, 0.999999344f, -0.333265156f, 0.198814824f, -0.134871915f, 0.0838711932f, -0.0370130017f,
                0.00786337722f);
}

// The smaller of two numbers divided by the larger one. It is 0 for two zeros, and 1 for two infinities.
template <class X> XPOPS_DEVICE float narrow_ratio(float x, float y) {
  float large = packed::maximum(x, y), small = packed::minimum(x, y);
  const bool both_infinite = small == limits<float>::infinity();
  if constexpr (is_same_v<X, bfloat16>) {
    const float scale = scale_of(large);
    large *= scale;
    small *= scale;
  }
  const float ratio = small * fast_reciprocal(packed::maximum(large, 0x1p-30f));
  return both_infinite ? 1.0f : ratio;
}

// exp(x) / 2
XPOPS_DEVICE float half_exp(float x) { return fast_exp2(fma(kLog2e, x, -1.0f)); }

}  // namespace detail

template <class Out> struct NarrowSin {
  template <class X> XPOPS_DEVICE Out operator()(X x) const {
    return narrowed<Out>(detail::sine(detail::from_half_turn<X>(widened(x))));
  }
};

template <class Out> struct NarrowCos {
  template <class X> XPOPS_DEVICE Out operator()(X x) const {
    return narrowed<Out>(detail::sine(detail::to_odd_quarter_turn<X>(widened(x))));
  }
};

template <class Out> struct NarrowTan {
  template <class X> XPOPS_DEVICE Out operator()(X x) const {
    const detail::Angle angle = detail::from_quarter_turn<X>(widened(x));
    const float rest = angle.rest, square = rest * rest;
    const float y = rest *
                    horner(square, 0.999999762f, 0.333359659f, 0.1328471f, 0.0571946055f, 0.0125071993f, 0.0204052329f);
    return narrowed<Out>(angle.odd ? -fast_reciprocal(y) : y);
  }
};

template <class Out> struct NarrowAsin {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored), size = abs(x);
    return narrowed<Out>(copysign(detail::narrow_asin(size, size > 0.5f ? detail::kHalfPi : 0.0f), x));
  }
};

template <class Out> struct NarrowAcos {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored), size = abs(x);
    const float y = detail::narrow_asin(size, 0.0f);  // above 1/2 it is -acos(size), else asin(size)
    const float base = size > 0.5f ? (x < 0 ? 2 * detail::kHalfPi : 0.0f) : detail::kHalfPi;
    return narrowed<Out>(x < 0 ? base + y : base - y);
  }
};

template <class Out> struct NarrowAtan {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    const bool is_far = abs(x) > 1.0f;
    const float t = is_far ? -fast_reciprocal(x) : x, base = copysign(is_far ? detail::kHalfPi : 0.0f, x);
    return narrowed<Out>(fma(t, detail::atan_factor(t * t), base));
  }
};

template <class Out> struct NarrowAtan2 {
  template <class X> XPOPS_DEVICE Out operator()(X stored_y, X stored_x) const {
    const float y = widened(stored_y), x = widened(stored_x);
    const float t = detail::narrow_ratio<X>(abs(y), abs(x));
    float angle = t * detail::atan_factor(t * t);
    if (abs(y) > abs(x)) angle = detail::kHalfPi - angle;
    if (signbit(x)) angle = 2 * detail::kHalfPi - angle;
    return narrowed<Out>(copysign(angle, y));
  }
};

template <class Out> struct NarrowSinh {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    const float near = x * horner(x * x, 1.00000012f, 0.166659713f, 0.00840779301f);
    return narrowed<Out>(abs(x) < 0.5f ? near : detail::half_exp(x) - detail::half_exp(-x));
  }
};

template <class Out> struct NarrowCosh {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    return narrowed<Out>(detail::half_exp(x) + detail::half_exp(-x));
  }
};

template <class Out> struct NarrowTanh {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    const float near = x * horner(x * x, 0.999999464f, -0.333263189f, 0.131902963f, -0.0444022268f);
    const float far = fma(-2.0f, fast_reciprocal(fast_exp2(2 * detail::kLog2e * x) + 1.0f), 1.0f);
    return narrowed<Out>(abs(x) < 0.5f ? near : far);
  }
};

template <class Out> struct NarrowAsinh {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored), size = abs(x);
    const float near = x * horner(x * x, 0.999999404f, -0.166584611f, 0.0732807145f, -0.0326538831f);
    const float far = detail::log_of_sum<X>(size, detail::root_beside<X>(size, 1.0f));
    return narrowed<Out>(size < 0.5f ? near : copysign(far, x));
  }
};

// Both cases take the same root, of x - 1 or of x^2 - 1. It is NaN below 1.
template <class Out> struct NarrowAcosh {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored), y = x - 1.0f;
    const bool is_near = y < 0.5f;
    float root = fast_sqrt(is_near ? y : fma(x, x, -1.0f));
    const float near = root * horner(y, 1.4142127f, -0.117793113f, 0.0259086452f, -0.00577244582f);
    if constexpr (is_same_v<X, bfloat16>) root = x < 0x1p60f ? root : x;  // x * x overflows float
    return narrowed<Out>(is_near ? near : detail::log_of_sum<X>(x, root));
  }
};

template <class Out> struct NarrowAtanh {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    const float near = x * horner(x * x, 0.999999523f, 0.333433539f, 0.196540624f, 0.180048123f);
    const float far = (fast_log2(1.0f + x) - fast_log2(1.0f - x)) * (0.5f * detail::kNaturalLog2);
    return narrowed<Out>(abs(x) < 0.375f ? near : far);
  }
};

}  // namespace xpops
