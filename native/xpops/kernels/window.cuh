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

  // A row of the result: the address of the array's row, or null beyond the array, and the columns of the band.
  struct Row {
    const W* from = nullptr;
    Stride low, high;
  };

  XPOPS_DEVICE Row row_of(const Coordinates<Params::kAxes, Index>& at) const {
    Row row;
    bool inside = true;
    int64 offset = 0;
#pragma unroll
    for (int axis = 0; axis < kLast; ++axis) {
      const Stride found = position_in<kWraps>(static_cast<Stride>(at.at[axis]), params.starts[axis], params.lengths[axis]);
      inside = inside && found >= 0;
      offset += static_cast<int64>(found) * params.strides[axis];
    }
    if (inside) row.from = x + offset;
    if constexpr (kBand) {
      row.low = static_cast<Stride>(at.at[kLast - 1]) + params.low;
      row.high = static_cast<Stride>(at.at[kLast - 1]) + params.high;
    }
    return row;
  }

  XPOPS_DEVICE W element(const Row& row, Stride column) const {
    const Stride found = position_in<kWraps>(column, params.starts[kLast], params.lengths[kLast]);
    const bool inside = row.from && found >= 0 && (!kBand || (column >= row.low && column <= row.high));
    return inside ? row.from[static_cast<int64>(found) * params.strides[kLast]] : fill;
  }
  XPOPS_DEVICE W element(Index linear) const {
    const Coordinates<Params::kAxes, Index> at(params.divisors, linear);
    return element(row_of(at), static_cast<Stride>(at.at[kLast]));
  }

  XPOPS_DEVICE void load(Index linear, Pack<W, kPack>& to) const {
    Coordinates<Params::kAxes, Index> at(params.divisors, linear);
    Row row = row_of(at);
    const Stride column = static_cast<Stride>(at.at[kLast]), stride = params.strides[kLast];
    const Stride rest = static_cast<Stride>(Params::kAxes > 1 ? params.divisors[kLast - 1].divisor : params.size) - column;
    Stride first = column - params.starts[kLast];
    if (kWraps && first < 0) first += params.lengths[kLast];
    const bool whole = first >= 0 && first + kPack <= params.lengths[kLast];
    if (rest >= kPack && (!row.from || (kBand && (column > row.high || column + kPack <= row.low)))) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) to.elem[i] = fill;
    } else if (rest >= kPack && whole && (!kBand || (column >= row.low && column + kPack - 1 <= row.high))) {
      load_run(row.from + static_cast<int64>(first) * stride, stride, to);
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        to.elem[i] = element(row, static_cast<Stride>(at.at[kLast]));
        at.advance(params.divisors);
        if (Params::kAxes > 1 && at.at[kLast] == 0) row = row_of(at);
      }
    }
  }

 private:
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
