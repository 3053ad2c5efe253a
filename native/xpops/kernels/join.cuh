// Copies several arrays into parts of one array, in one launch.
#pragma once

#include <xpops/index/divmod.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// Each piece consists of rows. The words of a row are contiguous (xpops/plan/join.py).
template <int kPieces, class Index_>
struct JoinParams {
  using Index = Index_;
  static constexpr int kCount = kPieces;
  uint64 out, sources[kPieces];
  uint64 places[kPieces];                          // of the first word of each piece, in the result
  int64 from_steps[kPieces], to_steps[kPieces];    // words from one row to the next
  uint64 sizes[kPieces];                           // in words
  uint32 firsts[kPieces];                          // the first block of each piece
  FastDivMod<Index> lengths[kPieces];              // words in a row
};

// W is any type of a word's size. A block moves kThreads * kUnroll words of one piece.
template <class W, int kThreads, int kUnroll, class Params>
XPOPS_DEVICE void join(const Params& params) {
  using Index = typename Params::Index;
  int piece = 0;  // the last piece whose first block is not after this block
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
