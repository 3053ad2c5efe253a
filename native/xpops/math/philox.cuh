// Philox4x32-10: a counter and a key become four random words (J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011). xpops/engine/cpu/random.py is the same on NumPy.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {

struct RandomWords {
  uint32 word[4];
  // Two of them as one, the first in the low half.
  XPOPS_DEVICE uint64 pair(int i) const { return word[2 * i] | static_cast<uint64>(word[2 * i + 1]) << 32; }
};

// The counter is `position` and `branch`, the key `key`, each with its low word first.
XPOPS_DEVICE RandomWords philox(uint64 position, uint64 branch, uint64 key) {
  uint32 a = static_cast<uint32>(position), b = static_cast<uint32>(position >> 32);
  uint32 c = static_cast<uint32>(branch), d = static_cast<uint32>(branch >> 32);
  const uint32 first = static_cast<uint32>(key), second = static_cast<uint32>(key >> 32);
#pragma unroll
  for (uint32 round = 0; round < 10; ++round) {
    const uint64 left = static_cast<uint64>(a) * 0xd2511f53u, right = static_cast<uint64>(c) * 0xcd9e8d57u;
    a = static_cast<uint32>(right >> 32) ^ b ^ (first + round * 0x9e3779b9u);
    b = static_cast<uint32>(right);
    c = static_cast<uint32>(left >> 32) ^ d ^ (second + round * 0xbb67ae85u);
    d = static_cast<uint32>(left);
  }
  return {{a, b, c, d}};
}

}  // namespace xpops
