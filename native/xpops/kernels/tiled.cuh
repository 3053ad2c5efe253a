// Elementwise with transposes, by tiles in shared memory: operands that have stride 1 along another axis than the result
// pass through shared memory, so that both their loads and the stores are coalesced.
//
// A block computes a tile of three axes: `columns`, where the result has stride 1, and `rows` and `planes`, where
// transposed operands have stride 1. If all have it along the same axis, there is one plane. All other axes are batch
// axes.
#pragma once

#include <xpops/kernels/elementwise.cuh>

namespace xpops {

// The lengths of a tile. kBlock threads compute kSteps elements each.
template <int kColumns_, int kRows_, int kPlanes_, int kBlock_>
struct Tile {
  static constexpr int kColumns = kColumns_, kRows = kRows_, kPlanes = kPlanes_, kBlock = kBlock_;
  static constexpr int kSteps = kColumns * kRows * kPlanes / kBlock;
  static_assert(kSteps * kBlock == kColumns * kRows * kPlanes, "the threads share the tile evenly");
};

// The axis of a tile along which neighbouring threads have neighbouring elements of an operand.
enum class Along { kColumns, kRows, kPlanes };

// The kernel parameters, which the host writes (xpops/plan/tiled.py). Order of strides: the batch axes, the planes, the
// rows, the columns. Order of lengths and tiles: columns, rows, planes.
template <int kSlots, int kBatch, int kArrays, class Index_>
struct TiledParams {
  using Index = Index_;
  using Stride = typename SignedOf<Index>::type;
  static constexpr int kBatchAxes = kBatch;
  uint64 slots[kSlots];
  uint64 lengths[3];
  FastDivMod<Index> tiles[3];
  FastDivMod<Index> divisors[kBatch > 1 ? kBatch - 1 : 1];
  Stride strides[kArrays][kBatch + 3];
};

// An element of a tile.
struct TilePosition {
  int column, row, plane;

  // The n-th element in the order of an operand.
  template <class Tile, Along kAlong>
  XPOPS_DEVICE static TilePosition at(int n) {
    constexpr int kColumns = Tile::kColumns, kRows = Tile::kRows, kPlanes = Tile::kPlanes;
    if constexpr (kAlong == Along::kColumns) return {n % kColumns, n / kColumns % kRows, n / (kColumns * kRows)};
    else if constexpr (kAlong == Along::kRows) return {n / kRows % kColumns, n % kRows, n / (kColumns * kRows)};
    else return {n / kPlanes % kColumns, n / (kPlanes * kColumns), n % kPlanes};
  }
  XPOPS_DEVICE bool within(const TilePosition& size) const {
    return column < size.column && row < size.row && plane < size.plane;
  }
};

// The tile of this block: its first element, and its size, which is smaller at the ends of the axes.
template <class Params, class Tile>
struct TileOrigin {
  using Index = typename Params::Index;
  Index column, row, plane = 0, batch;
  TilePosition size;

  XPOPS_DEVICE explicit TileOrigin(const Params& params) {
    Index block = blockIdx.x;
    column = params.tiles[0].divmod(block) * Tile::kColumns;
    row = params.tiles[1].divmod(block) * Tile::kRows;
    if constexpr (Tile::kPlanes > 1) plane = params.tiles[2].divmod(block) * Tile::kPlanes;
    batch = block;
    size = {rest(params.lengths[0], column, Tile::kColumns), rest(params.lengths[1], row, Tile::kRows),
            rest(params.lengths[2], plane, Tile::kPlanes)};
  }

 private:
  XPOPS_DEVICE static int rest(uint64 length, Index first, int most) {
    const uint64 left = length - first;
    return left < static_cast<uint64>(most) ? static_cast<int>(left) : most;
  }
};

// One operand or the result of a tiled kernel. kAlong: the tile's axis along which it has stride 1.
template <class T_, class Loop, class Compute, Along kAlong, int kSlot, int kStrides, class Tile>
struct TiledOperand {
  using T = T_;
  using Element = typename Storage<T>::type;
  static constexpr bool kStaged = kAlong != Along::kColumns;
  // One word of padding for each row and plane, so that the elements along any axis are spread over the banks.
  static constexpr int kPad = sizeof(Element) < 4 ? 4 / sizeof(Element) : 1;
  static constexpr int kPitch = Tile::kColumns + kPad, kPlanePitch = Tile::kRows * kPitch + kPad;

  struct Fragment {
    Element elem[Tile::kSteps];
  };

