// Scans along contiguous memory (see scan.cuh): tiles with prefixes from one block, or rows by groups of lanes.
#pragma once

#include <xpops/block/prefixes.cuh>
#include <xpops/block/scan.cuh>
#include <xpops/kernels/scan/scan.cuh>

namespace xpops {

// A run of kPacks * kGroup packs of a row, in the registers of a group of lanes. Neighbouring lanes have neighbouring
// packs. If kReverse, the run goes down in memory; places beyond the end of the row come first and hold zeros. If
// kRagged, rows begin at any element: the first pack of a row may begin before it. If kAtOnce, packs that are not whole
// or not aligned load together with all others; the kernel has more code for it.
template <class Types, int kPack, int kPacks, int kGroup, bool kReverse, bool kRagged, bool kAtOnce, Stride kStride>
struct ScanChunk {
  using State = typename Types::State;
  using In = typename Types::In;
  using Out = typename Types::Out;
  static constexpr int kElements = kPack * kPacks * kGroup;

  Pack<In, kPack> raw[kPacks];
  Before<State> before[kPacks];  // within the run
  State total;

  XPOPS_DEVICE static int place() { return lane() % kGroup; }

  // The place of a run in its row: it begins at `lowest`, and only its elements [begin, end) are in the row.
  struct Span {
    int64 lowest;
    int begin, end;

    XPOPS_DEVICE Span(int64 first, int64 length)
        : lowest(kReverse ? (length + kPack - 1) / kPack * kPack - kElements - first : first),
          begin(lowest < 0 ? (lowest < -kElements ? kElements : static_cast<int>(-lowest)) : 0),
          end(length - lowest >= kElements ? kElements : length > lowest ? static_cast<int>(length - lowest) : 0) {}

    // The span from element `first` on of a row of results at `row`, so that its packs are aligned.
    XPOPS_DEVICE Span(const Out* row, int64 first, int64 length) : Span(first - beyond_pack(row), length) {}

    // The elements from the beginning of an aligned pack to that of the row.
    XPOPS_DEVICE static int64 beyond_pack(const Out* row) {
      return kRagged ? static_cast<int64>(reinterpret_cast<uint64>(row) / sizeof(Out) % kPack) : 0;
    }

    XPOPS_DEVICE bool is_full() const { return begin == 0 && end == kElements; }
    XPOPS_DEVICE bool has(int at) const { return at >= begin && at < end; }
    XPOPS_DEVICE bool has_pack(int at) const { return kPack > 1 && has(at) && has(at + kPack - 1); }
  };

  // The place of the lane's pack `pack` in the span.
  XPOPS_DEVICE static int position(int pack) {
    const int linear = (pack * kGroup + place()) * kPack;
    return kReverse ? kElements - kPack - linear : linear;
  }

  XPOPS_DEVICE void load(const In* from, const Span& span, int64 step) {
    if constexpr (kPack > 1 && kStride != Stride::kAny) step = kStride == Stride::kReversed ? -1 : 1;
    from += span.lowest * step;
    if (span.is_full()) {
#pragma unroll
      for (int j = 0; j < kPacks; ++j) read_pack<kStride>(from + position(j) * step, step, raw[j]);
      return;
    }
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      const int at = position(j);
      if constexpr (kAtOnce && kPack > 1 && (kStride == Stride::kOne || kStride == Stride::kReversed)) {
        read_part<kStride>(from + at * step, span.begin - at, span.end - at, raw[j]);
        continue;
      }
      if (span.has_pack(at)) {
        read_pack<kStride>(from + at * step, step, raw[j]);
        continue;
      }
#pragma unroll
      for (int i = 0; i < kPack; ++i) raw[j].elem[i] = span.has(at + i) ? from[(at + i) * step] : In{};
    }
  }

