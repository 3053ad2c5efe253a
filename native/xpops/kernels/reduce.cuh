// The reduce family: any reducer over any axes, in one launch and one read of memory.
//
// The axes of the input are of two kinds, kept and reduced, each coalesced by the host (xpops/plan/reduce.py).
// reduce_rows is for inputs whose elements lie closest along a reduced axis: a group of threads walks a row.
// reduce_columns is for those whose elements lie closest along a kept one: a thread walks down a pack of columns.
// Where there are too few of them to keep the GPU busy, each is split among blocks, whose states the last block combines,
// always in the same order.
#pragma once

#include <xpops/block/reduce.cuh>
#include <xpops/index/coordinates.cuh>
#include <xpops/math/reduction.cuh>
#include <xpops/memory/exchange.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

// What the host packs. `reduced` and `in_reduced` count along the last reduced axis in packs for reduce_rows. Where there
// are two inputs, which lie alike, it is their product that is reduced.
template <int kKept, int kReduced, class Index_, int kInputs_ = 1>
struct ReduceParams {
  using Index = Index_;
  using Offset = typename SignedOf<Index>::type;
  static constexpr int kKeptAxes = kKept, kReducedAxes = kReduced, kInputs = kInputs_;
  uint64 out, in[kInputs], states, counters;
  Ending ending;
  uint64 outputs;
  uint64 length;   // steps along the reduced axes, all together
  uint64 chunk;    // those of one split
  FastDivMod<Index> splits;
  FastDivMod<Index> kept[kKept > 1 ? kKept - 1 : 1], reduced[kReduced > 1 ? kReduced - 1 : 1];
  Offset in_kept[kKept], out_kept[kKept], in_reduced[kReduced];
};

template <class T_, class Loop_, class Compute_, class Out_>
struct ReduceTypes {
  using T = T_;
  using Element = typename Storage<T>::type;
  using Compute = Compute_;
  using Out = Out_;
  XPOPS_DEVICE static Compute compute(Element x) { return to_compute<T, Loop_, Compute>(x); }
};

// How many elements the second input lies behind the first.
template <class Element, class Params>
XPOPS_DEVICE int64 apart(const Params& params) {
  if constexpr (Params::kInputs == 1) return 0;
  else return static_cast<int64>(params.in[1] - params.in[0]) / static_cast<int64>(sizeof(Element));
}

// kPack elements of the input, or of both.
template <class Types, int kPack, int kInputs>
struct InputPack {
  Pack<typename Types::Element, kPack> packs[kInputs];

  XPOPS_DEVICE void load(const typename Types::Element* from, int64 apart) {
    packs[0].load(from);
    if constexpr (kInputs == 2) packs[1].load(from + apart);
  }
  XPOPS_DEVICE typename Types::Compute operator[](int i) const {
    const typename Types::Compute x = Types::compute(packs[0].elem[i]);
    if constexpr (kInputs == 1) return x;
    else return Multiply()(x, Types::compute(packs[1].elem[i]));
  }
};

// What is taken off every element that goes to an output: for reducers that want it the first of them, else nothing.
template <class Reducer, class Types, class = void>
struct Pivot {
  XPOPS_DEVICE Pivot() {}
  XPOPS_DEVICE explicit Pivot(const typename Types::Element*) {}
  XPOPS_DEVICE typename Types::Compute from(typename Types::Compute x) const { return x; }
};
template <class Reducer, class Types>
struct Pivot<Reducer, Types, enable_if_t<Reducer::kShifts>> {
  typename Types::Compute first;
  XPOPS_DEVICE Pivot() {}
  XPOPS_DEVICE explicit Pivot(const typename Types::Element* start) : first(Types::compute(*start)) {}
  XPOPS_DEVICE typename Types::Compute from(typename Types::Compute x) const { return x - first; }
};

template <class Params>
XPOPS_DEVICE int64 reduced_offset(const Params& params, typename Params::Index step) {
  return Coordinates<Params::kReducedAxes, typename Params::Index>(params.reduced, step).offset(params.in_reduced);
}

