// Histogram: counts how many elements are in each bin. It counts in shared memory if there are few bins.
//
// A Bins class defines what the kernel counts. Element: the type of an element in memory. bin(x): the bin of x;
// `length` or more means no bin. finish(): called after the last element.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

// Adds the counts of x to `total`. If kSlots > 0, there are at most kSlots bins, and a block counts in shared memory
// first. It keeps kCopies copies of the counters; the lane selects the copy. So fewer lanes add to the same counter or
// the same bank at once: with 32 copies, each lane has its own bank. A block counts fewer than 2^32 elements.
template <int kAccess, int kSlots, int kCopies, int kThreads, int kUnroll, class Bins>
XPOPS_DEVICE void count_bins(Bins& bins, const typename Bins::Element* x, uint64* total, uint64 size, uint64 length) {
  using Element = typename Bins::Element;
  constexpr int kPack = kMaxPackBytes / sizeof(Element);
  constexpr int kWidth = kAccess < kPack ? kAccess : kPack;
  constexpr uint64 kTile = kThreads * kPack * kUnroll;
  __shared__ uint32 counts[kSlots > 0 ? kSlots * kCopies : 1];
  for (int i = threadIdx.x; i < kSlots * kCopies; i += kThreads) counts[i] = 0;
  __syncthreads();

  uint32* const own = counts + lane() % kCopies;
  const auto count = [&](Element element) {
    const uint64 bin = bins.bin(element);
    if (bin >= length) return;
    if constexpr (kSlots > 0) {
      atomicAdd(own + static_cast<uint32>(bin) * kCopies, 1u);
    } else {
      atomicAdd(total + bin, uint64(1));
    }
  };
  // The same for a whole warp. If all its elements are in one bin, one atomic adds them together.
  const auto count_together = [&](Element element) {
    const uint64 bin = bins.bin(element);
    const bool one = __all_sync(kFullMask, bin == shuffle(bin, 0));
    if (bin < length && (!one || lane() == 0)) atomicAdd(total + bin, uint64(one ? kWarp : 1));
  };
#pragma unroll 1
  for (uint64 base = blockIdx.x * kTile; base < size; base += gridDim.x * kTile) {
    if (base + kTile <= size) {
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
        for (int i = 0; i < kPack; ++i) {
          const Element element = packs[u][i / kWidth].elem[i % kWidth];
          if constexpr (kSlots > 0) count(element);
          else count_together(element);
        }
      }
    } else {
      for (uint64 i = base + threadIdx.x; i < size; i += kThreads) count(x[i]);
    }
  }

  bins.finish();
  __syncthreads();
  for (int i = threadIdx.x; i < kSlots && i < length; i += kThreads) {
    uint64 sum = 0;
#pragma unroll
    for (int copy = 0; copy < kCopies; ++copy) sum += counts[i * kCopies + (copy + lane()) % kCopies];
    if (sum > 0) atomicAdd(total + i, sum);
  }
}

struct HistogramParams {
  uint64 x, bins, largest;
  uint64 size;
  uint64 length;  // number of bins; larger values are not counted
};

// Each integer from 0 on is a bin. The kernel also finds the largest value as an unsigned integer, so that a negative
// value is larger than any other.
template <class T>
struct IntegerBins {
  using Element = typename Storage<T>::type;
  uint64* to;
  uint64 largest = 0;

  XPOPS_DEVICE explicit IntegerBins(uint64 to) : to(reinterpret_cast<uint64*>(to)) {}

  XPOPS_DEVICE uint64 bin(Element x) {
    uint64 value;
    if constexpr (is_same_v<T, bool>) value = x != 0;
    else value = static_cast<uint64>(static_cast<int64>(x));
    largest = value > largest ? value : largest;
    return value;
  }

  XPOPS_DEVICE void finish() {
#pragma unroll
    for (int reach = 1; reach < kWarp; reach *= 2) {
      const uint64 other = shuffle_xor(largest, reach);
      largest = other > largest ? other : largest;
    }
    if (lane() == 0) atomicMax(to, largest);
  }
};

template <class T, int kAccess, int kSlots, int kCopies, int kThreads, int kUnroll>
XPOPS_DEVICE void histogram(const HistogramParams& params) {
  IntegerBins<T> bins(params.largest);
  count_bins<kAccess, kSlots, kCopies, kThreads, kUnroll>(
      bins, reinterpret_cast<const typename IntegerBins<T>::Element*>(params.x), reinterpret_cast<uint64*>(params.bins),
      params.size, params.length);
}

}  // namespace xpops
