// Copies a window onto an array: along each axis the result's element at c is the array's at c - start. Beyond the array
// it is a fill value (pad), or the array begins anew (roll), or another element of the array (`Border`). A window may be a
// band of matrices: elements on other diagonals are the fill value, and their place in the array is not read (tril, triu,
// eye).
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
  FastDivMod<Index> inner;  // the length of the inner index (short_window.cuh)
  Index shift;              // a pack may begin at each multiple of 2^shift in it
};

// The elements beyond the array, with NumPy's names. kRoll is kWrap up to one length before the array.
enum class Border { kFill, kRoll, kWrap, kEdge, kReflect, kSymmetric };

// Along one axis: the position in the array; negative if it is beyond and the border is the fill value.
template <Border kBorder, class Stride>
XPOPS_DEVICE Stride position_in(Stride at, Stride start, Stride length) {
  const Stride found = at - start;
  if constexpr (kBorder == Border::kRoll) {
    return found < 0 ? found + length : found;
  } else if constexpr (kBorder == Border::kFill) {
    return found < length ? found : -1;
  } else if constexpr (kBorder == Border::kEdge) {
    return found < 0 ? 0 : found < length ? found : length - 1;
  } else {
    if (found >= 0 && found < length) return found;
    const Stride turn = kBorder == Border::kSymmetric, reflected = 2 * (length - 1 + turn);
    const Stride period = kBorder == Border::kWrap ? length : reflected > 0 ? reflected : 1;
    Stride rest = found % period;
    if (rest < 0) rest += period;
    return rest < length ? rest : period - turn - rest;
  }
}

// kShort: rows of the result have fewer elements than a pack.
template <class W, Border kBorder, bool kBand, bool kShort, int kPack, class Params>
struct Window {
  using Index = typename Params::Index;
  using Stride = typename Params::Stride;
  static constexpr int kLast = Params::kAxes - 1;
  static constexpr bool kRolls = kBorder == Border::kRoll, kFills = kBorder == Border::kFill;

  const Params& params;
  const W* x;
  W fill;
  Stride start, length, stride;  // along rows

  XPOPS_DEVICE explicit Window(const Params& params)
      : params(params),
        x(reinterpret_cast<const W*>(params.slots[1])),
        fill(*reinterpret_cast<const W*>(&params.slots[2])),
        start(params.starts[kLast]),
        length(params.lengths[kLast]),
        stride(params.strides[kLast]) {}

  // A row of the result: the offset of the array's row, and the first and the last column that are not the fill value.
  struct Row {
    Index offset;
    Stride first, last;
    XPOPS_DEVICE bool has(Stride column) const { return !kFills || (column >= first && column <= last); }
  };

  XPOPS_DEVICE Row row_of(const Coordinates<Params::kAxes, Index>& at) const {
    Row row = {0, start, start + length - 1};
    bool inside = true;
#pragma unroll
    for (int axis = 0; axis < kLast; ++axis) {
      const Stride found = position_in<kBorder>(static_cast<Stride>(at.at[axis]), params.starts[axis],
                                               params.lengths[axis]);
      inside = inside && found >= 0;
      row.offset += static_cast<Index>(found) * static_cast<Index>(params.strides[axis]);
    }
    if constexpr (kBand) {
      const Stride line = static_cast<Stride>(at.at[kLast - 1]), low = line + params.low, high = line + params.high;
      row.first = row.first < low ? low : row.first;
      row.last = row.last < high ? row.last : high;
    }
    if (!inside) row.last = row.first - 1;
    return row;
  }

  XPOPS_DEVICE const W* address(Index offset) const { return x + static_cast<Stride>(offset); }

  XPOPS_DEVICE W element(const Row& row, Stride column) const {
    const Stride found = position_in<kBorder>(column, start, length);
    W value = fill;
    if (row.has(column)) value = *address(row.offset + static_cast<Index>(found) * static_cast<Index>(stride));
    return value;
  }
  XPOPS_DEVICE W element(Index linear) const {
    const Coordinates<Params::kAxes, Index> at(params.divisors, linear);
    return element(row_of(at), static_cast<Stride>(at.at[kLast]));
  }

  XPOPS_DEVICE void load(Index linear, Pack<W, kPack>& to) const {
    Coordinates<Params::kAxes, Index> at(params.divisors, linear);
    Row row = row_of(at);
    const Stride column = static_cast<Stride>(at.at[kLast]), end = column + (kPack - 1);
    const Stride rest = static_cast<Stride>(Params::kAxes > 1 ? params.divisors[kLast - 1].divisor : params.size) -
                        column;
    const Stride found = position_in<kBorder>(column, start, length);
    if (rest >= kPack && kFills && (end < row.first || column > row.last)) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) to.elem[i] = fill;
    } else if (rest >= kPack && (kRolls ? found + kPack <= length : column >= row.first && end <= row.last)) {
      load_run(address(row.offset + static_cast<Index>(found) * static_cast<Index>(stride)), to);
    } else if constexpr (kShort || !(kFills || kRolls)) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        to.elem[i] = element(row, static_cast<Stride>(at.at[kLast]));
        at.advance(params.divisors);
        if (at.at[kLast] == 0) row = row_of(at);
      }
    } else {
      at.at[kLast] += rest - 1;
      at.advance(params.divisors);
      load_border(row, row_of(at), column, rest, to);
    }
  }

 private:
  // Loads a pack whose first `rest` elements are in one row, and the others in the next. No lane waits for another: only
  // the loads themselves are conditional.
  XPOPS_DEVICE void load_border(const Row& row, const Row& next, Stride column, Stride rest, Pack<W, kPack>& to) const {
    const Index step = static_cast<Index>(stride), wrap = static_cast<Index>(length) * step;
    const Index here = row.offset + static_cast<Index>(column - start) * step;
    const Index there = next.offset - static_cast<Index>(rest + start) * step;
    const Stride more = row.last - column;
    const uint32 filled = bits_between(row.first - column, more < rest ? more : rest - 1) |
                          bits_between((next.first < 0 ? 0 : next.first) + rest, next.last + rest);
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      Index offset = (i < rest ? here : there) + i * step;
      if constexpr (kRolls) offset += i < (i < rest ? start - column : start + rest) ? wrap : 0;
      to.elem[i] = fill;
      if (kRolls || (filled >> i & 1)) to.elem[i] = *address(offset);
    }
  }

  // The bits from `first` to `last` of those that a pack has.
  XPOPS_DEVICE static uint32 bits_between(Stride first, Stride last) {
    first = first < 0 ? 0 : first;
    last = last < kPack ? last : kPack - 1;
    return first <= last ? (2u << last) - (1u << first) : 0;
  }

  XPOPS_DEVICE void load_run(const W* from, Pack<W, kPack>& to) const {
    if (stride == 1) {
      to.load_unaligned(from);
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) to.elem[i] = from[i * static_cast<int64>(stride)];
    }
  }
};

// W: any type of an element's size. A block writes kBlock * kUnroll packs.
template <class W, Border kBorder, bool kBand, bool kShort, int kBlock, int kPack, int kUnroll, class Params>
XPOPS_DEVICE void window(const Params& params) {
  using Index = typename Params::Index;
  constexpr Index kStep = kBlock * kPack, kTile = kStep * kUnroll;
  const Window<W, kBorder, kBand, kShort, kPack, Params> from(params);
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