template <class Reducer, class Types, class Params>
XPOPS_DEVICE void write_result(const Params& params, int64 offset, const typename Reducer::State& state) {
  using Stored = typename Storage<typename Types::Out>::type;
  reinterpret_cast<Stored*>(params.out)[offset] = cast<typename Types::Out>(Reducer::finish(state, params.ending));
}

// kGroup threads reduce kRows rows at a time. A step is a pack of kPack elements. Where rows are kRagged, they begin and
// end anywhere, and elements before the first whole pack and behind the last are taken one by one.
template <class Reducer, class Types, int kBlock, int kGroup, int kRows, int kPack, int kUnroll, bool kRagged, bool kSplit,
          class Params>
struct RowReduction {
  using Index = typename Params::Index;
  using State = typename Reducer::State;
  using Element = typename Types::Element;
  static constexpr int kGroups = kBlock / kGroup;

  struct Row {
    const Element* start;
    int64 head;
    Index steps;  // in whole packs
    Pivot<Reducer, Types> pivot;

    XPOPS_DEVICE Row(const Params& params, Index row) {
      const Coordinates<Params::kKeptAxes, Index> at(params.kept, row);
      start = reinterpret_cast<const Element*>(params.in[0]) + at.offset(params.in_kept);
      pivot = Pivot<Reducer, Types>(start);
      head = 0;
      steps = static_cast<Index>(params.length);
      if constexpr (kRagged) {
        head = (kPack - reinterpret_cast<uint64>(start) / sizeof(Element) % kPack) % kPack;
        if (head > static_cast<int64>(params.length)) head = params.length;
        steps = static_cast<Index>((params.length - head) / kPack);
      }
    }
  };

  template <int kCount>
  XPOPS_DEVICE static State take(const Params& params, const Row& row, Index step, State state) {
    InputPack<Types, kPack, Params::kInputs> packs[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      packs[i].load(row.start + row.head + (Params::kReducedAxes == 1 && kPack > 1
                                                ? static_cast<int64>(step + i * kGroup) * kPack
                                                : reduced_offset(params, step + i * kGroup)),
                    apart<Element>(params));
    }
    typename Types::Compute x[kCount * kPack];
#pragma unroll
    for (int i = 0; i < kCount * kPack; ++i) x[i] = row.pivot.from(packs[i / kPack][i % kPack]);
    return Reducer::combine(
        state, lift_all<Reducer, kPack>(x, row.head + static_cast<int64>(step) * kPack, kGroup * kPack));
  }

  // What is left, by halves: several accesses are under way to the end.
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
    InputPack<Types, 1, Params::kInputs> one;
    one.load(row.start + position, apart<Element>(params));
    return Reducer::combine(state, Reducer::lift(row.pivot.from(one[0]), position));
  }

  // The thread's share of the steps [begin, end) of a row; the first part has its head, and the last one its tail.
  XPOPS_DEVICE static State walk(const Params& params, const Row& row, Index begin, Index end, bool first, bool last) {
    State state = Reducer::identity();
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
      const Coordinates<Params::kKeptAxes, Index> at(params.kept, row);
      write_result<Reducer, Types>(params, at.offset(params.out_kept), state);
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
    State state = Reducer::identity();
    for (Index i = threadIdx.x; i < params.splits.divisor; i += kBlock) {
      state = Reducer::combine(state, load_coherent(states + i));
    }
    __syncthreads();
    write(params, row, reduce(state));
  }
};

template <class Reducer, class Types, int kBlock, int kGroup, int kRows, int kPack, int kUnroll, bool kRagged, bool kSplit,
          class Params>
XPOPS_DEVICE void reduce_rows(const Params& params) {
  using Body = RowReduction<Reducer, Types, kBlock, kGroup, kRows, kPack, kUnroll, kRagged, kSplit, Params>;
  if constexpr (kSplit) Body::split(params);
  else Body::whole(params);
}

