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
// axis has an array of indices (xpops/plan/gather.py).
template <int kIndices, int kRank, class Index_>
struct GatherParams {
  using Index = Index_;
  using Stride = typename SignedOf<Index>::type;
  static constexpr int kAxes = kRank;
  uint64 array, other;       // the indexed array; the result or the values
  uint64 size;               // the number of pieces of all rows
  uint64 indices[kIndices];
  uint64 report;             // address to which the kernel reports an index out of range
  uint64 lengths[kIndices];  // of the indexed axes, not 0
  uint64 codes[kIndices];    // reported together with the index; 0 if all are in range
  int64 steps[kIndices];     // words from one place on an indexed axis to the next
  int64 array_step, other_step;  // words from one word of a row to the next
  Index words;               // in a row
  FastDivMod<Index> pieces;  // in a row
  FastDivMod<Index> divisors[kRank > 1 ? kRank - 1 : 1];
  Stride strides[2 + kIndices][kRank];  // in words, from row to row: of the array, the other one, and the indices
};

// An index out of range that a thread found, if any; `code` is then not 0.
struct Missed {
  int64 index = 0;
  uint64 code = 0;

  XPOPS_DEVICE void report_to(uint64 address) const {
    constexpr int64 kMost = (1ll << (kReportBits - 1)) - 1;
    const int64 i = index > kMost ? kMost : index < -kMost ? -kMost : index;
    const uint64 report = code | (static_cast<uint64>(i) & ((1ull << kReportBits) - 1));
    if (code) *reinterpret_cast<volatile uint64*>(address) = report;
  }
};

// The place that an index names. Negative indices count from the end. An index out of range is clamped to the nearest
// place, so that the kernel never accesses other memory.
template <class I>
XPOPS_DEVICE int64 place_of(I given, uint64 length, uint64 code, Missed& missed) {
  constexpr bool kSigned = I(-1) < I(0);
  int64 index = static_cast<int64>(given);
  if (!kSigned && sizeof(I) == 8 && index < 0) index = ~(1ull << 63);  // a uint64 that int64 does not hold
  const bool negative = kSigned && index < 0;
  const int64 place = negative ? index + static_cast<int64>(length) : index;
  const bool there = static_cast<uint64>(place) < length;
  missed.index = there ? missed.index : index;
  missed.code = there ? missed.code : code;
  return there ? place : negative ? 0 : static_cast<int64>(length) - 1;
}

// The offset in the array, in words, of the row that the indices name at the coordinates `at`.
template <class... I, class Params, class At>
XPOPS_DEVICE int64 start_of(const Params& params, const At& at, Missed& missed) {
  int64 start = at.offset(params.strides[0]);
  int k = 0;
  ((start += place_of(reinterpret_cast<const I*>(params.indices[k])[at.offset(params.strides[2 + k])],
                      params.lengths[k], params.codes[k], missed) *
             params.steps[k],
    ++k),
   ...);
  return start;
}

// W is any type of a word's size. If kSet, the kernel writes the array instead of reading it, and skips rows with an
// index out of range. A thread moves kPieces pieces of up to kWords words at a time. The words of a piece are strided,
// so that neighbouring threads access neighbouring words. The grid may have fewer blocks than there are tiles.
template <class W, bool kSet, int kPieces, int kWords, int kThreads, class... I, class Params>
XPOPS_DEVICE void gather(const Params& params) {
  using Index = typename Params::Index;
  constexpr uint64 kTile = kThreads * kPieces;
  W* array = reinterpret_cast<W*>(params.array);
  W* other = reinterpret_cast<W*>(params.other);
  const Index apart = params.pieces.divisor;
  Missed missed;
#pragma unroll 1
  for (uint64 base = blockIdx.x * kTile; base < params.size; base += gridDim.x * kTile) {
    W* from[kPieces];
    W* to[kPieces];
    Index count[kPieces];  // the words from here to the end of the row
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      const uint64 piece = base + threadIdx.x + p * kThreads;
      const bool there = piece < params.size;
      Index row = static_cast<Index>(there ? piece : params.size - 1);  // no branch, so that all indices load at once
      const Index first = params.pieces.divmod(row);
      const Coordinates<Params::kAxes, Index> at(params.divisors, row);
      Missed here;
      W* place = array + start_of<I...>(params, at, here) + static_cast<int64>(first) * params.array_step;
      W* beside = other + at.offset(params.strides[1]) + static_cast<int64>(first) * params.other_step;
      from[p] = kSet ? beside : place;
      to[p] = kSet ? place : beside;
      count[p] = there && !(kSet && here.code) ? params.words - first : 0;
      missed = here.code ? here : missed;
    }
    const int64 from_step = (kSet ? params.other_step : params.array_step) * apart;
    const int64 to_step = (kSet ? params.array_step : params.other_step) * apart;
    W words[kPieces][kWords];
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        if (count[p] > w * apart) words[p][w] = from[p][w * from_step];
      }
    }
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        if (count[p] > w * apart) to[p][w * to_step] = words[p][w];
      }
    }
  }
  missed.report_to(params.report);
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
