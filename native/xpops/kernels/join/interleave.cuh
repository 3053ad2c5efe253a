// Joins arrays along a new last axis: a thread loads a pack of each array, and turns the packs in registers. They pass
// through shared memory, so that neighbouring threads write neighbouring packs.
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
  constexpr int kCount = Params::kCount, kPacks = kThreads * kCount;
  using Packed = Pack<W, kPack>;
  using Bits = typename Packed::Bits;
  static_assert(Packed::kWords == 1, "a pack is one access");
  constexpr int kRow = 8;  // packs, after which there is one of padding: threads write to different banks
  __shared__ Bits turned[kPacks + kPacks / kRow];
  const uint64 first = static_cast<uint64>(blockIdx.x) * kThreads * kPack;
  if (first + kThreads * kPack <= params.size) {
    Packed packs[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      packs[k].load_unaligned(reinterpret_cast<const W*>(params.sources[k]) + first + threadIdx.x * kPack);
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      Packed pack;
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        const int place = k * kPack + i;
        pack.elem[i] = packs[place % kCount].elem[place / kCount];
      }
      const int to = static_cast<int>(threadIdx.x) * kCount + k;
      turned[to + to / kRow] = pack.bits[0];
    }
    __syncthreads();
    W* out = reinterpret_cast<W*>(params.out) + first * kCount;
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const int from = static_cast<int>(threadIdx.x) + k * kThreads;
      Packed pack;
      pack.bits[0] = turned[from + from / kRow];
      pack.store(out + from * kPack);
    }
  } else {
    W* out = reinterpret_cast<W*>(params.out);
#pragma unroll 1
    for (uint64 row = first + threadIdx.x; row < params.size; row += kThreads) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) out[row * kCount + k] = reinterpret_cast<const W*>(params.sources[k])[row];
    }
  }
}

}  // namespace xpops
