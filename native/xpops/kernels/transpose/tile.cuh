// Tiles of three axes, for tiled.cuh: which elements a thread has, and where they are in memory.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/index/coordinates.cuh>
#include <xpops/memory/pack.cuh>

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

// The axis of a tile along which neighbouring threads have neighbouring elements of an operand, its own axis. Then the
// columns follow; kPlanesRows: then the rows.
enum class Along { kColumns, kRows, kPlanes, kPlanesRows };

XPOPS_HOST_DEVICE constexpr Along own_axis(Along along) { return along == Along::kPlanesRows ? Along::kPlanes : along; }

// The kernel parameters, which the host writes (xpops/plan/transpose/tiles.py). Order of strides: the batch axes, the planes, the
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
  static constexpr int kPlanes = Tile::kPlanes / (own_axis(kAlong) == Along::kPlanes ? kPack : 1);

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
    } else if constexpr (kAlong == Along::kPlanesRows) {
      return {n / (line(kPlanes) * kRows) % kColumns * kPack, n / line(kPlanes) % kRows,
              along<kPlanes, kColumns * kRows>(n)};
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
    const bool inside = at.column < size.column && at.row < size.row && (Tile::kPlanes == 1 || at.plane < size.plane);
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

}  // namespace xpops
