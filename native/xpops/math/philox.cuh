// Philox4x32-10 maps a counter and a key to four random words (J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011). xpops/engine/cpu/random.py computes the same with NumPy.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {

constexpr int kPhiloxRounds = 10;

struct RandomWords {
  uint32 word[4];
  // Two words as one of 64 bits, the first in the low half.
  XPOPS_DEVICE uint64 pair(int i) const { return word[2 * i] | static_cast<uint64>(word[2 * i + 1]) << 32; }
};

// The 64-bit product of two words. It is in PTX, because for operands cast to 64 bits the compiler also computes the
// products with their upper halves, which are 0.
XPOPS_DEVICE void multiply(uint32 x, uint32 y, uint32& high, uint32& low) {
#if XPOPS_ON_GPU
  asm("{\n .reg .b64 p;\n mul.wide.u32 p, %2, %3;\n mov.b64 {%1, %0}, p;\n}"
      : "=r"(high), "=r"(low)
      : "r"(x), "r"(y));
#else
  const uint64 product = static_cast<uint64>(x) * y;
  high = static_cast<uint32>(product >> 32);
  low = static_cast<uint32>(product);
#endif
}

// The counter is `position`, then `branch`, each with its low word first. `keys` has the key of each round. The host
// computes them (xpops/plan/random.py) and passes them as kernel parameters, which instructions read directly.
XPOPS_DEVICE RandomWords philox(uint64 position, uint64 branch, const uint2* keys) {
  uint32 a = static_cast<uint32>(position), b = static_cast<uint32>(position >> 32);
  uint32 c = static_cast<uint32>(branch), d = static_cast<uint32>(branch >> 32);
#pragma unroll
  for (int round = 0; round < kPhiloxRounds; ++round) {
    uint32 left, right, left_low, right_low;
    multiply(a, 0xd2511f53u, left, left_low);
    multiply(c, 0xcd9e8d57u, right, right_low);
    a = right ^ b ^ keys[round].x;
    b = right_low;
    c = left ^ d ^ keys[round].y;
    d = left_low;
  }
  return {{a, b, c, d}};
}

}  // namespace xpops
