// How elements are stored in memory, and how a functor gets them.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/core/types.cuh>

namespace xpops {

template <class T>
struct Storage {
  using type = T;
};
template <>
struct Storage<bool> {  // any byte but 0 is true, whatever program wrote it
  using type = uint8;
};

// The value of an element x that a functor gets. It is first rounded to the loop's dtype, as if the array were cast.
template <class T, class Loop, class Compute, class Element>
XPOPS_DEVICE Compute to_compute(Element x) {
  if constexpr (is_same_v<T, bool>) {
    return cast<Compute>(cast<Loop>(x != 0));
  } else {
    return cast<Compute>(cast<Loop>(x));
  }
}

}  // namespace xpops
