// Joins arrays along a new last axis: a thread loads a pack of each array, and turns the packs in registers.
#pragma once

#include <xpops/memory/pack.cuh>

namespace xpops {

template <int kPieces>
struct InterleaveParams {
  static constexpr int kCount = kPieces;
  uint64 out, sources[kPieces];
  uint64 size;  // words of each piece
};

// W is any type of a word's size. A row of the result has one word of each piece. The result is aligned to packs.
template <class W, int kThreads, int kPack, class Params>
XPOPS_DEVICE void interleave(const Params& params) {
  constexpr int kCount = Params::kCount;
  const uint64 row = (static_cast<uint64>(blockIdx.x) * kThreads + threadIdx.x) * kPack;
  W* out = reinterpret_cast<W*>(params.out) + row * kCount;
  if (row + kPack <= params.size) {
    Pack<W, kPack> packs[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) packs[k].load_unaligned(reinterpret_cast<const W*>(params.sources[k]) + row);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      Pack<W, kPack> turned;
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        const int place = k * kPack + i;
        turned.elem[i] = packs[place % kCount].elem[place / kCount];
      }
      turned.store(out + k * kPack);
    }
  } else {
#pragma unroll 1
    for (uint64 i = row; i < params.size; ++i) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) out[(i - row) * kCount + k] = reinterpret_cast<const W*>(params.sources[k])[i];
    }
  }
}

}  // namespace xpops
