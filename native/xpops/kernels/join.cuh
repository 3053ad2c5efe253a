// Pieces of several arrays copied to their places in one, by one launch.
#pragma once

#include <xpops/index/divmod.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// Each piece is rows of words, one after the other along a row (xpops/plan/join.py).
template <int kPieces, class Index_>
struct JoinParams {
  using Index = Index_;
  static constexpr int kCount = kPieces;
  uint64 out, sources[kPieces];
  uint64 places[kPieces];                          // of the first words in the result
  int64 from_steps[kPieces], to_steps[kPieces];    // words from one row to the next
  uint64 sizes[kPieces];                           // in words
  uint32 firsts[kPieces];                          // of the blocks
  FastDivMod<Index> lengths[kPieces];              // of the rows
};

// W is any type of a word's size. A block moves kThreads * kUnroll words of one piece.
template <class W, int kThreads, int kUnroll, class Params>
XPOPS_DEVICE void join(const Params& params) {
  using Index = typename Params::Index;
  int piece = 0;  // the last one whose first block is not behind this one
#pragma unroll
  for (int step = 64; step > 0; step /= 2) {
    if (piece + step < Params::kCount && params.firsts[piece + step] <= blockIdx.x) piece += step;
  }
  const W* from = reinterpret_cast<const W*>(params.sources[piece]);
  W* to = reinterpret_cast<W*>(params.out) + params.places[piece];
  const FastDivMod<Index> length = params.lengths[piece];
  const int64 from_step = params.from_steps[piece], to_step = params.to_steps[piece];
  const uint64 size = params.sizes[piece];
  const uint64 first = static_cast<uint64>(blockIdx.x - params.firsts[piece]) * (kThreads * kUnroll) + threadIdx.x;
  W words[kUnroll];
  int64 places[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    if (first + u * kThreads >= size) continue;
    Index row = static_cast<Index>(first + u * kThreads);
    const int64 column = static_cast<int64>(length.divmod(row));
    places[u] = static_cast<int64>(row) * to_step + column;
    words[u] = from[static_cast<int64>(row) * from_step + column];
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    if (first + u * kThreads < size) to[places[u]] = words[u];
  }
}

}  // namespace xpops
