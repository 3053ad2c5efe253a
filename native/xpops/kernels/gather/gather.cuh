// Gather and scatter by arrays of indices: reads the elements that indices name, or writes to them.
#pragma once

#include <xpops/core/types.cuh>
#include <xpops/index/coordinates.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// If an index is out of range, the kernel writes a report: a word of 64 bits that the host reads. Its low kReportBits
// bits are the index. The bits above are a code for the call and the axis.
constexpr int kReportBits = 48;

// The kernel sees rows of words, one row after the other. The indices are the same for all words of a row. Each indexed
// axis has an array of indices (xpops/plan/gather.py). Place_ is the type of offsets in the
// indexed array, in words.
template <int kIndices, int kRank, class Index_, class Place_>
struct GatherParams {
  using Index = Index_;
  using Place = Place_;
  using Stride = typename SignedOf<Index>::type;
  static constexpr int kAxes = kRank;
  uint64 array, other;       // the indexed array; the result or the values
  uint64 size;               // the number of pieces of all rows
  uint64 indices[kIndices];
  uint64 report;             // address to which the kernel reports an index out of range
  uint64 lengths[kIndices];  // of the indexed axes, not 0
  uint64 codes[kIndices];    // reported together with the index; 0 if all are in range
  Place steps[kIndices];     // words from one place on an indexed axis to the next
  Place array_step;          // words from one word of a row to the next
  Stride other_step;         // the same, of the other array
  Index words;               // in a row
  FastDivMod<Index> pieces;  // in a row
  FastDivMod<Index> divisors[kRank > 1 ? kRank - 1 : 1];
  Stride strides[2 + kIndices][kRank];  // in words, from row to row: of the array, the other one, and the indices
};

// The place that an index names on an axis of `length`. Negative indices count from the end. An index out of range is
// clamped to the nearest place, so that the kernel never accesses other memory, and sets bits of `missed`. In 32 bits no
// branch and no long-lived predicate is needed: a thread looks up many indices at once, and has few predicates.
template <class Place, class I>
XPOPS_DEVICE Place place_of(I given, uint64 length, uint32& missed) {
  constexpr bool kSigned = I(-1) < I(0);
  if constexpr (sizeof(Place) == 8) {
    const bool negative = kSigned && given < I(0);
    const uint64 place = static_cast<uint64>(given) + (negative ? length : 0);
    const bool there = place < length;
    missed |= !there;
    return there ? place : negative ? 0 : length - 1;
  } else if constexpr (sizeof(I) == 8) {
    const uint32 size = static_cast<uint32>(length);
    const uint64 wide = static_cast<uint64>(given) + (kSigned ? static_cast<uint32>(given >> 63) & size : 0);
    const uint32 low = static_cast<uint32>(wide), high = static_cast<uint32>(wide >> 32);
    // Before the first place: 0. Beyond 2^32: the largest number.
    const uint32 nearest = high == 0 ? low : kSigned ? ~(static_cast<int32>(high) >> 31) : ~0u;
    const uint32 place = nearest < size - 1 ? nearest : size - 1;
    missed |= high | (low ^ place);
    return place;
  } else if constexpr (kSigned) {
    const int32 size = static_cast<int32>(length), from = given + ((given >> 31) & size);
    const int32 below = from < size - 1 ? from : size - 1, place = below > 0 ? below : 0;
    missed |= static_cast<uint32>(from ^ place);
    return place;
  } else {
    const uint32 from = given, last = static_cast<uint32>(length) - 1, place = from < last ? from : last;
    missed |= from ^ place;
    return place;
  }
}

