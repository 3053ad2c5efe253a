// Expressions over rows with reductions along them: softmax, normalisations, sums of squares. One launch. If a row fits
// in the registers of its threads, or in the shared memory of a block or a cluster, the kernel reads it once.
//
// The host writes structs with what is known of a row before the first stage and after each, and a functor for each
// stage. It computes the value to reduce for each element, from the operands and from what is known of the row. Two more
// functors compute the values to write, for every element and for every row.
#pragma once

#include <xpops/kernels/fused/centred.cuh>
#include <xpops/kernels/fused/row_memory.cuh>
#include <xpops/kernels/fused/row_reduction.cuh>

namespace xpops {

template <class Elementwise, int kStages>
struct FusedRowsParams {
  using Index = typename Elementwise::Index;
  Elementwise each;  // the elements of all rows, in one linear order
  uint64 rows, length;
  Ending endings[kStages];
};

// kGroup threads share a row: a part of a warp, a warp, or a block of kBlock. If kSteps > 0, a row has at most kSteps
// steps, one pack of each thread, and the threads hold its kLinear operands in registers. If kStaged, each of kCluster
// blocks keeps the kLinear operands of its part of a row in shared memory. The threads load repeated operands again in
// every stage, from the cache. Otherwise every stage loads all operands again. Packs are aligned in the order of the
// result. If kRagged, rows are not: each element before the first aligned pack of a row and after its last, the edges,
// is one thread's.
template <class Program, int kBlock, int kGroup, int kCluster, int kPack, int kSteps, bool kStaged, bool kRagged,
          bool kKeeps, int kBuffers, class Params, class... In>
struct FusedRows {
  using Index = typename Params::Index;
  // Products contract with sums one by one. In float32, whose sums would lose digits, threads add up in trees.
  static constexpr bool kSerial = Program::kNarrow && kSteps > 0;
  using Group = RowGroup<kBlock, kGroup, kCluster, kBuffers>;
  static constexpr bool kHeld = kSteps > 0, kKeepsRows = kKeeps;
  static_assert(kCluster == 1 || kStaged, "the blocks of a cluster have parts of a row");
  static_assert(!kRagged || kGroup >= kWarp, "a thread for each element of the edges");
  template <int kCount>
  using Operands = Fragments<kCount, In...>;
  // The steps whose operands are in flight at once: as many as registers have room for.
  static constexpr int kFlight = 128 / sizeof(Operands<kPack>), kBatch = kFlight < 1 ? 1 : kFlight < 4 ? kFlight : 4;
  // The first steps whose repeated operands are loaded while a row is copied to shared memory. With unaligned or wide
  // packs this takes more registers than it gains.
  static constexpr int kRepeated = kStaged && !kRagged && kPack <= 4 ? StagedRow<kPack, In...>::kRepeated : 0;
  static constexpr int kAhead = kRepeated == 0 ? 0 : kRepeated > 16 ? 128 / kRepeated : 8;

  const Params& params;
  Index row;
  bool any;  // Whether the row exists. If not, the thread may compute the last row, for its warp, but writes nothing.
  int thread;
  Index first, packed;  // of a ragged row: where its aligned packs begin in the order of the result, and their elements
  Index edge;           // this thread's element of the edges, if `at_edge`
  bool at_edge = false;
  Operands<kPack> held[kHeld ? kSteps : 1];
  Operands<kPack> ahead[kAhead > 0 ? kAhead : 1];
  Operands<1> held_edge;
  Index part, past;  // this block's part of the packs of a row: its first element, and the one after its last
  int buffer = 0;

  // The row of this thread if each group of the grid computes one row.
  XPOPS_DEVICE static Index own_row() {
    return static_cast<Index>(blockIdx.x / kCluster) * (kBlock / kGroup) + threadIdx.x / kGroup;
  }

  XPOPS_DEVICE FusedRows(const Params& params, Index row)
      : params(params),
        row(row),
        any(row < params.rows),
        thread(static_cast<int>(blockIdx.x % kCluster * kGroup + threadIdx.x % kGroup)) {
    const Index share = chunk(params) * kPack;
    part = blockIdx.x % kCluster * share;
    if (kGroup < kWarp && !any) this->row = static_cast<Index>(params.rows) - 1;
    if constexpr (kRagged) {
      const Index end = begin() + static_cast<Index>(params.length), head = (kPack - begin() % kPack) % kPack;
      first = begin() + head;
      packed = end / kPack * kPack - first;
      edge = thread < static_cast<int>(head) ? begin() + thread : first + packed + (thread - head);
      at_edge = edge < end;
    }
    const Index whole = kRagged ? packed : static_cast<Index>(params.length);
    past = kCluster == 1 || whole < part + share ? whole : part + share;
  }

