// Writes start + i * step to contiguous memory.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/core/types.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/slots.cuh>

namespace xpops {

// Wire is the type of the arithmetic. It is uint64 for integers: sums wrap, and so are exact for every integer dtype.
// It is double for floats, rounded once to T, and complex<double> for complex.
template <class Wire>
struct ArangeParams {
  static constexpr int kWidth = sizeof(Wire) / sizeof(uint64);
  uint64 out;
  uint64 start[kWidth], step[kWidth];
  uint64 size;
};

// The memory is aligned to kPack elements.
template <class T, class Wire, int kBlock, int kUnroll, int kPack>
XPOPS_DEVICE void arange(const ArangeParams<Wire>& params) {
  T* out = reinterpret_cast<T*>(params.out);
  const Wire start = from_slots<Wire>(params.start), step = from_slots<Wire>(params.step);
  const uint64 first = static_cast<uint64>(blockIdx.x) * (kBlock * kPack * kUnroll) + threadIdx.x * kPack;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const uint64 linear = first + u * kBlock * kPack;
    Pack<T, kPack> pack;
#pragma unroll
    for (int i = 0; i < kPack; ++i) pack.elem[i] = cast<T>(start + cast<Wire>(linear + i) * step);
    pack.store_within(out, linear, params.size);
  }
}

}  // namespace xpops
