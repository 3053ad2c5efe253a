// Sums along a row of differences from its mean, in one pass. Each warp sums differences from a number of its own, its
// pivot: its first element. It then corrects its sums for its mean, and the warps of a block correct theirs for the mean
// of the row. A pivot far from the mean makes the terms of its warp large, and so their rounding errors; but its own
// square is then a large part of the sum of squares. So the relative error of that sum is at most the unit of T times the
// elements of a warp.
//
// For such a pass the host writes a struct with
//   Element, kSums      the type of the sums and their number
//   inverse_length()    1 / the length of a row
//   order(k)            how often a term of sum k has the difference as a factor: 0; 1; or 2, if it is its square
//   weight(k)           of order 1: the number of the sum of the other factors
//   Compute, Lift       the difference and then the terms, and the functor that gives them
//   Reducer, Finished   the reducers that add these up, and those that finish the sums
#pragma once

#include <xpops/kernels/fused/row_reduction.cuh>

namespace xpops {

// The first lane's x, of kGroup lanes of a warp.
template <int kGroup, class T>
XPOPS_DEVICE T first_of_group(T x) {
  constexpr int kLanes = kGroup < kWarp ? kGroup : kWarp;
  return shuffle(x, lane() / kLanes * kLanes);
}

// Whether `found` for any group of threads that must take the same branch: the block, or all groups of a warp.
template <int kGroup>
XPOPS_DEVICE bool any_group(bool found) {
  if constexpr (kGroup < kWarp) return __any_sync(kFullMask, found);
  else return found;
}

// The sums of a group of threads about one number, and before them the sum of differences from it.
template <class Pass>
struct CentredSums {
  using T = typename Pass::Element;
  static constexpr int kSize = Pass::kSums + 1;
  static constexpr int kPacked = kSize == 3 ? 4 : kSize;
  static_assert(kSize <= 4, "packs are powers of two");
  struct alignas(kPacked * sizeof(T)) Part {
    T sums[kPacked];
  };

  T each[kSize];

  template <class State>
  XPOPS_DEVICE explicit CentredSums(const State& taken) {
    const SumsOf<typename Pass::Reducer> sums(taken);
#pragma unroll
    for (int k = 0; k < kSize; ++k) each[k] = sums.each[k];
  }

  // Makes these the sums about a number that is larger by `step`, which adds `change` to sums of squares.
  XPOPS_DEVICE void move(T step, T change) {
    T sums[Pass::kSums];
#pragma unroll
    for (int k = 0; k < Pass::kSums; ++k) sums[k] = each[k + 1];
#pragma unroll
    for (int k = 0; k < Pass::kSums; ++k) {
      if (Pass::order(k) == 1) each[k + 1] -= step * sums[Pass::weight(k)];
      if (Pass::order(k) == 2) each[k + 1] += change;
    }
  }

  // Adds up number `from` and all after it over kLanes lanes that are neighbours. All of them get the sums.
  template <int kLanes>
  XPOPS_DEVICE void add_lanes(int from) {
#pragma unroll
    for (int reach = 1; reach < kLanes; reach *= 2) {
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        if (k >= from) each[k] = add_rn(each[k], shuffle_xor(each[k], reach));
      }
    }
  }

  // Makes the sums of a thread those of the row about its mean, in all kGroup threads that share the row. Returns the
  // mean. `counts(w)`: how many of the `length` elements warp w of the group has.
  template <int kGroup, int kBuffers, class Counts>
  XPOPS_DEVICE T centre(T pivot, uint32 length, const Counts& counts, int buffer) {
    constexpr int kLanes = kGroup < kWarp ? kGroup : kWarp, kWarps = kGroup / kLanes;
    if constexpr (kPacked <= kLanes) {
      T packed[kPacked] = {};
#pragma unroll
      for (int k = 0; k < kSize; ++k) packed[k] = each[k];
      reduce_packs_for_all<Sum<T>, kLanes, 0>(packed);
#pragma unroll
      for (int k = 0; k < kSize; ++k) each[k] = packed[k];
    } else {
      add_lanes<kLanes>(0);
    }
    const uint32 count = kWarps == 1 ? length : counts(warp());
    const T step = each[0] * inverse_of<true>(static_cast<T>(count > 0 ? count : 1u));
    T mean = pivot + step;
    move(step, -step * each[0]);  // sum((d - step)^2) = sum(d^2) - step * sum(d) if step is the mean of d
    if constexpr (kWarps > 1) {
      __shared__ Part buffers[kBuffers][kWarps];
      Part* const parts = buffers[buffer];
      each[0] = mean;
      if (lane() == 0) {
#pragma unroll
        for (int k = 0; k < kSize; ++k) parts[warp()].sums[k] = each[k];
      }
      __syncthreads();
      const int part = lane() % kWarps;
#pragma unroll
      for (int k = 0; k < kSize; ++k) each[k] = parts[part].sums[k];
      const T elements = static_cast<T>(counts(part)), base = parts[0].sums[0];
      T rest = (each[0] - base) * (elements * Pass::inverse_length());  // 0 if all elements of the row are equal
#pragma unroll
      for (int reach = 1; reach < kWarps; reach *= 2) rest = add_rn(rest, shuffle_xor(rest, reach));
      mean = base + rest;
      const T away = mean - each[0];
      move(away, away * away * elements);
      add_lanes<kWarps>(1);
    }
    return mean;
  }

  XPOPS_DEVICE bool are_finite() const {
    bool found = true;
#pragma unroll
    for (int k = 1; k < kSize; ++k) found &= isfinite(each[k]);
    return found;
  }

  // The state with which the host's reducers finish.
  XPOPS_DEVICE auto state() const {
    if constexpr (Pass::kSums == 1) {
      return each[1];
    } else {
      SumsOf<typename Pass::Finished> sums(Pass::Finished::identity());
#pragma unroll
      for (int k = 0; k < Pass::kSums; ++k) sums.each[k] = each[k + 1];
      return sums.state;
    }
  }
};

}  // namespace xpops
