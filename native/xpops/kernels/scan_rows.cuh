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

  Pack<In, kPack> raw[kPacks];
  State items[kPacks][kPack];
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
      for (int i = 0; i < kPack; ++i) items[j][i] = before.then(op, items[j][i]);
    }
  }

  template <class Op>
  XPOPS_DEVICE void store(const Op& op, const Before<State>& before, Out* to, const Span& span, int64 step) const {
    if constexpr (kPack > 1) step = 1;
    to += span.lowest * step;
    Pack<Out, kPack> packs[kPacks];
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        packs[j].elem[kReverse ? kPack - 1 - i : i] = Types::value(op, before.then(op, items[j][i]));
      }
    }
    // Counted in packs: where NVRTC 13 sees that a number of elements is a multiple, it cuts the access in parts.
    const auto place = [&](int j) { return reinterpret_cast<Pack<Out, kPack>*>(to) + position(j) / kPack * step; };
    if (span.is_full()) {
#pragma unroll
      for (int j = 0; j < kPacks; ++j) place(j)->bits = packs[j].bits;
      return;
    }
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      const int at = position(j);
      if (span.has_pack(at)) {
        place(j)->bits = packs[j].bits;
        continue;
      }
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        if (span.has(at + i)) to[(at + i) * step] = packs[j].elem[i];
      }
    }
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

// What a warp keeps in shared memory to take it in another arrangement: kRun units for each lane. As a run, the units
// of a lane are neighbours; as rows, those of neighbouring lanes are, kTogether of each.
//
// Both are free of bank conflicts. kLine units make a line, in which every bank is once. Where kLine lanes access units
// that are a power of two apart, log2(kLine) neighbouring bits of the units' numbers run through all values. The place
// in a line is the exclusive or of all groups of so many bits, up to the highest that a run needs, so it does as well.
// (Of units of less than a bank, a line has more than there are lanes; then two or four lanes may meet.)
template <class T, int kRun, int kTogether>
class Shelf {
 public:
  XPOPS_DEVICE T& run(int i) { return units_[place(lane() * kRun) ^ place(i)]; }
  XPOPS_DEVICE T& row(int i) {
    return units_[place(lane() * kTogether) ^ place(i / kTogether * kWarp * kTogether + i % kTogether)];
  }

 private:
  static constexpr int kLine = 128 / sizeof(T);
  static_assert((kLine & (kLine - 1)) == 0 && (kRun & (kRun - 1)) == 0, "powers of two");

  // Of numbers without common bits, the places may be combined instead.
  XPOPS_DEVICE static constexpr int place(int unit) {
    int found = unit;
    for (int above = kLine; above < kLine * kRun; above *= kLine) found ^= unit / above % kLine;
    return found;
  }

  T units_[kWarp * kRun];
};

// A warp's elements, of which every lane has a run of neighbours, so that lanes combine but once. Memory is accessed in
// the arrangement of ScanChunk, so they come and go through shelves.
template <class Types, int kPack, int kPacks, bool kReverse>
struct ScanRun {
  using State = typename Types::State;
  using Chunk = ScanChunk<Types, kPack, kPacks, kWarp, kReverse>;
  using Span = typename Chunk::Span;
  static constexpr int kCount = kPack * kPacks;

  // As many states as fit into one access.
  static constexpr int kFit = sizeof(State) * kPack <= kMaxPackBytes ? kPack
                              : sizeof(State) < kMaxPackBytes        ? kMaxPackBytes / sizeof(State)
                                                                     : 1;
  struct alignas(sizeof(State) * kFit) Unit {
    State at[kFit];
  };
  using Fetched = Pack<typename Types::In, kPack>;
  using FetchedShelf = Shelf<Fetched, kPacks, 1>;
  using ScannedShelf = Shelf<Unit, kCount / kFit, kPack / kFit>;

  Fetched raw[kPacks];
  State items[kCount];

  // Begins to bring a warp's elements to its shelf.
  XPOPS_DEVICE static void fetch(const typename Types::In* from, const Span& span, int64 step, FetchedShelf& shelf) {
    if constexpr (copies_ahead_v<sizeof(Fetched)>) {
      if (span.is_full()) {
        if constexpr (kPack > 1) step = 1;
        from += span.lowest * step;
#pragma unroll
        for (int j = 0; j < kPacks; ++j) copy_ahead<sizeof(Fetched)>(&shelf.row(j), from + Chunk::position(j) * step);
        return;
      }
    }
    Chunk chunk;
    chunk.load(from, span, step);
#pragma unroll
    for (int j = 0; j < kPacks; ++j) shelf.row(j).bits = chunk.raw[j].bits;
  }

  // Leaves the shelf to the next elements.
  XPOPS_DEVICE void take(FetchedShelf& shelf) {
    wait_for_copies();
    __syncwarp();
#pragma unroll
    for (int j = 0; j < kPacks; ++j) raw[j].bits = shelf.run(j).bits;
    __syncwarp();
  }

