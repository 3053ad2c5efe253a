// Exchange between the blocks of a grid: coherent loads, and a test for the last block that arrives.
#pragma once

#include <xpops/core/traits.cuh>

namespace xpops {

namespace detail {

// The widest accesses that divide a T of an array that is aligned to 16 bytes.
template <class T>
inline constexpr int kCoherentBytes = sizeof(T) % 16 == 0 ? 16 : sizeof(T) % 8 == 0 ? 8 : sizeof(T) % 4 == 0 ? 4 : alignof(T);

template <int kBytes>
struct CoherentWord {
  using type = conditional_t<kBytes == 8, uint64, conditional_t<kBytes == 4, uint32, conditional_t<kBytes == 2, uint16, uint8>>>;
};
template <>
struct CoherentWord<16> {
  using type = uint4;
};

XPOPS_DEVICE uint4 load_from_l2(const uint4* from) {
#if XPOPS_ON_GPU
  uint4 to;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
               : "l"(from)
               : "memory");
  return to;
#else
  return *from;
#endif
}
template <class Word>
XPOPS_DEVICE Word load_from_l2(const Word* from) {
  return *reinterpret_cast<const volatile Word*>(from);
}

}  // namespace detail

// A load that sees the stores of other blocks. A cached load may not. `from` is in an array aligned to 16 bytes.
template <class T>
XPOPS_DEVICE T load_coherent(const T* from) {
  constexpr int kBytes = detail::kCoherentBytes<T>, kWords = sizeof(T) / kBytes;
  using Word = typename detail::CoherentWord<kBytes>::type;
  union Words {
    Word words[kWords];
    T value;
    XPOPS_DEVICE Words() {}
  } to;
#pragma unroll
  for (int i = 0; i < kWords; ++i) to.words[i] = detail::load_from_l2(reinterpret_cast<const Word*>(from) + i);
  return to.value;
}

// Whether this block is the last of `count` blocks that call this with the same counter. The counter is 0 before the
// first call and after the last. The last block's `load_coherent` sees what the others wrote before their calls.
XPOPS_DEVICE bool is_last_block(uint32* counter, uint32 count) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {  // its fences order what all threads of the block do before and after the barriers
#if XPOPS_ON_GPU
    uint32 before;  // acquire and release: __threadfence() would order all accesses, which takes half a microsecond more
    asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(count - 1) : "memory");
    last = before == count - 1;
#else
    __threadfence();
    last = atomicInc(counter, count - 1) == count - 1;
    __threadfence();
#endif
  }
  __syncthreads();
  return last;
}

}  // namespace xpops
