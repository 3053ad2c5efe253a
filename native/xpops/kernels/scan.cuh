// Scans along one axis: every element is read once and written once.
//
//   scan_tiles     along contiguous memory, few rows: a block computes a tile, and looks back for what comes before it
//   scan_rows      along contiguous memory, many rows: a few lanes walk down a row
//   scan_columns   across contiguous memory: a block computes a tile of neighbouring columns, and looks back likewise
//
// The plan (xpops/plan/scan.py) chooses packs so that every access is aligned: a pack never leaves a row, except that the
// last one of a row may be incomplete. Packs of 1 may lie in any strides.
#pragma once

#include <xpops/block/look_back.cuh>
#include <xpops/block/scan.cuh>
#include <xpops/index/coordinates.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

// Slots: the first result, the first operand, scratch memory (zeros), and gamma where the scanner has one.
template <int kSlots, int kRank>
struct ScanParams {
  static constexpr int kAxes = kRank;
  uint64 slots[kSlots];
  int64 length;             // along the axis
  int64 in_step, out_step;  // along the axis
  int64 columns;            // side by side, in steps of column_steps; 1 for the kernels that walk rows
  int64 in_column_step, out_column_step;
  int64 batches;              // along all other axes
  int64 states;               // bytes of published states for each batch
  FastDivMod<uint64> tiles;   // along the axis, of the kernels that have tiles
  FastDivMod<uint64> strips;  // tiles side by side
  FastDivMod<uint64> divisors[kRank > 1 ? kRank - 1 : 1];
  int64 in_strides[kRank], out_strides[kRank];
};

// Scanner<Compute> scans elements that are converted from In to Out, then to Compute, and back.
template <class In_, class Out_, class Compute, class Scanner>
struct ScanTypes {
  using In = typename Storage<In_>::type;
  using Out = Out_;
  using Op = Scanner;
  using State = typename Scanner::State;

  XPOPS_DEVICE static State lift(const Op& op, In x) { return op.lift(to_compute<In_, Out, Compute>(x)); }
  XPOPS_DEVICE static Out value(const Op& op, const State& state) { return cast<Out>(op.value(state)); }
};

// The rows of one batch.
template <class Types, class Params>
struct ScanBatch {
  const typename Types::In* in;
  typename Types::Out* out;

  XPOPS_DEVICE ScanBatch(const Params& params, uint64 batch) {
    const Coordinates<Params::kAxes, uint64> at(params.divisors, batch);
    out = reinterpret_cast<typename Types::Out*>(params.slots[0]) + at.offset(params.out_strides);
    in = reinterpret_cast<const typename Types::In*>(params.slots[1]) + at.offset(params.in_strides);
  }
};

// A run of kPacks * kGroup packs of a row, in the registers of a group of lanes: neighbouring lanes have neighbouring
// packs. In reverse the run goes down in memory, and what lies beyond the row's end comes first, as zeros.
template <class Types, int kPack, int kPacks, int kGroup, bool kReverse>
struct ScanChunk {
  using State = typename Types::State;
  using In = typename Types::In;
  using Out = typename Types::Out;
  static constexpr int kElements = kPack * kPacks * kGroup;

  Pack<In, kPack> raw[kPacks];
  State items[kPacks][kPack];
  State before[kPacks];  // within the chunk; nothing comes before the first pack of the first lane
  State total;

  XPOPS_DEVICE static int place() { return lane() % kGroup; }

  // Where a run lies in its row: from `lowest` on, of which only [begin, end) is in the row.
  struct Span {
    int64 lowest;
    int begin, end;

    XPOPS_DEVICE Span(int64 first, int64 length)
        : lowest(kReverse ? (length + kPack - 1) / kPack * kPack - kElements - first : first),
          begin(lowest < 0 ? (lowest < -kElements ? kElements : static_cast<int>(-lowest)) : 0),
          end(length - lowest < kElements ? static_cast<int>(length - lowest) : kElements) {}

