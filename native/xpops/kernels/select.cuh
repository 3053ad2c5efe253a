// Selection: the elements of an array that a predicate chooses, in order, as elements, coordinates or group numbers.
//
// There are three kernels, and none waits for another block. `count_tiles` counts the chosen elements of each tile and
// writes a bit for each element. `scan_tiles` turns the counts into the first place of each tile in the result, and
// into their total, which the host reads to allocate the result. `select` (or `number_groups`) reads the bits. `select`
// packs the chosen elements of a tile in shared memory, so that it writes the result in whole packs. It may run before
// the host knows the total. Then the result may have too little memory: the last slot is the number of elements that
// have memory, and `select` writes no more.
#pragma once

#include <xpops/index/coordinates.cuh>
#include <xpops/kernels/count_tiles.cuh>

namespace xpops {

// One thread's part of a tile: kUnroll packs of kPack elements, with a stride of kStep, the packs of one warp.
template <int kThreads, int kPack, int kUnroll>
struct Part {
  static constexpr uint32 kStep = kWarp * kPack, kTile = kThreads * kPack * kUnroll;
  uint64 base;            // first element of the tile
  uint32 valid;           // elements of the tile
  uint32 first;           // place of the first pack in the tile
  uint32 flags[kUnroll];  // for each pack, a bit for each of its elements: 1 if chosen
  uint32 rank[kUnroll];   // for each pack, the number of chosen elements before it in the tile

  template <class Params>
  XPOPS_DEVICE explicit Part(const Params& params) {
    base = static_cast<uint64>(blockIdx.x) * kTile;
    valid = params.size - base < kTile ? static_cast<uint32>(params.size - base) : kTile;
    first = warp() * kUnroll * kStep + lane() * kPack;
    const uint32* words = slot<const uint32>(params, 0) + base / kWordBits;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) flags[u] = at(u) < valid ? words[at(u) / kWordBits] : 0;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) flags[u] = flags[u] >> at(u) % kWordBits & ((1u << kPack) - 1);
  }

  XPOPS_DEVICE uint32 at(int u) const { return first + u * kStep; }

  // Computes `rank`.
  XPOPS_DEVICE void number() {
    constexpr int kWarps = kThreads / kWarp;
    static_assert(kUnroll % 2 == 0, "two packs are counted at once, in the halves of a word");
    __shared__ uint32 totals[kWarps];
    uint32 running = 0;
#pragma unroll
    for (int u = 0; u < kUnroll; u += 2) {
      const uint32 count = __popc(flags[u]) | __popc(flags[u + 1]) << 16;
      const uint32 prefix = prefix_sum(count), all = shuffle(prefix, kWarp - 1);
      rank[u] = running + ((prefix - count) & 0xffffu);
      rank[u + 1] = running + (all & 0xffffu) + ((prefix - count) >> 16);
      running += (all & 0xffffu) + (all >> 16);
    }
    if (lane() == 0) totals[warp()] = running;
    __syncthreads();
    uint32 before = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) before += w < warp() ? totals[w] : 0;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) rank[u] += before;
  }
};

// The sinks of `select`: what it writes for each chosen element. `Staged` is the type in shared memory.

// A sink: the elements of the array in slot 3. W is any type of their size.
template <class W, int kAccess>
struct Elements {
  using Staged = W;
  static constexpr int kWide = kMaxPackBytes / sizeof(W);

  template <int kPack>
  struct Fragment {
    W elem[kPack];
  };

  // Reads no pack without chosen elements.
  template <int kPack, class Params>
  XPOPS_DEVICE static void load(const Params& params, uint64 base, uint32 at, uint32 valid, uint32 flags,
                                Fragment<kPack>& to) {
    const W* from = slot<const W>(params, 3) + base + at;
    if (flags == 0) return;
    if (at + kPack <= valid) {
      load_elements<W, kPack, kAccess>(from, to.elem);
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        if (flags >> i & 1) to.elem[i] = from[i];
      }
    }
  }

  template <int kPack>
  XPOPS_DEVICE static W staged(const Fragment<kPack>& from, uint32, int i) {
    return from.elem[i];
  }

  template <int kSize, class Params>
  XPOPS_DEVICE static void write(const Params& params, uint64, uint64 place, const W* from) {
    Pack<W, kSize> pack;
    pack.load(from);
    pack.store(slot<W>(params, 2) + place);
  }
};

// A sink: the coordinates of the elements, an array of int64 for each axis, from slot 2 on.
template <int kRank, class Index>
struct Indices {
  using Staged = uint16;
  static constexpr int kWide = kMaxPackBytes / sizeof(int64);

  template <int kPack>
  struct Fragment {};

  template <int kPack, class Params>
  XPOPS_DEVICE static void load(const Params&, uint64, uint32, uint32, uint32, Fragment<kPack>&) {}

  template <int kPack>
  XPOPS_DEVICE static uint16 staged(const Fragment<kPack>&, uint32 at, int i) {
    return static_cast<uint16>(at + i);
  }

