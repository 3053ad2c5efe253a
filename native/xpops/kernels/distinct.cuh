// The distinct elements of an array of 8- or 16-bit elements, by a table with an entry for each code. A code is the sort
// key of an element (math/order.cuh).
//
// distinct_count   counts the elements of each code.
// distinct_first   finds the first element of each code.
// distinct_number  numbers the codes that occur, and sends their number to the host.
// distinct_write   writes the codes that occur as elements, with their counts and first places.
// -0.0 and 0.0 are one element, and each NaN is an element of its own.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/math/order.cuh>
#include <xpops/memory/dynamic.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// The kernel parameters, which the host writes (xpops/engine/cuda/kernels/distinct.py).
struct DistinctParams {
  uint64 x;
  uint64 counts;  // uint64[codes]; 0 before
  uint64 latest;  // uint64[codes]: the complement of the first place of each code, which is the largest; 0 before
  uint64 numbers;  // int64[codes]: of each code that occurs, by the bits of the element
  uint64 total;  // address of host memory
  uint64 values, indices, found_counts;  // the results; 0 for one that the caller does not want
  uint64 size;
  uint64 begin;  // the part of the array that distinct_first scans
};

template <class T>
struct Codes : Order<T, false> {
  using Bits = typename Order<T, false>::Bits;
  static constexpr uint32 kCount = 1u << 8 * sizeof(T), kPossible = is_same_v<T, bool> ? 2 : kCount;
  // The codes of special numbers. Integers have none: there kCount stands for them, which no element has.
  static constexpr uint32 kNan = is_floating_v<T> ? kCount - 1 : kCount;
  static constexpr uint32 kZero = is_floating_v<T> ? kCount / 2 : kCount;
  static constexpr uint32 kNegativeZero = is_floating_v<T> ? kZero - 1 : kCount;

  // The elements of a code in the result.
  XPOPS_DEVICE static uint64 results(const uint64* counts, uint32 code) {
    const uint64 count = counts[code];
    if (code == kNan) return count;
    return count > 0 && !(code == kZero && counts[kNegativeZero] > 0);
  }
};

// The elements that a thread of kBlock loads at once.
template <class T, int kBlock, int kItems, bool kAligned>
struct CodeTile {
  using Bits = typename Codes<T>::Bits;
  static constexpr int kPack = kMaxPackBytes / sizeof(T), kPacks = kItems / kPack;
  static constexpr uint32 kSize = kBlock * kItems;
  static_assert(kItems <= 32, "a bit for each item");
  Pack<Bits, kPack> packs[kPacks];
  uint64 first;  // the place of the first pack
  uint32 valid;  // a bit for each item: it is in the array

  XPOPS_DEVICE void load(const Bits* x, uint64 base, uint64 size) {
    first = base + threadIdx.x * kPack;
    valid = 0xffffffffu >> (32 - kItems);
    if (base + kSize <= size) {
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        if constexpr (kAligned) {
          packs[p].load(x + first + p * kBlock * kPack);
        } else {
          packs[p].load_unaligned(x + first + p * kBlock * kPack);
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        const bool inside = place(i) < size;
        packs[i / kPack].elem[i % kPack] = inside ? x[place(i)] : Bits();
        if (!inside) valid &= ~(1u << i);
      }
    }
  }

  XPOPS_DEVICE uint64 place(int i) const { return first + i / kPack * kBlock * kPack + i % kPack; }
  XPOPS_DEVICE bool has(int i) const { return valid >> i & 1; }
  XPOPS_DEVICE uint32 code(int i) const { return Codes<T>::encode(packs[i / kPack].elem[i % kPack]); }
};

