// Softmax and log-softmax of long rows: the blocks of a cluster keep a row in shared memory, and read memory once.
#pragma once

#include <xpops/kernels/softmax/softmax.cuh>
#include <xpops/memory/stage.cuh>

namespace xpops {

template <class In, class Out, bool kLog, bool kColumns, bool kFull, bool kRagged, int kBlock, int kCount, int kCluster,
          int kPack, int kSteps, class Params>
struct StagedSoftmax
    : Softmax<In, Out, kLog, kColumns, kFull, kRagged, kBlock, kCount, kCluster, kPack, kSteps, Params> {
  using Base = Softmax<In, Out, kLog, kColumns, kFull, kRagged, kBlock, kCount, kCluster, kPack, kSteps, Params>;
  using typename Base::Batch, typename Base::Each, typename Base::Index, typename Base::Line, typename Base::Packed;
  using typename Base::Range, typename Base::Real, typename Base::State;
  using Stored = decltype(Packed::pack);
  static_assert(!kColumns && kCount == kBlock && kSteps == 1, "a block takes a row, or its part of it");
  // Whether weights replace the elements from which they were computed.
  static constexpr bool kKept = !kLog && is_same_v<typename In::T, Real>;

  // This thread's steps of the block's part of a row, and where they are in shared memory.
  struct Part {
    const Line& line;
    Index begin, end;
    Stored* row;

    XPOPS_DEVICE Part(const Params& params, const Line& line) : line(line) {
      const Range range(params, line);
      begin = range.begin + threadIdx.x;
      end = range.end;
      row = static_cast<Stored*>(dynamic_shared<kMostShared>()) - range.begin;
    }
    // Loads all steps. A ragged row may have no elements in its last step.
    XPOPS_DEVICE void fetch(const Params& params) const {
#pragma unroll 4
      for (Index step = begin; step < end; step += kBlock) {
        const int64 at = line.at(step);
        if (!Base::template taken<!kRagged>(line, step, end, at)) continue;
        if constexpr (In::kMode == Mode::kLinear && sizeof(Stored) == kMaxPackBytes) {
          copy_async(row + step, In::base(params.each) + at);
        } else {
          Packed pack;
          Base::template load_pack<!kRagged>(params, at, pack);
          row[step] = pack.pack;
        }
      }
      await_copies();
    }
    // Turns elements of a pack that are not the row's into minus infinity.
    XPOPS_DEVICE void trim(Index step) const {
      const int64 at = line.at(step);
      if (!kRagged || (line.has(at) && line.has(at + (kPack - 1)))) return;
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        if (!line.has(at + j)) row[step].elem[j] = cast<typename In::T>(-limits<Real>::infinity());
      }
    }
    XPOPS_DEVICE Batch batch(Index step) const {
      const Stored pack = row[step];
      Batch batch;
#pragma unroll
      for (int j = 0; j < kPack; ++j) batch.x[0][j] = Base::wide(pack.elem[j]);
      return batch;
    }
    XPOPS_DEVICE void keep(Index step, const Batch& weights) const {
      Stored pack;
#pragma unroll
      for (int j = 0; j < kPack; ++j) pack.elem[j] = weights.x[0][j];
      row[step] = pack;
    }
  };

  XPOPS_DEVICE static void staged(const Params& params) {
    start_cluster<kCluster>();
    const Line line(params);
    const Part part(params, line);
    part.fetch(params);
    State state;
#pragma unroll 4
    for (Index step = part.begin; step < part.end; step += kBlock) {
      part.trim(step);
      state.peaks = Base::peaks_of(part.batch(step), state.peaks);
    }
    state.peaks = Base::template reduce<0>(state.peaks, detail::Larger());
#pragma unroll 4
    for (Index step = part.begin; step < part.end; step += kBlock) {
      const Batch batch = part.batch(step), weights = Base::held_weights_of(batch, state.peaks);
      state.add(Base::total_of(weights), Base::rest_of(batch, weights, state.peaks));
      if constexpr (kKept) part.keep(step, weights);
    }
    state.reduce_sums();
    const Each ending = Base::ending_of(state.total, state.rest);
#pragma unroll 4
    for (Index step = part.begin; step < part.end; step += kBlock) {
      const Batch batch = part.batch(step);
      const Batch results = kLog || kKept ? batch : Base::held_weights_of(batch, state.peaks);
      Base::template store<!kRagged>(params, line, step, part.end, results, state.peaks, ending);
    }
  }
};

}  // namespace xpops
