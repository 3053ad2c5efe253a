// The reduce family for elements that are closest in memory along a kept axis: a thread walks down a pack of columns.
#pragma once

#include <xpops/block/reduce.cuh>
#include <xpops/kernels/reduce/reduce.cuh>

namespace xpops {

// kColumns threads have a pack of columns each, and kRows threads share each pack. A step is a row of the input. A
// column is an output. Packs are numbered along the last kept axis first, then along the others. A pack never crosses
// the end of the last kept axis: the last pack there may overlap the one before, which has the same results. If kWhole, a
// column has kUnroll steps, and one thread takes them.
//
// Neighbouring threads have kBeside packs side by side, then other rows of these packs, then other packs: so they read
// neighbouring memory if rows are short.
template <class Reducer, class Source, int kColumns, int kRows, int kBeside, int kPack, int kUnroll, bool kSplit,
          bool kWhole, class Params>
struct ColumnReduction {
  using Index = typename Params::Index;
  using State = typename Reducer::State;
  using Start = typename Source::template Start<Params>;
  template <int kCount>
  using Loaded = typename Source::template Loaded<kCount, Params>;
  using Pivots = Pivot<Reducer, typename Source::Compute>[kPack];
  static constexpr int kLast = Params::kKeptAxes - 1, kBlock = kColumns * kRows, kWidth = kColumns * kPack;
  static constexpr int kSharedBytes = 16384;

  XPOPS_DEVICE static int row() { return static_cast<int>(threadIdx.x) / kBeside % kRows; }
  XPOPS_DEVICE static int column() {
    const int thread = static_cast<int>(threadIdx.x);
    return thread / (kBeside * kRows) * kBeside + thread % kBeside;
  }

  template <int kCount>
  XPOPS_DEVICE static void take(const Params& params, const Start& start, const Pivots& pivots, Index step,
                                State (&states)[kPack]) {
    Loaded<kPack> packs[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) packs[i].across(params, start, step + i * kRows);
    // All columns of a thread have equally many elements. The compiler does not see it by itself.
    [[maybe_unused]] const State before = states[0];
#pragma unroll
    for (int column = 0; column < kPack; ++column) {
      typename Source::Compute x[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) x[i] = pivots[column].from(packs[i].value(params, column));
      if constexpr (Reducer::kShifts) states[column].count = before.count;
      states[column] = append_all<Reducer, 1>(states[column], x, static_cast<int64>(step), kRows);
    }
  }

  // Takes the remaining steps by halves, so that several loads are in flight until the end.
  template <int kCount>
  XPOPS_DEVICE static void rest(const Params& params, const Start& start, const Pivots& pivots, Index step, Index end,
                                State (&states)[kPack]) {
    if constexpr (kCount > 0) {
      if (step + (kCount - 1) * kRows < end) {
        take<kCount>(params, start, pivots, step, states);
        step += kCount * kRows;
      }
      rest<kCount / 2>(params, start, pivots, step, end, states);
    }
  }

  XPOPS_DEVICE static void walk(const Params& params, const Start& start, Index begin, Index end,
                                State (&states)[kPack]) {
    Pivots pivots;
    if constexpr (Reducer::kShifts) {
      Loaded<kPack> first;
      first.across(params, start, 0);
#pragma unroll
      for (int i = 0; i < kPack; ++i) pivots[i].first = first.value(params, i);
    }
    if constexpr (kWhole) return take<kUnroll>(params, start, pivots, 0, states);
    Index step = begin + row();
    for (; step + (kUnroll - 1) * kRows < end; step += kUnroll * kRows) {
      take<kUnroll>(params, start, pivots, step, states);
    }
    rest<kUnroll / 2>(params, start, pivots, step, end, states);
  }

  // A column of a tile, counted in elements: whether it exists, and where its result belongs.
  struct Place {
    bool inside;
    int64 offset;

    XPOPS_DEVICE Place(const Params& params, Index tile, int column) {
      const Index number = tile * kColumns + static_cast<Index>(column) / kPack;
      inside = number < params.outputs;
      KeptCoordinates<Params> at = first_of(params, number);
      at.at[kLast] += static_cast<Index>(column) % kPack;
      offset = at.offset(params.out_kept);
    }
  };

  // The coordinates of the first column of a pack.
  XPOPS_DEVICE static KeptCoordinates<Params> first_of(const Params& params, Index number) {
    KeptCoordinates<Params> at(params.kept, number);
    at.at[kLast] = at.at[kLast] * kPack < params.last ? at.at[kLast] * kPack : params.last;
    return at;
  }

  XPOPS_DEVICE static void run(const Params& params) {
    Index tile = static_cast<Index>(blockIdx.x);
    const Index part = kSplit ? params.splits.divmod(tile) : 0;
    const Index number = tile * kColumns + column();
    const KeptCoordinates<Params> at = first_of(params, number);
    State states[kPack];
#pragma unroll
    for (int i = 0; i < kPack; ++i) states[i] = Reducer::identity();
    if (number < params.outputs) {
      const Start start(params, at);
      const Index length = static_cast<Index>(params.length), chunk = static_cast<Index>(params.chunk);
      const Index begin = kSplit ? part * chunk : 0;
      walk(params, start, begin, kSplit && begin + chunk < length ? begin + chunk : length, states);
    }
    if constexpr (kSplit) {
      split(params, tile, part, states);
    } else if constexpr (kRows == 1) {
      if (number < params.outputs) write_results(params, at.offset(params.out_kept), states);
    } else {
      exchange(states, [&](int column, const State& state) {
        const Place place(params, tile, column);
        if (place.inside) write_result<Reducer, Source>(params, place.offset, state);
      });
    }
  }

