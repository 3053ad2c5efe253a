// Scans across contiguous memory (see scan.cuh): tiles of neighbouring columns, with decoupled look-back between tiles.
#pragma once

#include <xpops/block/look_back.cuh>
#include <xpops/block/scan.cuh>
#include <xpops/kernels/scan/scan.cuh>

namespace xpops {

// Computes the prefix of a floor (see scan_columns) from the totals of all floors and from earlier tiles. Threads with
// `last` hold the totals of their floor. `inner` is the thread's first column in the tile; each further pack of its
// columns is kSpan columns away.
template <int kDown, int kColumns, int kBlock, int kRadix, int kPack, int kSpan, class Params, class Op, class State,
          int kCount>
XPOPS_DEVICE void before_floor(const Params& params, const Op& op, const State (&totals)[kCount], bool last, int floor,
                               int inner, uint32 strip, uint32 batch, int tile, Before<State> (&before)[kCount]) {
  __shared__ State sums[kDown][kColumns];
  __shared__ State outer[kRadix > 0 ? kColumns : 1];
  if (last) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) sums[floor][inner + i / kPack * kSpan + i % kPack] = totals[i];
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
  for (int i = 0; i < kCount; ++i) {
    const int mine = inner + i / kPack * kSpan + i % kPack;
    if (kRadix > 0 && tile > 0) before[i].append(op, outer[mine]);
    if (floor > 0) before[i].append(op, sums[floor][mine]);
  }
}

// A block computes a tile of neighbouring columns. Its warps form a grid: kAcross warps are side by side, and kDown
// such lines of warps, called floors, follow each other down the columns. In a warp, kLanes lanes are side by side, and
// the other lanes are below them. A thread has kRows rows of kWide packs of columns; lanes side by side have
// neighbouring packs. It keeps elements as they are in memory, and computes their states twice. If kRadix is 0, one
// tile has whole columns; if kDown is 1 as well, each warp is a tile by itself.
template <class Types, int kAcross, int kDown, int kLanes, int kPack, int kWide, int kRows, int kRadix, bool kInitial,
          class Params>
XPOPS_DEVICE void scan_columns(const Params& params) {
  using State = typename Types::State;
  constexpr int kSpan = kLanes * kPack, kCount = kPack * kWide, kBelow = kWarp / kLanes;
  constexpr int kBlock = kAcross * kDown * kWarp, kColumns = (kDown > 1 ? kAcross : 1) * kSpan * kWide;
  static_assert(kRadix == 0 || kDown > 1, "a tall column fills a block");
  const typename Types::Op op(params.slots + 3);
  // The first tiles of all columns come first in the grid, so that blocks that wait for each other start far apart.
  uint32 tile = kDown > 1 ? blockIdx.x : blockIdx.x * kAcross + warp();
  const uint32 strip = params.grid[0].divmod(tile), batch = params.grid[1].divmod(tile);
  if (kDown == 1 && tile > 0) return;
  const ScanBatch<Types, Params> table(params, batch);

  const int floor = warp() / kAcross, below = lane() / kLanes;
  const int inner = (kDown > 1 ? warp() % kAcross : 0) * kSpan * kWide + lane() % kLanes * kPack;
  const int64 column = static_cast<int64>(strip) * kColumns + inner;
  const int64 first = (static_cast<int64>(tile) * kDown + (kDown > 1 ? floor : 0)) * (kBelow * kRows) + below * kRows;
  const typename Types::In* from = table.in + first * params.in_step + column * params.in_column_step;
  Pack<typename Types::In, kPack> raw[kRows][kWide];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int w = 0; w < kWide; ++w) {
      if (column + w * kSpan < params.columns && first + r < params.length) {
        raw[r][w].load(from + r * params.in_step + w * kSpan * params.in_column_step);
      } else {
#pragma unroll
        for (int i = 0; i < kPack; ++i) raw[r][w].elem[i] = typename Types::In{};
      }
    }
  }
  State totals[kCount];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const State lifted = Types::lift(op, raw[r][i / kPack].elem[i % kPack]);
      totals[i] = r > 0 ? op.combine(totals[i], lifted) : lifted;
    }
  }
  scan_lanes<kBelow, kLanes>(op, totals);
  Before<State> before[kCount];
  if constexpr (kDown > 1) {
    before_floor<kDown, kColumns, kBlock, kRadix, kPack, kSpan>(params, op, totals, below == kBelow - 1, floor, inner,
                                                                strip, batch, static_cast<int>(tile), before);
  }
  if constexpr (kBelow > 1) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const State above = shuffle_up(totals[i], kLanes);
      if (below > 0) before[i].append(op, above);
    }
  }
  typename Types::Out* to = table.out + first * params.out_step + column * params.out_column_step;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
#pragma unroll
    for (int w = 0; w < kWide; ++w) {
      raw[r][w].forget();
      Pack<typename Types::Out, kPack> pack;
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        State& run = totals[w * kPack + i];
        const State lifted = Types::lift(op, raw[r][w].elem[i]);
        run = r > 0 ? op.combine(run, lifted) : lifted;
        pack.elem[i] = Types::value(op, before[w * kPack + i].then(op, run));
      }
      if (column + w * kSpan < params.columns && first + r < params.length) {
        pack.store(to + r * params.out_step + w * kSpan * params.out_column_step);
      }
    }
  }
  if (kInitial && first == 0) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int64 aside = i / kPack * kSpan + i % kPack;
      if (column + aside < params.columns) {
        to[aside * params.out_column_step - params.out_step] = cast<typename Types::Out>(op.initial());
      }
    }
  }
}

}  // namespace xpops
