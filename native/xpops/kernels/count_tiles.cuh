// The first two passes of a selection: count the chosen elements of each tile, then scan the counts.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/index/divmod.cuh>
#include <xpops/kernels/predicates.cuh>

namespace xpops {

// The kernel parameters, which the host writes (xpops/engine/cuda/kernels/tiles.py, select.py): addresses, the number
// of elements, and divisors. Slot 0: for count_tiles the elements, for the kernels of select.cuh the bits that
// count_tiles wrote. Slot 1: for each tile the number of its chosen elements, which scan_tiles replaces by the first
// place of the tile in the result; and one more entry for the total. The next slots: results and further inputs. The
// last slot of `select`: the number of elements for which the result has memory.
template <int kSlots, int kRank = 1, class Index = uint32>
struct SelectParams {
  uint64 slots[kSlots];
  uint64 size;
  FastDivMod<Index> divisors[kRank > 1 ? kRank - 1 : 1];
};

template <class T, class Params>
XPOPS_DEVICE T* slot(const Params& params, int i) {
  return reinterpret_cast<T*>(params.slots[i]);
}

constexpr int kWordBits = 32;

// Joins the kPack flags of this lane with those of the lanes above to a word. The word is complete in lanes whose flags
// begin a word.
template <int kPack>
XPOPS_DEVICE uint32 joined(uint32 flags) {
#pragma unroll
  for (int bits = kPack; bits < kWordBits; bits *= 2) flags |= shuffle_down(flags, bits / kPack) << bits;
  return flags;
}

// A warp counts the chosen elements of one tile. Its lanes take packs of 16 bytes in turn. The warp writes the count to
// slot 1, and to slot 2 one bit for each element, in whole words. Bits after the last element are 0.
template <class Source, class Offset, int kThreads, int kTile, class Params>
XPOPS_DEVICE void count_tiles(const Params& params) {
  using Element = typename Source::Element;
  constexpr uint32 kPack = Source::kPack, kStep = kWarp * kPack, kRounds = kTile / kStep;
  constexpr uint32 kBatch = kRounds < 8 ? kRounds : 8;
  static_assert(kRounds % kBatch == 0, "a tile is whole batches");
  const Element* x = slot<const Element>(params, 0);
  const uint64 tile = static_cast<uint64>(blockIdx.x) * (kThreads / kWarp) + warp(), base = tile * kTile;
  if (base >= params.size) return;
  const uint32 valid = params.size - base < kTile ? static_cast<uint32>(params.size - base) : kTile;
  const uint32 whole = valid - valid % kPack;
  uint32 rest = 0;  // the flags of the incomplete pack
#pragma unroll 1
  for (uint32 i = whole; i < valid; ++i) rest |= static_cast<uint32>(Source::chosen_at(x, base + i)) << (i - whole);
  uint32* words = slot<uint32>(params, 2) + base / kWordBits + lane() * kPack / kWordBits;
  const bool leads = lane() * kPack % kWordBits == 0;
  uint32 count = 0;
#pragma unroll 1
  for (uint32 round = 0; round < valid; round += kBatch * kStep) {
    const uint32 first = round + lane() * kPack;
    typename Source::Fragment fragments[kBatch];
#pragma unroll
    for (uint32 b = 0; b < kBatch; ++b) {
      if (first + b * kStep < whole) Source::load(x, base + first + b * kStep, fragments[b]);
    }
#pragma unroll
    for (uint32 b = 0; b < kBatch; ++b) {
      const uint32 at = first + b * kStep;
      const uint32 flags = at < whole ? Source::flags(fragments[b], base + at) : at == whole ? rest : 0;
      count += __popc(flags);
      const uint32 word = joined<kPack>(flags);
      if (leads && at < valid) words[round / kWordBits + b * kPack] = word;
    }
  }
#pragma unroll
  for (int reach = 1; reach < kWarp; reach *= 2) count += shuffle_xor(count, reach);
  if (lane() == 0) slot<Offset>(params, 1)[tile] = count;
}

// Inclusive prefix sum of x over the lanes of the warp.
template <class T>
XPOPS_DEVICE T prefix_sum(T x) {
#pragma unroll
  for (int reach = 1; reach < kWarp; reach *= 2) {
    const T below = shuffle_up(x, reach);
    if (lane() >= reach) x += below;
  }
  return x;
}

struct ScanTilesParams {
  uint64 offsets;  // of all tiles and one more; the memory is padded to a multiple of kItems
  uint64 total;    // address of host memory
  uint64 tiles;
};

// One block replaces each count by the sum of the counts before it. The total goes after the last tile and to the host.
template <class Offset, int kThreads, int kItems>
XPOPS_DEVICE void scan_tiles(const ScanTilesParams& params) {
  constexpr int kWarps = kThreads / kWarp, kPack = kMaxPackBytes / sizeof(Offset);
  __shared__ Offset totals[kWarps];
  Offset* offsets = reinterpret_cast<Offset*>(params.offsets);
  Offset carry = 0;
#pragma unroll 1
  for (uint64 base = 0; base <= params.tiles; base += kThreads * kItems) {
    const uint64 first = base + threadIdx.x * kItems;
    Pack<Offset, kPack> packs[kItems / kPack];
    Offset sum = 0;
#pragma unroll
    for (int p = 0; p < kItems / kPack; ++p) {
      if (first <= params.tiles) packs[p].load(offsets + first + p * kPack);
    }
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      Offset& item = packs[i / kPack].elem[i % kPack];
      if (first + i >= params.tiles) item = 0;
      sum += item;
    }
    const Offset prefix = prefix_sum(sum);
    __syncthreads();  // all warps have read the totals of the previous round
    if (lane() == kWarp - 1) totals[warp()] = prefix;
    __syncthreads();
    const Offset warps = prefix_sum(lane() < kWarps ? totals[lane()] : Offset(0));
    const Offset before = shuffle(warps, warp() == 0 ? 0 : warp() - 1);
    Offset place = carry + (warp() == 0 ? 0 : before) + prefix - sum;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      Offset& item = packs[i / kPack].elem[i % kPack];
      const Offset count = item;
      item = place;
      place += count;
    }
#pragma unroll
    for (int p = 0; p < kItems / kPack; ++p) {
      if (first <= params.tiles) packs[p].store(offsets + first + p * kPack);
    }
    carry += shuffle(warps, kWarp - 1);
  }
  if (threadIdx.x == 0) *reinterpret_cast<uint64*>(params.total) = carry;
}

}  // namespace xpops
