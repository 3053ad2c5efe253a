// Elementwise with transposes, by tiles in shared memory: operands that have stride 1 along another axis than the result
// pass through shared memory, so that both their loads and the stores are coalesced.
//
// A block computes a tile of three axes: `columns`, where the result has stride 1, and `rows` and `planes`, where
// transposed operands have stride 1. If all have it along the same axis, there is one plane. All other axes are batch
// axes.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/kernels/elementwise.cuh>

namespace xpops {

// The lengths of a tile, powers of two as kBlock is. kBlock threads compute kSteps elements each.
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

  // The n-th element in the order of an operand: kWarp of them along its own axis, then the other two axes, then the
  // rest of its own.
  template <class Tile, Along kAlong>
  XPOPS_DEVICE static constexpr TilePosition at(int n) {
    constexpr int kColumns = Tile::kColumns, kRows = Tile::kRows, kPlanes = Tile::kPlanes;
    if constexpr (kAlong == Along::kColumns) {
      return {along<kColumns, kRows * kPlanes>(n), n / line(kColumns) % kRows, n / (line(kColumns) * kRows) % kPlanes};
    } else if constexpr (kAlong == Along::kRows) {
      return {n / line(kRows) % kColumns, along<kRows, kColumns * kPlanes>(n), n / (line(kRows) * kColumns) % kPlanes};
    } else {
      return {n / line(kPlanes) % kColumns, n / (line(kPlanes) * kColumns) % kRows,
              along<kPlanes, kColumns * kRows>(n)};
    }
  }

 private:
  XPOPS_DEVICE static constexpr int line(int length) { return length < kWarp ? length : kWarp; }
  template <int kLength, int kOthers>
  XPOPS_DEVICE static constexpr int along(int n) {
    return n % line(kLength) + n / (line(kLength) * kOthers) % (kLength / line(kLength)) * line(kLength);
  }
};

// The elements of this thread: in each step number step * kBlock + threadIdx.x in the order of an operand. All lengths
// are powers of two, so the step and the thread have bits of their own in that number, and each coordinate is the sum
// of the thread's and of the step's, which the compiler knows.
template <class Tile, Along kAlong>
struct TileWalk {
  TilePosition thread = TilePosition::at<Tile, kAlong>(threadIdx.x);

  XPOPS_DEVICE static constexpr TilePosition rest(int step) {
    return TilePosition::at<Tile, kAlong>(step * Tile::kBlock);
  }
  XPOPS_DEVICE TilePosition at(int step) const {
    const TilePosition more = rest(step);
    return {thread.column + more.column, thread.row + more.row, thread.plane + more.plane};
  }
  // Whether an element lies within `size`.
  XPOPS_DEVICE bool within(int step, const TilePosition& size) const {
    const TilePosition more = rest(step);
    const bool in_plane = more.column < size.column - thread.column && more.row < size.row - thread.row;
    if constexpr (Tile::kPlanes == 1) return in_plane;
    else return in_plane && more.plane < size.plane - thread.plane;
  }
  // The offset of an element in memory, by strides along the planes, the rows and the columns. An element of the result
  // has an offset that fits their type.
  template <class Stride>
  XPOPS_DEVICE Stride offset(int step, const Stride* strides) const {
    return offset(thread, strides) + offset(rest(step), strides);
  }

 private:
  template <class Stride>
  XPOPS_DEVICE static Stride offset(const TilePosition& at, const Stride* strides) {
    Stride sum = at.column * strides[2];
    sum += kAlong == Along::kRows ? at.row : at.row * strides[1];
    if constexpr (Tile::kPlanes > 1) sum += kAlong == Along::kPlanes ? at.plane : at.plane * strides[0];
    return sum;
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

  template <class Params>
  XPOPS_DEVICE static void load(const Params& params, const TileOrigin<Params, Tile>& origin, Fragment& to) {
    const TileWalk<Tile, kAlong> walk;
    const Element* from = base(params, origin);
#pragma unroll
    for (int step = 0; step < Tile::kSteps; ++step) {
      if (walk.within(step, origin.size)) {
        to.elem[step] = from[walk.offset(step, &params.strides[kStrides][Params::kBatchAxes])];
      }
    }
  }

  XPOPS_DEVICE static void stage(const Fragment& from) {
    if constexpr (kStaged) {
#pragma unroll
      for (int step = 0; step < Tile::kSteps; ++step) shared(TileWalk<Tile, kAlong>().at(step)) = from.elem[step];
    }
  }

  template <class Params>
  XPOPS_DEVICE static Compute value(const Params&, const Fragment& from, int step) {
    return to_compute<T, Loop, Compute>(kStaged ? shared(TileWalk<Tile, Along::kColumns>().at(step)) : from.elem[step]);
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
  const TileWalk<Tile, Along::kColumns> walk;
  typename Out::Element* to = Out::base(params, origin);
#pragma unroll
  for (int step = 0; step < Tile::kSteps; ++step) {
    if (walk.within(step, origin.size)) {
      to[walk.offset(step, &params.strides[0][Params::kBatchAxes])] =
          cast<typename Out::T>(in.template apply<Op>(params, step));
    }
  }
}

}  // namespace xpops
