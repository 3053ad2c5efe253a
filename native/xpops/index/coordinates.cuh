// Coordinates of an element from its linear index, and its offset in an operand of any strides.
#pragma once

#include <xpops/index/divmod.cuh>

namespace xpops {

template <class Index>
struct SignedOf;
template <>
struct SignedOf<uint32> {
  using type = int32;
};
template <>
struct SignedOf<uint64> {
  using type = int64;
};

// The coordinates of one element, outermost axis first. The divisors are the lengths of all axes but the outermost.
template <int kRank, class Index>
struct Coordinates {
  Index at[kRank];

  XPOPS_DEVICE Coordinates(const FastDivMod<Index>* divisors, Index linear) {
#pragma unroll
    for (int axis = kRank - 1; axis > 0; --axis) at[axis] = divisors[axis - 1].divmod(linear);
    at[0] = linear;
  }

  // Moves to the next element in C order.
  XPOPS_DEVICE void advance(const FastDivMod<Index>* divisors) {
    ++at[kRank - 1];
#pragma unroll
    for (int axis = kRank - 1; axis > 0; --axis) {
      const bool ends = at[axis] == divisors[axis - 1].divisor;
      at[axis] = ends ? 0 : at[axis];
      at[axis - 1] += ends;
    }
  }

  // How many of `count` elements from this one on are in its row of the innermost axis.
  XPOPS_DEVICE int left_in_row(const FastDivMod<Index>* divisors, int count) const {
    if constexpr (kRank < 2) return count;
    const Index left = divisors[kRank - 2].divisor - at[kRank - 1];
    return left < count ? static_cast<int>(left) : count;
  }

  XPOPS_DEVICE void start_next_row(const FastDivMod<Index>* divisors) {
    if constexpr (kRank > 1) at[kRank - 1] = divisors[kRank - 2].divisor - 1;
    advance(divisors);
  }

  // The offset in elements. It may be negative.
  XPOPS_DEVICE int64 offset(const typename SignedOf<Index>::type* strides) const {
    Index sum = 0;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) sum += at[axis] * static_cast<Index>(strides[axis]);
    return static_cast<typename SignedOf<Index>::type>(sum);
  }
};

}  // namespace xpops
