// Inclusive scans over a block.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/kps/warp.cuh>

namespace xpops {
namespace kps {
namespace details {

constexpr int kScanThreads = 512;  // at most

// Adds one element of padding after every 32, so that lanes with a stride of two elements use different banks.
XPOPS_DEVICE int ScanPlace(int i) { return i + i / kWarpSize; }

// The inclusive scan of a warp's values.
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

// The inclusive scan of 2 * blockDim.x elements, by a block of one axis and 1 to 512 threads.
//   in       two registers: the elements threadIdx.x and threadIdx.x + blockDim.x
//   out      two registers: the results at the same positions, cast to OutT
//   compute  compute(earlier, later), associative up to rounding; it need not be commutative
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
  elements[ScanPlace(self)] = in[0];  // no barrier: in an earlier call, this thread was the last to read them
  elements[ScanPlace(self + threads)] = in[1];
  __syncthreads();

  InT* const first = &elements[ScanPlace(2 * self)];
  InT* const second = &elements[ScanPlace(2 * self + 1)];
  const InT sum = details::ScanLanes(compute(*first, *second), compute, mask, lane);
  if (lane == kWarp - 1) sums[warp] = sum;
  __syncthreads();
  const int warps = threads / kWarp;  // the full warps, which have written a sum
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