// Reports an index that is out of range, unless `code` is 0.
template <class I>
XPOPS_DEVICE void report_missed(I given, uint64 length, uint64 code, uint64 address) {
  constexpr bool kSigned = I(-1) < I(0);
  constexpr int64 kMost = (1ll << (kReportBits - 1)) - 1;
  uint32 missed = 0;
  place_of<int64>(given, length, missed);
  if (!missed || !code) return;
  const int64 index = static_cast<int64>(given);
  const bool huge = index > kMost || (!kSigned && index < 0);  // also a uint64 that int64 does not hold
  const int64 i = huge ? kMost : index < -kMost ? -kMost : index;
  *reinterpret_cast<volatile uint64*>(address) = code | (static_cast<uint64>(i) & ((1ull << kReportBits) - 1));
}

// W is any type of a word's size. If kSet, the kernel writes the array instead of reading it, and skips rows with an
// index out of range. A thread moves kPieces pieces of up to kWords words at a time; if kSingle, a row is one word. The
// words of a piece are strided, so that neighbouring threads access neighbouring words. The grid may have fewer blocks
// than there are tiles.
template <class W, bool kSet, int kPieces, int kWords, bool kSingle, int kThreads, class... I, class Params>
XPOPS_DEVICE void gather(const Params& params) {
  using Index = typename Params::Index;
  using Place = typename Params::Place;
  using Stride = typename Params::Stride;
  constexpr uint64 kTile = kThreads * kPieces;
  W* array = reinterpret_cast<W*>(params.array);
  W* other = reinterpret_cast<W*>(params.other);
  const Index word_step = kSingle ? 1 : params.pieces.divisor;
#pragma unroll 1
  for (uint64 base = blockIdx.x * kTile; base < params.size; base += gridDim.x * kTile) {
    const Index last = static_cast<Index>(params.size - 1 - base);
    int64 given[kPieces][sizeof...(I)];
    Place places[kPieces];
    Stride other_places[kPieces];
    Index count[kPieces];  // the words left in the row; 0 if kSet and an index is out of range
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      // Threads past the end move the last piece again. No branch, so that all indices load at once.
      const Index piece = threadIdx.x + p * kThreads;
      Index row = static_cast<Index>(base) + (piece < last ? piece : last);
      const Index first = kSingle ? 0 : params.pieces.divmod(row);
      const Coordinates<Params::kAxes, Index> at(params.divisors, row);
      int k = 0;
      ((given[p][k] = static_cast<int64>(
            reinterpret_cast<const I*>(params.indices[k])[at.offset(params.strides[2 + k])]),
        ++k),
       ...);
      places[p] = static_cast<Place>(at.offset(params.strides[0])) + static_cast<Place>(first) * params.array_step;
      other_places[p] =
          static_cast<Stride>(at.offset(params.strides[1])) + static_cast<Stride>(first) * params.other_step;
      count[p] = kWords == 1 ? 1 : params.words - first;
    }
    uint32 missed = 0;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      uint32 here = 0;
      int k = 0;
      ((places[p] += place_of<Place>(static_cast<I>(given[p][k]), params.lengths[k], here) * params.steps[k], ++k), ...);
      if (kSet && here) count[p] = 0;
      missed |= here;
    }
    W words[kPieces][kWords];
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const W* from = kSet ? other + other_places[p] + static_cast<int64>(w * word_step) * params.other_step
                             : array + places[p] + static_cast<int64>(w * word_step) * params.array_step;
        if (count[p] > w * word_step) words[p][w] = *from;
      }
    }
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        W* to = kSet ? array + places[p] + static_cast<int64>(w * word_step) * params.array_step
                     : other + other_places[p] + static_cast<int64>(w * word_step) * params.other_step;
        if (count[p] > w * word_step) *to = words[p][w];
      }
    }
    if (missed) {
#pragma unroll
      for (int p = 0; p < kPieces; ++p) {
        int k = 0;
        ((report_missed(static_cast<I>(given[p][k]), params.lengths[k], params.codes[k], params.report), ++k), ...);
      }
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

// Writes each row of a dense `from` to the row of `out` that its index names, counted in C order. `out` may have any
// strides between elements.
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
