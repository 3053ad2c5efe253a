// Scalars among a kernel's parameters: slots of 8 bytes.
#pragma once

#include <xpops/core/traits.cuh>
#include <xpops/core/types.cuh>

namespace xpops {

// Reads a scalar that the host passes as a Wire. Slots are aligned to 8 bytes only.
template <class Wire>
XPOPS_DEVICE Wire from_slots(const uint64* slots) {
  if constexpr (is_complex_v<Wire>) {
    return Wire{from_slots<double>(slots), from_slots<double>(slots + 1)};
  } else {
    return *reinterpret_cast<const Wire*>(slots);
  }
}

}  // namespace xpops