  template <int kSize, class Params>
  XPOPS_DEVICE static void write(const Params& params, uint64 base, uint64 place, const uint16* from) {
    Pack<uint16, kSize> places;
    places.load(from);
    Pack<int64, kSize> packs[kRank];
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const Coordinates<kRank, Index> where(params.divisors, static_cast<Index>(base + places.elem[i]));
#pragma unroll
      for (int axis = 0; axis < kRank; ++axis) packs[axis].elem[i] = static_cast<int64>(where.at[axis]);
    }
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) packs[axis].store(slot<int64>(params, 2 + axis) + place);
  }
};

// As SelectParams, with the strides of an array.
template <int kRank, class Index>
struct StridedParams {
  uint64 slots[5];
  uint64 size;
  FastDivMod<Index> divisors[kRank > 1 ? kRank - 1 : 1];
  typename SignedOf<Index>::type strides[kRank];
};

// A sink: the elements of the array in slot 3, which has strides.
template <class W, int kRank, class Index>
struct Gathered : Indices<kRank, Index> {
  static constexpr int kWide = sizeof(W) < 4 ? 4 : kMaxPackBytes / sizeof(W);

  template <int kSize, class Params>
  XPOPS_DEVICE static void write(const Params& params, uint64 base, uint64 place, const uint16* from) {
    Pack<W, kSize> pack;
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const Coordinates<kRank, Index> at(params.divisors, static_cast<Index>(base + from[i]));
      pack.elem[i] = slot<const W>(params, 3)[at.offset(params.strides)];
    }
    pack.store(slot<W>(params, 2) + place);
  }
};

// A sink: writes the elements of slot 3, one after the other, to the chosen places of the array in slot 2.
template <class W, int kRank, class Index>
struct Replaced : Indices<kRank, Index> {
  static constexpr int kWide = 1;  // neighbouring threads write neighbouring places

  template <int kSize, class Params>
  XPOPS_DEVICE static void write(const Params& params, uint64 base, uint64 place, const uint16* from) {
    const Coordinates<kRank, Index> at(params.divisors, static_cast<Index>(base + *from));
    slot<W>(params, 2)[at.offset(params.strides)] = slot<const W>(params, 3)[place];
  }
};

// A block collects its chosen elements in shared memory, from `shift` on: there they have the same alignment as in the
// result, so that whole packs can be copied. Places are computed as place + (k - shift), because NVRTC 13 knows the
// lowest bits of (place - shift) + k and would split the store of a pack.
template <class Sink, class Offset, int kThreads, int kPack, int kUnroll, class Params>
XPOPS_DEVICE void select(const Params& params) {
  using Tile = Part<kThreads, kPack, kUnroll>;
  constexpr uint32 kWide = Sink::kWide;
  alignas(kMaxPackBytes) __shared__ typename Sink::Staged chosen[Tile::kTile + kWide];
  const Offset* offsets = slot<const Offset>(params, 1) + blockIdx.x;
  const uint64 place = offsets[0], room = params.slots[sizeof(params.slots) / sizeof(uint64) - 1];
  const uint64 stop = offsets[1] < room ? offsets[1] : room;
  if (stop <= place) return;
  const uint32 shift = place % kWide, end = shift + static_cast<uint32>(stop - place);
  Tile part(params);
  typename Sink::template Fragment<kPack> fragments[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    Sink::load(params, part.base, part.at(u), part.valid, part.flags[u], fragments[u]);
  }
  part.number();
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    typename Sink::Staged* to = chosen + shift + part.rank[u];
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      if (part.flags[u] >> i & 1) *to++ = Sink::staged(fragments[u], part.at(u), i);
    }
  }
  __syncthreads();
  for (uint32 k = threadIdx.x * kWide; k < end; k += kThreads * kWide) {
    if (k >= shift && k + kWide <= end) {
      Sink::template write<kWide>(params, part.base, place + (k - shift), chosen + k);
    } else {
#pragma unroll 1
      for (uint32 i = k; i < k + kWide; ++i) {
        if (i >= shift && i < end) Sink::template write<1>(params, part.base, place + (i - shift), chosen + i);
      }
    }
  }
}

// For every element, writes the number of chosen elements up to and including it, minus 1. This is the number of its
// group if the first element of each group is chosen. The results go to slot 2, at the places that slot 3 names.
template <class Offset, int kThreads, int kPack, int kUnroll, class Params>
XPOPS_DEVICE void number_groups(const Params& params) {
  Part<kThreads, kPack, kUnroll> part(params);
  part.number();
  const int64* order = slot<const int64>(params, 3) + part.base;
  const int64 before = static_cast<int64>(slot<const Offset>(params, 1)[blockIdx.x]) - 1;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      const uint32 at = part.at(u) + i;
      const uint32 upto = part.flags[u] & (0xffffffffu >> (31 - i));
      if (at < part.valid) slot<int64>(params, 2)[order[at]] = before + part.rank[u] + __popc(upto);
    }
  }
}

}  // namespace xpops
