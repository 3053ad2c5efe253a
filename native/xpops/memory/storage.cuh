// How elements lie in memory, and what a functor sees of them.
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
struct Storage<bool> {  // any byte but 0 is true, whoever wrote it
  using type = uint8;
};

// What the functor sees of an element x: it is rounded to the loop's dtype first, as if the array had been cast.
template <class T, class Loop, class Compute, class Element>
XPOPS_DEVICE Compute to_compute(Element x) {
  if constexpr (is_same_v<T, bool>) {
    return cast<Compute>(cast<Loop>(x != 0));
  } else {
    return cast<Compute>(cast<Loop>(x));
  }
}

}  // namespace xpops
