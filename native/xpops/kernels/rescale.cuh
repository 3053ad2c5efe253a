// Scales vectors by a power of two, and back, if the squares of their numbers would overflow or underflow.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/core/types.cuh>
#include <xpops/index/divmod.cuh>

namespace xpops {

// Slots: the real numbers, and a word for each vector: 0 at first, then the largest `magnitude` in the vector.
struct RescaleParams {
  uint64 slots[2];
  uint64 size;
  FastDivMod<uint64> per_vector;  // real numbers in a vector
};

template <class Real>
struct Exponent;
template <>
struct Exponent<float> {
  static constexpr int kShift = 23, kBias = 127, kMost = 36;
  XPOPS_DEVICE static float power(int exponent) { return bits_float(static_cast<uint32>(exponent + kBias) << kShift); }
};
template <>
struct Exponent<double> {
  static constexpr int kShift = 20, kBias = 1023, kMost = 300;
  XPOPS_DEVICE static double power(int exponent) {
    return bits_float(static_cast<uint64>(exponent + kBias) << (kShift + 32));
  }
};

// The upper 32 bits without the sign. As unsigned integers they have the order of the absolute values.
XPOPS_DEVICE uint32 magnitude(float x) { return float_bits(x) & 0x7fffffffu; }
XPOPS_DEVICE uint32 magnitude(double x) { return static_cast<uint32>(float_bits(x) >> 32) & 0x7fffffffu; }

template <class Real>
XPOPS_DEVICE void find_magnitudes(const RescaleParams& params) {
  const uint64 at = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  uint64 vector = at < params.size ? at : params.size - 1;
  uint32 found = magnitude(reinterpret_cast<const Real*>(params.slots[0])[vector]);
  params.per_vector.divmod(vector);
  uint32* words = reinterpret_cast<uint32*>(params.slots[1]);
  if (__all_sync(kFullMask, vector == shuffle(vector, 0))) {
#pragma unroll
    for (int mask = kWarp / 2; mask > 0; mask /= 2) {
      const uint32 other = shuffle_xor(found, mask);
      found = other > found ? other : found;
    }
    if (lane() == 0 && found > words[vector]) atomicMax(words + vector, found);
  } else if (found > words[vector]) {
    atomicMax(words + vector, found);
  }
}

// Multiplies a vector by the power of two that makes its largest number about 1. kBack multiplies by the inverse. A
// vector stays as it is if its largest number has an ordinary size or is not finite.
template <class Real, bool kBack>
XPOPS_DEVICE void rescale(const RescaleParams& params) {
  using Bits = Exponent<Real>;
  const uint64 at = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= params.size) return;
  uint64 vector = at;
  params.per_vector.divmod(vector);
  const uint32 largest = reinterpret_cast<const uint32*>(params.slots[1])[vector];
  const int exponent = static_cast<int>(largest >> Bits::kShift) - Bits::kBias;
  if ((exponent <= Bits::kMost && exponent >= -Bits::kMost) || exponent > Bits::kBias) return;
  // In two steps, because a single power of two may be subnormal or too large.
  const int power = kBack ? exponent : -exponent, half = power / 2;
  Real* x = reinterpret_cast<Real*>(params.slots[0]) + at;
  *x = *x * Bits::power(half) * Bits::power(power - half);
}

}  // namespace xpops
