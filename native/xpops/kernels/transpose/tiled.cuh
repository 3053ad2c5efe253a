// Elementwise with transposes, by tiles in shared memory: operands that have stride 1 along another axis than the result
// pass through shared memory, so that both their loads and the stores are coalesced.
//
// A block computes a tile of three axes: `columns`, where the result has stride 1, and `rows` and `planes`, where
// transposed operands have stride 1. If all have it along the same axis, there is one plane. All other axes are batch
// axes.
#pragma once

#include <xpops/kernels/transpose/fragments.cuh>
#include <xpops/kernels/transpose/tile.cuh>

namespace xpops {

// One operand or the result of a tiled kernel. kAlong: the tile's axis along which it has stride 1, and the next.
template <class T_, class Loop, class Compute, Along kAlong, int kSlot, int kStrides, class Tile>
struct TiledOperand {
  using T = T_;
  using Element = typename Storage<T>::type;
  static constexpr int kPack = Tile::kPack;
  using Line = Pack<Element, kPack>;
  static constexpr Along kOwn = own_axis(kAlong);
  template <class Params>
  using Memory = TileMemory<Element, Tile, kOwn, typename Params::Stride>;
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
    const int plane = kOwn == Along::kPlanes ? at.plane % kPack * (Tile::kPlanes / kPack) + at.plane / kPack : at.plane;
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

  template <class Params>
  XPOPS_DEVICE static void stage(const Params&, Fragment& from) {
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
  TransposedFragments<In...> in;
  in.load(params, origin);
  in.stage(params);
  __syncthreads();
  const auto to = Out::memory(params, origin);
  if (Tile::kPack > 1 && to.dense && to.aligned) compute_tile<Op, Out, Tile, Access::kAligned>(params, to, in);
  else compute_tile<Op, Out, Tile, Access::kElements>(params, to, in);
}

}  // namespace xpops
