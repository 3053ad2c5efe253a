// Powers of 16 bits, without the logarithm of pow(float, float) that two floats hold.
#pragma once

#include "xpops/math/fast.cuh"
#include "xpops/math/pow.cuh"

namespace xpops {
namespace detail {

// Called, so that its branches are compiled once.
static XPOPS_NOINLINE float called_pow_rare(float x, float y) { return pow_rare(x, y); }

// log2(x) for normal x >= 0, relative error below 2^-20.9; not finite for 0, subnormal numbers, infinity and NaN. Near 1,
// where the hardware's logarithm has too large an error, log2(x) = 2 log2(e) atanh(u).
XPOPS_DEVICE float log2_for_pow(float x) {
  const float t = x - 1.0f, u = t * fast_reciprocal(x + 1.0f), v = u * u;
  const float near = u * horner(v, 0x1.715476p+1f, 0x1.ec7466p-1f, 0x1.2665b8p-1f, 0x1.d6bcb4p-2f);
  return abs(t) < 0.4142f ? near : fast_log2(x);
}

}  // namespace detail

// Squares have the same bits as by `Pow`.
template <class Out> struct NarrowPow {
  template <class X> XPOPS_DEVICE Out operator()(X stored_x, X stored_y) const {
    constexpr float kWhole = 0x1p23f;  // floats from here on are integers; those of 16 bits are even from 2^12 on
    const float x = widened(stored_x), y = widened(stored_y);
    if (y == 2.0f || y == 3.0f) return narrowed<Out>(detail::square_or_cube(x, y));
    const float log = detail::log2_for_pow(abs(x));
    const float size = detail::narrow_exp2<Out>(y * log);
    const float steps = abs(y) < 0x1p22f ? abs(y) : 0x1p22f, shifted = add_rn(steps, kWhole);  // y in the lowest bits
    const bool integer = add_rn(shifted, -kWhole) == steps;
    float power = bits_float(float_bits(size) | (float_bits(shifted) << 31 & float_bits(x)));
    if (x < 0 && !integer) power = limits<float>::nan();
    if (!(abs(log) <= limits<float>::max()) | !(abs(y) <= limits<float>::max())) power = detail::called_pow_rare(x, y);
    return narrowed<Out>(power);
  }
};

}  // namespace xpops
