// Elementwise with a transpose, by square tiles in shared memory: operands that have stride 1 along another axis than
// the result pass through shared memory, so that both their loads and the stores are coalesced.
//
// A block computes a square tile of two axes: `columns`, where the result has stride 1, and `rows`, where the
// transposed operands have stride 1. All other axes are batch axes.
#pragma once

#include <xpops/kernels/elementwise.cuh>

namespace xpops {

constexpr int kWarp = 32;

// The kernel parameters, which the host writes (xpops/plan/tiled.py). Order of strides: the batch axes, the rows, the
// columns.
template <int kSlots, int kBatch, int kArrays, class Index_>
struct TiledParams {
  using Index = Index_;
  using Stride = typename SignedOf<Index>::type;
  static constexpr int kBatchAxes = kBatch;
  uint64 slots[kSlots];
  uint64 rows, columns;
  FastDivMod<Index> column_tiles, row_tiles;
  FastDivMod<Index> divisors[kBatch > 1 ? kBatch - 1 : 1];
  Stride strides[kArrays][kBatch + 2];
};

// The tile of this block.
template <class Params, int kSide>
struct TileOrigin {
  typename Params::Index row, column, batch;

  XPOPS_DEVICE explicit TileOrigin(const Params& params) {
    typename Params::Index block = blockIdx.x;
    column = params.column_tiles.divmod(block) * kSide;
    row = params.row_tiles.divmod(block) * kSide;
    batch = block;
  }
};

// One operand or the result of a tiled kernel. kTransposed: its stride is 1 along the rows.
template <class T_, class Loop, class Compute, bool kTransposed, int kSlot, int kStrides, int kBlock, int kSide>
struct TiledOperand {
  using T = T_;
  using Element = typename Storage<T>::type;
  static constexpr int kSteps = kSide * kSide / kBlock;
  static constexpr int kLines = kSide / kWarp;  // warp-wide accesses for each line of the tile
  // One word of padding, so that a column of the tile is spread over as many banks as a row.
  static constexpr int kPitch = kSide + (sizeof(Element) < 4 ? 4 / sizeof(Element) : 1);

  struct Fragment {
    Element elem[kSteps];
  };

  XPOPS_DEVICE static Element (*shared())[kPitch] {
    __shared__ Element tile[kTransposed ? kSide : 1][kPitch];
    return tile;
  }

  template <class Params>
  XPOPS_DEVICE static Element* base(const Params& params, const TileOrigin<Params, kSide>& origin) {
    using Index = typename Params::Index;
    const auto& strides = params.strides[kStrides];
    int64 offset = static_cast<int64>(origin.row) * strides[Params::kBatchAxes] +
                   static_cast<int64>(origin.column) * strides[Params::kBatchAxes + 1];
    if constexpr (Params::kBatchAxes > 0) {
      offset += Coordinates<Params::kBatchAxes, Index>(params.divisors, origin.batch).offset(strides);
    }
    return reinterpret_cast<Element*>(params.slots[kSlot]) + offset;
  }

  // The place in the tile that this thread computes in a step. Neighbouring lanes have neighbouring columns.
  XPOPS_DEVICE static int row_of(int step) { return threadIdx.x / kWarp + step / kLines * (kBlock / kWarp); }
  XPOPS_DEVICE static int column_of(int step) { return threadIdx.x % kWarp + step % kLines * kWarp; }

  // Loads this thread's elements of a tile of `rows` x `columns`. Of a transposed operand, it loads the elements that
  // it stages for the whole block.
  template <class Params>
  XPOPS_DEVICE static void load(const Params& params, const TileOrigin<Params, kSide>& origin, int rows, int columns,
                                Fragment& to) {
    const Element* from = base(params, origin);
    const int64 row_stride = params.strides[kStrides][Params::kBatchAxes];
    const int64 column_stride = params.strides[kStrides][Params::kBatchAxes + 1];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const int row = kTransposed ? column_of(step) : row_of(step);
      const int column = kTransposed ? row_of(step) : column_of(step);
      if (row < rows && column < columns) {
        to.elem[step] = from[kTransposed ? row + column * column_stride : row * row_stride + column * column_stride];
      }
    }
  }

  XPOPS_DEVICE static void stage(const Fragment& from) {
    if constexpr (kTransposed) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) shared()[column_of(step)][row_of(step)] = from.elem[step];
    }
  }

  template <class Params>
  XPOPS_DEVICE static Compute value(const Params&, const Fragment& from, int step) {
    return to_compute<T, Loop, Compute>(kTransposed ? shared()[row_of(step)][column_of(step)] : from.elem[step]);
  }
};

// A scalar among the parameters.
template <class T, class Loop, class Compute, int kSlot>
struct TiledScalar {
  struct Fragment {};
  template <class Params, class Origin>
  XPOPS_DEVICE static void load(const Params&, const Origin&, int, int, Fragment&) {}
  XPOPS_DEVICE static void stage(const Fragment&) {}
  template <class Params>
  XPOPS_DEVICE static Compute value(const Params& params, const Fragment&, int) {
    return to_compute<T, Loop, Compute>(from_slots<T>(&params.slots[kSlot]));
  }
};

template <class... Operands>
struct TiledFragments {
  template <class Params, class Origin>
  XPOPS_DEVICE void load(const Params&, const Origin&, int, int) {}
  XPOPS_DEVICE void stage() const {}
  template <class Op, class Params, class... Values>
  XPOPS_DEVICE auto apply(const Params&, int, Values... values) const {
    return Op()(values...);
  }
};

template <class Head, class... Tail>
struct TiledFragments<Head, Tail...> {
  typename Head::Fragment head;
  TiledFragments<Tail...> tail;

  template <class Params, class Origin>
  XPOPS_DEVICE void load(const Params& params, const Origin& origin, int rows, int columns) {
    Head::load(params, origin, rows, columns, head);
    tail.load(params, origin, rows, columns);
  }
  XPOPS_DEVICE void stage() const {
    Head::stage(head);
    tail.stage();
  }
  template <class Op, class Params, class... Values>
  XPOPS_DEVICE auto apply(const Params& params, int step, Values... values) const {
    return tail.template apply<Op>(params, step, values..., Head::value(params, head, step));
  }
};

// The body of every tiled kernel.
template <class Op, class Out, int kBlock, int kSide, class... In, class Params>
XPOPS_DEVICE void elementwise_tiled(const Params& params) {
  const TileOrigin<Params, kSide> origin(params);
  const int64 rows_left = static_cast<int64>(params.rows) - static_cast<int64>(origin.row);
  const int64 columns_left = static_cast<int64>(params.columns) - static_cast<int64>(origin.column);
  const int rows = static_cast<int>(rows_left < kSide ? rows_left : kSide);
  const int columns = static_cast<int>(columns_left < kSide ? columns_left : kSide);
  TiledFragments<In...> in;
  in.load(params, origin, rows, columns);
  in.stage();
  __syncthreads();
  typename Out::Element* to = Out::base(params, origin);
  const int64 row_stride = params.strides[0][Params::kBatchAxes];
#pragma unroll
  for (int step = 0; step < Out::kSteps; ++step) {
    const int row = Out::row_of(step), column = Out::column_of(step);
    if (row < rows && column < columns) {
      to[row * row_stride + column] = cast<typename Out::T>(in.template apply<Op>(params, step));
    }
  }
}

}  // namespace xpops
