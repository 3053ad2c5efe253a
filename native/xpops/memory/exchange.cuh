// What one block of a grid leaves in memory for another.
#pragma once

#include <xpops/core/traits.cuh>

namespace xpops {

// A load that sees what other blocks have written, where a cached one may not.
template <class T>
XPOPS_DEVICE T load_coherent(const T* from) {
  constexpr int kWidth = alignof(T) < 8 ? alignof(T) : 8, kWords = sizeof(T) / kWidth;
  using Word = conditional_t<kWidth == 8, uint64, conditional_t<kWidth == 4, uint32, conditional_t<kWidth == 2, uint16, uint8>>>;
  union Words {
    Word words[kWords];
    T value;
    XPOPS_DEVICE Words() {}
  } to;
#pragma unroll
  for (int i = 0; i < kWords; ++i) to.words[i] = reinterpret_cast<const volatile Word*>(from)[i];
  return to.value;
}

// Whether this block is the last of `count` that come here with the same counter, which is 0 before the first and after
// the last. What the others have written before is then visible to `load_coherent`.
XPOPS_DEVICE bool is_last_block(uint32* counter, uint32 count) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(counter, count - 1) == count - 1;
  __syncthreads();
  __threadfence();
  return last;
}

}  // namespace xpops