  XPOPS_DEVICE static Element& shared(const TilePosition& at) {
    __shared__ Element tile[kStaged ? Tile::kPlanes * kPlanePitch : 1];
    return tile[at.plane * kPlanePitch + at.row * kPitch + at.column];
  }

  template <class Params>
  XPOPS_DEVICE static Element* base(const Params& params, const TileOrigin<Params, Tile>& origin) {
    const auto& strides = params.strides[kStrides];
    constexpr int kBatch = Params::kBatchAxes;
    int64 offset = static_cast<int64>(origin.plane) * strides[kBatch] +
                   static_cast<int64>(origin.row) * strides[kBatch + 1] +
                   static_cast<int64>(origin.column) * strides[kBatch + 2];
    if constexpr (kBatch > 0) {
      offset += Coordinates<kBatch, typename Params::Index>(params.divisors, origin.batch).offset(strides);
    }
    return reinterpret_cast<Element*>(params.slots[kSlot]) + offset;
  }

  // The offset of an element from the first one of the tile.
  template <class Params>
  XPOPS_DEVICE static int64 offset(const Params& params, const TilePosition& at) {
    const auto* strides = &params.strides[kStrides][Params::kBatchAxes];
    int64 sum = kAlong == Along::kColumns ? at.column * static_cast<int64>(strides[2]) : 0;
    if constexpr (kAlong == Along::kRows) sum = at.row + at.column * static_cast<int64>(strides[2]);
    else sum += at.row * static_cast<int64>(strides[1]);
    if constexpr (kAlong == Along::kPlanes) sum += at.plane + at.column * static_cast<int64>(strides[2]);
    else sum += at.plane * static_cast<int64>(strides[0]);
    return sum;
  }

  // The element that this thread computes in a step. Neighbouring threads have neighbouring columns.
  XPOPS_DEVICE static TilePosition position(int step) {
    return TilePosition::at<Tile, Along::kColumns>(step * Tile::kBlock + static_cast<int>(threadIdx.x));
  }
  // The element that this thread loads in a step.
  XPOPS_DEVICE static TilePosition source(int step) {
    return TilePosition::at<Tile, kAlong>(step * Tile::kBlock + static_cast<int>(threadIdx.x));
  }

  template <class Params>
  XPOPS_DEVICE static void load(const Params& params, const TileOrigin<Params, Tile>& origin, Fragment& to) {
    const Element* from = base(params, origin);
#pragma unroll
    for (int step = 0; step < Tile::kSteps; ++step) {
      const TilePosition at = source(step);
      if (at.within(origin.size)) to.elem[step] = from[offset(params, at)];
    }
  }

  XPOPS_DEVICE static void stage(const Fragment& from) {
    if constexpr (kStaged) {
#pragma unroll
      for (int step = 0; step < Tile::kSteps; ++step) shared(source(step)) = from.elem[step];
    }
  }

  template <class Params>
  XPOPS_DEVICE static Compute value(const Params&, const Fragment& from, int step) {
    return to_compute<T, Loop, Compute>(kStaged ? shared(position(step)) : from.elem[step]);
  }
};

// A scalar among the parameters.
template <class T, class Loop, class Compute, int kSlot>
struct TiledScalar {
  struct Fragment {};
  template <class Params, class Origin>
  XPOPS_DEVICE static void load(const Params&, const Origin&, Fragment&) {}
  XPOPS_DEVICE static void stage(const Fragment&) {}
  template <class Params>
  XPOPS_DEVICE static Compute value(const Params& params, const Fragment&, int) {
    return to_compute<T, Loop, Compute>(from_slots<T>(&params.slots[kSlot]));
  }
};

template <class... Operands>
struct TiledFragments {
  template <class Params, class Origin>
  XPOPS_DEVICE void load(const Params&, const Origin&) {}
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
  XPOPS_DEVICE void load(const Params& params, const Origin& origin) {
    Head::load(params, origin, head);
    tail.load(params, origin);
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
template <class Op, class Out, class Tile, class... In, class Params>
XPOPS_DEVICE void elementwise_tiled(const Params& params) {
  const TileOrigin<Params, Tile> origin(params);
  TiledFragments<In...> in;
  in.load(params, origin);
  in.stage();
  __syncthreads();
  typename Out::Element* to = Out::base(params, origin);
#pragma unroll
  for (int step = 0; step < Tile::kSteps; ++step) {
    const TilePosition at = Out::position(step);
    if (at.within(origin.size)) {
      to[Out::offset(params, at)] = cast<typename Out::T>(in.template apply<Op>(params, step));
    }
  }
}

}  // namespace xpops
