// 2^64 exp(x) for x <= 0, and reciprocals. The factor preserves all digits where exp(x) is subnormal.
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
XPOPS_DEVICE double reciprocal(double x) {
#if XPOPS_ON_GPU
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));  // 20 bits; infinite or 0 for what is not accepted
  y = fma(fma(-x, y, 1.0), y, y);
  return fma(fma(-x, y, 1.0), y, y);
#else
  return 1.0 / x;
#endif
}

// 1 / sqrt(x) for x that is positive, normal and finite; within 0.7 ulp. The hardware's estimate is refined once.
XPOPS_DEVICE float inverse_root(float x) {
#if XPOPS_ON_GPU
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));  // 22 bits
#else
  const float y = 1.0f / sqrt(x);
#endif
  return fma(0.5f * y, fma(-x * y, y, 1.0f), y);
}
XPOPS_DEVICE double inverse_root(double x) {
#if XPOPS_ON_GPU
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));  // 20 bits
#else
  const double y = 1.0 / sqrt(x);
#endif
  const double e = fma(-x * y, y, 1.0);
  return fma(y * e, fma(e, 0.375, 0.5), y);
}

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
// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2: a Chebyshev fit with an error of 2^-55 in exp(r).
XPOPS_TABLE double kExpTable[] = {
    0.5000000000000001,     0.16666666666666669,    0.04166666666662413,    0.008333333333330062,
    0.0013888888917213717,  0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06,
    2.7620088445409746e-07, 2.510038549551032e-08};

XPOPS_DEVICE double scaled_exp(double x, double low) {
  constexpr double kWhole = 0x1.8p52;  // adding it rounds to integers, whose low bits are those of the sum
  const double given = x < kNothing<double> ? kNothing<double> : x;
  const double shifted = fma(given, 0x1.71547652b82fep+0, kWhole), power = add_rn(shifted, -kWhole);
  const double high = fma(power, -0x1.62e42fefa39efp-1, given);
  const double rest = fma(power, -0x1.abc9e3b39803fp-56, add_rn(high, low));
  const double found = fma(rest, fma(rest, horner(rest, kExpTable), 1.0), 1.0);
  // The power of two is split, since it may be below all doubles.
  const int whole = static_cast<int>(float_bits(shifted)) + 64, half = whole >> 1;
  const double first = bits_float(static_cast<uint64>(1023 + half) << 52);
  return found * first * bits_float(static_cast<uint64>(1023 + whole - half) << 52);
}

// exp(x) for x <= 0. CUDA's exp(double) takes twice the instructions.
XPOPS_DEVICE float exp_negative(float x) { return exp(x); }
XPOPS_DEVICE double exp_negative(double x) { return scaled_exp(x, 0.0) * kUnscale<double>; }

}  // namespace xpops