  // Combines the states of the rows, and calls `take` with every column of the tile and its state, in one thread each.
  // Rows that neighbouring lanes have are combined in registers. Then each lane has kKept columns, and kLines lines are
  // left.
  template <class Take>
  XPOPS_DEVICE static void exchange(State (&states)[kPack], Take take) {
    constexpr int kLanes = lanes();
    constexpr int kSpread = kLanes < kPack ? kLanes : kPack;
    constexpr int kKept = kPack / kSpread, kLines = kRows / kLanes, kChunk = chunk(kKept, kLines * kColumns * kSpread);
    constexpr int kWide = kColumns * kSpread * kChunk;
    __shared__ State shared[kLines * kWide];
    reduce_packs<Reducer, kLanes, kBeside, kPack>(states);
    const int share = row() % kLanes, first = (column() * kSpread + share / (kLanes / kSpread)) * kChunk;
#pragma unroll
    for (int done = 0; done < kKept; done += kChunk) {
      if (done > 0) __syncthreads();  // until all threads have read the states of the chunk before
      if (share % (kLanes / kSpread) == 0) {
#pragma unroll
        for (int i = 0; i < kChunk; ++i) shared[row() / kLanes * kWide + first + i] = states[done + i];
      }
      __syncthreads();
#pragma unroll 1
      for (int each = static_cast<int>(threadIdx.x); each < kWide; each += kBlock) {
        take(each / kChunk * kKept + done + each % kChunk, combine_lines<kLines, kWide>(shared + each));
      }
    }
  }

  // The lanes of a warp that have rows of the same packs: a power of two.
  XPOPS_DEVICE static constexpr int lanes() {
    constexpr int kMost = kBlock % kWarp == 0 && kWarp % kBeside == 0 ? kWarp / kBeside : 1, kEven = kRows & -kRows;
    return kEven < kMost ? kEven : kMost;
  }

  // The columns of `columns` whose states are in shared memory at a time, from `threads` threads.
  XPOPS_DEVICE static constexpr int chunk(int columns, int threads) {
    return columns > 1 && threads * columns * static_cast<int>(sizeof(State)) > kSharedBytes ? chunk(columns / 2, threads)
                                                                                              : columns;
  }

  // Combines kCount states with stride kPitch, always in the same order.
  template <int kCount, int kPitch>
  XPOPS_DEVICE static State combine_lines(const State* states) {
    State state = states[0];
#pragma unroll 4
    for (int i = 1; i < kCount; ++i) state = Reducer::combine(state, states[i * kPitch]);
    return state;
  }

  // Leaves the states of this block's part in memory. The last block of a tile combines all parts.
  XPOPS_DEVICE static void split(const Params& params, Index tile, Index part, State (&states)[kPack]) {
    static_assert(!kSplit || kWidth <= kBlock, "a thread for each column");
    constexpr int kGroups = kBlock / kWidth;
    const Index parts = params.splits.divisor;
    State* partial = reinterpret_cast<State*>(params.states) + static_cast<uint64>(tile) * parts * kWidth;
    exchange(states, [&](int column, const State& state) { partial[part * kWidth + column] = state; });
    if (!is_last_block(reinterpret_cast<uint32*>(params.counters) + tile, static_cast<uint32>(parts))) return;
    __shared__ State shared[kGroups * kWidth];
    const int thread = static_cast<int>(threadIdx.x), column = thread % kWidth;
    State state = combine_parts<Reducer, 8, kGroups, kWidth>(partial + column, static_cast<Index>(thread / kWidth), parts);
    if (thread < kGroups * kWidth) shared[thread] = state;
    __syncthreads();
    if (thread >= kWidth) return;
    state = combine_lines<kGroups, kWidth>(shared + thread);
    const Place place(params, tile, thread);
    if (place.inside) write_result<Reducer, Source>(params, place.offset, state);
  }

  // Writes a pack of neighbouring results at once, or in words of 4 bytes. This matters if columns are short.
  XPOPS_DEVICE static void write_results(const Params& params, int64 offset, const State (&states)[kPack]) {
    using Stored = typename Storage<typename Source::Out>::type;
    const int64 stride = params.out_kept[kLast];
    Stored* to = reinterpret_cast<Stored*>(params.out) + offset;
    Stored* const low = stride < 0 ? to - (kPack - 1) : to;
    Pack<Stored, kPack> results;
#pragma unroll
    for (int i = 0; i < kPack; ++i) results.elem[i] = result_of<Reducer, Source>(params, states[i]);
    const uint64 place = reinterpret_cast<uint64>(low);
    constexpr int kNarrow = sizeof(Stored) < 4 && kPack * sizeof(Stored) > 4 ? 4 / sizeof(Stored) : 1;
    if ((stride == 1 || stride == -1) && place % Pack<Stored, kPack>::kWord == 0) {
      if (stride < 0) results.reverse();
      results.store(low);
    } else if (kNarrow > 1 && stride == 1 && place % 4 == 0) {
#pragma unroll
      for (int i = 0; i < kPack; i += kNarrow) {
        Pack<Stored, kNarrow> part;
#pragma unroll
        for (int j = 0; j < kNarrow; ++j) part.elem[j] = results.elem[i + j];
        part.store(to + i);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) to[i * stride] = results.elem[i];
    }
  }
};

template <class Reducer, class Source, int kColumns, int kRows, int kBeside, int kPack, int kUnroll, bool kSplit,
          bool kWhole, class Params>
XPOPS_DEVICE void reduce_columns(const Params& params) {
  ColumnReduction<Reducer, Source, kColumns, kRows, kBeside, kPack, kUnroll, kSplit, kWhole, Params>::run(params);
}

}  // namespace xpops
