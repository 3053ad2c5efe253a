// Writes random numbers to contiguous memory. Element i depends only on the keys, branch and position + i / kCount.
#pragma once

#include <xpops/core/types.cuh>
#include <xpops/math/philox.cuh>
#include <xpops/math/random.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// Wire: the type of the law's parameters, double or uint64.
template <class Wire_, int kParameters>
struct RandomParams {
  using Wire = Wire_;
  uint64 out, branch, position;
  uint2 keys[kPhiloxRounds];
  Wire parameters[kParameters];
  uint64 size;
};

template <class Law, class T, int kBlock, int kUnroll, class Params>
XPOPS_DEVICE void random(const Params& params) {
  constexpr int kPack = kMaxPackBytes / sizeof(T), kCounters = kPack / Law::kCount;
  static_assert(kCounters * Law::kCount == kPack, "whole counters make a pack");
  T* out = reinterpret_cast<T*>(params.out);
  const Law law(params.parameters);
  const uint64 first = static_cast<uint64>(blockIdx.x) * (kBlock * kUnroll) + threadIdx.x;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const uint64 index = first + u * kBlock, linear = index * kPack;
    Pack<T, kPack> pack;
#pragma unroll
    for (int i = 0; i < kCounters; ++i) {
      law(philox(params.position + index * kCounters + i, params.branch, params.keys), pack.elem + i * Law::kCount);
    }
    pack.store_within(out, linear, params.size);
  }
}

}  // namespace xpops
