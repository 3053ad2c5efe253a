// Rows that blocks keep in shared memory. Each thread copies, reads and writes packs of its own only, so that it waits
// for no other thread.
#pragma once

#include <xpops/memory/dynamic.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// A block of any GPU has at most so many bytes of shared memory.
constexpr int kMostShared = 227 << 10;

// Begins to copy a pack of 16 bytes from global to shared memory, past the registers.
template <class Element, int kPack>
XPOPS_DEVICE void copy_async(Pack<Element, kPack>* to, const Element* from) {
  static_assert(sizeof(*to) == kMaxPackBytes, "one access");
#if XPOPS_ON_GPU && __CUDA_ARCH__ >= 800
  const uint32 place = static_cast<uint32>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
#else
  to->load(from);
#endif
}

// Waits until all copies of this thread are done.
XPOPS_DEVICE void await_copies() {
#if XPOPS_ON_GPU && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace xpops
