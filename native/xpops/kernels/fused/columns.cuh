// Expressions over rows with reductions along them, as in rows.cuh, and sums along columns of what they compute. Each group
// of threads computes many rows, one after the other, and holds sums for its columns in registers. Each block writes its
// sums as a row of an array; another kernel adds up these rows.
#pragma once

#include <xpops/kernels/fused/rows.cuh>
#include <xpops/memory/dynamic.cuh>

namespace xpops {

// The sums of a thread for its columns, from the program's sum number kColumn to the last.
template <class Program, int kBlock, int kGroup, int kPack, int kSteps, int kColumn = 0,
          bool = (kColumn < Program::kColumns)>
struct ColumnSums {
  template <class Rows, class... Found>
  XPOPS_DEVICE void add(Rows&, Found...) {}
  template <class Rows>
  XPOPS_DEVICE void store(const Rows&) {}
};

template <class Program, int kBlock, int kGroup, int kPack, int kSteps, int kColumn>
struct ColumnSums<Program, kBlock, kGroup, kPack, kSteps, kColumn, true> {
  using Column = typename Program::template Column<kColumn>;
  using Reducer = typename Column::Reducer;
  using State = typename Reducer::State;
  using States = State[kSteps][kPack];

  States states;
  ColumnSums<Program, kBlock, kGroup, kPack, kSteps, kColumn + 1> rest;

  XPOPS_DEVICE ColumnSums() {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) states[step][i] = Reducer::identity();
    }
  }

  template <class Rows>
  struct Added {
    const Rows& rows;
    const typename Column::Lift& lift;
    States& states;

    template <class Operands, class Index>
    XPOPS_DEVICE void take(const Operands& from, Index, int step) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        const typename Column::Compute value = apply<Call>(rows.params.each, from, i, lift);
        states[step][i] = Reducer::combine(states[step][i], Reducer::lift(value, 0));
      }
    }
  };

  // Adds a row, with the results of its stages.
  template <class Rows, class... Found>
  XPOPS_DEVICE void add(Rows& rows, Found... found) {
    const typename Column::Lift lift(rows.params.each, found...);
    Added<Rows> added{rows, lift, states};
    if (rows.any) rows.walk(added);
    rest.add(rows, found...);
  }

  // Writes the sums of the block. `rows` is any row, whose columns are those of this thread.
  template <class Rows>
  XPOPS_DEVICE void store(const Rows& rows) {
    using Compute = typename Column::Compute;
    const uint64 length = rows.params.length;
    Compute* const out = reinterpret_cast<Compute*>(rows.params.each.slots[Column::kSlot]) + blockIdx.x * length;
    if constexpr (kGroup == kBlock) {
      each_column(rows, [&](uint64 column, const State& state) { out[column] = Reducer::finish(state, {}); });
    } else {
      State* const all = static_cast<State*>(dynamic_shared<kMostShared>());
      add_groups();
#pragma unroll 1
      for (int number = 0; number < kBlock / kWarp; ++number) {
        if (warp() == number && lane() < kGroup) {
          each_column(rows, [&](uint64 column, const State& state) {
            all[column] = number == 0 ? state : Reducer::combine(all[column], state);
          });
        }
        __syncthreads();
      }
      for (uint64 column = threadIdx.x; column < length; column += kBlock) out[column] = Reducer::finish(all[column], {});
      __syncthreads();  // the next sums use the same memory
    }
    rest.store(rows);
  }

 private:
  // Adds the sums of all groups of a warp to those of its first group.
  XPOPS_DEVICE void add_groups() {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
#pragma unroll
        for (int reach = kGroup; reach < kWarp; reach *= 2) {
          states[step][i] = Reducer::combine(states[step][i], shuffle_down(states[step][i], reach));
        }
      }
    }
  }

  template <class Rows, class Work>
  XPOPS_DEVICE void each_column(const Rows& rows, Work work) const {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (!rows.inside(step)) continue;
#pragma unroll
      for (int i = 0; i < kPack; ++i) work(rows.column(step) + i, states[step][i]);
    }
  }
};

template <class Program, int kBlock, int kGroup, int kCluster, int kPack, int kSteps, bool kStaged, bool kRagged,
          class... In, class Params>
XPOPS_DEVICE void fused_rows_and_columns(const Params& params) {
  static_assert(kCluster == 1 && kSteps > 0 && !kStaged && !kRagged, "threads hold rows in whole packs");
  using Rows = FusedRows<Program, kBlock, kGroup, kCluster, kPack, kSteps, kStaged, kRagged, Params, In...>;
  using Index = typename Params::Index;
  ColumnSums<Program, kBlock, kGroup, kPack, kSteps> sums;
  const Index step = static_cast<Index>(gridDim.x) * (kBlock / kGroup);
  // The groups of this warp that precede this thread's. All groups of a warp loop as often as its first group.
  const Index before = kGroup < kWarp ? lane() / kGroup : 0;
#pragma unroll 1
  for (Index row = Rows::own_row(); row - before < params.rows; row += step) {
    Rows rows(params, row);
    rows.load();
    rows.template run<0>(sums);
    // With several stages, another stage's barrier is between the reads of a stage's memory and the next row's writes.
    if constexpr (kGroup > kWarp && Program::kStages == 1) __syncthreads();
  }
  sums.store(Rows(params, 0));
}

}  // namespace xpops
