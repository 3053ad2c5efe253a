// Softmax and log-softmax along one axis. The operand may have any layout; the result has no gaps.
//
// held         keeps lines in the registers of a block or a cluster, if they fit, and reads memory once
// tiled        keeps many short rows of a block in shared memory: see tiled.cuh
// staged       for longer rows, in shared memory: see staged.cuh
// long_lines   for still longer lines: one block computes a line, and reads it twice
// leave        several blocks share a line: each block writes the state of its part
// gather_states  for columns, after `leave`: combines the states of a line
// from_states  the last launch after `leave`: combines the states of a row, and reads the line again to write results
#pragma once

#include <xpops/kernels/softmax/lines.cuh>

namespace xpops {

template <class In, class Out, bool kLog, bool kColumns, bool kFull, bool kRagged, int kBlock, int kCount, int kCluster,
          int kPack, int kSteps, class Params>
struct Softmax
    : SoftmaxLines<In, Out, kLog, kColumns, kFull, kRagged, kBlock, kCount, kCluster, kPack, kSteps, Params> {
  using Lines = SoftmaxLines<In, Out, kLog, kColumns, kFull, kRagged, kBlock, kCount, kCluster, kPack, kSteps, Params>;
  using typename Lines::Batch, typename Lines::Each, typename Lines::Index, typename Lines::Line, typename Lines::Real;
  using Lines::ending_of, Lines::has_batch, Lines::held_weights_of, Lines::kStates, Lines::peaks_of;
  using Lines::rest_of, Lines::same, Lines::total_of, Lines::weight, Lines::weights_of;

  XPOPS_DEVICE static void held(const Params& params) {
    start_cluster<kCluster>();
    const Line line(params);
    const Index first = static_cast<Index>(line.first);
    const Batch batch = Lines::template load<kFull>(params, line, first, params.steps);
    const Held held(batch);
    Lines::template store<kFull>(params, line, first, params.steps, held.batch, held.peaks, held.ending);
  }

  // What a thread needs to write the results of the elements that it holds. Without kLog the batch holds weights.
  struct Held {
    Batch batch;
    Each peaks, ending;

    XPOPS_DEVICE explicit Held(const Batch& elements) {
      peaks = Lines::template reduce<0>(peaks_of(elements, same(-limits<Real>::infinity())), detail::Larger());
      const Batch weights = held_weights_of(elements, peaks);
      const Each total = Lines::template reduce<1>(total_of(weights), detail::Total());
      Each rest = rest_of(elements, weights, peaks);
      if constexpr (kLog) rest = Lines::template reduce<2>(rest, detail::Total());
      ending = ending_of(total, rest);
      batch = kLog ? elements : weights;
    }
  };

  // The largest element so far (the peak), the sum of weights relative to it, the rounding error of this sum, and the
  // sum without the largest elements.
  struct State {
    Each peaks, total, error, rest;

    XPOPS_DEVICE State()
        : peaks(same(-limits<Real>::infinity())), total(same(Real(0))), error(same(Real(0))), rest(same(Real(0))) {}

    // The reference of the weights: the peak, or 0 if there are only elements of minus infinity so far.
    XPOPS_DEVICE static Real beside(Real peak) { return peak == -limits<Real>::infinity() ? Real(0) : peak; }

    XPOPS_DEVICE void raise(const Each& higher) {
#pragma unroll
      for (int i = 0; i < kStates; ++i) {
        const Real peak = higher.of[i];
        if (peaks.of[i] == peak) continue;
        const Real factor = weight(peaks.of[i], beside(peak)) * kUnscale<Real>;
        total.of[i] *= factor;
        error.of[i] *= factor;
        rest.of[i] = total.of[i];
        peaks.of[i] = peak;
      }
    }
    XPOPS_DEVICE void add(const Each& more, const Each& more_rest) {
#pragma unroll
      for (int i = 0; i < kStates; ++i) {
        rest.of[i] += more_rest.of[i];
        const Real sum = add_rn(total.of[i], more.of[i]), part = add_rn(sum, -total.of[i]);
        error.of[i] += add_rn(add_rn(total.of[i], -add_rn(sum, -part)), add_rn(more.of[i], -part));
        total.of[i] = sum;
      }
    }
    XPOPS_DEVICE void load_from(const Each* from) {
      peaks = from[0];
      total = from[1];
      rest = from[2];
    }
    XPOPS_DEVICE void store_to(Each* to) const {
      to[0] = peaks;
      to[1] = total;
      to[2] = rest;
    }
    XPOPS_DEVICE void combine(State other) {
      Each higher;
#pragma unroll
      for (int i = 0; i < kStates; ++i) higher.of[i] = detail::Larger()(peaks.of[i], other.peaks.of[i]);
      raise(higher);
      other.raise(higher);
      add(other.total, other.rest);
    }
    // Combines the states of all threads of the line.
    XPOPS_DEVICE void reduce_all() {
      raise(Lines::template reduce<0>(peaks, detail::Larger()));
      reduce_sums();
    }
    // As reduce_all, of states that have the same peak.
    XPOPS_DEVICE void reduce_sums() {
      add(error, same(Real(0)));
      total = Lines::template reduce<1>(total, detail::Total());
      if constexpr (kLog) rest = Lines::template reduce<2>(rest, detail::Total());
    }
  };

  XPOPS_DEVICE static State walk(const Params& params, const Line& line, Index begin, Index end) {
    State state;
    for (Index step = begin + line.first; step < end; step += kCount * kSteps) {
      const Batch batch = has_batch(line, step, end) ? Lines::template load<true>(params, line, step, end)
                                                     : Lines::template load<false>(params, line, step, end);
      state.raise(peaks_of(batch, state.peaks));
      Each beside;
#pragma unroll
      for (int i = 0; i < kStates; ++i) beside.of[i] = State::beside(state.peaks.of[i]);
      const Batch weights = weights_of(batch, beside);
      state.add(total_of(weights), rest_of(batch, weights, state.peaks));
    }
    return state;
  }

  // Walks backwards: what was read last is still in the L2 cache.
  XPOPS_DEVICE static void write(const Params& params, const Line& line, Index begin, Index end, const State& state) {
    constexpr Index kBatch = kCount * kSteps;
    const Each ending = ending_of(state.total, state.rest);
    const Index first = begin + line.first;
    if (first >= end) return;
#pragma unroll 1
    for (Index left = (end - 1 - first) / kBatch + 1; left > 0; --left) {
      const Index step = first + (left - 1) * kBatch;
      const Batch batch = Lines::template load<false>(params, line, step, end);
      const Batch results = kLog ? batch : weights_of(batch, state.peaks);
      Lines::template store<false>(params, line, step, end, results, state.peaks, ending);
    }
  }

  XPOPS_DEVICE static void long_lines(const Params& params) {
    const Line line(params);
    State state = walk(params, line, 0, params.steps);
    state.reduce_all();
    write(params, line, 0, params.steps, state);
  }

  // The steps of this block's split.
  struct Range {
    Index begin, end;
    XPOPS_DEVICE Range(const Params& params, const Line& line) : begin(line.part * params.chunk) {
      end = begin + params.chunk < params.steps ? begin + params.chunk : params.steps;
    }
  };

  // The memory where a split leaves its peaks, totals and rests.
  XPOPS_DEVICE static Each* left(const Params& params, const Line& line, Index part) {
    const uint64 place = static_cast<uint64>(line.number) * params.splits.divisor + part;
    return reinterpret_cast<Each*>(params.each.slots[2]) + place * 3;
  }

  XPOPS_DEVICE static void leave(const Params& params) {
    const Line line(params);
    const Range range(params, line);
    State state = walk(params, line, range.begin, range.end);
    state.reduce_all();
    if (line.inside && line.first == 0) state.store_to(left(params, line, line.part));
  }

  // Combines the states of the parts first, first + step, ... of a line. Several loads are in flight at once.
  XPOPS_DEVICE static State combine_left(const Params& params, const Line& line, int first, int step) {
    constexpr int kFlight = kStates < 4 ? 4 : 2;
    State state;
    const Index parts = params.splits.divisor;
    for (Index from = first; from < parts; from += step * kFlight) {
      State others[kFlight];
#pragma unroll
      for (int i = 0; i < kFlight; ++i) {
        const Index part = from + i * step;
        if (part < parts) others[i].load_from(left(params, line, part));
      }
#pragma unroll
      for (int i = 0; i < kFlight; ++i) state.combine(others[i]);
    }
    return state;
  }

  // A warp combines the states of a pack of columns, and leaves the result in place of the first. If every block
  // combined them, it would read the states of all parts.
  XPOPS_DEVICE static void gather_states(const Params& params) {
    Line line(params);
    line.number = static_cast<Index>(blockIdx.x) * (kBlock / kWarp) + static_cast<Index>(threadIdx.x) / kWarp;
    if (line.number >= params.lines) return;
    State state = combine_left(params, line, lane(), kWarp);
    state.add(state.error, same(Real(0)));
#pragma unroll
    for (int reach = kWarp / 2; reach > 0; reach /= 2) {
      State other;
      other.peaks = shuffle_xor(state.peaks, reach);
      other.total = shuffle_xor(state.total, reach);
      other.rest = shuffle_xor(state.rest, reach);
      state.error = same(Real(0));
      state.combine(other);
      state.add(state.error, same(Real(0)));
    }
    if (lane() == 0) state.store_to(left(params, line, 0));
  }

  XPOPS_DEVICE static void from_states(const Params& params) {
    const Line line(params);
    const Range range(params, line);
    State state;
    if constexpr (kColumns) {
      if (line.inside) state.load_from(left(params, line, 0));
    } else {
      if (line.inside) state = combine_left(params, line, line.first, kCount);
      state.reduce_all();
    }
    write(params, line, range.begin, range.end, state);
  }
};

}  // namespace xpops
