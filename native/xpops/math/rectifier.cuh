// Rectifiers. NaN stays NaN. Relu returns +0 for -0.
#pragma once

#include "xpops/core/traits.cuh"
#include "xpops/math/real.cuh"

namespace xpops {

struct Relu {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return x <= T(0) ? T(0) : x; }
};

struct LeakyRelu {
  template <class T> XPOPS_DEVICE T operator()(T x, T slope) const { return x > T(0) ? x : x * slope; }
};

}  // namespace xpops