// kColumns threads have a pack of columns each, and kRows of them share the same one. A step is a row of the input. A
// column is an output: neighbours lie along the last kept axis, in packs that never leave it, and then along the others.
template <class Reducer, class Types, int kColumns, int kRows, int kPack, int kUnroll, bool kSplit, class Params>
struct ColumnReduction {
  using Index = typename Params::Index;
  using State = typename Reducer::State;
  using Element = typename Types::Element;
  static constexpr int kLast = Params::kKeptAxes - 1;

  template <int kCount>
  XPOPS_DEVICE static void take(const Params& params, const Element* start, const Pivot<Reducer, Types> (&pivots)[kPack],
                                Index step, State (&states)[kPack]) {
    InputPack<Types, kPack, Params::kInputs> packs[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      packs[i].load(start + reduced_offset(params, step + i * kRows), apart<Element>(params));
    }
#pragma unroll
    for (int column = 0; column < kPack; ++column) {
      typename Types::Compute x[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) x[i] = pivots[column].from(packs[i][column]);
      states[column] =
          Reducer::combine(states[column], lift_all<Reducer, 1>(x, static_cast<int64>(step), kRows));
    }
  }

  // What is left, by halves: several accesses are under way to the end.
  template <int kCount>
  XPOPS_DEVICE static void rest(const Params& params, const Element* start, const Pivot<Reducer, Types> (&pivots)[kPack],
                                Index step, Index end, State (&states)[kPack]) {
    if constexpr (kCount > 0) {
      if (step + (kCount - 1) * kRows < end) {
        take<kCount>(params, start, pivots, step, states);
        step += kCount * kRows;
      }
      rest<kCount / 2>(params, start, pivots, step, end, states);
    }
  }

  XPOPS_DEVICE static void walk(const Params& params, const Element* start, Index begin, Index end, State (&states)[kPack]) {
    Pivot<Reducer, Types> pivots[kPack];
#pragma unroll
    for (int i = 0; i < kPack; ++i) pivots[i] = Pivot<Reducer, Types>(start + i);
    Index step = begin + threadIdx.x / kColumns;
    for (; step + (kUnroll - 1) * kRows < end; step += kUnroll * kRows) {
      take<kUnroll>(params, start, pivots, step, states);
    }
    rest<kUnroll / 2>(params, start, pivots, step, end, states);
  }

  XPOPS_DEVICE static void run(const Params& params) {
    Index tile = static_cast<Index>(blockIdx.x);
    const Index part = kSplit ? params.splits.divmod(tile) : 0;
    const Index column = (tile * kColumns + threadIdx.x % kColumns) * kPack;
    const bool inside = column < params.outputs;
    const Coordinates<Params::kKeptAxes, Index> at(params.kept, column);
    State states[kPack];
#pragma unroll
    for (int i = 0; i < kPack; ++i) states[i] = Reducer::identity();
    if (inside) {
      const Element* start = reinterpret_cast<const Element*>(params.in[0]) + at.offset(params.in_kept);
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
      for (int i = 0; i < kPack; ++i) {
        State state = Reducer::identity();
        for (Index each = threadIdx.x / kColumns; each < params.splits.divisor; each += kRows) {
          state = Reducer::combine(state, load_coherent(partial + each * kWidth + mine + i));
        }
        states[i] = reduce_rows_of_block<Reducer, kRows, kColumns>(state);
      }
    }
    if (inside && threadIdx.x < kColumns) {
      const int64 offset = at.offset(params.out_kept);
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        write_result<Reducer, Types>(params, offset + i * static_cast<int64>(params.out_kept[kLast]), states[i]);
      }
    }
  }
};

template <class Reducer, class Types, int kColumns, int kRows, int kPack, int kUnroll, bool kSplit, class Params>
XPOPS_DEVICE void reduce_columns(const Params& params) {
  ColumnReduction<Reducer, Types, kColumns, kRows, kPack, kUnroll, kSplit, Params>::run(params);
}

}  // namespace xpops
