// Shared memory whose size the host gives at the launch: more than the 48 KiB that a kernel can declare.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {

// kBytes of shared memory, aligned to 16 bytes. A kernel calls it once.
template <int kBytes>
XPOPS_DEVICE void* dynamic_shared() {
#if XPOPS_ON_GPU
  extern __shared__ uint4 xpops_dynamic_shared[];
  return xpops_dynamic_shared;
#else
  alignas(16) __shared__ unsigned char memory[kBytes];
  return memory;
#endif
}

}  // namespace xpops
