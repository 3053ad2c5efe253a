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
// barrier is enough.
template <class Reducer, int kBlock, int kCall>
XPOPS_DEVICE typename Reducer::State reduce_block_for_all(typename Reducer::State state) {
  constexpr int kWarps = kBlock / kWarp;
  __shared__ typename Reducer::State states[kWarps];
  state = reduce_lanes<Reducer, kWarp>(state);
  if (lane() == 0) states[warp()] = state;
  __syncthreads();
  return shuffle(reduce_lanes<Reducer, kWarps>(states[lane() % kWarps]), 0);
}

}  // namespace xpops
