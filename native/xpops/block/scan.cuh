// Prefixes over the threads of a warp and of a block, in an order that is always the same.
#pragma once

#include <xpops/block/warp.cuh>

namespace xpops {

// Each lane's state combined with those of the lanes before it in its group. A group is kGroup lanes, kStep apart.
template <int kGroup, int kStep = 1, class Op, class State, int kCount>
XPOPS_DEVICE void scan_lanes(const Op& op, State (&states)[kCount]) {
  const int place = lane() / kStep % kGroup;
#pragma unroll
  for (int reach = 1; reach < kGroup; reach *= 2) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const State other = shuffle_up(states[i], reach * kStep);
      if (place >= reach) states[i] = op.combine(other, states[i]);
    }
  }
}

// What comes before a place: a state, or nothing.
template <class State>
struct Before {
  State state;
  bool any = false;

  // What comes before a place that has this, and `more` after it, before it.
  template <class Op>
  XPOPS_DEVICE void append(const Op& op, const State& more) {
    state = any ? op.combine(state, more) : more;
    any = true;
  }
  // The state of this and what follows.
  template <class Op>
  XPOPS_DEVICE State then(const Op& op, const State& after) const {
    return any ? op.combine(state, after) : after;
  }
};

// What comes before row `row` of states in shared memory, and all kRows of them together. The rows are kPitch apart.
template <int kRows, int kPitch, class Op, class State>
XPOPS_DEVICE Before<State> before_row(const Op& op, const State* states, int row, State& all) {
  Before<State> before, sum;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    if (i == row) before = sum;
    sum.append(op, states[i * kPitch]);
  }
  all = sum.state;
  return before;
}

// Replaces kRows states in shared memory, kPitch apart, by what comes before them, and returns all of them together.
// Nothing comes before the first, which stays as it is.
template <int kRows, int kPitch, class Op, class State>
XPOPS_DEVICE State exclusive_scan(const Op& op, State* states) {
  State sum = states[0];
#pragma unroll
  for (int i = 1; i < kRows; ++i) {
    const State next = states[i * kPitch];
    states[i * kPitch] = sum;
    sum = op.combine(sum, next);
  }
  return sum;
}

}  // namespace xpops
