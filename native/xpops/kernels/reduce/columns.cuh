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
//
// If kFold > 1, a step is kFold rows, which lie one after the other: together they are whole packs. A block has the packs
// of one step. Each of their elements has a state at first, and then those of a column are combined. `left` elements, of
// less than kFold rows, follow the last step.
template <class Reducer, class Source, int kColumns, int kRows, int kBeside, int kFold, int kPack, int kUnroll,
          bool kSplit, bool kWhole, class Params>
struct ColumnReduction {
  using Index = typename Params::Index;
  using State = typename Reducer::State;
  using Start = typename Source::template Start<Params>;
  template <int kCount>
  using Loaded = typename Source::template Loaded<kCount, Params>;
  using Pivots = Pivot<Reducer, typename Source::Compute>[kPack];
  static constexpr int kLast = Params::kKeptAxes - 1, kBlock = kColumns * kRows, kWidth = kColumns * kPack;
  static constexpr int kOutputs = kWidth / kFold;  // of a block
  static constexpr int kSharedBytes = 16384;

  XPOPS_DEVICE static int row_of_thread() { return static_cast<int>(threadIdx.x) / kBeside % kRows; }
  XPOPS_DEVICE static int column_of_thread() {
    const int thread = static_cast<int>(threadIdx.x);
    return thread / (kBeside * kRows) * kBeside + thread % kBeside;
  }
  // Where the i-th element of a pack is along the reduced axes.
  XPOPS_DEVICE static int64 position(Index step, int i) {
    const int64 first = static_cast<int64>(step) * kFold;
    return kFold > 1 ? first + (column_of_thread() * kPack + i) / kOutputs : first;
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
      states[column] = append_all<Reducer, 1>(states[column], x, position(step, column), kRows * kFold);
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

  // The first element of the column that each element of a pack belongs to.
  XPOPS_DEVICE static void find_pivots(const Params& params, const Start& start, Pivots& pivots) {
    if constexpr (Reducer::kShifts && kFold == 1) {
      Loaded<kPack> first;
      first.across(params, start, 0);
#pragma unroll
      for (int i = 0; i < kPack; ++i) pivots[i].first = first.value(params, i);
    } else if constexpr (Reducer::kShifts) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        const int place = column_of_thread() * kPack + i;
        Loaded<1> first;
        first.element(params, start, i - place / kOutputs * kOutputs);
        pivots[i].first = first.value(params, 0);
      }
    }
  }

  // Takes the elements after the last step.
  XPOPS_DEVICE static void take_left(const Params& params, const Start& start, const Pivots& pivots,
                                     State (&states)[kPack]) {
    const Index steps = static_cast<Index>(params.length);
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      if (static_cast<Index>(column_of_thread() * kPack + i) >= params.left) continue;
      Loaded<1> one;
      one.element(params, start, static_cast<int64>(steps) * kWidth + i);
      const State last = Reducer::lift(pivots[i].from(one.value(params, 0)), position(steps, i));
      states[i] = Reducer::combine(states[i], last);
    }
  }

  XPOPS_DEVICE static void walk(const Params& params, const Start& start, Index begin, Index end,
                                State (&states)[kPack]) {
    Pivots pivots;
    find_pivots(params, start, pivots);
    if constexpr (kWhole) return take<kUnroll>(params, start, pivots, 0, states);
    Index step = begin + row_of_thread();
    for (; step + (kUnroll - 1) * kRows < end; step += kUnroll * kRows) {
      take<kUnroll>(params, start, pivots, step, states);
    }
    rest<kUnroll / 2>(params, start, pivots, step, end, states);
    const bool is_last = end == static_cast<Index>(params.length);
    if (kFold > 1 && row_of_thread() == 0 && is_last) take_left(params, start, pivots, states);
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
    const Index number = tile * kColumns + column_of_thread();
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
    } else if constexpr (kRows == 1 && kFold == 1) {
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
    __shared__ State shared[kLines * kWide], elements[kFold > 1 ? kWidth : 1];
    reduce_packs<Reducer, kLanes, kBeside, kPack>(states);
    const int share = row_of_thread() % kLanes;
    const int first = (column_of_thread() * kSpread + share / (kLanes / kSpread)) * kChunk;
#pragma unroll
    for (int done = 0; done < kKept; done += kChunk) {
      if (done > 0) __syncthreads();  // until all threads have read the states of the chunk before
      if (share % (kLanes / kSpread) == 0) {
#pragma unroll
        for (int i = 0; i < kChunk; ++i) shared[row_of_thread() / kLanes * kWide + first + i] = states[done + i];
      }
      __syncthreads();
      constexpr int kGroups = line_groups(kLines, kBlock / kWide), kLeft = kGroups > 1 ? kGroups : kLines;
      if constexpr (kGroups > 1) combine_groups<Reducer, kLines, kGroups, kWide>(shared);
#pragma unroll 1
      for (int each = static_cast<int>(threadIdx.x); each < kWide; each += kBlock) {
        const int column = each / kChunk * kKept + done + each % kChunk;
        const State state = combine_lines<Reducer, kLeft, kWide>(shared + each);
        if constexpr (kFold == 1) take(column, state);
        else elements[column] = state;
      }
    }
    if constexpr (kFold > 1) {
      __syncthreads();
#pragma unroll 1
      for (int column = static_cast<int>(threadIdx.x); column < kOutputs; column += kBlock) {
        take(column, combine_lines<Reducer, kFold, kOutputs>(elements + column));
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

  // Leaves the states of this block's part in memory. The last block of a tile combines all parts.
  XPOPS_DEVICE static void split(const Params& params, Index tile, Index part, State (&states)[kPack]) {
    static_assert(!kSplit || kOutputs <= kBlock, "a thread for each column");
    constexpr int kGroups = kBlock / kOutputs;
    const Index parts = params.splits.divisor;
    State* partial = reinterpret_cast<State*>(params.states) + static_cast<uint64>(tile) * parts * kOutputs;
    exchange(states, [&](int column, const State& state) { partial[part * kOutputs + column] = state; });
    if (!is_last_block(reinterpret_cast<uint32*>(params.counters) + tile, static_cast<uint32>(parts))) return;
    __shared__ State shared[kGroups * kOutputs];
    const int thread = static_cast<int>(threadIdx.x), column = thread % kOutputs;
    State state = combine_parts<Reducer, 8, kGroups, kOutputs>(partial + column, static_cast<Index>(thread / kOutputs), parts);
    if (thread < kGroups * kOutputs) shared[thread] = state;
    __syncthreads();
    if (thread >= kOutputs) return;
    state = combine_lines<Reducer, kGroups, kOutputs>(shared + thread);
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

template <class Reducer, class Source, int kColumns, int kRows, int kBeside, int kFold, int kPack, int kUnroll,
          bool kSplit, bool kWhole, class Params>
XPOPS_DEVICE void reduce_columns(const Params& params) {
  ColumnReduction<Reducer, Source, kColumns, kRows, kBeside, kFold, kPack, kUnroll, kSplit, kWhole, Params>::run(params);
}

}  // namespace xpops