    XPOPS_DEVICE bool is_full() const { return begin == 0 && end == kElements; }
    XPOPS_DEVICE bool has(int at) const { return at >= begin && at < end; }
    XPOPS_DEVICE bool has_pack(int at) const { return kPack > 1 && has(at) && has(at + kPack - 1); }
  };

  // Where the pack `pack` lies in the span.
  XPOPS_DEVICE static int position(int pack) {
    const int linear = (pack * kGroup + place()) * kPack;
    return kReverse ? kElements - kPack - linear : linear;
  }

  XPOPS_DEVICE void load(const In* from, const Span& span, int64 step) {
    if constexpr (kPack > 1) step = 1;
    from += span.lowest * step;
    if (span.is_full()) {
#pragma unroll
      for (int j = 0; j < kPacks; ++j) raw[j].load(from + position(j) * step);
      return;
    }
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      const int at = position(j);
      if (span.has_pack(at)) {
        raw[j].load(from + at);
        continue;
      }
#pragma unroll
      for (int i = 0; i < kPack; ++i) raw[j].elem[i] = span.has(at + i) ? from[(at + i) * step] : In{};
    }
  }

  // Everything but what comes before the run.
  template <class Op>
  XPOPS_DEVICE void scan(const Op& op) {
    State totals[kPacks];
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        items[j][i] = Types::lift(op, raw[j].elem[kReverse ? kPack - 1 - i : i]);
        if (i > 0) items[j][i] = op.combine(items[j][i - 1], items[j][i]);
      }
      totals[j] = items[j][kPack - 1];
    }
    scan_lanes<kGroup>(op, totals);
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      State all = totals[j];
      before[j] = totals[j];
      if constexpr (kGroup > 1) {
        before[j] = shuffle_up(totals[j], 1);
        all = shuffle(totals[j], lane() - place() + kGroup - 1);
      }
      if (j > 0) {
        before[j] = place() > 0 ? op.combine(total, before[j]) : total;
        total = op.combine(total, all);
      } else {
        total = all;
      }
    }
  }

  template <class Op>
  XPOPS_DEVICE void store(const Op& op, const Before<State>& outer, Out* to, const Span& span, int64 step) const {
    if constexpr (kPack > 1) step = 1;
    to += span.lowest * step;
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      Before<State> all = outer;
      if (j > 0 || place() > 0) all.append(op, before[j]);
      Pack<Out, kPack> pack;
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        pack.elem[kReverse ? kPack - 1 - i : i] = Types::value(op, all.then(op, items[j][i]));
      }
      const int at = position(j);
      if (span.is_full() || span.has_pack(at)) {
        pack.store(to + at * step);
      } else {
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
          if (span.has(at + i)) to[(at + i) * step] = pack.elem[i];
        }
      }
    }
  }
};

// A block for each tile of a row. kRadix 0: a row is a single tile.
template <class Types, int kBlock, int kPack, int kPacks, int kRadix, bool kReverse, bool kInitial, class Params>
XPOPS_DEVICE void scan_tiles(const Params& params) {
  using State = typename Types::State;
  using Chunk = ScanChunk<Types, kPack, kPacks, kWarp, kReverse>;
  constexpr int kWarps = kBlock / kWarp;
  uint64* scratch = reinterpret_cast<uint64*>(params.slots[2]);
  const typename Types::Op op(params.slots + 3);
  uint64 batch = kRadix > 0 ? next_tile(scratch) : blockIdx.x, tile = 0;
  if constexpr (kRadix > 0) tile = params.tiles.divmod(batch);
  const ScanBatch<Types, Params> rows(params, batch);
  const typename Chunk::Span span(static_cast<int64>(tile * kWarps + warp()) * Chunk::kElements, params.length);

  Chunk chunk;
  chunk.load(rows.in, span, params.in_step);
  chunk.scan(op);
  __shared__ State totals[kWarps];
  if (lane() == 0) totals[warp()] = chunk.total;
  __syncthreads();
  State all;
  Before<State> before = before_row<kWarps, 1>(op, totals, warp(), all);
  if constexpr (kRadix > 0) {
    __shared__ State outer;
    if (warp() == 0) {
      char* states = reinterpret_cast<char*>(scratch + 2) + batch * params.states;
      LookBack<State, kRadix> look_back(states, params.tiles.divisor, 1, tile);
      const State found = look_back.by_warp(op, all).state;
      if (lane() == 0) outer = found;
    }
    __syncthreads();
    if (tile > 0) {
      Before<State> both;
      both.append(op, outer);
      if (before.any) both.append(op, before.state);
      before = both;
    }
  }
  chunk.store(op, before, rows.out, span, params.out_step);
  if (kInitial && tile == 0 && threadIdx.x == 0) rows.out[-params.out_step] = cast<typename Types::Out>(op.initial());
}

