// Windows (window.cuh) whose rows have few elements. The last axes are one inner index, the others one outer index. A
// block computes once at which offset each of its outer indices begins in the array, and the offsets of the elements of
// each pack that the inner index has. A pack is then one division, and for each element a load from shared memory, a sum
// and a load from the array.
#pragma once

#include <xpops/kernels/window.cuh>

namespace xpops {

// W: any type of an element's size. The inner index has at least kPack elements: a pack has those of two outer indices at
// most. A pack may begin at each multiple of 2^shift: they are phases, and kTable / kPack at most. A band is within the
// inner index.
template <class W, Border kBorder, bool kBand, int kInner, int kTable, int kBlock, int kPack, int kUnroll, class Params>
struct ShortWindow {
  using Index = typename Params::Index;
  using Stride = typename Params::Stride;
  using At = Coordinates<Params::kAxes, Index>;
  static constexpr int kOuter = Params::kAxes - kInner, kLast = Params::kAxes - 1, kPhases = kTable / kPack;
  static constexpr Index kStep = kBlock * kPack, kTile = kStep * kUnroll;
  static constexpr Stride kBeyond = static_cast<Stride>(Index{1} << (8 * sizeof(Index) - 1));  // no offset

  struct Tables {
    Stride outer[kBlock * kUnroll + 2], inner[kPack][kPhases];
  };

  // The offset along the axes from kFirst to before kEnd; kBeyond if it is beyond the array.
  template <int kFirst, int kEnd> XPOPS_DEVICE static Stride offset_along(const Params& params, const At& at) {
    Index offset = 0;
    bool inside = true;
#pragma unroll
    for (int axis = kFirst; axis < kEnd; ++axis) {
      const Stride found =
          position_in<kBorder>(static_cast<Stride>(at.at[axis]), params.starts[axis], params.lengths[axis]);
      inside = inside && found >= 0;
      offset += static_cast<Index>(found) * static_cast<Index>(params.strides[axis]);
    }
    if constexpr (kBand && kEnd > kLast) {
      const Stride diagonal = static_cast<Stride>(at.at[kLast]) - static_cast<Stride>(at.at[kLast - 1]);
      inside = inside && diagonal >= params.low && diagonal <= params.high;
    }
    return inside ? static_cast<Stride>(offset) : kBeyond;
  }

  // Fills the tables for the outer indices from `outer` on. Returns whether one of this thread's is in the array. If no
  // thread's is, all of the tile is the fill value, and the tables may be empty.
  XPOPS_DEVICE static bool fill(const Params& params, Index outer, Index outers, Tables& tables) {
    const Index inner = params.inner.divisor;
    const At first(params.divisors, outer * inner);
    // So many outer indices differ from the first along their last axis only.
    constexpr int kAxis = kOuter > 0 ? kOuter - 1 : 0;
    const Index near = kOuter < 2 ? outers : params.divisors[kAxis > 0 ? kAxis - 1 : 0].divisor - first.at[kAxis];
    const Stride before = offset_along<0, kAxis>(params, first);
    if (kBorder == Border::kFill && before == kBeyond && outers <= near) return false;
    for (Index i = threadIdx.x; i < (inner >> params.shift) * kPack; i += kBlock) {
      const Index phase = i / kPack, at = (phase << params.shift) + i % kPack;
      tables.inner[i % kPack][phase] =
          offset_along<kOuter, kLast + 1>(params, At(params.divisors, at < inner ? at : at - inner));
    }
    bool any = false;
    for (Index i = threadIdx.x; i < outers; i += kBlock) {
      Stride offset;
      if (i < near) {
        At at = first;
        at.at[kAxis] += i;
        const Stride last = offset_along<kAxis, kOuter>(params, at);
        offset = before == kBeyond || last == kBeyond ? kBeyond : before + last;
      } else {
        offset = offset_along<0, kOuter>(params, At(params.divisors, (outer + i) * inner));
      }
      tables.outer[i] = offset;
      any = any || offset != kBeyond;
    }
    return any;
  }

  // Loads those of the first `count` elements of a pack that are in the array. `at`: the place of its first after the
  // first outer index of the block.
  XPOPS_DEVICE static void load(const Params& params, const Tables& tables, Index at, int count, Pack<W, kPack>& to) {
    const Index place = params.inner.divmod(at), phase = place >> params.shift, rest = params.inner.divisor - place;
    const Stride here = tables.outer[at], there = tables.outer[at + 1];
    const W* x = reinterpret_cast<const W*>(params.slots[1]);
    if (kBorder == Border::kFill && here == kBeyond && there == kBeyond) return;
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      const Stride outer = i < rest ? here : there, inner = tables.inner[i][phase];
      if (i < count && outer != kBeyond && inner != kBeyond) to.elem[i] = x[outer + inner];
    }
  }
};

template <class W, Border kBorder, bool kBand, int kInner, int kTable, int kBlock, int kPack, int kUnroll, class Params>
XPOPS_DEVICE void short_window(const Params& params) {
  using Index = typename Params::Index;
  using From = ShortWindow<W, kBorder, kBand, kInner, kTable, kBlock, kPack, kUnroll, Params>;
  __shared__ typename From::Tables tables;
  const W fill = *reinterpret_cast<const W*>(&params.slots[2]);
  const Index tile = static_cast<Index>(blockIdx.x) * From::kTile, left = params.size - tile;
  const Index size = left < From::kTile ? left : From::kTile;
  const Index outer = params.inner.div(tile), skipped = tile - outer * params.inner.divisor;
  const bool any = From::fill(params, outer, params.inner.div(skipped + size - 1) + 2, tables);
  const bool reads = __syncthreads_or(any);
  W* to = reinterpret_cast<W*>(params.slots[0]) + tile;
#pragma unroll 1
  for (Index at = threadIdx.x * kPack; at < size; at += From::kStep) {
    Pack<W, kPack> pack;
#pragma unroll
    for (int i = 0; i < kPack; ++i) pack.elem[i] = fill;
    if (at + kPack <= size) {
      if (reads) From::load(params, tables, skipped + at, kPack, pack);
      pack.store(to + at);
    } else {
      if (reads) From::load(params, tables, skipped + at, static_cast<int>(size - at), pack);
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        if (at + i < size) to[at + i] = pack.elem[i];
    }
  }
}

}  // namespace xpops
