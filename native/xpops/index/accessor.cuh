// Arrays as kernels index them: `a[i][j]` or `a(i, j)`, with the lengths and the strides of the array that was passed.
//
// A kernel takes an accessor by value. From Python an array of any framework is passed for it.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {

// What an accessor holds as its pointer.
template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
// Promises the compiler that no other pointer of the kernel reaches these elements.
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

// The elements that remain of an array of N axes and more, after indices of the first axes.
template <class T, int N, class Index, template <class> class Traits>
struct AccessorPart {
  typename Traits<T>::PtrType first;
  const Index* lengths;
  const Index* steps;

  // The element if one axis remains, else the part behind one more index.
  XPOPS_HOST_DEVICE decltype(auto) operator[](Index i) const {
    if constexpr (N == 1) {
      return (first[i * steps[0]]);
    } else {
      return AccessorPart<T, N - 1, Index, Traits>{first + i * steps[0], lengths + 1, steps + 1};
    }
  }
  XPOPS_HOST_DEVICE Index size(int axis) const { return lengths[axis]; }
  XPOPS_HOST_DEVICE Index stride(int axis) const { return steps[axis]; }
  XPOPS_HOST_DEVICE T* data() const { return first; }
};

// An array of N axes. Index is the type of lengths, strides and offsets, all in elements. The elements of a const
// accessor are const.
template <class T, int N, class Index = int32, template <class> class Traits = DefaultPtrTraits>
struct Accessor {
  static_assert(N > 0, "an accessor has at least one axis");
  typename Traits<T>::PtrType first;
  Index lengths[N], steps[N];

  XPOPS_HOST_DEVICE decltype(auto) operator[](Index i) {
    return AccessorPart<T, N, Index, Traits>{first, lengths, steps}[i];
  }
  XPOPS_HOST_DEVICE decltype(auto) operator[](Index i) const {
    return AccessorPart<const T, N, Index, Traits>{first, lengths, steps}[i];
  }
  // The element at N indices.
  template <class... At>
  XPOPS_HOST_DEVICE T& operator()(At... at) {
    return first[offset(at...)];
  }
  template <class... At>
  XPOPS_HOST_DEVICE const T& operator()(At... at) const {
    return first[offset(at...)];
  }
  XPOPS_HOST_DEVICE Index size(int axis) const { return lengths[axis]; }
  XPOPS_HOST_DEVICE Index stride(int axis) const { return steps[axis]; }
  XPOPS_HOST_DEVICE T* data() { return first; }
  XPOPS_HOST_DEVICE const T* data() const { return first; }

 private:
  template <class... At>
  XPOPS_HOST_DEVICE Index offset(At... at) const {
    static_assert(sizeof...(At) == N, "one index for each axis");
    const Index each[] = {static_cast<Index>(at)...};
    Index sum = 0;
#pragma unroll
    for (int axis = 0; axis < N; ++axis) sum += each[axis] * steps[axis];
    return sum;
  }
};

// Offsets of 32 bits are faster. An array that reaches 2^31 elements from its first one is refused for them.
template <class T, int N, template <class> class Traits = DefaultPtrTraits>
using Accessor32 = Accessor<T, N, int32, Traits>;
template <class T, int N, template <class> class Traits = DefaultPtrTraits>
using Accessor64 = Accessor<T, N, int64, Traits>;

}  // namespace xpops