// kGroup lanes for each row. kLoop: a row may be longer than what they hold at once.
template <class Types, int kBlock, int kPack, int kPacks, int kGroup, bool kLoop, bool kReverse, bool kInitial,
          class Params>
XPOPS_DEVICE void scan_rows(const Params& params) {
  using State = typename Types::State;
  using Chunk = ScanChunk<Types, kPack, kPacks, kGroup, kReverse>;
  const typename Types::Op op(params.slots + 3);
  const uint64 batch = static_cast<uint64>(blockIdx.x) * (kBlock / kGroup) + threadIdx.x / kGroup;
  const bool exists = batch < static_cast<uint64>(params.batches);
  const ScanBatch<Types, Params> row(params, exists ? batch : 0);
  const int64 length = exists ? params.length : 0;

  Before<State> before;
#pragma unroll 1
  for (int64 first = 0; first < (kLoop ? params.length : 1); first += Chunk::kElements) {
    const typename Chunk::Span span(first, length);
    Chunk chunk;
    chunk.load(row.in, span, params.in_step);
    chunk.scan(op);
    chunk.store(op, before, row.out, span, params.out_step);
    if constexpr (kLoop) before.append(op, chunk.total);
  }
  if (kInitial && exists && Chunk::place() == 0) row.out[-params.out_step] = cast<typename Types::Out>(op.initial());
}

// A block for each tile of neighbouring columns: kAcross warps side by side, kDown below each other. In a warp kLanes
// lanes lie side by side, and the others below them; a thread has kRows rows of a pack of columns. kRadix 0: a column is
// a single tile.
template <class Types, int kAcross, int kDown, int kLanes, int kPack, int kRows, int kRadix, bool kInitial,
          class Params>
XPOPS_DEVICE void scan_columns(const Params& params) {
  using State = typename Types::State;
  constexpr int kBlock = kAcross * kDown * kWarp, kColumns = kAcross * kLanes * kPack, kBelow = kWarp / kLanes;
  static_assert(kRadix == 0 || kDown > 1, "a tall column fills a block");
  uint64* scratch = reinterpret_cast<uint64*>(params.slots[2]);
  const typename Types::Op op(params.slots + 3);
  uint64 batch = kRadix > 0 ? next_tile(scratch) : blockIdx.x, tile = 0;
  const uint64 strip = params.strips.divmod(batch);
  if constexpr (kRadix > 0) tile = params.tiles.divmod(batch);
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
    __shared__ State sums[kDown][kColumns];
    __shared__ State outer[kRadix > 0 ? kColumns : 1];
    if (below == kBelow - 1) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) sums[floor][inner + i] = totals[i];
    }
    __syncthreads();
#pragma unroll 1
    for (int mine = threadIdx.x; mine < kColumns; mine += kBlock) {
      const State own = exclusive_scan<kDown, kColumns>(op, &sums[0][mine]);
      const int64 place = static_cast<int64>(strip) * kColumns + mine;
      if (kRadix > 0 && place < params.columns) {
        char* states = reinterpret_cast<char*>(scratch + 2) + batch * params.states;
        LookBack<State, kRadix> look_back(states, params.tiles.divisor, params.columns, tile);
        outer[mine] = look_back.by_thread(op, own, place).state;
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      if (kRadix > 0 && tile > 0) before[i].append(op, outer[inner + i]);
      if (floor > 0) before[i].append(op, sums[floor][inner + i]);
    }
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