  // The packs of a row that each block of the cluster has.
  XPOPS_DEVICE static Index chunk(const Params& params) {
    return (static_cast<Index>(params.length) / kPack + (kCluster - 1)) / kCluster;
  }

  XPOPS_DEVICE Index begin() const { return row * static_cast<Index>(params.length); }
  // The number of a pack of this thread in the block's part.
  XPOPS_DEVICE Index place(int step) const { return static_cast<Index>(step) * kGroup + threadIdx.x % kGroup; }
  XPOPS_DEVICE Index column(int step) const { return part + place(step) * kPack; }
  XPOPS_DEVICE Index at(int step) const { return (kRagged ? first : begin()) + column(step); }
  XPOPS_DEVICE bool exists(int step) const { return column(step) < past; }

  // Of the held steps only the last may be beyond the end of the row: one predicate, all loads at once in flight.
  XPOPS_DEVICE bool inside(int step) const { return step + 1 < kSteps || exists(step); }

  // How many elements of a row a warp of the group holds.
  XPOPS_DEVICE uint32 elements_of(int warp) const {
    const int whole = static_cast<int>(kRagged ? packed : params.length), edges = static_cast<int>(params.length) - whole;
    const int left = whole / kPack - (kSteps - 1) * kGroup - warp * kWarp;
    const int packs = (kSteps - 1) * kWarp + (left < 0 ? 0 : left < kWarp ? left : kWarp);
    return static_cast<uint32>(packs * kPack + (warp == 0 ? edges : 0));
  }

  // Loads the operands that are not held.
  template <int kCount>
  XPOPS_DEVICE void load_rest(Index linear, Index column, Operands<kCount>& to) const {
    if constexpr (kKeeps) load_some<Kind::kOther>(params.each, linear, column, to);
    else load_some<Kind::kOneRow, Kind::kOther>(params.each, linear, column, to);
  }