  // Scans pack j without its prefix. Elements before the beginning of the row are left out.
  template <class Op>
  XPOPS_DEVICE void scan_pack(const Op& op, const Span& span, int j, State (&items)[kPack]) const {
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      items[i] = Types::lift(op, raw[j].elem[kReverse ? kPack - 1 - i : i]);
      const bool begun = !kRagged || j > 0 || position(0) + i > span.begin;
      if (i > 0 && begun) items[i] = op.combine(items[i - 1], items[i]);
    }
  }

  // Computes the prefix of each pack within the run, and the total. store() scans the packs again: this takes fewer
  // registers than all their states.
  template <class Op>
  XPOPS_DEVICE void scan(const Op& op, const Span& span) {
    State totals[kPacks];
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      State items[kPack];
      scan_pack(op, span, j, items);
      totals[j] = items[kPack - 1];
      raw[j].forget();
    }
    scan_lanes<kGroup>(op, totals);
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      before[j] = Before<State>();
      if (j > 0) before[j].append(op, total);
      if constexpr (kGroup > 1) {
        const State left = shuffle_up(totals[j], 1), all = shuffle(totals[j], lane() - place() + kGroup - 1);
        total = before[j].then(op, all);
        if (place() > 0) before[j].append(op, left);
      } else {
        total = before[j].then(op, totals[j]);
      }
    }
  }

  // Writes the run; `outer` is its prefix.
  template <class Op>
  XPOPS_DEVICE void store(const Op& op, const Before<State>& outer, Out* to, const Span& span, int64 step) const {
    if constexpr (kPack > 1) step = 1;
    to += span.lowest * step;
#pragma unroll
    for (int j = 0; j < kPacks; ++j) {
      State items[kPack];
      scan_pack(op, span, j, items);
      Before<State> prefix = outer;
      if (before[j].any) prefix.append(op, before[j].state);
      Pack<Out, kPack> pack;
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        pack.elem[kReverse ? kPack - 1 - i : i] = Types::value(op, prefix.then(op, items[i]));
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

// Returns the prefix of this thread's warp within a tile. `all` gets the sum of the tile.
template <int kWarps, class Op, class State>
XPOPS_DEVICE Before<State> before_warp(const Op& op, const State& total, State& all) {
  __shared__ State totals[kWarps];
  if (lane() == 0) totals[warp()] = total;
  __syncthreads();
  return before_row<kWarps, 1>(op, totals, warp(), all);
}

// One block for each tile, after block 0, which computes their prefixes. If kSingle, every row is a single tile, and
// block 0 is a tile, too.
template <class Types, int kBlock, int kPack, int kPacks, bool kSingle, bool kReverse, bool kInitial, bool kRagged,
          Stride kStride, class Params>
XPOPS_DEVICE void scan_tiles(const Params& params) {
  using State = typename Types::State;
  // One row of float32 has few such packs, and takes 5% longer with them.
  constexpr bool kAtOnce = kRagged || sizeof(typename Types::In) < 4;
  using Chunk = ScanChunk<Types, kPack, kPacks, kWarp, kReverse, kRagged, kAtOnce, kStride>;
  constexpr int kWarps = kBlock / kWarp;
  const typename Types::Op op(params.slots + 3);
  TilePrefixes<State> prefixes(params.slots[2], static_cast<uint32>(params.batches * params.tiles));
  if (!kSingle && blockIdx.x == 0) {
    prefixes.template serve<kWarps>(op, params.grid[0]);
    return;
  }
  const uint32 number = blockIdx.x - !kSingle;
  uint32 batch = number;
  const uint32 tile = kSingle ? 0 : params.grid[0].divmod(batch);
  const ScanBatch<Types, Params> row(params, batch);
  const int64 first = (static_cast<int64>(tile) * kWarps + warp()) * Chunk::kElements;
  const typename Chunk::Span span(row.out, first, params.length);
  Chunk chunk;
  State all;
  chunk.load(row.in, span, params.in_step);
  chunk.scan(op, span);
  const Before<State> inner = before_warp<kWarps>(op, chunk.total, all);
  Before<State> before;
  if constexpr (!kSingle) {
    __shared__ State outer;
    if (threadIdx.x == 0) {
      prefixes.publish(number, all);
      if (tile > 0) outer = prefixes.wait(number);
    }
    __syncthreads();
    if (tile > 0) before.append(op, outer);
  }
  if (inner.any) before.append(op, inner.state);
  chunk.store(op, before, row.out, span, params.out_step);
  if (kInitial && tile == 0 && threadIdx.x == 0) row.out[-params.out_step] = cast<typename Types::Out>(op.initial());
}

// kGroup lanes scan one row. kLoop: a row may be longer than the group holds at once.
template <class Types, int kBlock, int kPack, int kPacks, int kGroup, bool kLoop, bool kReverse, bool kInitial,
          bool kRagged, Stride kStride, class Params>
XPOPS_DEVICE void scan_rows(const Params& params) {
  using State = typename Types::State;
  using Chunk = ScanChunk<Types, kPack, kPacks, kGroup, kReverse, kRagged, true, kStride>;
  const typename Types::Op op(params.slots + 3);
  const uint64 batch = static_cast<uint64>(blockIdx.x) * (kBlock / kGroup) + threadIdx.x / kGroup;
  const bool exists = batch < static_cast<uint64>(params.batches);
  const ScanBatch<Types, Params> row(params, exists ? batch : 0);
  const int64 length = exists ? params.length : 0;

  Before<State> before;
  Chunk chunk;
  typename Chunk::Span span(row.out, 0, length);
  chunk.load(row.in, span, params.in_step);
  if constexpr (kLoop) {
    const int64 end = params.length + (kRagged ? kPack - 1 : 0);  // the same for all rows of a warp
#pragma unroll 1
    for (int64 next = Chunk::kElements; next < end; next += Chunk::kElements) {
      const typename Chunk::Span ahead(row.out, next, length);
      Chunk following;
      following.load(row.in, ahead, params.in_step);  // in flight while the run is scanned and written
      chunk.scan(op, span);
      chunk.store(op, before, row.out, span, params.out_step);
      before.append(op, chunk.total);
      chunk = following;
      span = ahead;
    }
  }
  chunk.scan(op, span);
  chunk.store(op, before, row.out, span, params.out_step);
  if (kInitial && exists && Chunk::place() == 0) row.out[-params.out_step] = cast<typename Types::Out>(op.initial());
}

}  // namespace xpops
