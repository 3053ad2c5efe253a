// Joins arrays along an axis, in one launch.
#pragma once

#include <xpops/index/coordinates.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// A row of the result has the columns of the first piece, then those of the second, and so on. The axes before the
// joined axis number the rows, and the others number the columns (xpops/plan/join.py). All lengths and strides are in
// words.
template <int kPieces, int kRows, int kColumns, class Index_>
struct JoinParams {
  using Index = Index_;
  using Stride = typename SignedOf<Index>::type;
  static constexpr int kCount = kPieces, kRowAxes = kRows, kColumnAxes = kColumns;
  uint64 out, sources[kPieces];
  uint64 size;              // of all pieces
  uint64 place, pitch;      // the first word in the result, and the distance between its rows
  FastDivMod<Index> width;  // of a row
  FastDivMod<Index> rows[kRows > 1 ? kRows - 1 : 1];
  FastDivMod<Index> columns[kColumns > 1 ? kColumns - 1 : 1];
  Index stops[kPieces];                         // the column after each piece
  Stride strides[kPieces][kRows + kColumns];  // of each piece, along the axes of rows and columns
};

// A piece, in shared memory: lanes that read different elements of a parameter would wait for each other.
template <class W, class Params>
struct JoinPiece {
  const W* from;
  typename Params::Index start, stop;
  typename Params::Stride strides[Params::kRowAxes + Params::kColumnAxes];
};

template <class W, class Params>
struct Joined {
  using Index = typename Params::Index;
  using Piece = JoinPiece<W, Params>;
  using RowPlace = Coordinates<Params::kRowAxes, Index>;
  using ColumnPlace = Coordinates<Params::kColumnAxes, Index>;

  const Params& params;
  const Piece* pieces;

  XPOPS_DEVICE int piece_at(Index column) const {
    int piece = 0;  // the last one that does not start after the column
#pragma unroll
    for (int step = 1 << 10; step > 0; step /= 2) {
      if (step < Params::kCount && piece + step < Params::kCount && pieces[piece + step].start <= column) piece += step;
    }
    return piece;
  }

  XPOPS_DEVICE static const W* address(const Piece& piece, const RowPlace& row, const ColumnPlace& column) {
    return piece.from + row.offset(piece.strides) + column.offset(piece.strides + Params::kRowAxes);
  }

  // The words from here on that one stride connects.
  XPOPS_DEVICE Index run(const Piece& piece, Index column, const ColumnPlace& place) const {
    constexpr int kLast = Params::kColumnAxes - 1;
    if constexpr (kLast == 0) return piece.stop - column;
    else return params.columns[kLast - 1].divisor - place.at[kLast];
  }

  // Loads the words of the result from `linear` on.
  template <int kPack>
  XPOPS_DEVICE void load(Index linear, Pack<W, kPack>& to) const {
    Index column = params.width.divmod(linear);
    int number = piece_at(column);
    RowPlace row(params.rows, linear);
    const Piece& piece = pieces[number];
    const ColumnPlace place(params.columns, column - piece.start);
    const int64 stride = piece.strides[Params::kRowAxes + Params::kColumnAxes - 1];
    const W* from = address(piece, row, place);
    if (kPack == 1) {
      to.elem[0] = *from;
    } else if (run(piece, column, place) < kPack) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        const Piece& each = pieces[number];
        to.elem[i] = *address(each, row, ColumnPlace(params.columns, column - each.start));
        if (++column < each.stop) continue;
        if (++number < Params::kCount) continue;
        number = 0;
        column = 0;
        row = RowPlace(params.rows, ++linear);
      }
    } else if (stride == 1) {
      to.load_unaligned(from);
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) to.elem[i] = from[i * stride];
    }
  }
};

// W is any type of a word's size. A block writes kThreads * kUnroll packs. If kDense, the rows follow each other in the
// result; else a pack is one word.
template <class W, bool kDense, int kThreads, int kPack, int kUnroll, class Params>
XPOPS_DEVICE void join(const Params& params) {
  using Index = typename Params::Index;
  constexpr Index kStep = kThreads * kPack, kTile = kStep * kUnroll;
  static_assert(kDense || kPack == 1, "a pack does not cross the end of a row");
  __shared__ JoinPiece<W, Params> pieces[Params::kCount];
  for (int i = threadIdx.x; i < Params::kCount; i += kThreads) {
    JoinPiece<W, Params>& piece = pieces[i];
    piece.from = reinterpret_cast<const W*>(params.sources[i]);
    piece.start = i ? params.stops[i - 1] : 0;
    piece.stop = params.stops[i];
#pragma unroll
    for (int axis = 0; axis < Params::kRowAxes + Params::kColumnAxes; ++axis)
      piece.strides[axis] = params.strides[i][axis];
  }
  __syncthreads();
  const Joined<W, Params> from{params, pieces};
  W* out = reinterpret_cast<W*>(params.out) + params.place;
  const Index tile = static_cast<Index>(blockIdx.x) * kTile;
  const Index shift = static_cast<Index>(params.place %
                                         kPack);  // packs are aligned from this far before the first word
  if (tile >= shift && tile + kTile <= params.size + shift) {
    const Index first = tile + threadIdx.x * kPack - shift;
    Pack<W, kPack> packs[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) from.load(first + u * kStep, packs[u]);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      Index row = first + u * kStep;
      if constexpr (kDense) {
        packs[u].store(out + row);
      } else {
        const Index column = params.width.divmod(row);
        packs[u].store(out + row * params.pitch + column);
      }
    }
  } else {
#pragma unroll 1
    for (Index i = tile + threadIdx.x; i < tile + kTile && i < params.size + shift; i += kThreads) {
      if (i < shift) continue;
      Pack<W, 1> word;
      Index row = i - shift;
      from.load(row, word);
      const Index column = params.width.divmod(row);
      out[row * params.pitch + column] = word.elem[0];
    }
  }
}

}  // namespace xpops
