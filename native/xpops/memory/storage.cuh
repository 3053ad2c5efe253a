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

// Converts an element x for a functor. T: the dtype in memory. Loop: the dtype to which the operator converts the
// operand, by promotion; x is rounded to it first. Compute: the type of the functor's argument, such as float for
// float16.
template <class T, class Loop, class Compute, class Element>
XPOPS_DEVICE Compute to_compute(Element x) {
  if constexpr (is_same_v<T, bool>) {
    return cast<Compute>(cast<Loop>(x != 0));
  } else {
    return cast<Compute>(cast<Loop>(x));
  }
}

}  // namespace xpops
