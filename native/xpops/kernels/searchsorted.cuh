// Binary search of many values in one sorted array. Its upper levels are pivots in shared memory, which a block loads
// once; below them a thread has several searches under way, so that their loads overlap.
#pragma once

#include <xpops/memory/slots.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

// What the host packs (xpops/engine/cuda/searchsorted.py). Pivot i is element (i + 1) * step - 1.
struct SearchParams {
  uint64 out, x1, x2, sorter;  // addresses; x2 may be a scalar, sorter 0
  uint64 length, queries, step;
  uint32 pivots, unused;
};

// Whether the place of `value` lies behind `element`. NaN comes after all others, and equals itself.
template <bool kRight, class T>
XPOPS_DEVICE bool lies_behind(T value, T element) {
  if (value != value) return kRight || element == element;
  return kRight ? element <= value : element < value;
}

// Sorted, Query: dtypes of x1 and x2 (a scalar's, as it travels). Loop: their common dtype. Sorter: the dtype of what
// orders x1, or void.
template <class Sorted, class Query, bool kScalar, class Loop, class Sorter, bool kRight, class Index, int kPivots,
          int kUnroll, int kBlock>
XPOPS_DEVICE void searchsorted(const SearchParams& params) {
  using Compute = compute_t<Loop>;
  __shared__ Compute pivots[kPivots];
  const Index length = static_cast<Index>(params.length), step = static_cast<Index>(params.step);
  const auto element = [&](Index i) {
    if constexpr (!is_same_v<Sorter, void>) {
      // Out of range is the nearest that is not: no place outside of x1 is read.
      const Sorter place = reinterpret_cast<const Sorter*>(params.sorter)[i];
      i = place < 0 ? 0 : static_cast<uint64>(place) < params.length ? static_cast<Index>(place) : length - 1;
    }
    return to_compute<Sorted, Loop, Compute>(reinterpret_cast<const Sorted*>(params.x1)[i]);
  };
  for (uint32 i = threadIdx.x; i < params.pivots; i += kBlock) pivots[i] = element((i + 1) * step - 1);
  __syncthreads();

  constexpr uint64 kTile = kBlock * kUnroll;
  for (uint64 tile = blockIdx.x * kTile; tile < params.queries; tile += gridDim.x * kTile) {
    Compute values[kUnroll];
    Index places[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const uint64 query = tile + i * kBlock + threadIdx.x;
      places[i] = 0;
      values[i] = Compute();
      if constexpr (kScalar) {
        values[i] = to_compute<Query, Loop, Compute>(from_slots<Query>(&params.x2));
      } else if (query < params.queries) {
        values[i] = to_compute<Query, Loop, Compute>(reinterpret_cast<const Query*>(params.x2)[query]);
      }
    }
    // Each search halves the same number of candidates, whatever it finds.
    for (uint32 left = params.pivots; left > 0;) {
      const uint32 half = (left + 1) / 2;
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) {
        if (lies_behind<kRight>(values[i], pivots[places[i] + half - 1])) places[i] += half;
      }
      left -= half;
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) places[i] *= step;
    for (Index left = step - 1; left > 0;) {
      const Index half = (left + 1) / 2;
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) {
        const Index probe = places[i] + half - 1;
        if (probe < length && lies_behind<kRight>(values[i], element(probe))) places[i] += half;
      }
      left -= half;
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const uint64 query = tile + i * kBlock + threadIdx.x;
      if (query < params.queries) reinterpret_cast<int64*>(params.out)[query] = static_cast<int64>(places[i]);
    }
  }
}

}  // namespace xpops
