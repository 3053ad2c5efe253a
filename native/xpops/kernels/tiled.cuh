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

// The lengths of a tile, of a block, and of a pack: powers of two. A thread computes kSteps packs of columns. It loads
// staged operands in kSquares squares of kPack packs.
template <int kColumns_, int kRows_, int kPlanes_, int kBlock_, int kPack_>
struct Tile {
  static constexpr int kColumns = kColumns_, kRows = kRows_, kPlanes = kPlanes_, kBlock = kBlock_, kPack = kPack_;
  static constexpr int kElements = kColumns * kRows * kPlanes, kSteps = kElements / (kBlock * kPack);
  static constexpr int kSquares = kSteps / kPack;
  static_assert(kSquares * kPack * kPack * kBlock == kElements, "the threads share the tile evenly");
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
};

// The packs of this thread, or its squares, in the order of an operand: in each step number step * kBlock + threadIdx.x.
// kWarp of them lie along the operand's own axis, then follow the other two axes, then the rest of its own. All lengths
// are powers of two, so the step and the thread have bits of their own in that number, and each coordinate is the sum of
// the thread's and of the step's, which the compiler knows.
template <class Tile, Along kAlong>
struct TileWalk {
  static constexpr int kPack = Tile::kPack, kColumns = Tile::kColumns / kPack;
  static constexpr int kRows = Tile::kRows / (kAlong == Along::kRows ? kPack : 1);
  static constexpr int kPlanes = Tile::kPlanes / (kAlong == Along::kPlanes ? kPack : 1);

  TilePosition thread = at_number(threadIdx.x);

  // The first element of a step.
  XPOPS_DEVICE TilePosition at(int step) const {
    const TilePosition more = at_number(step * Tile::kBlock);
    return {thread.column + more.column, thread.row + more.row, thread.plane + more.plane};
  }

 private:
  XPOPS_DEVICE static constexpr int line(int length) { return length < kWarp ? length : kWarp; }
  template <int kLength, int kOthers>
  XPOPS_DEVICE static constexpr int along(int n) {
    return (n % line(kLength) + n / (line(kLength) * kOthers) % (kLength / line(kLength)) * line(kLength)) * kPack;
  }
  XPOPS_DEVICE static constexpr TilePosition at_number(int n) {
    if constexpr (kAlong == Along::kColumns) {
      return {along<kColumns, kRows * kPlanes>(n), n / line(kColumns) % kRows, n / (line(kColumns) * kRows) % kPlanes};
    } else if constexpr (kAlong == Along::kRows) {
      return {n / line(kRows) % kColumns * kPack, along<kRows, kColumns * kPlanes>(n),
              n / (line(kRows) * kColumns) % kPlanes};
    } else {
      return {n / line(kPlanes) % kColumns * kPack, n / (line(kPlanes) * kColumns) % kRows,
              along<kPlanes, kColumns * kRows>(n)};
    }
  }
};

// The tile of this block: its first element, and its size, which is smaller at the ends of the axes.
template <class Params, class Tile>
struct TileOrigin {
  using Index = typename Params::Index;
  Index column, row, plane, batch;
  TilePosition size;

