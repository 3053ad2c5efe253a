// Rounding to integral values. Integers are returned unchanged. Round rounds halves to even and keeps -0; it rounds the
// parts of a complex number separately.
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
