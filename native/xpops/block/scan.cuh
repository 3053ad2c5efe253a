// Prefix scans over the lanes of a warp and over states in shared memory, in an order that is always the same.
#pragma once

#include <xpops/block/warp.cuh>

namespace xpops {

// Inclusive scan over each group of lanes. A group is kGroup lanes with a stride of kStep.
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

// A prefix: the state of all elements before a position, or nothing if there are none.
template <class State>
struct Before {
  State state;
  bool any = false;

  // Extends the prefix by `more`, which comes directly after it.
  template <class Op>
  XPOPS_DEVICE void append(const Op& op, const State& more) {
    state = any ? op.combine(state, more) : more;
    any = true;
  }
  // Combines the prefix with `after`, the state that follows it.
  template <class Op>
  XPOPS_DEVICE State then(const Op& op, const State& after) const {
    return any ? op.combine(state, after) : after;
  }
};

// Returns the prefix of row `row` of kRows states in shared memory, with stride kPitch. `all` gets their total.
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

// Replaces kRows states in shared memory, with stride kPitch, by their prefixes, and returns their total. The first
// state has no prefix and stays as it is.
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
