// Exchange between the blocks of a grid: coherent loads, and a test for the last block that arrives.
#pragma once

#include <xpops/core/traits.cuh>

namespace xpops {

// A load that sees the stores of other blocks. A cached load may not.
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

// Whether this block is the last of `count` blocks that call this with the same counter. The counter is 0 before the
// first call and after the last. The last block's `load_coherent` sees what the others wrote before their calls.
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
