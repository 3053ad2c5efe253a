// Copies a window onto an array: along each axis the result's element at c is the array's at c - start. Beyond the array
// it is a fill value (pad), or the array begins anew (roll). A window may be a band of matrices: elements on other
// diagonals are the fill value, and their place in the array is not read (tril, triu, eye).
#pragma once

#include <xpops/index/coordinates.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// The kernel parameters, which the host writes (xpops/plan/window.py). Slots: the addresses of the result and the array,
// then the bytes of the fill value. The result is C-contiguous; `divisors` are its lengths.
template <int kRank, class Index_>
struct WindowParams {
  using Index = Index_;
  using Stride = typename SignedOf<Index>::type;
  static constexpr int kAxes = kRank;
  uint64 slots[4];
  uint64 size;
  FastDivMod<Index> divisors[kRank > 1 ? kRank - 1 : 1];
  Stride strides[kRank], starts[kRank], lengths[kRank];
  Stride low, high;  // the diagonals of the band: column - row
};

// Along one axis: the position in the array; negative if it is beyond and kWraps is false.
template <bool kWraps, class Stride>
XPOPS_DEVICE Stride position_in(Stride at, Stride start, Stride length) {
  const Stride found = at - start;
  if (kWraps) return found < 0 ? found + length : found;
  return found < length ? found : -1;
}

template <class W, bool kWraps, bool kBand, int kPack, class Params>
struct Window {
  using Index = typename Params::Index;
  using Stride = typename Params::Stride;
  static constexpr int kLast = Params::kAxes - 1;

  const Params& params;
  const W* x;
  W fill;

  XPOPS_DEVICE explicit Window(const Params& params)
      : params(params), x(reinterpret_cast<const W*>(params.slots[1])), fill(*reinterpret_cast<const W*>(&params.slots[2])) {}

  // The offset of the row of an element along all axes but the last; false if the row is beyond the array.
  XPOPS_DEVICE bool row_of(const Coordinates<Params::kAxes, Index>& at, int64& offset) const {
    bool inside = true;
    offset = 0;
#pragma unroll
    for (int axis = 0; axis < kLast; ++axis) {
      const Stride found = position_in<kWraps>(static_cast<Stride>(at.at[axis]), params.starts[axis], params.lengths[axis]);
      inside = inside && found >= 0;
      offset += static_cast<int64>(found) * params.strides[axis];
    }
    return inside;
  }

  XPOPS_DEVICE W element(Index linear) const {
    const Coordinates<Params::kAxes, Index> at(params.divisors, linear);
    int64 row;
    const bool inside = row_of(at, row) && diagonals_of(at, 1) == Diagonals::kWithin;
    const Stride found = position_in<kWraps>(static_cast<Stride>(at.at[kLast]), params.starts[kLast], params.lengths[kLast]);
    return inside && found >= 0 ? x[row + static_cast<int64>(found) * params.strides[kLast]] : fill;
  }

  XPOPS_DEVICE void load(Index linear, Pack<W, kPack>& to) const {
    const Coordinates<Params::kAxes, Index> at(params.divisors, linear);
    const Stride length = params.lengths[kLast];
    Stride first = static_cast<Stride>(at.at[kLast]) - params.starts[kLast];
    if (kWraps && first < 0) first += length;
    const Diagonals diagonals = diagonals_of(at, kPack);
    if (at.starts_run(params.divisors, kPack) && first >= 0 && first + kPack <= length &&
        diagonals != Diagonals::kPartly) {
      int64 row;
      if (row_of(at, row) && diagonals == Diagonals::kWithin) {
        load_run(x + row + static_cast<int64>(first) * params.strides[kLast], params.strides[kLast], to);
      } else {
#pragma unroll
        for (int i = 0; i < kPack; ++i) to.elem[i] = fill;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) to.elem[i] = element(linear + i);
    }
  }

 private:
  enum class Diagonals { kWithin, kPartly, kBeyond };

  // Whether `count` elements of a row, from this one on, lie on diagonals of the band.
  XPOPS_DEVICE Diagonals diagonals_of(const Coordinates<Params::kAxes, Index>& at, int count) const {
    if constexpr (kBand) {
      const Stride first = static_cast<Stride>(at.at[kLast]) - static_cast<Stride>(at.at[kLast - 1]);
      const Stride last = first + (count - 1);
      if (last < params.low || first > params.high) return Diagonals::kBeyond;
      if (first < params.low || last > params.high) return Diagonals::kPartly;
    }
    return Diagonals::kWithin;
  }

  XPOPS_DEVICE static void load_run(const W* from, Stride stride, Pack<W, kPack>& to) {
    if (stride == 1) {
      to.load_unaligned(from);
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) to.elem[i] = from[i * static_cast<int64>(stride)];
    }
  }
};

// W: any type of an element's size. A block writes kBlock * kUnroll packs.
template <class W, bool kWraps, bool kBand, int kBlock, int kPack, int kUnroll, class Params>
XPOPS_DEVICE void window(const Params& params) {
  using Index = typename Params::Index;
  constexpr Index kStep = kBlock * kPack, kTile = kStep * kUnroll;
  const Window<W, kWraps, kBand, kPack, Params> from(params);
  W* to = reinterpret_cast<W*>(params.slots[0]);
  const Index tile = static_cast<Index>(blockIdx.x) * kTile;
  if (tile + kTile <= params.size) {
    const Index first = tile + threadIdx.x * kPack;
    Pack<W, kPack> packs[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) from.load(first + u * kStep, packs[u]);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) packs[u].store(to + first + u * kStep);
  } else {
#pragma unroll 1
    for (Index linear = tile + threadIdx.x; linear < params.size; linear += kBlock) to[linear] = from.element(linear);
  }
}

}  // namespace xpops
