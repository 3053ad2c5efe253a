// Sorting in registers by a network, without branches: every thread of a team of 2^n holds 2^m keys, and in the end the
// i-th thread holds the i-th run of the sorted sequence.
//
// A thread sorts its own keys by Batcher's odd-even merge sort. Runs of two neighbours are then merged by a bitonic
// network whose first step compares with the mirrored place, so that every step has the smaller key go down.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/core/traits.cuh>

namespace xpops {

template <class Key>
XPOPS_DEVICE void compare_swap(Key& a, Key& b) {
  const Key low = b < a ? b : a, high = b < a ? a : b;
  a = low;
  b = high;
}

namespace detail {

// The steps of Batcher's network from the one that merges runs of kRun at the distance kDistance.
template <int kRun, int kDistance, int kItems, class Key>
XPOPS_DEVICE void odd_even_steps(Key (&keys)[kItems]) {
  if constexpr (kRun < kItems) {
    constexpr int kFirst = kDistance % kRun;
#pragma unroll
    for (int i = kFirst; i < kItems - kDistance; ++i) {
      const bool lower = (i - kFirst) % (2 * kDistance) < kDistance;
      if (lower && i / (2 * kRun) == (i + kDistance) / (2 * kRun)) compare_swap(keys[i], keys[i + kDistance]);
    }
    if constexpr (kDistance > 1) {
      odd_even_steps<kRun, kDistance / 2>(keys);
    } else {
      odd_even_steps<2 * kRun, 2 * kRun>(keys);
    }
  }
}

// The steps of a bitonic merge at the distance kDistance and below.
template <int kDistance, int kItems, class Key>
XPOPS_DEVICE void bitonic_steps(Key (&keys)[kItems]) {
  if constexpr (kDistance > 0) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if ((i & kDistance) == 0) compare_swap(keys[i], keys[i + kDistance]);
    }
    bitonic_steps<kDistance / 2>(keys);
  }
}

}  // namespace detail

// Compares this thread's keys with those of the thread whose number in the team differs by `mask`, in mirrored order
// where kMirrored. The thread without the highest bit of `mask` keeps the smaller ones. Teams of more than a warp
// exchange through `buffer`, kItems * kLanes keys of shared memory; all threads of the block must come along.
template <int kLanes, bool kMirrored, int kItems, class Key>
XPOPS_DEVICE void compare_across(Key (&keys)[kItems], int thread, int mask, int highest, Key* buffer) {
  const bool lower = (thread & highest) == 0;
  const auto keep = [=](Key mine, Key other) { return (other < mine) == lower ? other : mine; };
  if (kLanes <= kWarp || mask < kWarp) {
    if constexpr (kMirrored && kItems > 1) {
#pragma unroll
      for (int i = 0; i < kItems / 2; ++i) {
        const Key other = shuffle_xor(keys[kItems - 1 - i], mask), mirrored = shuffle_xor(keys[i], mask);
        keys[i] = keep(keys[i], other);
        keys[kItems - 1 - i] = keep(keys[kItems - 1 - i], mirrored);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kItems; ++i) keys[i] = keep(keys[i], shuffle_xor(keys[i], mask));
    }
  } else {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) buffer[i * kLanes + thread] = keys[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      keys[i] = keep(keys[i], buffer[(kMirrored ? kItems - 1 - i : i) * kLanes + (thread ^ mask)]);
    }
  }
}

// Sorts the keys of a team of kLanes threads; `thread` is this one's number in it.
template <int kLanes, int kItems, class Key>
XPOPS_DEVICE void sort_team(Key (&keys)[kItems], int thread, Key* buffer) {
  detail::odd_even_steps<1, 1>(keys);
  if constexpr (kLanes > 1) {
#pragma unroll 1
    for (int lanes = 2; lanes <= kLanes; lanes *= 2) {
      compare_across<kLanes, true>(keys, thread, lanes - 1, lanes / 2, buffer);
#pragma unroll 1
      for (int mask = lanes / 4; mask > 0; mask /= 2) compare_across<kLanes, false>(keys, thread, mask, mask, buffer);
      detail::bitonic_steps<kItems / 2>(keys);
    }
  }
}

}  // namespace xpops
