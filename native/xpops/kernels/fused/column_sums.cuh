// Adds up the sums along columns that the blocks of columns.cuh wrote, and computes results from them.
//
// The host writes a struct for each sum, with Compute, Reducer, kSlot and Result, the type to which it is rounded; and a
// functor that computes a list of results from the sums of a column.
#pragma once

#include <xpops/block/reduce.cuh>
#include <xpops/kernels/fused/row_program.cuh>

namespace xpops {

// The slots have the addresses of the sums, one row of `length` for each of `parts` blocks, and of the results.
template <int kSlots>
struct ColumnSumsParams {
  uint64 slots[kSlots];
  uint64 parts, length;
};

// A block computes kWide columns. kBlock / kWide threads share a column.
template <class Program, int kBlock, int kWide>
struct PartsOfColumns {
  static constexpr int kSlices = kBlock / kWide, kLines = kBlock / kWarp;
  uint64 column;
  int slice;

  XPOPS_DEVICE PartsOfColumns()
      : column(static_cast<uint64>(blockIdx.x) * kWide + threadIdx.x % kWide),
        slice(static_cast<int>(threadIdx.x) / kWide) {}

  // Adds up sum number kColumn and all after it, and computes the results of the column from all sums.
  template <int kColumn, class Params, class... States>
  XPOPS_DEVICE void finish(const Params& params, const States&... states) const {
    if constexpr (kColumn < Program::kColumns) {
      using Column = typename Program::template Column<kColumn>;
      using Reducer = typename Column::Reducer;
      __shared__ typename Reducer::State mine[kLines][kWide];
      typename Reducer::State state = of_slice<Column>(params);
#pragma unroll
      for (int reach = kWide; reach < kWarp; reach *= 2) {
        state = Reducer::combine(state, shuffle_down(state, reach));
      }
      if (lane() < kWide) mine[warp()][lane()] = state;
      if constexpr (kColumn + 1 == Program::kColumns) __syncthreads();
      finish<kColumn + 1>(params, states..., mine);
    } else if (slice == 0 && column < params.length) {
      Program::Out::store(params, column, results(typename Program::Sums{}, states...));
    }
  }

 private:
  template <class Column, class Params>
  XPOPS_DEVICE typename Column::Reducer::State of_slice(const Params& params) const {
    using Reducer = typename Column::Reducer;
    const typename Column::Compute* const from =
        reinterpret_cast<const typename Column::Compute*>(params.slots[Column::kSlot]) + column;
    typename Reducer::State state = Reducer::identity();
    if (column < params.length) {
#pragma unroll 8
      for (uint64 part = slice; part < params.parts; part += kSlices) {
        state = Reducer::combine(state, Reducer::lift(from[part * params.length], 0));
      }
    }
    return state;
  }

  template <class... Columns, class... States>
  XPOPS_DEVICE static auto results(const Results<Columns...>&, const States&... states) {
    return typename Program::Last()(whole<Columns>(states)...);
  }

  template <class Column>
  XPOPS_DEVICE static auto whole(const typename Column::Reducer::State (&states)[kLines][kWide]) {
    using Reducer = typename Column::Reducer;
    const auto state = combine_lines<Reducer, kLines, kWide>(&states[0][threadIdx.x % kWide]);
    return cast<typename Column::Result>(Reducer::finish(state, {}));
  }
};

template <class Program, int kBlock, int kWide, class Params>
XPOPS_DEVICE void add_column_sums(const Params& params) {
  PartsOfColumns<Program, kBlock, kWide>().template finish<0>(params);
}

}  // namespace xpops
