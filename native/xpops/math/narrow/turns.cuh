// Angles of float16 and bfloat16 numbers less multiples of a half or quarter turn, for NarrowSin, NarrowCos and NarrowTan.
#pragma once

#include "xpops/math/scaled_exp.cuh"

namespace xpops {
namespace detail {

// The difference of x and a multiple of a half or quarter turn. The last bit of `odd` tells of the multiple.
struct Angle {
  float rest;
  uint32 odd;
};

// Adding it rounds numbers up to 2^22 to integers. The last bits of the sum are those of the integer.
constexpr float kToInteger = 0x1.8p23f;

// pi as the sum of two floats. An integer times the first one, subtracted from x, is exact for x up to 2^20.
constexpr float kPiHigh = 0x1.921fb4p+1f, kPiLow = 0x1.4442d2p-23f;

// The fraction of a turn, times 2^64, of the size of a bfloat16 of at least 2^20. The size is an integer of 8 bits
// times a power of 2. So the fraction is the integer times 64 bits of 1 / (2 pi), from the place that the power tells.
XPOPS_DEVICE uint64 turn_of(float x) {
  const uint32 bits = float_bits(x), place = (bits >> 23 & 255) - 134, shift = place & 31;
  const bool second = place & 32, third = place & 64;
  const uint32 a = third ? (second ? 0x7d4d3770u : 0x7f09d5f4u) : (second ? 0x9391054au : 0x28be60dbu);
  const uint32 b = third ? (second ? 0x36d8a566u : 0x7d4d3770u) : (second ? 0x7f09d5f4u : 0x9391054au);
  const uint32 c = third ? (second ? 0x4f10e410u : 0x36d8a566u) : (second ? 0x7d4d3770u : 0x7f09d5f4u);
  const uint64 high = (uint64(a) << 32 | b) << shift, low = (uint64(b) << 32 | c) << shift;
  return ((high & 0xffffffff00000000ull) | low >> 32) * ((bits >> 16 & 0x7f) | 0x80);
}

// A fraction of a turn, times 2^64, less the nearest multiple of a half turn; a half turn is `half`. `zero` is added to
// the rest: 0, or NaN if the angle was not finite.
XPOPS_DEVICE Angle angle_of(uint64 turn, float half, float zero) {
  const float rest = static_cast<float>(static_cast<int64>(turn << 1));
  return {fma(rest, 0x1p-64f * half, zero), static_cast<uint32>((turn + (1ull << 62)) >> 63)};
}

template <class X> XPOPS_DEVICE bool is_huge(float x) { return is_same_v<X, bfloat16> && abs(x) >= 0x1p20f; }

// x, with the opposite sign if y is negative.
XPOPS_DEVICE float with_sign_of(float x, float y) { return bits_float(float_bits(x) ^ (float_bits(y) & 0x80000000u)); }

// x less the nearest multiple of pi.
template <class X> XPOPS_DEVICE Angle from_half_turn(float x) {
  const float integer = fma(x, 0.318309886f, kToInteger), count = integer - kToInteger;
  Angle angle = {fma(count, -kPiLow, fma(count, -kPiHigh, x)), float_bits(integer)};
  if (is_huge<X>(x)) {
    angle = angle_of(turn_of(x), 3.14159265f, x - x);
    angle.rest = with_sign_of(angle.rest, x);
  }
  return angle;
}

// An odd multiple of pi / 2 less x, or a number with the same sine, which is the cosine of x or its opposite: the
// opposite if `odd`, for the multiples 3, 7, -1 ...
template <class X> XPOPS_DEVICE Angle to_odd_quarter_turn(float x) {
#if XPOPS_ON_GPU
  const float below = __fmaf_rd(x, 0.636619772f, kToInteger);
#else
  const float below = static_cast<float>(::floor(static_cast<double>(x) * 0.636619772f)) + kToInteger;
#endif
  const uint32 nearest = float_bits(below) | 1;
  const float count = bits_float(nearest) - kToInteger;
  Angle angle = {fma(count, 0.5f * kPiLow, fma(count, 0.5f * kPiHigh, -x)), nearest >> 1};
  if (is_huge<X>(x)) angle = angle_of(turn_of(x) + (1ull << 62), 3.14159265f, x - x);
  return angle;
}

// x less the nearest multiple of pi / 2.
template <class X> XPOPS_DEVICE Angle from_quarter_turn(float x) {
  const float integer = fma(x, 0.636619772f, kToInteger), count = integer - kToInteger;
  Angle angle = {fma(count, -0.5f * kPiLow, fma(count, -0.5f * kPiHigh, x)), float_bits(integer) & 1};
  if (is_huge<X>(x)) {
    angle = angle_of(turn_of(x) << 1, 1.57079633f, x - x);
    angle.rest = with_sign_of(angle.rest, x);
  }
  return angle;
}

// The sine of an Angle's rest, with the opposite sign if `odd`.
XPOPS_DEVICE float sine(Angle angle) {
  const float x = angle.rest;
  const float y = x * horner(x * x, 0.999999046f, -0.16665554f, 0.008311891f, -0.000184878707f);
  return bits_float(float_bits(y) ^ angle.odd << 31);
}

}  // namespace detail
}  // namespace xpops
