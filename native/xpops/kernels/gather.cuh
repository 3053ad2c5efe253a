// Elements at places that an array of indices names: read into a dense result, or written from a dense source.
#pragma once

#include <xpops/core/types.cuh>
#include <xpops/index/coordinates.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// Arrays are seen as (outer, length, inner) words, the axis of the indices in the middle (xpops/engine/cuda/gather.py).
template <class Index_>
struct GatherParams {
  using Index = Index_;
  uint64 out, from, indices;
  uint64 size;    // words of the result
  uint64 length;  // of the axis, not 0
  FastDivMod<Index> inner, count;
};

// Negative indices count from the end, and what is out of range is the nearest there is: nothing else is ever read.
XPOPS_DEVICE int64 clamped(int64 i, int64 length) {
  if (i < 0) i += length;
  if (i < 0) return 0;
  return i < length ? i : length - 1;
}

template <class I>
XPOPS_DEVICE int64 index_at(const I* indices, uint64 i, int64 length) {
  if constexpr (sizeof(I) == 8 && I(-1) > I(0)) {  // uint64, which int64 does not hold
    if (indices[i] >= static_cast<uint64>(length)) return length - 1;
  }
  return clamped(static_cast<int64>(indices[i]), length);
}

// W is any type of a word's size. kEach: there is an index for each word of the result, else one for each row along the
// axis. kOuter: whether axes stand before the one of the indices. The grid may be smaller than the result.
template <class W, class I, bool kEach, bool kOuter, int kThreads, int kUnroll, class Params>
XPOPS_DEVICE void gather(const Params& params) {
  using Index = typename Params::Index;
  constexpr uint64 kTile = kThreads * kUnroll;
  const W* from = reinterpret_cast<const W*>(params.from);
  const I* indices = reinterpret_cast<const I*>(params.indices);
  W* out = reinterpret_cast<W*>(params.out);
#pragma unroll 1
  for (uint64 base = blockIdx.x * kTile; base < params.size; base += gridDim.x * kTile) {
    const uint64 first = base + threadIdx.x;
    uint64 places[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (first + u * kThreads >= params.size) continue;
      Index outer = static_cast<Index>(first + u * kThreads);
      const Index inner = params.inner.divmod(outer);
      const Index row = kOuter ? params.count.divmod(outer) : outer;
      const int64 length = static_cast<int64>(params.length);
      places[u] = index_at(indices, kEach ? first + u * kThreads : row, length);
      if constexpr (kOuter) places[u] += outer * params.length;
      places[u] = places[u] * params.inner.divisor + inner;
    }
    W words[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (first + u * kThreads < params.size) words[u] = from[places[u]];
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (first + u * kThreads < params.size) out[first + u * kThreads] = words[u];
    }
  }
}

template <int kRank, class Index_>
struct ScatterParams {
  using Index = Index_;
  static constexpr int kAxes = kRank;
  uint64 out, from, indices;
  uint64 size;
  FastDivMod<Index> inner;
  FastDivMod<Index> divisors[kRank > 1 ? kRank - 1 : 1];
  typename SignedOf<Index>::type strides[kRank > 0 ? kRank : 1];
};

// Rows of a dense `from` to the rows of `out` that the indices name, in the order of C; `out` has any strides.
template <class W, int kThreads, class Params>
XPOPS_DEVICE void scatter_rows(const Params& params) {
  using Index = typename Params::Index;
  const W* from = reinterpret_cast<const W*>(params.from);
  const int64* indices = reinterpret_cast<const int64*>(params.indices);
  W* out = reinterpret_cast<W*>(params.out);
  const uint64 first = static_cast<uint64>(blockIdx.x) * kThreads + threadIdx.x;
#pragma unroll 1
  for (uint64 i = first; i < params.size; i += gridDim.x * kThreads) {
    Index row = static_cast<Index>(i);
    const Index inner = params.inner.divmod(row);
    const Index linear = static_cast<Index>(indices[row]) * params.inner.divisor + inner;
    out[Coordinates<Params::kAxes, Index>(params.divisors, linear).offset(params.strides)] = from[i];
  }
}

}  // namespace xpops