  XPOPS_DEVICE explicit TileOrigin(const Params& params) {
    Index block = blockIdx.x;
    column = params.tiles[0].divmod(block) * Tile::kColumns;
    row = params.tiles[1].divmod(block) * Tile::kRows;
    plane = params.tiles[2].divmod(block) * Tile::kPlanes;
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

// Turns a square: pack i gets element i of each pack.
template <class Element, int kPack>
XPOPS_DEVICE void turn(Pack<Element, kPack> (&square)[kPack]) {
#pragma unroll
  for (int i = 0; i < kPack; ++i) {
#pragma unroll
    for (int j = 0; j < i; ++j) {
      const Element moved = square[i].elem[j];
      square[i].elem[j] = square[j].elem[i];
      square[j].elem[i] = moved;
    }
  }
}

// How a thread accesses a pack: as a whole, as aligned words that it shifts, or its elements within the tile.
enum class Access { kAligned, kShifted, kElements };

// The tile of one array in memory: the address of its first element, and the strides from there.
template <class Element, class Tile, Along kAlong, class Stride>
struct TileMemory {
  static constexpr int kPack = Tile::kPack;
  Element* first;
  const Stride* strides;  // along the planes, the rows and the columns
  TilePosition size;
  bool dense, aligned;  // whether packs are neighbours within the tile or beyond it as a whole, and whether aligned

  template <class Params>
  XPOPS_DEVICE TileMemory(const Params& params, int slot, int line, const TileOrigin<Params, Tile>& origin)
      : strides(&params.strides[line][Params::kBatchAxes]), size(origin.size) {
    int64 offset = static_cast<int64>(origin.plane) * strides[0] + static_cast<int64>(origin.row) * strides[1] +
                   static_cast<int64>(origin.column) * strides[2];
    if constexpr (Params::kBatchAxes > 0) {
      offset += Coordinates<Params::kBatchAxes, typename Params::Index>(params.divisors, origin.batch)
                    .offset(params.strides[line]);
    }
    first = reinterpret_cast<Element*>(params.slots[slot]) + offset;
    dense = own(size) % kPack == 0 && (kAlong != Along::kColumns || strides[2] == 1);
    uint64 steps = 0;
    if constexpr (kAlong != Along::kColumns) steps |= static_cast<uint64>(strides[2]);
    if constexpr (kAlong != Along::kRows) steps |= static_cast<uint64>(strides[1]);
    if constexpr (kAlong != Along::kPlanes && Tile::kPlanes > 1) steps |= static_cast<uint64>(strides[0]);
    constexpr uint64 kBytes = sizeof(Element) * kPack;
    aligned = (reinterpret_cast<uint64>(first) | steps * sizeof(Element)) % kBytes == 0;
  }

  // The number of elements from this one on along the own axis; 0 if it is outside of the tile.
  XPOPS_DEVICE int left(const TilePosition& at) const {
    const bool inside =
        at.column < size.column && at.row < size.row && (Tile::kPlanes == 1 || at.plane < size.plane);
    return inside ? own(size) - own(at) : 0;
  }

  // The offset of an element of the result fits the type of strides.
  XPOPS_DEVICE Element* address(const TilePosition& at) const {
    Stride offset = at.column * strides[2];
    offset += kAlong == Along::kRows ? at.row : at.row * strides[1];
    if constexpr (Tile::kPlanes > 1) offset += kAlong == Along::kPlanes ? at.plane : at.plane * strides[0];
    return first + offset;
  }

  // Loads a pack along the own axis, without elements that are outside of the tile.
  template <Access kAccess>
  XPOPS_DEVICE void load(const TilePosition& at, Pack<Element, kPack>& to) const {
    const Element* from = address(at);
    const int count = left(at);
    if constexpr (kAccess == Access::kAligned) {
      if (count > 0) to.load(from);
    } else if constexpr (kAccess == Access::kShifted) {
      if (count > 0) to.load_unaligned(from);
    } else {
      const Stride step = kAlong == Along::kColumns ? strides[2] : 1;
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        if (i < count) to.elem[i] = from[i * step];
      }
    }
  }
  template <Access kAccess>
  XPOPS_DEVICE void store(const TilePosition& at, const Pack<Element, kPack>& pack) const {
    Element* to = address(at);
    const int count = left(at);
    if constexpr (kAccess == Access::kAligned) {
      if (count > 0) pack.store(to);
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        if (i < count) to[i] = pack.elem[i];
      }
    }
  }

 private:
  // The coordinate along the own axis.
  XPOPS_DEVICE static int own(const TilePosition& at) {
    return kAlong == Along::kColumns ? at.column : kAlong == Along::kRows ? at.row : at.plane;
  }
};

// One operand or the result of a tiled kernel. kAlong: the tile's axis along which it has stride 1.
template <class T_, class Loop, class Compute, Along kAlong, int kSlot, int kStrides, class Tile>
struct TiledOperand {
  using T = T_;
  using Element = typename Storage<T>::type;
  static constexpr int kPack = Tile::kPack;
  using Line = Pack<Element, kPack>;
  template <class Params>
  using Memory = TileMemory<Element, Tile, kAlong, typename Params::Stride>;
  static constexpr bool kStaged = kAlong != Along::kColumns;

  // A staged operand is loaded in squares: packs along its own axis, one for each column of a pack. Turned, a square is
  // packs of columns.
  struct Fragment {
    Line lines[Tile::kSteps];
  };

  // Four bytes of padding, or one pack, for each row and plane. Rows that a square has next to each other are far apart
  // in shared memory, those of neighbouring squares next to each other. So the packs along any axis are spread over the
  // banks.
  XPOPS_DEVICE static typename Line::Bits& shared(const TilePosition& at) {
    constexpr int kPad = Line::kBytes < 4 ? 4 / Line::kBytes : 1;
    constexpr int kPitch = Tile::kColumns / kPack + kPad, kPlanePitch = Tile::kRows * kPitch + kPad;
    __shared__ typename Line::Bits tile[kStaged ? Tile::kPlanes * kPlanePitch : 1];
    const int row = kAlong == Along::kRows ? at.row % kPack * (Tile::kRows / kPack) + at.row / kPack : at.row;
    const int plane =
        kAlong == Along::kPlanes ? at.plane % kPack * (Tile::kPlanes / kPack) + at.plane / kPack : at.plane;
    return tile[plane * kPlanePitch + row * kPitch + at.column / kPack];
  }

