// Division by a divisor that the host knows, with a multiplication and a shift.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {

template <class Index>
struct FastDivMod;

// Exact for every 32-bit n and every divisor from 1 on, because the sum has 64 bits and keeps its carry.
// The host computes multiplier and shift (xpops/plan/strides/divmod.py).
template <>
struct FastDivMod<uint32> {
  uint32 divisor, multiplier, shift;

  XPOPS_DEVICE uint32 div(uint32 n) const {
    return static_cast<uint32>((static_cast<uint64>(__umulhi(n, multiplier)) + n) >> shift);
  }
  // Leaves the quotient in n and returns the remainder.
  XPOPS_DEVICE uint32 divmod(uint32& n) const {
    const uint32 quotient = div(n), remainder = n - quotient * divisor;
    n = quotient;
    return remainder;
  }
};

// The same for 64 bits. (high + n) / 2 is computed as high + (n - high) / 2, which does not overflow.
template <>
struct FastDivMod<uint64> {
  uint64 divisor, multiplier, shift;

  XPOPS_DEVICE uint64 div(uint64 n) const {
    if (shift == 0) return n;
    const uint64 high = __umul64hi(n, multiplier);
    return (high + ((n - high) >> 1)) >> (shift - 1);
  }
  XPOPS_DEVICE uint64 divmod(uint64& n) const {
    const uint64 quotient = div(n), remainder = n - quotient * divisor;
    n = quotient;
    return remainder;
  }
};

}  // namespace xpops
