// Copies from global to shared memory that run while the thread does something else.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {

// What the hardware copies so.
template <int kBytes>
inline constexpr bool copies_ahead_v = kBytes == 4 || kBytes == 8 || kBytes == 16;

// Begins to copy kBytes, to which both addresses are aligned. The thread sees them behind `wait_for_copies`.
template <int kBytes>
XPOPS_DEVICE void copy_ahead(void* shared, const void* global) {
  static_assert(copies_ahead_v<kBytes>, "4, 8 or 16 bytes");
#if XPOPS_ON_GPU
  const uint32 to = static_cast<uint32>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(kBytes) : "memory");
#else
  __builtin_memcpy(shared, global, kBytes);
#endif
}

// Waits for all copies that this thread has begun.
XPOPS_DEVICE void wait_for_copies() {
#if XPOPS_ON_GPU
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace xpops