// Counters of 16 bits in shared memory, kCopies for each code. Whoever makes one reach kFull subtracts kFull and counts
// it in global memory. A block adds at most kFull between two barriers, so that a counter does not overflow meanwhile.
template <class T, int kCopies, int kBlock, int kItems, bool kAligned>
XPOPS_DEVICE void distinct_count(const DistinctParams& params) {
  using Tile = CodeTile<T, kBlock, kItems, kAligned>;
  constexpr uint32 kCounters = Codes<T>::kCount * kCopies, kFull = 0x8000;
  static_assert(Tile::kSize <= kFull, "no counter overflows");
  uint32* const words = static_cast<uint32*>(dynamic_shared<kCounters * 2>());
  uint64* const counts = reinterpret_cast<uint64*>(params.counts);
  for (uint32 i = threadIdx.x; i < kCounters / 2; i += kBlock) words[i] = 0;
  __syncthreads();
  const auto add = [&](uint32 code, uint32 count) {
    const uint32 at = code * kCopies + threadIdx.x % kCopies, shift = at % 2 * 16;
    const uint32 before = atomicAdd(&words[at / 2], count << shift) >> shift & 0xffff;
    if (before < kFull && before + count >= kFull) {
      atomicAdd(&words[at / 2], 0u - (kFull << shift));
      atomicAdd(&counts[code], static_cast<uint64>(kFull));
    }
  };
  Tile tile;
  for (uint64 base = static_cast<uint64>(blockIdx.x) * Tile::kSize; base < params.size;
       base += static_cast<uint64>(gridDim.x) * Tile::kSize) {
    tile.load(reinterpret_cast<const typename Tile::Bits*>(params.x), base, params.size);
    uint32 run = 0, before = 0;  // equal neighbours are added at once
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (!tile.has(i)) continue;
      const uint32 code = tile.code(i);
      if (run && code != before) {
        add(before, run);
        run = 0;
      }
      before = code;
      ++run;
    }
    if (run) add(before, run);
    __syncthreads();
  }
  for (uint32 code = threadIdx.x; code < Codes<T>::kCount; code += kBlock) {
    uint32 sum = 0;
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      const uint32 at = code * kCopies + (i + threadIdx.x) % kCopies;
      sum += words[at / 2] >> at % 2 * 16 & 0xffff;
    }
    if (sum) atomicAdd(&counts[code], static_cast<uint64>(sum));
  }
}

// Each block scans one part of the array in order, from `begin` on. A code needs no further look if an earlier element
// has it. If that holds for all codes, the block does not even read its part. The codes of a tile are marked only after
// the whole tile is compared, so that the first element of a code cannot be skipped.
template <class T, int kBlock, int kItems, bool kAligned>
XPOPS_DEVICE void distinct_first(const DistinctParams& params) {
  using Tile = CodeTile<T, kBlock, kItems, kAligned>;
  using Bits = typename Tile::Bits;
  constexpr uint32 kWords = Codes<T>::kCount / 32;
  __shared__ uint32 seen[kWords];
  uint64* const latest = reinterpret_cast<uint64*>(params.latest);
  const uint64 tiles = (params.size - params.begin + Tile::kSize - 1) / Tile::kSize;
  const uint64 start = params.begin + tiles * blockIdx.x / gridDim.x * Tile::kSize;
  const uint64 end = params.begin + tiles * (blockIdx.x + 1) / gridDim.x * Tile::kSize;
  const uint64 stop = end < params.size ? end : params.size;
  bool all = true;
  for (uint32 i = threadIdx.x; i < kWords; i += kBlock) {
    uint32 word = 0;
    for (uint32 j = 0; j < 32; ++j) {
      const uint32 code = i * 32 + j;
      word |= static_cast<uint32>(code >= Codes<T>::kPossible || latest[code] > ~start) << j;
    }
    seen[i] = word;
    all = all && word == ~0u;
  }
  if (__syncthreads_and(all)) return;
  Tile tile;
  for (uint64 base = start; base < stop; base += Tile::kSize) {
    tile.load(reinterpret_cast<const Bits*>(params.x), base, params.size);
    uint32 unseen = 0;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const uint32 code = tile.code(i);
      if (i > 0 && code == tile.code(i - 1)) continue;
      if (tile.has(i) && !(seen[code / 32] >> code % 32 & 1)) {
        unseen |= 1u << i;
        const uint64 key = ~tile.place(i);
        if (*reinterpret_cast<volatile uint64*>(latest + code) < key) atomicMax(latest + code, key);
      }
    }
    if (!__syncthreads_or(unseen != 0)) continue;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const uint32 code = tile.code(i);
      if (unseen >> i & 1) atomicOr(&seen[code / 32], 1u << code % 32);
    }
    __syncthreads();
  }
}

