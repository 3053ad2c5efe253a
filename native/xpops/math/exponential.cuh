// Exponentials, logarithms and square root.
// For a complex dtype include complex.cuh too: the unqualified calls find its overloads by argument-dependent lookup.
#pragma once

#include "xpops/math/real.cuh"
#include "xpops/math/scaled_exp.cuh"

namespace xpops {

struct Exp {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return exp(x); }
};

struct Expm1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return expm1(x); }
};

struct Log {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return log(x); }
};

struct Log1p {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return log1p(x); }
};

struct Log2 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return log2(x); }
};

struct Log10 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return log10(x); }
};

struct Sqrt {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return sqrt(x); }
};

// log(exp(x) + exp(y)). Equal operands have their own branch, which avoids inf - inf.
struct Logaddexp {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    constexpr T kLog2 = static_cast<T>(0.693147180559945309417);
    if (x == y) return x + kLog2;
    const T d = x - y;
    return isnan(d) ? d : (d > 0 ? x : y) + log1p(exp(-abs(d)));  // lanes of a warp take one way
  }
};

// log2(2^x + 2^y), in the same way.
struct Logaddexp2 {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    constexpr T kLog2e = static_cast<T>(1.44269504088896340736);
    if (x == y) return x + T(1);
    const T d = x - y;
    return isnan(d) ? d : fma(log1p(exp2(-abs(d))), kLog2e, d > 0 ? x : y);
  }
};

// No root of a float16 number is within 2^-25 below or 2^-22.1 above the middle of two others. So a root that is made
// smaller by 2^-23 is rounded correctly, though it may be 2 ulp wrong. Roots of bfloat16 are farther from the middles.
template <class Out> struct NarrowSqrt {
  template <class X> XPOPS_DEVICE Out operator()(X x) const {
    if constexpr (is_same_v<Out, float16>) return narrowed<Out>(fast_sqrt(widened(x)) * 0.9999999f);
    // The hardware takes subnormal operands as 0.
    const float given = widened(x);
    const bool is_small = abs(given) < 0x1p-100f;
    return narrowed<Out>(fast_sqrt(is_small ? given * 0x1p100f : given) * (is_small ? 0x1p-50f : 1.0f));
  }
};

template <class Out> struct NarrowExp {
  template <class X> XPOPS_DEVICE Out operator()(X x) const {
    return narrowed<Out>(detail::narrow_exp2<Out>(detail::kLog2e * widened(x)));
  }
};

template <class Out> struct NarrowExpm1 {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    const float near = x * horner(x, 0.99999994f, 0.499991477f, 0.166670337f, 0.0419106893f, 0.008333317f);
    return narrowed<Out>(abs(x) < 0.375f ? near : fast_exp2(detail::kLog2e * x) - 1.0f);
  }
};

namespace detail {

// unit * log(x), where y is x - 1. The hardware's logarithm has too large an error near 1.
template <class X> XPOPS_DEVICE float narrow_log(float x, float y, double unit) {
  const float near = y * horner(y, float(1.0 * unit), float(-0.499987066 * unit), float(0.333314806 * unit),
                                float(-0.25329566 * unit), float(0.203301564 * unit));
  return abs(y) < 0.125f ? near : narrow_log2<X>(x) * float(0.69314718055994531 * unit);
}

}  // namespace detail

template <class Out> struct NarrowLog {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    return narrowed<Out>(detail::narrow_log<X>(x, x - 1.0f, 1.0));
  }
};

template <class Out> struct NarrowLog1p {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    return narrowed<Out>(detail::narrow_log<float16>(x + 1.0f, x, 1.0));  // no subnormal logarithm
  }
};

template <class Out> struct NarrowLog2 {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    return narrowed<Out>(detail::narrow_log<X>(x, x - 1.0f, 1.44269504088896341));
  }
};

template <class Out> struct NarrowLog10 {
  template <class X> XPOPS_DEVICE Out operator()(X stored) const {
    const float x = widened(stored);
    return narrowed<Out>(detail::narrow_log<X>(x, x - 1.0f, 0.434294481903251828));
  }
};

}  // namespace xpops
