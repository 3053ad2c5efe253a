// Expressions over rows with reductions along them: softmax, normalisations, sums of squares. One launch. If a row fits
// in the registers of its threads, the kernel reads it once.
//
// The host writes a struct for each stage. The struct computes the value to reduce for each element, from the operands
// and the results of earlier stages. Two more functors compute the values to write, for every element and for every
// row. The constructor of a functor computes what is the same for all elements of a row.
#pragma once

#include <xpops/block/cluster.cuh>
#include <xpops/block/reduce.cuh>
#include <xpops/kernels/fused/elementwise.cuh>
#include <xpops/math/reduction.cuh>

namespace xpops {

template <class Elementwise, int kStages>
struct FusedRowsParams {
  using Index = typename Elementwise::Index;
  Elementwise each;  // the elements of all rows, in one linear order
  uint64 rows, length;
  Ending endings[kStages];
};

// The k-th type of a list.
template <int k, class Head, class... Tail>
struct At : At<k - 1, Tail...> {};
template <class Head, class... Tail>
struct At<0, Head, Tail...> {
  using type = Head;
};

// A result with one element for each row.
template <class T, int kSlot>
struct RowOutput {
  using Element = typename Storage<T>::type;
  template <class Params>
  XPOPS_DEVICE static void store(const Params& params, uint64 row, T value) {
    reinterpret_cast<Element*>(params.slots[kSlot])[row] = value;
  }
};

template <class... Outs>
struct RowOutputs {
  template <class Params>
  XPOPS_DEVICE static void store(const Params&, uint64, const Results<>&) {}
};
template <class Head, class... Tail>
struct RowOutputs<Head, Tail...> {
  template <class Params, class Value, class... Values>
  XPOPS_DEVICE static void store(const Params& params, uint64 row, const Results<Value, Values...>& from) {
    Head::store(params, row, from.head);
    RowOutputs<Tail...>::store(params, row, from.tail);
  }
};

template <class Reducer>
struct Combine {
  using State = typename Reducer::State;
  XPOPS_DEVICE State operator()(const State& x, const State& y) const { return Reducer::combine(x, y); }
};

// Calls a functor that has a state.
struct Call {
  template <class Functor, class... T>
  XPOPS_DEVICE auto operator()(const Functor& functor, T... x) const {
    return functor(x...);
  }
};

// Loads the operands in the order of the result (kLinear and kShifted) if kLinear, else all others. No pack leaves its
// row.
template <bool kLinear, int kPack, class Params>
XPOPS_DEVICE void load_some(const Params&, typename Params::Index, Fragments<kPack>&) {}
template <bool kLinear, int kPack, class Params, class Head, class... Tail>
XPOPS_DEVICE void load_some(const Params& params, typename Params::Index linear, Fragments<kPack, Head, Tail...>& to) {
  if constexpr ((Head::kMode == Mode::kLinear || Head::kMode == Mode::kShifted) == kLinear) {
    Head::load_in_row(params, linear, to.head);
  }
  load_some<kLinear>(params, linear, to.tail);
}

// kGroup threads share a row: a part of a warp, a warp, or a block of kBlock; or all threads of a cluster, if it has
// kCluster > 1 blocks. A step is one pack of each thread. If kSteps > 0, a row has at most kSteps steps, and the threads
// hold its kLinear operands in registers. They load repeated operands again in every stage, from the cache. If kSteps is
// 0, every stage loads all operands again. Packs are aligned in the order of the result. If kRagged, rows are not: each
// element before the first aligned pack of a row and after its last, the edges, is one thread's.
template <class Program, int kBlock, int kGroup, int kCluster, int kPack, int kSteps, bool kRagged, class Params,
          class... In>
struct FusedRows {
  using Index = typename Params::Index;
  static constexpr int kThreads = kGroup * kCluster;
  static constexpr bool kHeld = kSteps > 0;
  static_assert(!kRagged || kGroup >= kWarp, "a thread for each element of the edges");
  template <int kCount>
  using Operands = Fragments<kCount, In...>;

  const Params& params;
  Index row;
  bool any;  // Whether the row exists. If not, the thread may compute the last row, for its warp, but writes nothing.
  int thread;
  Index first, packed;  // of a ragged row: where its aligned packs begin in the order of the result, and their elements
  Index edge;           // this thread's element of the edges, if `at_edge`
  bool at_edge = false;
  Operands<kPack> held[kHeld ? kSteps : 1];
  Operands<1> held_edge;

  XPOPS_DEVICE explicit FusedRows(const Params& params)
      : params(params),
        row(static_cast<Index>(blockIdx.x / kCluster) * (kBlock / kGroup) + threadIdx.x / kGroup),
        any(row < params.rows),
        thread(static_cast<int>(blockIdx.x % kCluster * kGroup + threadIdx.x % kGroup)) {
    if (kGroup < kWarp && !any) row = static_cast<Index>(params.rows) - 1;
    if constexpr (kRagged) {
      const Index end = begin() + static_cast<Index>(params.length), head = (kPack - begin() % kPack) % kPack;
      first = begin() + head;
      packed = end / kPack * kPack - first;
      edge = thread < static_cast<int>(head) ? begin() + thread : first + packed + (thread - head);
      at_edge = edge < end;
    }
  }

