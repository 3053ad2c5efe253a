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
  XPOPS_DEVICE void add(int, int, const Results<>&) {}
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

  // Adds the values of an element: one for each sum.
  template <class... Values>
  XPOPS_DEVICE void add(int step, int i, const Results<typename Column::Compute, Values...>& values) {
    states[step][i] = Reducer::combine(states[step][i], Reducer::lift(values.head, 0));
    rest.add(step, i, values.tail);
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

// Writes the results for elements, if there are any, and adds to the sums along columns. The functor for elements computes
// all of them at once, because they share most of what they need.
template <class Program, int kBlock, int kGroup, int kPack, int kSteps>
struct WriteAndSum {
  ColumnSums<Program, kBlock, kGroup, kPack, kSteps> sums;

  template <class Rows>
  struct Taken {
    const Rows& rows;
    const typename Program::Each& each;
    WriteAndSum& to;

    template <class Operands, class Index>
    XPOPS_DEVICE void take(const Operands& from, Index linear, int step) {
      if (!rows.any) return;  // for whole warps, too: a branch limits what the compiler keeps in registers
      if constexpr (Program::kWritesElements) {
        decltype(apply<Call>(rows.params.each, from, 0, each).head) values[kPack];
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
          const auto found = apply<Call>(rows.params.each, from, i, each);
          values[i] = found.head;
          to.sums.add(step, i, found.tail);
        }
        typename Program::Out::template Fragment<kPack> out;
        round_all<typename Program::Out::T>(out.pack, values);
        Program::Out::store(rows.params.each, linear, out);
      } else {
#pragma unroll
        for (int i = 0; i < kPack; ++i) to.sums.add(step, i, apply<Call>(rows.params.each, from, i, each));
      }
    }
  };

  template <class Rows, class Known>
  XPOPS_DEVICE void take_elements(Rows& rows, const Known& known) {
    const typename Program::Each each(known);
    Taken<Rows> taken{rows, each, *this};
    rows.walk(taken);
  }
};

// If kAhead, a thread begins to copy its part of the next row to shared memory while it computes a row.
template <class Program, int kBlock, int kGroup, int kPack, int kSteps, bool kAhead, class... In, class Params>
XPOPS_DEVICE void fused_rows_and_columns(const Params& params) {
  static_assert(kSteps > 0, "threads hold rows in whole packs");
  using Rows = FusedRows<Program, kBlock, kGroup, 1, kPack, kSteps, false, false, Params, In...>;
  using Index = typename Params::Index;
  WriteAndSum<Program, kBlock, kGroup, kPack, kSteps> finish;
  const Index step = static_cast<Index>(gridDim.x) * (kBlock / kGroup);
  // The groups of this warp that precede this thread's. All groups of a warp loop as often as its first group.
  const Index before = kGroup < kWarp ? lane() / kGroup : 0;
  const auto fetch = [&](Index row) {
    if (kAhead && row - before < params.rows) Rows(params, row).fetch();
  };
  fetch(Rows::own_row());
#pragma unroll 1
  for (Index row = Rows::own_row(); row - before < params.rows; row += step) {
    Rows rows(params, row);
    if constexpr (kAhead) rows.load_fetched();
    else rows.load();
    rows.run(finish, [&] {
      if (kAhead && kGroup <= kWarp) __syncwarp();
      fetch(row + step);
    });
    // With several stages, another stage's barrier is between the reads of a stage's memory and the next row's writes.
    if constexpr (kGroup > kWarp && Program::kStages == 1) __syncthreads();
  }
  if constexpr (kAhead && kGroup < kBlock) __syncthreads();  // the sums use the same memory
  finish.sums.store(Rows(params, 0));
}

}  // namespace xpops
