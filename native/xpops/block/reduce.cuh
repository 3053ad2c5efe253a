// Reductions over the threads of a warp or a block, in an order that is always the same.
#pragma once

#include <xpops/block/warp.cuh>

namespace xpops {

// Reduces kGroup neighbouring lanes (a power of two, at most 32). The first lane of the group gets the result.
template <class Reducer, int kGroup>
XPOPS_DEVICE typename Reducer::State reduce_lanes(typename Reducer::State state) {
#pragma unroll
  for (int reach = 1; reach < kGroup; reach *= 2) state = Reducer::combine(state, shuffle_down(state, reach));
  return state;
}

// Reduces packs of kCount states, each with its neighbours, over kLanes lanes that are kStride apart. Both numbers are
// powers of two. A step halves the states that a lane keeps, while there are several. Lane number n of the kLanes
// gets the states [n / (kLanes / s) * (kCount / s), ...) where s is the smaller of kLanes and kCount: in `states`, from
// the first on.
template <class Reducer, int kLanes, int kStride, int kCount, int kSize>
XPOPS_DEVICE void reduce_packs(typename Reducer::State (&states)[kSize]) {
  if constexpr (kLanes > 1) {
    constexpr int kMask = kLanes / 2 * kStride, kHalf = kCount / 2;
    const bool upper = lane() & kMask;
    if constexpr (kCount == 1) states[0] = Reducer::combine(states[0], shuffle_xor(states[0], kMask));
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const typename Reducer::State given = upper ? states[i] : states[i + kHalf];
      if (upper) states[i] = states[i + kHalf];
      states[i] = Reducer::combine(states[i], shuffle_xor(given, kMask));
    }
    reduce_packs<Reducer, kLanes / 2, kStride, kCount == 1 ? 1 : kHalf>(states);
  }
}

// Combines kCount states with stride kPitch, always in the same order.
template <class Reducer, int kCount, int kPitch>
XPOPS_DEVICE typename Reducer::State combine_lines(const typename Reducer::State* states) {
  typename Reducer::State state = states[0];
#pragma unroll 4
  for (int i = 1; i < kCount; ++i) state = Reducer::combine(state, states[i * kPitch]);
  return state;
}

// Into how many groups a block divides `lines` lines of states, so that a group has about as many lines as there are
// groups. At most `fit` groups have a thread for each column. 1: the lines are few.
XPOPS_DEVICE constexpr int line_groups(int lines, int fit, int count = 1) {
  return lines <= 8 || 2 * count > fit || 2 * count * count >= lines ? count : line_groups(lines, fit, 2 * count);
}

// Combines the lines g, g + kGroups ... of kWide columns in line g, for all of kGroups groups. All threads call it.
template <class Reducer, int kLines, int kGroups, int kWide>
XPOPS_DEVICE void combine_groups(typename Reducer::State* states) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < kGroups * kWide) {
    typename Reducer::State state = states[thread];
    for (int each = thread + kGroups * kWide; each < kLines * kWide; each += kGroups * kWide) {
      state = Reducer::combine(state, states[each]);
    }
    states[thread] = state;
  }
  __syncthreads();
}

// Reduces a block of kBlock threads. Thread 0 gets the result. The caller puts a barrier before the next call.
template <class Reducer, int kBlock>
XPOPS_DEVICE typename Reducer::State reduce_block(typename Reducer::State state) {
  constexpr int kWarps = kBlock / kWarp;
  state = reduce_lanes<Reducer, kWarp>(state);
  if constexpr (kWarps > 1) {
    __shared__ typename Reducer::State states[kWarps];
    if (lane() == 0) states[warp()] = state;
    __syncthreads();
    if (warp() == 0) state = reduce_lanes<Reducer, kWarps>(states[lane() % kWarps]);
  }
  return state;
}

// The same, but all threads get the result. Each call in a kernel has its own kCall, and so its own shared memory: one
// barrier is enough. So it is in a loop with two calls or more; with one call, if that takes its two buffers in turn.
template <class Reducer, int kBlock, int kCall, int kBuffers = 1>
XPOPS_DEVICE typename Reducer::State reduce_block_for_all(typename Reducer::State state, int buffer = 0) {
  constexpr int kWarps = kBlock / kWarp;
  __shared__ typename Reducer::State states[kBuffers][kWarps];
  state = reduce_lanes<Reducer, kWarp>(state);
  if (lane() == 0) states[buffer][warp()] = state;
  __syncthreads();
  return shuffle(reduce_lanes<Reducer, kWarps>(states[buffer][lane() % kWarps]), 0);
}

// The same for kSize states of each thread, a power of two, over the kGroup threads of a part of a warp, a warp or the
// block. States that are reduced together need fewer shuffles than one by one.
template <class Reducer, int kGroup, int kCall, int kBuffers = 1, int kSize>
XPOPS_DEVICE void reduce_packs_for_all(typename Reducer::State (&states)[kSize], int buffer = 0) {
  constexpr int kLanes = kGroup < kWarp ? kGroup : kWarp, kShare = kLanes / kSize;
  static_assert(kLanes >= kSize, "lanes share the states");
  reduce_packs<Reducer, kLanes, 1, kSize>(states);  // lanes [i * kShare, (i + 1) * kShare) have state i
  typename Reducer::State mine = states[0];
  int first = lane() / kLanes * kLanes, step = kShare;
  if constexpr (kGroup > kWarp) {
    constexpr int kParts = kGroup / kWarp * kSize, kSpan = kParts < kWarp ? kParts : kWarp;
    __shared__ typename Reducer::State buffers[kBuffers][kParts];
    typename Reducer::State* const parts = buffers[buffer];
    if (lane() % kShare == 0) parts[warp() * kSize + lane() / kShare] = mine;
    __syncthreads();
    mine = parts[lane() % kSpan];
#pragma unroll
    for (int part = kSpan; part < kParts; part += kSpan) mine = Reducer::combine(mine, parts[part + lane()]);
#pragma unroll
    for (int reach = kSize; reach < kSpan; reach *= 2) mine = Reducer::combine(mine, shuffle_xor(mine, reach));
    first = 0;
    step = 1;
  }
#pragma unroll
  for (int i = 0; i < kSize; ++i) states[i] = shuffle(mine, first + i * step);
}

}  // namespace xpops