  XPOPS_DEVICE void load() {
    if constexpr (kHeld) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (inside(step)) load_some<Kind::kLinear>(params.each, at(step), column(step), held[step]);
      }
    }
    if constexpr (kStaged) {
#pragma unroll 4
      for (int step = 0; exists(step); ++step) StagedRow<kPack, In...>::fetch(params.each, at(step), staged(step));
#pragma unroll
      for (int step = 0; step < kAhead; ++step) {
        if (exists(step)) load_rest(at(step), column(step), ahead[step]);
      }
      await_copies();
    }
    if (kRagged && at_edge) load_some<Kind::kLinear>(params.each, edge, edge - begin(), held_edge);
  }

  // Begins to copy what `load` loads to places of this thread in shared memory.
  XPOPS_DEVICE void fetch() const {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (inside(step)) StagedRow<kPack, In...>::fetch(params.each, at(step), own(step));
    }
  }

  // Loads what `fetch` copied.
  XPOPS_DEVICE void load_fetched() {
    static_assert(kHeld && !kRagged && StagedRow<kPack, In...>::kCopies, "whole packs that go past the registers");
    await_copies();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (inside(step)) StagedRow<kPack, In...>::read(own(step), held[step]);
    }
  }

  XPOPS_DEVICE static StagedPlace own(int step) {
    return {static_cast<unsigned char*>(dynamic_shared<kMostShared>()), uint64(step) * kBlock + threadIdx.x,
            uint64(kSteps) * kBlock};
  }

  // Where the packs of a step are in shared memory.
  XPOPS_DEVICE StagedPlace staged(int step) const {
    return {static_cast<unsigned char*>(dynamic_shared<kMostShared>()), place(step), chunk(params)};
  }

  // Loads the packs of kCount steps, so that all loads are in flight, and then calls `work` with each.
  template <int kCount, class Work>
  XPOPS_DEVICE void take_batch(Work& work, int step) const {
    Operands<kPack> batch[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if constexpr (kStaged) StagedRow<kPack, In...>::read(staged(step + i), batch[i]);
      else load_some<Kind::kLinear>(params.each, at(step + i), column(step + i), batch[i]);
      load_rest(at(step + i), column(step + i), batch[i]);
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) work.take(batch[i], at(step + i), step + i);
  }

  // Calls `work` with the operands, the place and the step of each of this thread's packs.
  template <class Work>
  XPOPS_DEVICE void walk(Work& work) {
    if constexpr (kHeld) {
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        if (inside(step)) {
          Operands<kPack> operands = held[step];
          load_rest(at(step), column(step), operands);
          work.take(operands, at(step), step);
        }
      }
    } else {
#pragma unroll
      for (int step = 0; step < kAhead; ++step) {
        if (exists(step)) {
          Operands<kPack> operands = ahead[step];
          StagedRow<kPack, In...>::read(staged(step), operands);
          work.take(operands, at(step), step);
        }
      }
      int step = kAhead;
#pragma unroll 1
      for (; exists(step + (kBatch - 1)); step += kBatch) take_batch<kBatch>(work, step);
#pragma unroll 1
      for (; exists(step); ++step) take_batch<1>(work, step);
    }
    if (kRagged && at_edge) {
      Operands<1> operands = held_edge;
      load_rest(edge, edge - begin(), operands);
      work.take(operands, edge, 0);
    }
  }

  // Runs all stages. At the end, `finish` gets these rows, and all that is known of the row.
  template <class Finish>
  XPOPS_DEVICE void run(Finish& finish) {
    run_from<0>(finish, typename Program::template Row<0>(params.each));
  }

  // Runs the stages from kStage on. `known` is what is known of the row before.
  template <int kStage, class Finish, class Known>
  XPOPS_DEVICE void run_from(Finish& finish, const Known& known) {
    if constexpr (kStage == Program::kCentred) {
      run_from<kStage + 2>(finish, after_both<kStage>(known));
    } else if constexpr (kStage < Program::kStages) {
      run_from<kStage + 1>(finish, after<kStage>(known));
    } else {
      finish.take_elements(*this, known);
      if (any && thread == 0) Program::RowOut::store(params.each, row, typename Program::OfRow(known)());
    }
  }

  // What is known of the row after a stage.
  template <int kStage, class Known>
  XPOPS_DEVICE auto after(const Known& known) {
    using Stage = typename Program::template Stage<kStage>;
    using Reducer = typename Stage::Reducer;
    const typename Stage::Lift lift(known);
    Taken<FusedRows, Stage> taken{*this, lift};
    if constexpr (Reducer::kShifts) {
      Operands<1> one;
      load_some<Kind::kLinear, Kind::kOneRow, Kind::kOther>(params.each, begin(), 0, one);
      taken.pivot.first = apply<Call>(params.each, one, 0, lift);
    }
    walk(taken);
    const typename Reducer::State state = Group::template reduce<Reducer, kStage>(taken.state, buffer);
    return typename Program::template Row<kStage + 1>(known, state, params.endings);
  }

  // The same after the stage of a mean and the next one, in one pass. If a number is not finite, two passes decide which
  // results are infinite or NaN: a square of a difference from a pivot may overflow, and infinities cancel.
  template <int kStage, class Known>
  XPOPS_DEVICE auto after_both(const Known& known) {
    using Pass = typename Program::Centred;
    using Mean = typename Program::template Row<kStage + 1>;
    const typename Program::template Stage<kStage>::Lift mean_of(known);
    const auto first = apply<Call>(params.each, held[0], 0, mean_of);
    const auto pivot = first_of_group<kGroup>(inside(0) ? first : typename Pass::Element(0));
    const typename Pass::Lift lift(Mean(known, pivot));
    Taken<FusedRows, Pass> taken{*this, lift};
    walk(taken);
    CentredSums<Pass> sums(taken.state);
    const auto counts = [&](int warp) { return elements_of(warp); };
    const auto mean = sums.template centre<kGroup, kBuffers>(pivot, static_cast<uint32>(params.length), counts, buffer);
    if (any_group<kGroup>(!isfinite(mean) || !sums.are_finite())) return after<kStage + 1>(after<kStage>(known));
    return typename Program::template Row<kStage + 2>(Mean(known, mean), sums.state(), params.endings);
  }
};

// Writes the results for elements. Kernels with sums along columns use WriteAndSum (columns.cuh) instead.
template <class Program>
struct WriteElements {
  template <class Rows, class Known>
  XPOPS_DEVICE void take_elements(Rows& rows, const Known& known) {
    if constexpr (Program::kWritesElements) {
      const typename Program::Each each(known);
      Written<Rows, Program> written{rows, each};
      rows.walk(written);
    }
  }
};

template <class Program, int kBlock, int kGroup, int kCluster, int kPack, int kSteps, bool kStaged, bool kRagged,
          class... In, class Params>
XPOPS_DEVICE void fused_rows(const Params& params) {
  using Rows = FusedRows<Program, kBlock, kGroup, kCluster, kPack, kSteps, kStaged, kRagged, false, 1, Params, In...>;
  start_cluster<kCluster>();
  Rows rows(params, Rows::own_row());
  if (kGroup >= kWarp && !rows.any) return;  // the same for all threads of a warp
  rows.load();
  WriteElements<Program> finish;
  rows.run(finish);
}

}  // namespace xpops
