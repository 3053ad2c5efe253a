// Thread numbers, lanes and shuffles for blocks of any shape. Their last warp may have fewer than 32 lanes.
#pragma once

#include <xpops/block/warp.cuh>

namespace xpops {
namespace kps {
namespace details {

constexpr int kWarpSize = kWarp;
constexpr int kMaxThreads = 1024;

XPOPS_DEVICE int BlockThreads() { return static_cast<int>(blockDim.x * blockDim.y * blockDim.z); }
XPOPS_DEVICE int ThreadNumber() {
  return static_cast<int>((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
}

// The number of lanes in this thread's warp.
XPOPS_DEVICE int WarpLanes() {
  const int left = BlockThreads() - ThreadNumber() / kWarpSize * kWarpSize;
  return left < kWarpSize ? left : kWarpSize;
}
XPOPS_DEVICE unsigned WarpMask() { return kFullMask >> (kWarpSize - WarpLanes()); }

// __shfl_sync for any trivially copyable T: the val of lane `from` of this thread's group of `width` lanes.
template <typename T>
XPOPS_DEVICE T ShuffleSync(unsigned mask, T val, int from, int width = kWarpSize) {
  return xpops::detail::by_words(val, [=](uint32 word) { return __shfl_sync(mask, word, from, width); });
}
// __shfl_up_sync for any trivially copyable T: the val of the lane `delta` below, or this lane's own if there is none.
template <typename T>
XPOPS_DEVICE T ShuffleUpSync(unsigned mask, T val, int delta) {
  return xpops::detail::by_words(val, [=](uint32 word) { return __shfl_up_sync(mask, word, delta); });
}

// __shfl_down_sync for any trivially copyable T: the val of the lane `delta` above in this thread's group of `width`
// lanes, or this lane's own if there is none.
template <typename T>
XPOPS_DEVICE T CudaShuffleDownSync(unsigned mask, T val, int delta, int width = kWarpSize) {
  return xpops::detail::by_words(val, [=](uint32 word) { return __shfl_down_sync(mask, word, delta, width); });
}

// Aborts the kernel if the block has more than one axis or more than `limit` threads.
XPOPS_DEVICE void RequireOneAxis(int limit) {
  if (static_cast<int>(blockDim.x) > limit || blockDim.y * blockDim.z != 1) __trap();
}

}  // namespace details
}  // namespace kps
}  // namespace xpops
