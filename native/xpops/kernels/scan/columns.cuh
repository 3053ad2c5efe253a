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

// Stores the packs of kLanes neighbouring lanes, one after the other in memory from any element on. Each lane takes the
// first elements of the next lane's pack, so that it stores a pack that is aligned. All lanes of the warp call this. A
// lane's elements from `left` on do not exist.
template <int kLanes, class T, int kPack>
XPOPS_DEVICE void store_ragged(const Pack<T, kPack>& pack, T* to, int64 left) {
  const int place = lane() % kLanes;
  const int skip = static_cast<int>((kPack - reinterpret_cast<uint64>(to) / sizeof(T) % kPack) % kPack);
  const Pack<T, kPack> next = shuffle_down(pack, 1);
  const bool whole = left >= skip + kPack && (skip == 0 || place < kLanes - 1);
  if (whole) Pack<T, kPack>::joined(pack, next, skip).store(to + skip);
  const bool taken = place > 0 && left >= skip;  // by the lane before
#pragma unroll
  for (int i = 0; i < kPack; ++i) {
    if (i < left && (i < skip ? !taken : !whole)) to[i] = pack.elem[i];
  }
}

// A block computes a tile of neighbouring columns. Its warps form a grid: kAcross warps are side by side, and kDown
// such lines of warps, called floors, follow each other down the columns. In a warp, kLanes lanes are side by side, and
// the other lanes are below them. A thread has kRows rows of a pack of columns. If kRadix is 0, one tile has whole
// columns. If kRagged, rows of the result begin at any element, and the last pack of a row may be incomplete.
template <class Types, int kAcross, int kDown, int kLanes, int kPack, int kRows, int kRadix, bool kInitial, bool kRagged,
          int kStep, class Params>
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
    const bool exists = inside && first + r < params.length;
    if (exists && (!kRagged || column + kPack <= params.columns)) {
      read_pack<kStep>(from + r * params.in_step, raw[r]);
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        const bool element = kRagged && exists && column + i < params.columns;
        raw[r].elem[i] = element ? from[r * params.in_step + i * params.in_column_step] : typename Types::In{};
      }
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
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    Pack<typename Types::Out, kPack> pack;
#pragma unroll
    for (int i = 0; i < kPack; ++i) pack.elem[i] = Types::value(op, items[r][i]);
    if constexpr (kRagged) {
      const int64 left = first + r < params.length ? params.columns - column : 0;
      store_ragged<kLanes>(pack, to + r * params.out_step, left);
    } else if (inside && first + r < params.length) {
      pack.store(to + r * params.out_step);
    }
  }
  if (kInitial && first == 0) {
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      if (column + i < params.columns) {
        to[i * params.out_column_step - params.out_step] = cast<typename Types::Out>(op.initial());
      }
    }
  }
}

}  // namespace xpops
