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

    template <int kCount>
    XPOPS_DEVICE void take(const typename Rows::template Operands<kCount>& from, typename Rows::Index linear, int step) {
      if (!rows.any) return;  // for whole warps, too: a branch limits what the compiler keeps in registers
      decltype(apply<Call>(rows.params.each, from, 0, each)) found[kCount];
      apply_all<Call>(rows.params.each, from, found, each);
      if constexpr (Program::kWritesElements) {
        decltype(found[0].head) values[kCount];
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          values[i] = found[i].head;
          to.sums.add(step, i, found[i].tail);
        }
        typename Program::Out::template Fragment<kCount> out;
        round_all<typename Program::Out::T>(out.pack, values);
        Program::Out::store(rows.params.each, linear, out);
      } else {
#pragma unroll
        for (int i = 0; i < kCount; ++i) to.sums.add(step, i, found[i]);
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

// The operands that are the same for all rows, in registers, if the rows keep them.
template <class Rows, int kPack, int kSteps>
struct KeptRows {
  typename Rows::template Operands<kPack> steps[kSteps];

  XPOPS_DEVICE explicit KeptRows(const Rows& rows) {
    if constexpr (Rows::kKeepsRows) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (rows.inside(step)) load_some<Kind::kOneRow>(rows.params.each, 0, rows.column(step), steps[step]);
      }
    }
  }
  XPOPS_DEVICE void give(Rows& rows) const {
    if constexpr (Rows::kKeepsRows) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) copy_one_rows(steps[step], rows.held[step]);
    }
  }
};

// If kAhead, a thread begins to copy its part of the next row to shared memory when it has read that of a row. If kKeeps,
// it keeps the operands that are the same for all rows in registers.
template <class Program, int kBlock, int kGroup, int kPack, int kSteps, bool kAhead, bool kKeeps, class... In,
          class Params>
XPOPS_DEVICE void fused_rows_and_columns(const Params& params) {
  static_assert(kSteps > 0, "threads hold rows in whole packs");
  constexpr int kPasses = Program::kStages - (Program::kCentred >= 0), kBuffers = kPasses == 1 ? 2 : 1;
  using Rows = FusedRows<Program, kBlock, kGroup, 1, kPack, kSteps, false, false, kKeeps, kBuffers, Params, In...>;
  using Index = typename Params::Index;
  WriteAndSum<Program, kBlock, kGroup, kPack, kSteps> finish;
  const Index step = static_cast<Index>(gridDim.x) * (kBlock / kGroup);
  // The groups of this warp that precede this thread's. All groups of a warp loop as often as its first group.
  const Index before = kGroup < kWarp ? lane() / kGroup : 0;
  const auto fetch = [&](Index row) {
    if (kAhead && row - before < params.rows) Rows(params, row).fetch();
  };
  fetch(Rows::own_row());
  const KeptRows<Rows, kPack, kSteps> kept(Rows(params, 0));
  int buffer = 0;
#pragma unroll 1
  for (Index row = Rows::own_row(); row - before < params.rows; row += step) {
    Rows rows(params, row);
    rows.buffer = buffer;
    kept.give(rows);
    if constexpr (kAhead) rows.load_fetched();
    else rows.load();
    fetch(row + step);  // to the places that this thread has just read
    rows.run(finish);
    buffer = kBuffers - 1 - buffer;
  }
  if constexpr (kAhead && kGroup < kBlock) __syncthreads();  // the sums use the same memory
  finish.sums.store(Rows(params, 0));
}

}  // namespace xpops
