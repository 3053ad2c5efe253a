// The reduce family for elements that are closest in memory along a kept axis: a thread walks down a pack of columns.
#pragma once

#include <xpops/block/reduce.cuh>
#include <xpops/kernels/reduce/reduce.cuh>

namespace xpops {

// kColumns threads have a pack of columns each, and kRows threads share each pack. A step is a row of the input. A
// column is an output. Packs are numbered along the last kept axis first, then along the others. A pack never crosses
// the end of the last kept axis: the last pack there may overlap the one before, which has the same results.
template <class Reducer, class Source, int kColumns, int kRows, int kPack, int kUnroll, bool kSplit, class Params>
struct ColumnReduction {
  using Index = typename Params::Index;
  using State = typename Reducer::State;
  using Start = typename Source::template Start<Params>;
  template <int kCount>
  using Loaded = typename Source::template Loaded<kCount, Params>;
  using Pivots = Pivot<Reducer, typename Source::Compute>[kPack];
  static constexpr int kLast = Params::kKeptAxes - 1;

  template <int kCount>
  XPOPS_DEVICE static void take(const Params& params, const Start& start, const Pivots& pivots, Index step,
                                State (&states)[kPack]) {
    Loaded<kPack> packs[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) packs[i].across(params, start, step + i * kRows);
#pragma unroll
    for (int column = 0; column < kPack; ++column) {
      typename Source::Compute x[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) x[i] = pivots[column].from(packs[i].value(params, column));
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

  XPOPS_DEVICE static void walk(const Params& params, const Start& start, Index begin, Index end, State (&states)[kPack]) {
    Pivots pivots;
    if constexpr (Reducer::kShifts) {
      Loaded<kPack> first;
      first.across(params, start, 0);
#pragma unroll
      for (int i = 0; i < kPack; ++i) pivots[i].first = first.value(params, i);
    }
    Index step = begin + threadIdx.x / kColumns;
    for (; step + (kUnroll - 1) * kRows < end; step += kUnroll * kRows) {
      take<kUnroll>(params, start, pivots, step, states);
    }
    rest<kUnroll / 2>(params, start, pivots, step, end, states);
  }

  XPOPS_DEVICE static void run(const Params& params) {
    Index tile = static_cast<Index>(blockIdx.x);
    const Index part = kSplit ? params.splits.divmod(tile) : 0;
    const Index number = tile * kColumns + threadIdx.x % kColumns;
    const bool inside = number < params.outputs;
    KeptCoordinates<Params> at(params.kept, number);
    at.at[kLast] = at.at[kLast] * kPack < params.last ? at.at[kLast] * kPack : params.last;
    State states[kPack];
#pragma unroll
    for (int i = 0; i < kPack; ++i) states[i] = Reducer::identity();
    if (inside) {
      const Start start(params, at);
      const Index length = static_cast<Index>(params.length), chunk = static_cast<Index>(params.chunk);
      const Index begin = kSplit ? part * chunk : 0;
      walk(params, start, begin, kSplit && begin + chunk < length ? begin + chunk : length, states);
    }
#pragma unroll
    for (int i = 0; i < kPack; ++i) states[i] = reduce_rows_of_block<Reducer, kRows, kColumns>(states[i]);
    if constexpr (kSplit) {
      constexpr Index kWidth = kColumns * kPack;
      State* partial = reinterpret_cast<State*>(params.states) + static_cast<uint64>(tile) * params.splits.divisor * kWidth;
      const Index mine = threadIdx.x % kColumns * kPack;
      if (threadIdx.x < kColumns) {
#pragma unroll
        for (int i = 0; i < kPack; ++i) partial[part * kWidth + mine + i] = states[i];
      }
      if (!is_last_block(reinterpret_cast<uint32*>(params.counters) + tile, static_cast<uint32>(params.splits.divisor))) return;
#pragma unroll
      for (int i = 0; i < kPack; ++i) states[i] = Reducer::identity();
#pragma unroll 2
      for (Index each = threadIdx.x / kColumns; each < params.splits.divisor; each += kRows) {
        State other[kPack];  // all loads are in flight before the first state is combined
#pragma unroll
        for (int i = 0; i < kPack; ++i) other[i] = load_coherent(partial + each * kWidth + mine + i);
#pragma unroll
        for (int i = 0; i < kPack; ++i) states[i] = Reducer::combine(states[i], other[i]);
      }
#pragma unroll
      for (int i = 0; i < kPack; ++i) states[i] = reduce_rows_of_block<Reducer, kRows, kColumns>(states[i]);
    }
    if (inside && threadIdx.x < kColumns) write_results(params, at.offset(params.out_kept), states);
  }

  // Writes a pack of neighbouring results at once. This matters if columns are short.
  XPOPS_DEVICE static void write_results(const Params& params, int64 offset, const State (&states)[kPack]) {
    using Stored = typename Storage<typename Source::Out>::type;
    const int64 stride = params.out_kept[kLast];
    Stored* to = reinterpret_cast<Stored*>(params.out) + offset;
    Pack<Stored, kPack> results;
#pragma unroll
    for (int i = 0; i < kPack; ++i) results.elem[i] = result_of<Reducer, Source>(params, states[i]);
    if (stride == 1 && reinterpret_cast<uint64>(to) % Pack<Stored, kPack>::kWord == 0) {
      results.store(to);
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) to[i * stride] = results.elem[i];
    }
  }
};

template <class Reducer, class Source, int kColumns, int kRows, int kPack, int kUnroll, bool kSplit, class Params>
XPOPS_DEVICE void reduce_columns(const Params& params) {
  ColumnReduction<Reducer, Source, kColumns, kRows, kPack, kUnroll, kSplit, Params>::run(params);
}

}  // namespace xpops
