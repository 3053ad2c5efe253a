// Reductions over the threads that share a row.
#pragma once

#include <xpops/block/cluster.cuh>
#include <xpops/block/reduce.cuh>
#include <xpops/kernels/fused/row_program.cuh>

namespace xpops {

// The numbers of at most four sums, and zeros: as many as a power of two. kSize is 0 for other reducers.
template <class Reducer, bool = true>
struct SumsOf {
  static constexpr int kSize = 0;
};
template <class... Reducers>
struct SumsOf<Together<Reducers...>, Together<Reducers...>::kSums && sizeof...(Reducers) <= 4> {
  using Reducer = Together<Reducers...>;
  static constexpr int kSize = sizeof...(Reducers) == 3 ? 4 : sizeof...(Reducers);
  union {
    typename Reducer::State state;
    typename Reducer::Element each[kSize];
  };
  XPOPS_DEVICE explicit SumsOf(const typename Reducer::State& found) {
    each[kSize - 1] = typename Reducer::Element(0);
    state = found;
  }
};

template <class Reducer>
constexpr bool kAddsUp = SumsOf<Reducer>::kSize > 0 ||
                         is_one_of_v<Reducer, Sum<typename Reducer::State>, Mean<typename Reducer::State>>;

template <class Reducer>
struct Combine {
  using State = typename Reducer::State;
  XPOPS_DEVICE State operator()(const State& x, const State& y) const { return Reducer::combine(x, y); }
};

// The state of what a thread has taken of a row for a stage. NVRTC 13.0 takes no generic lambda here.
template <class Rows, class Stage>
struct Taken {
  using Reducer = typename Stage::Reducer;
  const Rows& rows;
  const typename Stage::Lift& lift;
  Pivot<Reducer, typename Stage::Compute> pivot = {};
  typename Reducer::State state = Reducer::identity();

  template <int kCount>
  XPOPS_DEVICE void take(const typename Rows::template Operands<kCount>& from, typename Rows::Index linear, int) {
    typename Stage::Compute x[kCount];
    apply_all<Call>(rows.params.each, from, x, lift);
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] = pivot.from(x[i]);
    if constexpr (Rows::kSerial && kAddsUp<Reducer>) {  // the compiler contracts products with these sums
#pragma unroll
      for (int i = 0; i < kCount; ++i) state = Reducer::combine(state, Reducer::lift(x[i], 0));
    } else {
      state = append_all<Reducer, kCount>(state, x, static_cast<int64>(linear - rows.begin()), 0);
    }
  }
};

// The threads that share a row: kGroup of a block of kBlock, or kCluster blocks. A kernel that reduces several rows, each
// in one stage, uses two buffers in turn.
template <int kBlock, int kGroup, int kCluster, int kBuffers>
struct RowGroup {
  // Reduces the states of all threads. Each of them gets the result.
  template <class Reducer, int kStage>
  XPOPS_DEVICE static typename Reducer::State reduce(const typename Reducer::State& state, int buffer) {
    if constexpr (SumsOf<Reducer>::kSize > 1 && SumsOf<Reducer>::kSize <= kGroup) {
      SumsOf<Reducer> sums(state);
      reduce_packs_for_all<Sum<typename Reducer::Element>, kGroup, kStage, kBuffers>(sums.each, buffer);
      return sums.state;
    } else if constexpr (kGroup <= kWarp) {
      return shuffle(reduce_lanes<Reducer, kGroup>(state), lane() / kGroup * kGroup);
    } else {
      return combine_cluster<kCluster, 1, kStage>(reduce_block_for_all<Reducer, kBlock, kStage, kBuffers>(state, buffer),
                                                  Combine<Reducer>());
    }
  }
};

}  // namespace xpops
