// Assigns where a mask is True. Packs without a True are neither read nor written; packs that are all True are not
// read.
//
// A warp reads kMaskPack elements of the mask for each lane, usually more than a pack of the array has. Lanes exchange
// them as bits, so that neighbouring lanes write neighbouring packs.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/kernels/elementwise.cuh>

namespace xpops {

// Bit i is element i of the mask.
template <class Mask, int kPack, class Params>
XPOPS_DEVICE uint32 bits_of(const Params& params, typename Mask::template Fragment<kPack>& mask) {
  mask.settle();
  uint32 bits = 0;
#pragma unroll
  for (int i = 0; i < kPack; ++i) bits |= static_cast<uint32>(Mask::template value<kPack>(params, mask, i)) << i;
  return bits;
}

// A pack of the array, where `chosen` has the bits of the mask.
template <class Out, int kPack, class Value>
struct Assigned {
  static constexpr uint32 kAll = (1u << kPack) - 1;
  uint32 chosen;
  typename Out::template Fragment<kPack> out;
  typename Value::template Fragment<kPack> value;

  template <class Params>
  XPOPS_DEVICE void load(const Params& params, typename Params::Index linear) {
    if (chosen) Value::load(params, linear, value);
    if constexpr (kPack > 1) {
      if (chosen && chosen != kAll) out.pack.load(Out::base(params) + Out::offset(params, linear));
    }
  }

  template <class Params>
  XPOPS_DEVICE void store(const Params& params, typename Params::Index linear) {
    constexpr bool kScalar = Value::kMode == Mode::kScalar;
    // Converted outside of the branch, so that the compiler converts a scalar once for all packs.
    [[maybe_unused]] typename Out::Element scalar;
    if constexpr (kScalar) scalar = Value::template value<kPack>(params, value, 0);
    if (!chosen) return;
    value.settle();
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      if (chosen >> i & 1) {
        if constexpr (kScalar) out.pack.elem[i] = scalar;
        else out.pack.elem[i] = Value::template value<kPack>(params, value, i);
      }
    }
    Out::store(params, linear, out);
  }
};

// Assigns to kUnroll packs of the mask for each thread, from element `first` on.
template <class Out, int kBlock, int kPack, int kMaskPack, int kUnroll, class Mask, class Value, class Params>
XPOPS_DEVICE void assign_packs(const Params& params, typename Params::Index first) {
  using Index = typename Params::Index;
  constexpr int kEach = kMaskPack / kPack;  // the packs of the array for each pack of the mask
  typename Mask::template Fragment<kMaskPack> mask[kUnroll];
  Assigned<Out, kPack, Value> packs[kUnroll][kEach];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    Mask::load(params, first + static_cast<Index>((u * kBlock + threadIdx.x) * kMaskPack), mask[u]);
  }
  const uint32 lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const auto at = [&](int u, int i) {
    return first + static_cast<Index>((u * kBlock + warp * kWarp) * kMaskPack + (i * kWarp + lane) * kPack);
  };
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const uint32 bits = bits_of<Mask, kMaskPack>(params, mask[u]);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const uint32 theirs = kEach == 1 ? bits : shuffle(bits, (i * kWarp + lane) / kEach);
      packs[u][i].chosen = theirs >> lane % kEach * kPack & packs[u][i].kAll;
    }
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) packs[u][i].load(params, at(u, i));
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) packs[u][i].store(params, at(u, i));
  }
}

// Assigns to those of kUnroll elements for each thread, from `first` on, that the array has. `first` may be below 0,
// modulo the range of Index: then it is beyond every size.
template <class Out, int kBlock, int kUnroll, class Mask, class Value, class Params>
XPOPS_DEVICE void assign_elements(const Params& params, typename Params::Index first) {
  using Index = typename Params::Index;
  typename Mask::template Fragment<1> mask[kUnroll];
  Assigned<Out, 1, Value> elements[kUnroll];
  const auto at = [&](int u) { return first + static_cast<Index>(u * kBlock + threadIdx.x); };
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    if (at(u) < params.size) Mask::load(params, at(u), mask[u]);
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    elements[u].chosen = at(u) < params.size ? bits_of<Mask, 1>(params, mask[u]) : 0;
    elements[u].load(params, at(u));
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) elements[u].store(params, at(u));
}

// The body of the kernel. A tile that is not full, and the first one of a skewed array, is assigned in packs as far as
// it can be.
template <class Out, int kBlock, int kPack, int kMaskPack, int kUnroll, class Mask, class Value, class Params>
XPOPS_DEVICE void assign(const Params& params) {
  using Index = typename Params::Index;
  constexpr Index kStep = kBlock * kMaskPack, kTile = kStep * kUnroll;
  constexpr int kElements = kMaskPack < 4 ? kMaskPack : 4;
  const Index skew = Out::template skew<kPack>(params), tile = static_cast<Index>(blockIdx.x) * kTile;
  const auto is_inside = [&](Index begin, Index length) {
    return begin >= skew && begin + length <= params.size + skew;
  };
  if (is_inside(tile, kTile)) {
    assign_packs<Out, kBlock, kPack, kMaskPack, kUnroll, Mask, Value>(params, tile - skew);
    return;
  }
#pragma unroll 1
  for (Index step = tile; step < tile + kTile && step < params.size + skew; step += kStep) {
    if (kUnroll > 1 && is_inside(step, kStep)) {
      assign_packs<Out, kBlock, kPack, kMaskPack, 1, Mask, Value>(params, step - skew);
      continue;
    }
#pragma unroll 1
    for (Index begin = step; begin < step + kStep; begin += kBlock * kElements) {
      assign_elements<Out, kBlock, kElements, Mask, Value>(params, begin - skew);
    }
  }
}

}  // namespace xpops
