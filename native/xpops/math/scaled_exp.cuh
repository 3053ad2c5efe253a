// 2^64 exp(x) for x <= 0. The factor preserves all digits where exp(x) is subnormal.
#pragma once

#include "xpops/math/fast.cuh"
#include "xpops/math/packed.cuh"
#include "xpops/math/real.cuh"

namespace xpops {

// 1 / x, if neither x nor 1 / x is subnormal.
XPOPS_DEVICE float reciprocal(float x) {
  const float y = fast_reciprocal(x);
  return fma(fma(-x, y, 1.0f), y, y);
}
XPOPS_DEVICE double reciprocal(double x) { return 1.0 / x; }

template <class T> inline constexpr T kUnscale = T(0x1p-64);
// 2^64 exp(x) is 0 for x < kNothing. So callers may replace such an x by kNothing.
template <class T> inline constexpr T kNothing = is_same_v<T, float> ? T(-200) : T(-900);

// exp(x) = 2^(on_grid - kGrid) (1 + rest), for |x| <= 700.
struct GridExp {
  static constexpr float kGrid = 0x1.8p11f;  // adding it rounds to multiples of 2^-12
  float on_grid, rest;

  XPOPS_DEVICE explicit GridExp(float x) : on_grid(fma(x, 0x1.715476p+0f, kGrid)) {
    const float power = add_rn(on_grid, -kGrid);
    rest = fma(power, 1.904654323148236e-09f, fma(power, -0x1.62e43p-1f, x));
  }
};

// 2^64 exp(x + low), for x from 10 kNothing to 0 and a `low` of the size of x's rounding error.
XPOPS_DEVICE float scaled_exp(float x, float low) {
  const GridExp parts(x);
  const float power = fast_exp2(add_rn(parts.on_grid, 64 - GridExp::kGrid));
  return fma(power, add_rn(parts.rest, low), power);
}
XPOPS_DEVICE double scaled_exp(double x, double low) {
  const double root = exp(0.5 * x) * 0x1p32, power = root * root;
  return fma(power, low, power);
}

}  // namespace xpops
