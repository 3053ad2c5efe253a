// Conversions of numbers for kernels that do not see the sign of NaN. Those of halves are one instruction.
#pragma once

#include <xpops/math/fast.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

// As to_compute.
template <class T, class Loop, class Compute, class Element>
XPOPS_DEVICE Compute to_number(Element x) {
  if constexpr (is_half_v<T> && is_same_v<T, Loop> && is_same_v<Compute, float>) return widened(x);
  else return to_compute<T, Loop, Compute>(x);
}

template <class Out, class Compute>
XPOPS_DEVICE Out from_number(Compute x) {
  if constexpr (is_half_v<Out> && is_same_v<Compute, float>) return narrowed<Out>(x);
  else return cast<Out>(x);
}

}  // namespace xpops
