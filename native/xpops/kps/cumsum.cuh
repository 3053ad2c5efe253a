// Prefixes over a block.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/kps/warp.cuh>

namespace xpops {
namespace kps {
namespace details {

constexpr int kScanThreads = 512;  // at most

// One place more in every 32, so that lanes whose elements are two apart meet different banks.
XPOPS_DEVICE int ScanPlace(int i) { return i + i / kWarpSize; }

// Each thread's value combined with those of the lanes before it.
template <typename T, class OpFunc>
XPOPS_DEVICE T ScanLanes(T val, OpFunc compute, unsigned mask, int lane) {
#pragma unroll
  for (int reach = 1; reach < kWarpSize; reach *= 2) {
    const T other = ShuffleUpSync(mask, val, reach);
    if (lane >= reach) val = compute(other, val);
  }
  return val;
}

}  // namespace details

// The inclusive prefixes of the 2 * blockDim.x elements of a block of one axis and 1 to 512 threads.
//   in       two registers: the elements threadIdx.x and threadIdx.x + blockDim.x
//   out      two registers: the prefixes at the same places, cast to OutT
//   compute  compute(earlier, later), associative but for rounding; it need not commute
template <typename InT, typename OutT, class OpFunc>
XPOPS_DEVICE void Cumsum(OutT* out, const InT* in, OpFunc compute) {
  using details::ScanPlace;
  constexpr int kSize = 2 * details::kScanThreads;
  __shared__ InT elements[kSize + kSize / kWarp];
  __shared__ InT sums[details::kScanThreads / kWarp];
  const int threads = static_cast<int>(blockDim.x), self = static_cast<int>(threadIdx.x);
  const int lane = self % kWarp, warp = self / kWarp;
  const unsigned mask = details::WarpMask();
  details::RequireOneAxis(details::kScanThreads);
  elements[ScanPlace(self)] = in[0];  // which this thread alone has read in an earlier call
  elements[ScanPlace(self + threads)] = in[1];
  __syncthreads();

  InT* const first = &elements[ScanPlace(2 * self)];
  InT* const second = &elements[ScanPlace(2 * self + 1)];
  const InT sum = details::ScanLanes(compute(*first, *second), compute, mask, lane);
  if (lane == kWarp - 1) sums[warp] = sum;
  __syncthreads();
  const int warps = threads / kWarp;  // those that left a sum
  if (warps > 1 && warp == 0) {
    const InT all = details::ScanLanes(sums[lane < warps ? lane : 0], compute, mask, lane);
    if (lane < warps) sums[lane] = all;
  }
  __syncthreads();
  InT before = details::ShuffleUpSync(mask, sum, 1);
  if (warp > 0) before = lane > 0 ? compute(sums[warp - 1], before) : sums[warp - 1];
  if (self > 0) *first = compute(before, *first);
  *second = compute(*first, *second);
  __syncthreads();
  out[0] = cast<OutT>(elements[ScanPlace(self)]);
  out[1] = cast<OutT>(elements[ScanPlace(self + threads)]);
}

}  // namespace kps
}  // namespace xpops
