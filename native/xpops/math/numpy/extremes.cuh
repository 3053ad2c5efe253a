// Functors of NumPy's functions that compare real numbers.
#pragma once

#include "xpops/math/real.cuh"

namespace xpops {

// If one operand is NaN, the other one. -0 < +0, as in PTX's max and min.
struct Fmax {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if constexpr (!is_floating_v<T>) return x < y ? y : x;
#if XPOPS_ON_GPU
    else if constexpr (is_same_v<T, float>) return fmaxf(x, y);
#endif
    else return x == y ? (signbit(x) ? y : x) : x > y || y != y ? x : y;
  }
};

struct Fmin {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if constexpr (!is_floating_v<T>) return y < x ? y : x;
#if XPOPS_ON_GPU
    else if constexpr (is_same_v<T, float>) return fminf(x, y);
#endif
    else return x == y ? (signbit(x) ? x : y) : x < y || y != y ? x : y;
  }
};

// 0 below 0, 1 above, y at 0. NaN stays NaN, whatever y is.
struct Heaviside {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    return x == T(0) ? y : x < T(0) ? T(0) : x > T(0) ? T(1) : x;
  }
};

}  // namespace xpops