  // Everything but what comes before the run, whose sum is returned.
  template <class Op>
  XPOPS_DEVICE State scan(const Op& op) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      items[i] = Types::lift(op, raw[i / kPack].elem[kReverse ? kPack - 1 - i % kPack : i % kPack]);
      if (i > 0) items[i] = op.combine(items[i - 1], items[i]);
    }
    return items[kCount - 1];
  }

  template <class Op>
  XPOPS_DEVICE void keep(const Op& op, const Before<State>& before, ScannedShelf& shelf) const {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kCount; i += kFit) {
      Unit unit;
#pragma unroll
      for (int k = 0; k < kFit; ++k) unit.at[k] = before.then(op, items[i + k]);
      shelf.run(i / kFit) = unit;
    }
  }

  // Writes what was kept before a barrier.
  template <class Op>
  XPOPS_DEVICE static void store(const Op& op, const Before<State>& before, ScannedShelf& shelf,
                                 typename Types::Out* to, const Span& span, int64 step) {
    Chunk chunk;
#pragma unroll
    for (int i = 0; i < kCount; i += kFit) {
      const Unit unit = shelf.row(i / kFit);
#pragma unroll
      for (int k = 0; k < kFit; ++k) chunk.items[i / kPack][i % kPack + k] = unit.at[k];
    }
    chunk.store(op, before, to, span, step);
  }
};

// A tile of a row, by its number among those of all rows.
template <class Types, class Chunk, int kWarps, class Params>
struct RowTile {
  using LookBack = RowLookBack<typename Types::State, kWarps>;

  uint32 batch, tile;
  ScanBatch<Types, Params> row;
  typename Chunk::Span span;

  XPOPS_DEVICE RowTile(const Params& params, uint32 number)
      : batch(number),
        tile(params.grid[0].divmod(batch)),
        row(params, batch),
        span((static_cast<int64>(tile) * kWarps + warp()) * Chunk::kElements, params.length) {}

  XPOPS_DEVICE LookBack look_back(const Params& params) const {
    return {reinterpret_cast<char*>(params.slots[2]) + kScanTickets + batch * params.states,
            static_cast<int>(params.tiles), static_cast<int>(tile)};
  }
};

// Blocks take tiles of rows in turn, so that whoever is waited for is running. Three are in a block's hands: one on its
// way to shared memory, one that is scanned and published, and the one before, which by now everything is known of that
// comes before it. Warps meet once for a tile; in the next turn they use other places to tell each other something.
template <class Types, int kBlock, int kPack, int kPacks, bool kReverse, bool kInitial, class Params>
XPOPS_DEVICE void scan_tiles(const Params& params) {
  using State = typename Types::State;
  using Run = ScanRun<Types, kPack, kPacks, kReverse>;
  constexpr int kWarps = kBlock / kWarp;
  using Tile = RowTile<Types, typename Run::Chunk, kWarps, Params>;
  struct alignas(16) Meeting {
    State totals[kWarps];
    typename Tile::LookBack::Found found;
    uint32 ticket;
  };
  __shared__ typename Run::FetchedShelf fetched[kWarps];
  __shared__ typename Run::ScannedShelf scanned[kWarps];
  __shared__ Meeting meetings[2];
  const typename Types::Op op(params.slots + 3);
  uint32* const tickets = reinterpret_cast<uint32*>(params.slots[2]);
  const uint32 count = static_cast<uint32>(params.batches * params.tiles);
  const auto fetch = [&](uint32 number) {
    if (number >= count) return;
    const Tile tile(params, number);
    Run::fetch(tile.row.in, tile.span, params.in_step, fetched[warp()]);
  };
  // One ticket at a time: with two neighbours in one block, every block would wait for the second of the block before.
  const auto take = [&](Meeting& meeting) {
    if (threadIdx.x == 0) meeting.ticket = atomicAdd(tickets, 1u);
    __syncthreads();
    return meeting.ticket;
  };
  uint32 number = take(meetings[0]);
  fetch(number);
  uint32 next = take(meetings[1]), pending = count;
  State pending_sum{};
#pragma unroll 1
  for (int turn = 0;; turn ^= 1) {
    Meeting& meeting = meetings[turn];
    const Tile last(params, pending < count ? pending : 0);
    typename Tile::LookBack look_back = last.look_back(params);
    Run run;
    State left, sum{};
    run.take(fetched[warp()]);
    look_back.begin();
    if (number < count) {
      uint32 after = 0;
      if (threadIdx.x == 0) after = atomicAdd(tickets, 1u);
      fetch(next);
      State total[1] = {run.scan(op)};
      scan_lanes<kWarp>(op, total);
      left = shuffle_up(total[0], 1);
      if (lane() == kWarp - 1) meeting.totals[warp()] = total[0];
      if (threadIdx.x == 0) meeting.ticket = after;
    }
    look_back.end(op, pending_sum, meeting.found);
    __syncthreads();
    Before<State> before;
    if (number < count) {
      before = before_row<kWarps, 1>(op, meeting.totals, warp(), sum);
      if (threadIdx.x == 0) Tile(params, number).look_back(params).publish(sum);
    }
    if (pending < count) {
      const Before<State> outer = look_back.before(op, pending_sum, meeting.found);
      Run::store(op, outer, scanned[warp()], last.row.out, last.span, params.out_step);
      if (kInitial && last.tile == 0 && threadIdx.x == 0) {
        last.row.out[-params.out_step] = cast<typename Types::Out>(op.initial());
      }
    }
    if (number >= count) break;
    if (lane() > 0) before.append(op, left);
    run.keep(op, before, scanned[warp()]);
    pending = number, pending_sum = sum;
    number = next, next = meeting.ticket;
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