  template <class Params>
  XPOPS_DEVICE static Memory<Params> memory(const Params& params, const TileOrigin<Params, Tile>& origin) {
    return Memory<Params>(params, kSlot, kStrides, origin);
  }

  template <class Params>
  XPOPS_DEVICE static void load(const Params& params, const TileOrigin<Params, Tile>& origin, Fragment& to) {
    const Memory<Params> from = memory(params, origin);
    if (Tile::kPack > 1 && from.dense && from.aligned) load_all<Access::kAligned>(from, to);
    else if (Tile::kPack > 1 && from.dense) load_all<Access::kShifted>(from, to);
    else load_all<Access::kElements>(from, to);
  }
  template <Access kAccess, class From>
  XPOPS_DEVICE static void load_all(const From& from, Fragment& to) {
    const TileWalk<Tile, kAlong> walk;
#pragma unroll
    for (int i = 0; i < Tile::kSteps; ++i) {
      TilePosition at = walk.at(kStaged ? i / kPack : i);
      if (kStaged) at.column += i % kPack;
      from.template load<kAccess>(at, to.lines[i]);
    }
  }

  XPOPS_DEVICE static void stage(Fragment& from) {
    if constexpr (kStaged) {
      const TileWalk<Tile, kAlong> walk;
#pragma unroll
      for (int i = 0; i < Tile::kSquares; ++i) {
        Line square[kPack];
#pragma unroll
        for (int j = 0; j < kPack; ++j) square[j] = from.lines[i * kPack + j];
        turn(square);
#pragma unroll
        for (int j = 0; j < kPack; ++j) {
          TilePosition at = walk.at(i);
          (kAlong == Along::kRows ? at.row : at.plane) += j;
          shared(at) = square[j].bits[0];
        }
      }
    }
  }

  template <class Params>
  XPOPS_DEVICE static Compute value(const Params&, const Fragment& from, int step, int i) {
    if constexpr (kStaged) {
      Line line;
      line.bits[0] = shared(TileWalk<Tile, Along::kColumns>().at(step));
      return to_compute<T, Loop, Compute>(line.elem[i]);
    } else {
      return to_compute<T, Loop, Compute>(from.lines[step].elem[i]);
    }
  }
};

// A scalar among the parameters.
template <class T, class Loop, class Compute, int kSlot>
struct TiledScalar {
  struct Fragment {};
  template <class Params, class Origin>
  XPOPS_DEVICE static void load(const Params&, const Origin&, Fragment&) {}
  XPOPS_DEVICE static void stage(Fragment&) {}
  template <class Params>
  XPOPS_DEVICE static Compute value(const Params& params, const Fragment&, int, int) {
    return to_compute<T, Loop, Compute>(from_slots<T>(&params.slots[kSlot]));
  }
};

template <class... Operands>
struct TiledFragments {
  template <class Params, class Origin>
  XPOPS_DEVICE void load(const Params&, const Origin&) {}
  XPOPS_DEVICE void stage() {}
  template <class Op, class Params, class... Values>
  XPOPS_DEVICE auto apply(const Params&, int, int, Values... values) const {
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
  XPOPS_DEVICE void stage() {
    Head::stage(head);
    tail.stage();
  }
  template <class Op, class Params, class... Values>
  XPOPS_DEVICE auto apply(const Params& params, int step, int i, Values... values) const {
    return tail.template apply<Op>(params, step, i, values..., Head::value(params, head, step, i));
  }
};

// Computes the packs of this thread.
template <class Op, class Out, class Tile, Access kAccess, class Params, class Memory, class In>
XPOPS_DEVICE void compute_tile(const Params& params, const Memory& to, const In& in) {
  const TileWalk<Tile, Along::kColumns> walk;
#pragma unroll
  for (int step = 0; step < Tile::kSteps; ++step) {
    typename Out::Line line;
    if (to.left(walk.at(step)) == 0) continue;
#pragma unroll
    for (int i = 0; i < Tile::kPack; ++i) line.elem[i] = cast<typename Out::T>(in.template apply<Op>(params, step, i));
    to.template store<kAccess>(walk.at(step), line);
  }
}

// The body of every tiled kernel.
template <class Op, class Out, class Tile, class... In, class Params>
XPOPS_DEVICE void elementwise_tiled(const Params& params) {
  const TileOrigin<Params, Tile> origin(params);
  TiledFragments<In...> in;
  in.load(params, origin);
  in.stage();
  __syncthreads();
  const auto to = Out::memory(params, origin);
  if (Tile::kPack > 1 && to.dense && to.aligned) compute_tile<Op, Out, Tile, Access::kAligned>(params, to, in);
  else compute_tile<Op, Out, Tile, Access::kElements>(params, to, in);
}

}  // namespace xpops
