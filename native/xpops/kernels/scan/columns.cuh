// Scans across contiguous memory (see scan.cuh): tiles of neighbouring columns, with decoupled look-back between tiles.
#pragma once

#include <xpops/block/look_back.cuh>
#include <xpops/block/scan.cuh>
#include <xpops/kernels/scan/scan.cuh>

namespace xpops {

// Computes the prefix of a floor (see scan_columns) from the totals of all floors and from earlier tiles. Threads with
// `last` hold the totals of their floor.
template <int kDown, int kColumns, int kBlock, int kRadix, class Params, class Op, class State, int kPack>
XPOPS_DEVICE void before_floor(const Params& params, const Op& op, const State (&totals)[kPack], bool last, int floor,
                               int inner, uint32 strip, uint32 batch, int tile, Before<State> (&before)[kPack]) {
  __shared__ State sums[kDown][kColumns];
  __shared__ State outer[kRadix > 0 ? kColumns : 1];
  if (last) {
#pragma unroll
    for (int i = 0; i < kPack; ++i) sums[floor][inner + i] = totals[i];
  }
  __syncthreads();
#pragma unroll 1
  for (int mine = threadIdx.x; mine < kColumns; mine += kBlock) {
    const State own = exclusive_scan<kDown, kColumns>(op, &sums[0][mine]);
    const int64 column = static_cast<int64>(strip) * kColumns + mine;
    if (kRadix > 0 && column < params.columns) {
      char* states = reinterpret_cast<char*>(params.slots[2]) + batch * params.states;
      LookBack<State, kRadix> look_back(states, static_cast<int>(params.tiles), params.columns, tile);
      outer[mine] = look_back.by_thread(op, own, column).state;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kPack; ++i) {
    if (kRadix > 0 && tile > 0) before[i].append(op, outer[inner + i]);
    if (floor > 0) before[i].append(op, sums[floor][inner + i]);
  }
}

// A block computes a tile of neighbouring columns. Its warps form a grid: kAcross warps are side by side, and kDown
// such lines of warps, called floors, follow each other down the columns. In a warp, kLanes lanes are side by side, and
// the other lanes are below them. A thread has kRows rows of a pack of columns. If kRadix is 0, one tile has whole
// columns.
template <class Types, int kAcross, int kDown, int kLanes, int kPack, int kRows, int kRadix, bool kInitial,
          class Params>
XPOPS_DEVICE void scan_columns(const Params& params) {
  using State = typename Types::State;
  constexpr int kBlock = kAcross * kDown * kWarp, kColumns = kAcross * kLanes * kPack, kBelow = kWarp / kLanes;
  static_assert(kRadix == 0 || kDown > 1, "a tall column fills a block");
  const typename Types::Op op(params.slots + 3);
  // The first tiles of all columns come first in the grid, so that blocks that wait for each other start far apart.
  uint32 tile = blockIdx.x;
  const uint32 strip = params.grid[0].divmod(tile), batch = params.grid[1].divmod(tile);
  const ScanBatch<Types, Params> table(params, batch);

  const int floor = warp() / kAcross, below = lane() / kLanes;
  const int inner = (warp() % kAcross * kLanes + lane() % kLanes) * kPack;
  const int64 column = static_cast<int64>(strip) * kColumns + inner;
  const int64 first = (static_cast<int64>(tile) * kDown + floor) * (kBelow * kRows) + below * kRows;
  const bool inside = column < params.columns;
  const typename Types::In* from = table.in + first * params.in_step + column * params.in_column_step;
  Pack<typename Types::In, kPack> raw[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (inside && first + r < params.length) {
      raw[r].load(from + r * params.in_step);
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) raw[r].elem[i] = typename Types::In{};
    }
  }
  State items[kRows][kPack], totals[kPack];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      items[r][i] = Types::lift(op, raw[r].elem[i]);
      if (r > 0) items[r][i] = op.combine(items[r - 1][i], items[r][i]);
      totals[i] = items[r][i];
    }
  }
  scan_lanes<kBelow, kLanes>(op, totals);
  Before<State> before[kPack];
  if constexpr (kDown > 1) {
    before_floor<kDown, kColumns, kBlock, kRadix>(params, op, totals, below == kBelow - 1, floor, inner, strip, batch,
                                                  static_cast<int>(tile), before);
  }
  typename Types::Out* to = table.out + first * params.out_step + column * params.out_column_step;
#pragma unroll
  for (int i = 0; i < kPack; ++i) {
    if constexpr (kBelow > 1) {
      const State above = shuffle_up(totals[i], kLanes);
      if (below > 0) before[i].append(op, above);
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) items[r][i] = before[i].then(op, items[r][i]);
  }
  if (inside) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      Pack<typename Types::Out, kPack> pack;
#pragma unroll
      for (int i = 0; i < kPack; ++i) pack.elem[i] = Types::value(op, items[r][i]);
      if (first + r < params.length) pack.store(to + r * params.out_step);
    }
    if (kInitial && first == 0) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        to[i * params.out_column_step - params.out_step] = cast<typename Types::Out>(op.initial());
      }
    }
  }
}

}  // namespace xpops
