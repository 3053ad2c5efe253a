// Scans along contiguous memory: see scan.cuh.
#pragma once

#include <xpops/block/look_back.cuh>
#include <xpops/block/scan.cuh>
#include <xpops/kernels/scan.cuh>
#include <xpops/memory/ahead.cuh>

namespace xpops {

// A run of kPacks * kGroup packs of a row, in the registers of a group of lanes: neighbouring lanes have neighbouring
// packs. In reverse the run goes down in memory, and what lies beyond the row's end comes first, as zeros.
template <class Types, int kPack, int kPacks, int kGroup, bool kReverse>
struct ScanChunk {
  using State = typename Types::State;
  using In = typename Types::In;
  using Out = typename Types::Out;
  static constexpr int kElements = kPack * kPacks * kGroup;

  // The items of a pack.
  struct alignas(sizeof(State) * kPack % kMaxPackBytes == 0 ? kMaxPackBytes : alignof(State)) Items {
    State at[kPack];
  };

  Pack<In, kPack> raw[kPacks];
  Items items[kPacks];
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

  // Begins to bring a whole run to shared memory, to places that are this thread's alone.
  template <int kBlock>
  XPOPS_DEVICE static void fetch(const In* from, const Span& span, int64 step, Pack<In, kPack> (*places)[kBlock]) {
    if constexpr (kPack > 1) step = 1;
    if (!span.is_full()) return;
    from += span.lowest * step;
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      copy_ahead<sizeof(Pack<In, kPack>)>(&places[j][threadIdx.x], from + position(j) * step);
    }
  }

  // Loads what was fetched, or what was not.
  template <int kBlock>
  XPOPS_DEVICE void collect(const In* from, const Span& span, int64 step, const Pack<In, kPack> (*places)[kBlock]) {
    if (!span.is_full()) {
      load(from, span, step);
      return;
    }
    wait_for_copies();
#pragma unroll
    for (int j = 0; j < kPacks; ++j) raw[j].bits = places[j][threadIdx.x].bits;
  }

  // Everything but what comes before the run.
  template <class Op>
  XPOPS_DEVICE void scan(const Op& op) {
    State totals[kPacks];
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        items[j].at[i] = Types::lift(op, raw[j].elem[kReverse ? kPack - 1 - i : i]);
        if (i > 0) items[j].at[i] = op.combine(items[j].at[i - 1], items[j].at[i]);
      }
      totals[j] = items[j].at[kPack - 1];
    }
    scan_lanes<kGroup>(op, totals);
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      Before<State> before;
      if (j > 0) before.append(op, total);
      if constexpr (kGroup > 1) {
        const State left = shuffle_up(totals[j], 1), all = shuffle(totals[j], lane() - place() + kGroup - 1);
        total = before.then(op, all);
        if (place() > 0) before.append(op, left);
      } else {
        total = before.then(op, totals[j]);
      }
#pragma unroll
      for (int i = 0; i < kPack; ++i) items[j].at[i] = before.then(op, items[j].at[i]);
    }
  }

  // Writes a run, whose packs `items(pack)` gives.
  template <class Op, class Source>
  XPOPS_DEVICE static void store(const Op& op, const Before<State>& before, const Source& source, Out* to,
                                 const Span& span, int64 step) {
    if constexpr (kPack > 1) step = 1;
    to += span.lowest * step;
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      Pack<Out, kPack> pack;
      const Items items = source(j);
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        pack.elem[kReverse ? kPack - 1 - i : i] = Types::value(op, before.then(op, items.at[i]));
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

  template <class Op>
  XPOPS_DEVICE void store(const Op& op, const Before<State>& before, Out* to, const Span& span, int64 step) const {
    store(op, before, [this](int j) { return items[j]; }, to, span, step);
  }
};

// What comes before this thread's warp in a tile, and the sum of the tile.
template <int kWarps, class Op, class State>
XPOPS_DEVICE Before<State> before_warp(const Op& op, const State& total, State& all) {
  __shared__ State totals[kWarps];
  if (lane() == 0) totals[warp()] = total;
  __syncthreads();
  return before_row<kWarps, 1>(op, totals, warp(), all);
}

// A block for each row.
template <class Types, int kBlock, int kPack, int kPacks, bool kReverse, bool kInitial, class Params>
XPOPS_DEVICE void scan_tile(const Params& params) {
  using State = typename Types::State;
  using Chunk = ScanChunk<Types, kPack, kPacks, kWarp, kReverse>;
  const typename Types::Op op(params.slots + 3);
  const ScanBatch<Types, Params> row(params, blockIdx.x);
  const typename Chunk::Span span(static_cast<int64>(warp()) * Chunk::kElements, params.length);
  Chunk chunk;
  State all;
  chunk.load(row.in, span, params.in_step);
  chunk.scan(op);
  const Before<State> before = before_warp<kBlock / kWarp>(op, chunk.total, all);
  chunk.store(op, before, row.out, span, params.out_step);
  if (kInitial && threadIdx.x == 0) row.out[-params.out_step] = cast<typename Types::Out>(op.initial());
}