  XPOPS_DEVICE Index begin() const { return row * static_cast<Index>(params.length); }
  XPOPS_DEVICE Index column(int step) const { return (static_cast<Index>(step) * kThreads + thread) * kPack; }
  XPOPS_DEVICE Index at(int step) const { return (kRagged ? first : begin()) + column(step); }
  XPOPS_DEVICE bool exists(int step) const { return column(step) < (kRagged ? packed : params.length); }

  // Of the held steps only the last may be beyond the end of the row: one predicate, all loads at once in flight.
  XPOPS_DEVICE bool inside(int step) const { return step + 1 < kSteps || exists(step); }

  XPOPS_DEVICE void load() {
    if constexpr (kHeld) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (inside(step)) load_some<true>(params.each, at(step), held[step]);
      }
    }
    if (kRagged && at_edge) load_some<true>(params.each, edge, held_edge);
  }

  // Calls `work` with the operands and the place of each of this thread's packs.
  template <class Work>
  XPOPS_DEVICE void walk(Work& work) {
    if constexpr (kHeld) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (inside(step)) {
          Operands<kPack> operands = held[step];
          load_some<false>(params.each, at(step), operands);
          work.take(operands, at(step));
        }
      }
    } else {
#pragma unroll 4
      for (int step = 0; exists(step); ++step) {
        load_some<true>(params.each, at(step), held[0]);
        load_some<false>(params.each, at(step), held[0]);
        work.take(held[0], at(step));
      }
    }
    if (kRagged && at_edge) {
      Operands<1> operands = held_edge;
      load_some<false>(params.each, edge, operands);
      work.take(operands, edge);
    }
  }

  // The state of what this thread has taken for a stage. NVRTC 13.0 takes no generic lambda here.
  template <class Stage>
  struct Taken {
    using Reducer = typename Stage::Reducer;
    const FusedRows& rows;
    const typename Stage::Lift& lift;
    Pivot<Reducer, typename Stage::Compute> pivot = {};
    typename Reducer::State state = Reducer::identity();

    template <int kCount>
    XPOPS_DEVICE void take(const Operands<kCount>& from, Index linear) {
      typename Stage::Compute x[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i) x[i] = pivot.from(apply<Call>(rows.params.each, from, i, lift));
      state = append_all<Reducer, kCount>(state, x, static_cast<int64>(linear - rows.begin()), 0);
    }
  };

  // Writes the results for elements.
  template <class Each, class Out>
  struct Written {
    const FusedRows& rows;
    const Each& each;

    template <int kCount>
    XPOPS_DEVICE void take(const Operands<kCount>& from, Index linear) {
      typename Out::template Fragment<kCount> out;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        out.pack.elem[i] = cast<typename Out::T>(apply<Call>(rows.params.each, from, i, each));
      }
      if (rows.any) Out::store(rows.params.each, linear, out);
    }
  };

  // Reduces the states of all threads of the row. Each of these threads gets the result.
  template <class Reducer, int kStage>
  XPOPS_DEVICE static typename Reducer::State everywhere(typename Reducer::State state) {
    if constexpr (kGroup <= kWarp) return shuffle(reduce_lanes<Reducer, kGroup>(state), lane() / kGroup * kGroup);
    else return combine_cluster<kCluster, 1, kStage>(reduce_block_for_all<Reducer, kBlock, kStage>(state),
                                                     Combine<Reducer>());
  }

  // Runs the stages from kStage on. `found` are the results of the earlier stages for the row.
  template <int kStage, class... Found>
  XPOPS_DEVICE void run(Found... found) {
    if constexpr (kStage < Program::kStages) {
      using Stage = typename Program::template Stage<kStage>;
      using Reducer = typename Stage::Reducer;
      const typename Stage::Lift lift(params.each, found...);
      Taken<Stage> taken{*this, lift};
      if constexpr (Reducer::kShifts) {
        Operands<1> one;
        load_all(params.each, begin(), one);
        taken.pivot.first = apply<Call>(params.each, one, 0, lift);
      }
      walk(taken);
      const typename Reducer::State state = everywhere<Reducer, kStage>(taken.state);
      run<kStage + 1>(found..., settled(cast<typename Stage::Result>(Reducer::finish(state, params.endings[kStage]))));
    } else {
      if constexpr (Program::kWritesElements) {
        const typename Program::Each each(params.each, found...);
        Written<typename Program::Each, typename Program::Out> written{*this, each};
        walk(written);
      }
      if (any && thread == 0) Program::RowOut::store(params.each, row, typename Program::Row()(found...));
    }
  }
};

template <class Program, int kBlock, int kGroup, int kCluster, int kPack, int kSteps, bool kRagged, class... In,
          class Params>
XPOPS_DEVICE void fused_rows(const Params& params) {
  start_cluster<kCluster>();
  FusedRows<Program, kBlock, kGroup, kCluster, kPack, kSteps, kRagged, Params, In...> rows(params);
  if (kGroup >= kWarp && !rows.any) return;  // the same for all threads of a warp
  rows.load();
  rows.template run<0>();
}

}  // namespace xpops
