// Clusters: several blocks that run at the same time, and write to each other's shared memory. They need sm_90. Below,
// kBlocks must be 1.
#pragma once

#include <xpops/core/config.cuh>

#if !XPOPS_ON_GPU || __CUDA_ARCH__ >= 900
#define XPOPS_CLUSTERS 1
#else
#define XPOPS_CLUSTERS 0
#endif

namespace xpops {

#if XPOPS_CLUSTERS
namespace detail {

// All threads of a cluster arrive, then wait. What a thread has written before it arrives, others see after they waited.
XPOPS_DEVICE void arrive() {
#if XPOPS_ON_GPU
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#else
  __cluster_barrier_arrive();
#endif
}
XPOPS_DEVICE void await_all() {
#if XPOPS_ON_GPU
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  __cluster_barrier_wait();
#endif
}

// Where an object in shared memory is in block `rank` of the cluster.
template <class T>
XPOPS_DEVICE T* in_block(T* mine, uint32 rank) {
#if XPOPS_ON_GPU
  uint64 to;
  asm("mapa.u64 %0, %1, %2;" : "=l"(to) : "l"(reinterpret_cast<uint64>(mine)), "r"(rank));
  return reinterpret_cast<T*>(to);
#else
  return static_cast<T*>(__cluster_map_shared_rank(mine, rank));
#endif
}

}  // namespace detail
#endif

// A block writes to another's shared memory only after that one has started: every block calls this first.
template <int kBlocks>
XPOPS_DEVICE void start_cluster() {
#if XPOPS_CLUSTERS
  if constexpr (kBlocks > 1) detail::arrive();
#endif
}

// Combines the states of all blocks of a cluster, in the order of the blocks. A block has kPlaces states. All its
// threads of the same place, a thread's number modulo kPlaces, hold the same state, and get the same result. Each call
// in a kernel has its own kCall, and so its own shared memory: one barrier is enough. The first has kCall = 0.
template <int kBlocks, int kPlaces, int kCall, class State, class Combine>
XPOPS_DEVICE State combine_cluster(State state, Combine combine) {
#if XPOPS_CLUSTERS
  if constexpr (kBlocks > 1) {
    __shared__ State states[kBlocks][kPlaces];
    const unsigned rank = blockIdx.x % kBlocks, to = threadIdx.x / kPlaces, place = threadIdx.x % kPlaces;
    if constexpr (kCall == 0) detail::await_all();
    if (to < kBlocks) *detail::in_block(&states[rank][place], to) = state;
    detail::arrive();
    detail::await_all();
    state = states[0][place];
#pragma unroll
    for (int block = 1; block < kBlocks; ++block) state = combine(state, states[block][place]);
  }
#endif
  return state;
}

#undef XPOPS_CLUSTERS

}  // namespace xpops