// A tile of a row, by its number among those of all rows.
template <class Types, class Chunk, int kWarps, class Params>
struct RowTile {
  uint32 batch, tile;
  ScanBatch<Types, Params> row;
  typename Chunk::Span span;

  XPOPS_DEVICE RowTile(const Params& params, uint32 number)
      : batch(number),
        tile(params.grid[0].divmod(batch)),
        row(params, batch),
        span((static_cast<int64>(tile) * kWarps + warp()) * Chunk::kElements, params.length) {}

  XPOPS_DEVICE RowLookBack<typename Types::State> look_back(const Params& params) const {
    return {reinterpret_cast<char*>(params.slots[2]) + kScanTickets + batch * params.states,
            static_cast<int>(params.tiles), static_cast<int>(tile)};
  }
};

// Blocks take tiles of rows in turn, so that whoever is waited for is running. Three are in a block's hands: one on its
// way to shared memory, one that is scanned and published, and the one before, which by now everything is known of that
// comes before it.
template <class Types, int kBlock, int kPack, int kPacks, bool kReverse, bool kInitial, class Params>
XPOPS_DEVICE void scan_tiles(const Params& params) {
  using State = typename Types::State;
  using Chunk = ScanChunk<Types, kPack, kPacks, kWarp, kReverse>;
  using Fetched = Pack<typename Types::In, kPack>;
  constexpr int kWarps = kBlock / kWarp;
  using Tile = RowTile<Types, Chunk, kWarps, Params>;
  constexpr bool kAhead = copies_ahead_v<sizeof(Fetched)>;
  __shared__ Fetched fetched[kAhead ? kPacks : 1][kBlock];
  __shared__ typename Chunk::Items scanned[kPacks][kBlock];
  __shared__ State outer;
  __shared__ uint32 ticket;
  const typename Types::Op op(params.slots + 3);
  uint32* const tickets = reinterpret_cast<uint32*>(params.slots[2]);
  const uint32 count = static_cast<uint32>(params.batches * params.tiles);
  const auto fetch = [&](uint32 number) {
    if constexpr (kAhead) {
      if (number >= count) return;
      const Tile tile(params, number);
      Chunk::fetch(tile.row.in, tile.span, params.in_step, fetched);
    }
  };
  // One ticket at a time: with two neighbours in one block, every block would wait for the second one of the block before.
  const auto take = [&] {
    __syncthreads();
    if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
    __syncthreads();
    return ticket;
  };
  uint32 number = take();
  fetch(number);
  uint32 next = take(), pending = count;
  State pending_sum;
  Before<State> pending_before;
#pragma unroll 1
  for (;;) {
    Chunk chunk;
    State sum;
    Before<State> before;
    uint32 after = 0;
    if (number < count) {
      const Tile tile(params, number);
      if constexpr (kAhead) chunk.collect(tile.row.in, tile.span, params.in_step, fetched);
      else chunk.load(tile.row.in, tile.span, params.in_step);
      fetch(next);
      if (threadIdx.x == 0) after = atomicAdd(tickets, 1u);
      chunk.scan(op);
      before = before_warp<kWarps>(op, chunk.total, sum);
      if (threadIdx.x == 0) tile.look_back(params).publish(sum);
    }
    if (pending < count && warp() == 0) {
      const State found = Tile(params, pending).look_back(params).find(op, pending_sum).state;
      if (lane() == 0) outer = found;
    }
    if (threadIdx.x == 0) ticket = after;
    __syncthreads();
    if (pending < count) {
      const Tile tile(params, pending);
      Before<State> all;
      if (tile.tile > 0) all.append(op, outer);
      if (pending_before.any) all.append(op, pending_before.state);
      Chunk::store(op, all, [&](int j) { return scanned[j][threadIdx.x]; }, tile.row.out, tile.span, params.out_step);
      if (kInitial && tile.tile == 0 && threadIdx.x == 0) {
        tile.row.out[-params.out_step] = cast<typename Types::Out>(op.initial());
      }
    }
    if (number >= count) break;
#pragma unroll
    for (int j = 0; j < kPacks; ++j) scanned[j][threadIdx.x] = chunk.items[j];
    pending = number, pending_sum = sum, pending_before = before;
    number = next, next = ticket;
    __syncthreads();
  }
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
  Chunk chunk;
  typename Chunk::Span span(0, length);
  chunk.load(row.in, span, params.in_step);
#pragma unroll 1
  for (int64 next = Chunk::kElements;; next += Chunk::kElements) {
    chunk.scan(op);
    const typename Chunk::Span ahead(next, length);
    const bool more = kLoop && next < params.length;
    if (more) chunk.load(row.in, ahead, params.in_step);  // under way while this run is written
    chunk.store(op, before, row.out, span, params.out_step);
    if (!more) break;
    before.append(op, chunk.total);
    span = ahead;
  }
  if (kInitial && exists && Chunk::place() == 0) row.out[-params.out_step] = cast<typename Types::Out>(op.initial());
}

}  // namespace xpops
