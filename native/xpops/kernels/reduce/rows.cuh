// The reduce family for elements that are closest in memory along a reduced axis: a group of threads walks a row.
#pragma once

#include <xpops/block/reduce.cuh>
#include <xpops/kernels/reduce/reduce.cuh>

namespace xpops {

// kGroup threads reduce kRows rows at a time. A step is a pack of kPack elements. If kRagged, rows begin and end at any
// element. Then threads take single elements before the first aligned pack and after the last. If kWhole, a row has kUnroll
// steps, and one thread takes them.
template <class Reducer, class Source, int kBlock, int kGroup, int kRows, int kPack, int kUnroll, bool kRagged, bool kSplit,
          bool kWhole, class Params>
struct RowReduction {
  using Index = typename Params::Index;
  using State = typename Reducer::State;
  using Start = typename Source::template Start<Params>;
  template <int kCount>
  using Loaded = typename Source::template Loaded<kCount, Params>;
  static constexpr int kGroups = kBlock / kGroup;

  struct Row {
    Start start;
    int64 head = 0;
    Index steps;  // in whole packs
    Pivot<Reducer, typename Source::Compute> pivot;

    XPOPS_DEVICE Row(const Params& params, Index row)
        : start(params, KeptCoordinates<Params>(params.kept, row)), steps(static_cast<Index>(params.length)) {
      if constexpr (Reducer::kShifts) {
        Loaded<1> first;
        first.element(params, start, 0);
        pivot.first = first.value(params, 0);
      }
      if constexpr (kRagged) {
        head = start.template head<kPack>(params);
        if (head > static_cast<int64>(params.length)) head = params.length;
        steps = static_cast<Index>((params.length - head) / kPack);
      }
    }
  };

  template <int kCount>
  XPOPS_DEVICE static State take(const Params& params, const Row& row, Index step, State state) {
    Loaded<kPack> packs[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) packs[i].along(params, row.start, row.head, step + i * kGroup);
    typename Source::Compute x[kCount * kPack];
#pragma unroll
    for (int i = 0; i < kCount * kPack; ++i) x[i] = row.pivot.from(packs[i / kPack].value(params, i % kPack));
    return append_all<Reducer, kPack>(state, x, row.head + static_cast<int64>(step) * kPack, kGroup * kPack);
  }

  // Takes the remaining steps by halves, so that several loads are in flight until the end.
  template <int kCount>
  XPOPS_DEVICE static void rest(const Params& params, const Row& row, Index step, Index end, State& state) {
    if constexpr (kCount > 0) {
      if (step + (kCount - 1) * kGroup < end) {
        state = take<kCount>(params, row, step, state);
        step += kCount * kGroup;
      }
      rest<kCount / 2>(params, row, step, end, state);
    }
  }

  XPOPS_DEVICE static State take_one(const Params& params, const Row& row, int64 position, State state) {
    Loaded<1> one;
    one.element(params, row.start, position);
    return Reducer::combine(state, Reducer::lift(row.pivot.from(one.value(params, 0)), position));
  }

  // The thread's share of the steps [begin, end) of a row. The first part includes the head, the last part the tail.
  XPOPS_DEVICE static State walk(const Params& params, const Row& row, Index begin, Index end, bool first, bool last) {
    State state = Reducer::identity();
    if constexpr (kWhole) return take<kUnroll>(params, row, 0, state);
    const int thread = static_cast<int>(threadIdx.x) % kGroup;
    Index step = begin + thread;
    for (; step + (kUnroll - 1) * kGroup < end; step += kUnroll * kGroup) state = take<kUnroll>(params, row, step, state);
    rest<kUnroll / 2>(params, row, step, end, state);
    if constexpr (kRagged) {
      const int64 tail = row.head + static_cast<int64>(row.steps) * kPack, length = static_cast<int64>(params.length);
#pragma unroll 1
      for (int64 i = thread; first && i < row.head; i += kGroup) state = take_one(params, row, i, state);
#pragma unroll 1
      for (int64 i = tail + thread; last && i < length; i += kGroup) state = take_one(params, row, i, state);
    }
    return state;
  }

  XPOPS_DEVICE static State reduce(State state) {
    if constexpr (kGroup <= kWarp) return reduce_lanes<Reducer, kGroup>(state);
    else return reduce_block<Reducer, kGroup>(state);
  }

  XPOPS_DEVICE static void write(const Params& params, Index row, const State& state) {
    if (threadIdx.x % kGroup == 0) {
      const KeptCoordinates<Params> at(params.kept, row);
      write_result<Reducer, Source>(params, at.offset(params.out_kept), state);
    }
  }

  XPOPS_DEVICE static void whole(const Params& params) {
    const Index first = static_cast<Index>(blockIdx.x) * (kGroups * kRows) + threadIdx.x / kGroup;
    State states[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const Index row = first + i * kGroups;
      states[i] = Reducer::identity();
      if (row < params.outputs) {
        const Row at(params, row);
        states[i] = walk(params, at, 0, at.steps, true, true);
      }
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const State state = reduce(states[i]);
      if (first + i * kGroups < params.outputs) write(params, first + i * kGroups, state);
    }
  }

  XPOPS_DEVICE static void split(const Params& params) {
    Index row = static_cast<Index>(blockIdx.x);
    const Index part = params.splits.divmod(row), chunk = static_cast<Index>(params.chunk);
    const Row at(params, row);
    const Index begin = part * chunk < at.steps ? part * chunk : at.steps;
    const bool last = part + 1 == params.splits.divisor;
    const Index end = last || begin + chunk > at.steps ? at.steps : begin + chunk;
    State* states = reinterpret_cast<State*>(params.states) + static_cast<uint64>(row) * params.splits.divisor;
    const State mine = reduce(walk(params, at, begin, end, part == 0, last));
    if (threadIdx.x == 0) states[part] = mine;
    if (!is_last_block(reinterpret_cast<uint32*>(params.counters) + row, static_cast<uint32>(params.splits.divisor))) return;
    const State state = combine_parts<Reducer, 4, kBlock>(states, static_cast<Index>(threadIdx.x), params.splits.divisor);
    __syncthreads();
    write(params, row, reduce(state));
  }
};

template <class Reducer, class Source, int kBlock, int kGroup, int kRows, int kPack, int kUnroll, bool kRagged, bool kSplit,
          bool kWhole, class Params>
XPOPS_DEVICE void reduce_rows(const Params& params) {
  using Body = RowReduction<Reducer, Source, kBlock, kGroup, kRows, kPack, kUnroll, kRagged, kSplit, kWhole, Params>;
  if constexpr (kSplit) Body::split(params);
  else Body::whole(params);
}

}  // namespace xpops
