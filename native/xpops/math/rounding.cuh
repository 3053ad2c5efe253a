// Rounding to integers: the identity on integers, by part for complex. Round takes halves to even and keeps -0.
#pragma once

#include "xpops/math/real.cuh"

namespace xpops {

struct Round {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if constexpr (is_complex_v<T>) return T(round(x.re), round(x.im));
    else if constexpr (is_floating_v<T>) return round(x);
    else return x;
  }
};

struct Ceil {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if constexpr (is_floating_v<T>) return ceil(x);
    else return x;
  }
};

struct Floor {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if constexpr (is_floating_v<T>) return floor(x);
    else return x;
  }
};

struct Trunc {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if constexpr (is_floating_v<T>) return trunc(x);
    else return x;
  }
};

}  // namespace xpops
