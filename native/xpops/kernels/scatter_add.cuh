// Scatter-add by atomic additions: out[index[i]] += source[i]. The order of additions varies, so rounded results may
// differ from run to run.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/index/coordinates.cuh>
#include <xpops/index/targets.cuh>
#include <xpops/memory/atomic.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// The source is dense, in the order of the axes. `out` and the index have strides along these axes. The stride of `out`
// along the indexed axis is 0 (xpops/plan/scatter.py).
template <int kRank, class Index_>
struct ScatterAddParams {
  using Index = Index_;
  static constexpr int kAxes = kRank;
  uint64 out, index, source;
  uint64 size;   // packs of the source
  uint64 count;  // elements of `out`
  int64 step;    // stride of `out` along the indexed axis, in elements
  TargetRange range;
  FastDivMod<Index> divisors[kRank > 1 ? kRank - 1 : 1];
  typename SignedOf<Index>::type strides[2][kRank];  // of `out` and of the index, from pack to pack
};

// If at most this many lanes of a warp start a run of equal targets, the lanes sum up runs before the atomic additions.
constexpr uint32 kMostRuns = 24;

// Sums up each run of neighbouring lanes with the same target; the first lane gets the sum. Returns whether this lane
// has a value to add. If nearly every lane starts a run, all lanes keep their own values.
template <class Sum>
XPOPS_DEVICE bool add_up_runs(int64 target, Sum& value) {
  const int64 before = shuffle_up(target, 1);
  const uint32 heads = __ballot_sync(kFullMask, lane() == 0 || before != target);
  if (__popc(heads) > kMostRuns) return true;
  const uint32 later = heads & ~((2u << lane()) - 1);
  const int end = later ? __ffs(later) - 1 : kWarp;
#pragma unroll
  for (int reach = 1; reach < kWarp; reach *= 2) {
    const Sum other = shuffle_down(value, reach);
    if (lane() + reach < end) value += other;
  }
  return heads >> lane() & 1;
}

// T: the dtype of the source. Target: the dtype of `out`: T, or the type of its sums. I: the dtype of the index. If
// kSlots > 0, `out` has at most kSlots elements, and a block sums in shared memory first. It keeps kCopies copies of
// the sums; the lane selects the copy. So neighbouring lanes with equal targets do not wait for each other.
template <class T, class Target, class I, int kPack, int kUnroll, int kSlots, int kCopies, int kThreads, class Params>
XPOPS_DEVICE void scatter_add(const Params& params) {
  using Index = typename Params::Index;
  using Sum = conditional_t<is_floating_v<Target>, compute_t<Target>, unsigned_t<Target>>;  // integers wrap
  constexpr uint64 kTile = kThreads * kUnroll;
  __shared__ Sum sums[kSlots > 0 ? kSlots * kCopies : 1];
  const T* source = reinterpret_cast<const T*>(params.source);
  const I* index = reinterpret_cast<const I*>(params.index);
  Target* out = reinterpret_cast<Target*>(params.out);
  const Target* end = out + params.count;
  if constexpr (kSlots > 0) {
    for (int i = threadIdx.x; i < kSlots * kCopies; i += kThreads) sums[i] = Sum(0);
    __syncthreads();
  }
  uint64 wrong = 0;
#pragma unroll 1
  for (uint64 base = blockIdx.x * kTile; base < params.size; base += gridDim.x * kTile) {
    int64 first[kUnroll];
    I named[kUnroll];
    Pack<T, kPack> packs[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const uint64 piece = base + u * kThreads + threadIdx.x;
      const Index linear = static_cast<Index>(piece < params.size ? piece : params.size - 1);
      const Coordinates<Params::kAxes, Index> at(params.divisors, linear);
      first[u] = at.offset(params.strides[0]);
      named[u] = index[at.offset(params.strides[1])];
      packs[u].load(source + static_cast<uint64>(linear) * kPack);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const bool there = base + u * kThreads + threadIdx.x < params.size;
      const int64 row = there ? params.range.target(named[u], wrong) : -1;
      const int64 target = row < 0 ? -1 : first[u] + row * params.step;
      Sum values[kPack];
#pragma unroll
      for (int i = 0; i < kPack; ++i) values[i] = cast<Sum>(packs[u].elem[i]);
      bool adds = target >= 0;
      if constexpr (kPack == 1) adds = add_up_runs(target, values[0]) && adds;
      if (!adds) continue;
      if constexpr (kSlots > 0) {
        Sum* own = sums + target * kCopies + lane() % kCopies;
#pragma unroll
        for (int i = 0; i < kPack; ++i) atomic_add(own + i * kCopies, values[i], static_cast<const Sum*>(nullptr));
      } else {
        Target added[kPack];
#pragma unroll
        for (int i = 0; i < kPack; ++i) added[i] = cast<Target>(values[i]);
        atomic_add_pack(out + target, added, end);
      }
    }
  }
  params.range.tell(wrong);
  if constexpr (kSlots > 0) {
    __syncthreads();
    for (int i = threadIdx.x; i < kSlots && i < params.count; i += kThreads) {
      Sum sum = sums[i * kCopies + lane() % kCopies];
#pragma unroll 4
      for (int copy = 1; copy < kCopies; ++copy) sum += sums[i * kCopies + (lane() + copy) % kCopies];
      if (sum != Sum(0)) atomic_add(out + i, cast<Target>(sum), end);
    }
  }
}

}  // namespace xpops