// One block numbers all codes.
template <class T, int kBlock>
XPOPS_DEVICE void distinct_number(const DistinctParams& params) {
  constexpr uint32 kEach = Codes<T>::kCount / kBlock, kWarps = kBlock / kWarp;
  static_assert(kEach * kBlock == Codes<T>::kCount, "whole rounds");
  __shared__ uint64 totals[kWarps];
  const uint64* const counts = reinterpret_cast<const uint64*>(params.counts);
  int64* const numbers = reinterpret_cast<int64*>(params.numbers);
  const uint32 first = threadIdx.x * kEach;
  uint64 sum = 0;
  for (uint32 i = 0; i < kEach; ++i) sum += Codes<T>::results(counts, first + i);
  uint64 upto = sum;
#pragma unroll
  for (int reach = 1; reach < kWarp; reach *= 2) {
    const uint64 below = shuffle_up(upto, reach);
    if (lane() >= reach) upto += below;
  }
  if (lane() == kWarp - 1) totals[warp()] = upto;
  __syncthreads();
  uint64 number = upto - sum, all = 0;
  for (int i = 0; i < kWarps; ++i) {
    if (i < warp()) number += totals[i];
    all += totals[i];
  }
  for (uint32 i = 0; i < kEach; ++i) {
    const uint32 code = first + i;
    // Any byte but 0 is True.
    if (is_same_v<T, bool> && code > 1) {
      numbers[code] = static_cast<int64>(Codes<T>::results(counts, 0));
    } else {
      numbers[Codes<T>::decode(static_cast<typename Codes<T>::Bits>(code))] = static_cast<int64>(number);
    }
    number += Codes<T>::results(counts, code);
  }
  if (threadIdx.x == 0) *reinterpret_cast<uint64*>(params.total) = all;
}

template <class T>
XPOPS_DEVICE void distinct_write(const DistinctParams& params) {
  using Bits = typename Codes<T>::Bits;
  const uint64* const counts = reinterpret_cast<const uint64*>(params.counts);
  const uint64 step = static_cast<uint64>(gridDim.x) * blockDim.x;
  const auto write = [&](uint64 at, Bits bits, uint64 count) {
    if (params.values) reinterpret_cast<Bits*>(params.values)[at] = bits;
    if (params.found_counts) reinterpret_cast<uint64*>(params.found_counts)[at] = count;
  };
  const uint64 thread = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (uint64 i = thread; i < Codes<T>::kCount; i += step) {
    const uint32 code = static_cast<uint32>(i);
    if (code == Codes<T>::kNan || !Codes<T>::results(counts, code)) continue;
    const Bits bits = Codes<T>::decode(static_cast<Bits>(code));
    const int64 at = reinterpret_cast<const int64*>(params.numbers)[bits];
    write(at, bits, counts[code] + (code == Codes<T>::kNegativeZero ? counts[code + 1] : 0));
    if (params.indices) {
      reinterpret_cast<uint64*>(params.indices)[at] = ~reinterpret_cast<const uint64*>(params.latest)[code];
    }
  }
  if constexpr (is_floating_v<T>) {
    const Bits bits = Codes<T>::decode(static_cast<Bits>(Codes<T>::kNan));
    const uint64 at = reinterpret_cast<const int64*>(params.numbers)[bits];
    for (uint64 i = thread; i < counts[Codes<T>::kNan]; i += step) write(at + i, bits, 1);
  }
}

}  // namespace xpops
