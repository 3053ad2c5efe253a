// How often each of the integers from 0 on occurs.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

struct HistogramParams {
  uint64 x, bins, largest;
  uint64 size;
  uint64 length;  // of bins; larger values are not counted
};

// The value as an unsigned integer: negative ones are larger than any other.
template <class T, class Element>
XPOPS_DEVICE uint64 unsigned_value(Element x) {
  if constexpr (is_same_v<T, bool>) {
    return x != 0;
  } else {
    return static_cast<uint64>(static_cast<int64>(x));
  }
}

// Adds to `bins` the counts of x, and raises `largest` to its largest value as an unsigned integer.
// kBins > 0: a block counts in shared memory first, each of kCopies groups of warps for itself, so that equal values of
// different warps do not wait for each other; the counts of a block are below 2^32.
template <class T, int kAccess, int kBins, int kCopies, int kThreads, int kUnroll>
XPOPS_DEVICE void histogram(const HistogramParams& params) {
  using Element = typename Storage<T>::type;
  constexpr int kPack = kMaxPackBytes / sizeof(Element);
  constexpr int kWidth = kAccess < kPack ? kAccess : kPack;
  constexpr uint64 kTile = kThreads * kPack * kUnroll;
  __shared__ uint32 counts[kBins > 0 ? kBins * kCopies : 1];
  const Element* x = reinterpret_cast<const Element*>(params.x);
  uint64* bins = reinterpret_cast<uint64*>(params.bins);
  uint32* own = counts + (kBins > 0 ? warp() % kCopies * kBins : 0);
  for (int i = threadIdx.x; i < kBins * kCopies; i += kThreads) counts[i] = 0;
  __syncthreads();

  uint64 largest = 0;
  const auto count = [&](Element element) {
    const uint64 value = unsigned_value<T>(element);
    largest = value > largest ? value : largest;
    if (value >= params.length) return;
    if constexpr (kBins > 0) {
      atomicAdd(own + static_cast<uint32>(value), 1u);
    } else {
      atomicAdd(bins + value, uint64(1));
    }
  };
#pragma unroll 1
  for (uint64 base = blockIdx.x * kTile; base < params.size; base += gridDim.x * kTile) {
    if (base + kTile <= params.size) {
      Pack<Element, kWidth> packs[kUnroll][kPack / kWidth];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
        for (int w = 0; w < kPack / kWidth; ++w) {
          packs[u][w].load(x + base + (u * kThreads + threadIdx.x) * kPack + w * kWidth);
        }
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
        for (int i = 0; i < kPack; ++i) count(packs[u][i / kWidth].elem[i % kWidth]);
      }
    } else {
      for (uint64 i = base + threadIdx.x; i < params.size; i += kThreads) count(x[i]);
    }
  }

#pragma unroll
  for (int reach = 1; reach < kWarp; reach *= 2) {
    const uint64 other = shuffle_xor(largest, reach);
    largest = other > largest ? other : largest;
  }
  if (lane() == 0) atomicMax(reinterpret_cast<uint64*>(params.largest), largest);
  __syncthreads();
  for (int i = threadIdx.x; i < kBins; i += kThreads) {
    uint64 sum = 0;
#pragma unroll
    for (int copy = 0; copy < kCopies; ++copy) sum += counts[copy * kBins + i];
    if (sum > 0 && i < params.length) atomicAdd(bins + i, sum);
  }
}

}  // namespace xpops
