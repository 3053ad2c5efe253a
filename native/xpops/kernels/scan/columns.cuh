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

// Reads the pack that begins `aside` columns beside `from`; zeros if it does not exist. No branch waits for a load, so the
// loads of all rows are in flight at once.
template <Stride kStride, class T, int kPack>
XPOPS_DEVICE void read_column_pack(const T* from, int aside, int64 step, bool exists, Pack<T, kPack>& to) {
  if constexpr (kPack == 1 || kStride == Stride::kPack) {
    to.load_if(exists, from + aside * (kPack > 1 || kStride == Stride::kOne ? 1 : step));
  } else if constexpr (kStride == Stride::kAny) {
#pragma unroll
    for (int i = 0; i < kPack; ++i) to.elem[i] = exists ? from[(aside + i) * step] : T{};
  } else {
    read_part<kStride>(from + (kStride == Stride::kReversed ? -aside : aside), 0, exists ? kPack : 0, to);
  }
}

// A block computes a tile of neighbouring columns. Its warps form a grid: kAcross warps are side by side, and kDown
// such lines of warps, called floors, follow each other down the columns. In a warp, kLanes lanes are side by side, and
// the other lanes are below them. A thread has kRows rows of kWide packs of columns; lanes side by side have
// neighbouring packs. It keeps elements as they are in memory, and computes their states twice. If kRadix is 0, one
// tile has whole columns; if kDown is 1 as well, each warp is a tile by itself.
template <class Types, int kAcross, int kDown, int kLanes, int kPack, int kWide, int kRows, int kRadix, bool kInitial,
          Stride kStride, class Params>
XPOPS_DEVICE void scan_columns(const Params& params) {
  using In = typename Types::In;
  using Out = typename Types::Out;
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
  const int64 under = params.length - first, aside = params.columns - column;
  const int rows = under < kRows ? static_cast<int>(under < 0 ? 0 : under) : kRows;
  const int packs = aside > kSpan * (kWide - 1) ? kWide : aside <= 0 ? 0 : static_cast<int>(aside + kSpan - 1) / kSpan;
  Pack<In, kPack> raw[kRows][kWide];
  const In* from = table.in + first * params.in_step + column * params.in_column_step;
#pragma unroll
  for (int r = 0; r < kRows; ++r, from += params.in_step) {
#pragma unroll
    for (int w = 0; w < kWide; ++w) {
      read_column_pack<kStride>(from, w * kSpan, params.in_column_step, r < rows && w < packs, raw[r][w]);
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
  Out* const top = table.out + first * params.out_step + column * params.out_column_step;
  const int64 out_column_step = kPack > 1 ? 1 : params.out_column_step;
  Out* to = top;
#pragma unroll
  for (int r = 0; r < kRows; ++r, to += params.out_step) {
#pragma unroll
    for (int w = 0; w < kWide; ++w) {
      raw[r][w].forget();
      Pack<Out, kPack> pack;
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        State& run = totals[w * kPack + i];
        const State lifted = Types::lift(op, raw[r][w].elem[i]);
        run = r > 0 ? op.combine(run, lifted) : lifted;
        pack.elem[i] = Types::value(op, before[w * kPack + i].then(op, run));
      }
      if (r < rows && w < packs) pack.store(to + w * kSpan * out_column_step);
    }
  }
  if (kInitial && first == 0) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int64 other = i / kPack * kSpan + i % kPack;
      if (other < aside) {
        top[other * params.out_column_step - params.out_step] = cast<Out>(op.initial());
      }
    }
  }
}

}  // namespace xpops
