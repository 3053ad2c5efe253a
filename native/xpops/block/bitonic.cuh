// Sorts keys in registers by a sorting network, without branches. Each of the 2^n threads of a team holds 2^m keys.
// Afterwards thread i holds the i-th run of the sorted sequence.
//
// A thread sorts its own keys by Batcher's odd-even merge sort. A bitonic network then merges neighbouring runs. The
// first step of a merge compares each key with its mirror image, so that every step moves the smaller key to the lower
// position.
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

// The steps of Batcher's network, starting with the step that merges runs of kRun at the distance kDistance.
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

// Compares this thread's keys with the keys of thread `thread ^ mask` of the team. If kMirrored, key i meets key
// kItems - 1 - i. `highest` is the highest bit of `mask`; the thread without this bit keeps the smaller keys. If the
// two threads are in different warps, keys pass through `buffer`, kItems * kLanes keys of shared memory. Then all
// threads of the block must call.
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

// Sorts the keys of a team of kLanes threads. `thread` is the number of the calling thread in the team.
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
