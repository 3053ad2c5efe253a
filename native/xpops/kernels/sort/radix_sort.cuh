// Radix sort of long rows, from the lowest digit to the highest; each pass reads and writes memory once (Adinets and
// Merrill, "Onesweep", 2022).
//
// radix_count   counts the digits of every key: all digits in one read.
// radix_prepare turns the counts into the first position of each digit, and marks the digits that need a pass. A digit
//               that all keys of a row have in common needs no pass.
// radix_pass    sorts by one digit. By decoupled look-back a tile finds how many keys of each digit come before it. The
//               look-back adds integers, so its result does not depend on the order in which tiles run.
// The device chooses the buffers that a pass reads and writes, by the number of passes before and after it. So the host
// launches a pass for each digit and never waits.
#pragma once

#include <xpops/block/radix.cuh>
#include <xpops/math/order.cuh>

namespace xpops {

// The kernel parameters, which the host writes (xpops/engine/cuda/kernels/sort.py). A pass writes "even" buffers if the
// number of passes after it is even. So the last pass writes the sorted values to `keys_even`.
struct RadixParams {
  uint64 x, indices, keys_even, keys_odd, index_even, index_odd;  // addresses
  uint64 counts;   // Count[rows][digits of a key][kDigits]; must be 0 before
  uint64 passes;   // uint32[rows]: bit i is set if digit i has a pass
  uint64 tickets;  // uint32[digits of a key][rows]; must be 0 before
  uint64 states;   // Count[2][rows * tiles][kDigits]; the first half must be 0 before
  uint64 digit;    // of this pass
  uint64 length;
  uint32 rows;
  uint32 tiles;  // of a row
};

template <class T, bool kDescending, class Count, int kBlock, int kItems>
XPOPS_DEVICE void radix_count(const RadixParams& params) {
  using Map = Order<T, kDescending>;
  using Bits = typename Map::Bits;
  constexpr int kKeyDigits = sizeof(T);
  __shared__ uint32 counts[kKeyDigits * kDigits];
  for (int i = threadIdx.x; i < kKeyDigits * kDigits; i += kBlock) counts[i] = 0;
  __syncthreads();

  const uint32 row = blockIdx.x % params.rows, blocks = gridDim.x / params.rows;
  const Bits* const x = reinterpret_cast<const Bits*>(params.x) + row * params.length;
  const auto count = [&](Bits bits) {
    const Bits key = Map::encode(bits);
#pragma unroll
    for (int digit = 0; digit < kKeyDigits; ++digit) atomicAdd(&counts[digit * kDigits + digit_of(key, digit)], 1u);
  };
  constexpr uint64 kTile = kBlock * kItems;
  uint64 tile = static_cast<uint64>(blockIdx.x / params.rows) * kTile;
  for (; tile < params.length; tile += blocks * kTile) {
    if (tile + kTile <= params.length) {
      Bits loaded[kItems];
#pragma unroll
      for (int i = 0; i < kItems; ++i) loaded[i] = x[tile + threadIdx.x + i * kBlock];
#pragma unroll
      for (int i = 0; i < kItems; ++i) count(loaded[i]);
    } else {
#pragma unroll 1
      for (uint64 i = tile + threadIdx.x; i < params.length; i += kBlock) count(x[i]);
    }
  }
  __syncthreads();
  Count* const total = reinterpret_cast<Count*>(params.counts) + static_cast<uint64>(row) * (kKeyDigits * kDigits);
  for (int i = threadIdx.x; i < kKeyDigits * kDigits; i += kBlock) {
    if (counts[i]) atomicAdd(&total[i], static_cast<Count>(counts[i]));
  }
}

// One block of kDigits threads prepares one row.
template <class T, class Count>
XPOPS_DEVICE void radix_prepare(const RadixParams& params) {
  constexpr int kKeyDigits = sizeof(T);
  const uint64 row = blockIdx.x;
  Count* const counts = reinterpret_cast<Count*>(params.counts) + row * (kKeyDigits * kDigits);
  uint32 passes = 0;
#pragma unroll 1
  for (int digit = 0; digit < kKeyDigits; ++digit) {
    Count& count = counts[digit * kDigits + threadIdx.x];
    if (!__syncthreads_or(count == params.length)) passes |= 1u << digit;
    count = sum_before(count);
  }
  // Run at least one pass, because a pass has to write the result.
  if (threadIdx.x == 0) reinterpret_cast<uint32*>(params.passes)[row] = passes ? passes : 1u;
}

// The buffers that one pass over one row reads and writes. `passes` is the row's entry in RadixParams::passes.
struct RadixRoute {
  bool first, last;  // of the passes that run
  bool odd;          // the number of passes after this pass is odd
  bool turn;         // the number of passes before this pass is odd

  XPOPS_DEVICE RadixRoute(uint32 passes, uint32 digit) {
    const uint32 before = passes & ((1u << digit) - 1), after = passes >> digit >> 1;
    first = before == 0;
    last = after == 0;
    odd = __popc(after) & 1;
    turn = __popc(before) & 1;
  }

  XPOPS_DEVICE uint64 source(const RadixParams& params) const {
    return first ? params.x : odd ? params.keys_even : params.keys_odd;
  }
  XPOPS_DEVICE uint64 target(const RadixParams& params) const { return odd ? params.keys_odd : params.keys_even; }
  XPOPS_DEVICE uint64 source_index(const RadixParams& params) const {
    return odd ? params.index_even : params.index_odd;
  }
  XPOPS_DEVICE uint64 target_index(const RadixParams& params) const {
    return odd ? params.index_odd : params.index_even;
  }
};

// Hides a pointer's value from the compiler. Otherwise the compiler adds the common part of all addresses to the place
// of each item.
template <class T>
XPOPS_DEVICE T* settled(T* pointer) {
#if XPOPS_ON_GPU
  asm volatile("" : "+l"(pointer));
  __builtin_assume(__isGlobal(pointer));
#endif
  return pointer;
}

// The row of a buffer of indices. The even buffer is the memory of the result. There each row must begin where it
// begins in the result, because other rows may already have their final indices.
template <class Place, class Out>
XPOPS_DEVICE Place* row_of_indices(uint64 buffer, bool even, uint64 row_start) {
  if (even) return reinterpret_cast<Place*>(reinterpret_cast<Out*>(buffer) + row_start);
  return reinterpret_cast<Place*>(buffer) + row_start;
}

// T: the type of the elements. Index: the type of an element's original position in its row, as passes move it with the
// key. Out: the dtype of these positions in the result. Index and Out are void if the caller wants only values.
// kValues: whether the caller wants the sorted values. Count: the type of counts, 32 bits if a row has fewer than 2^30
// elements, else 64 bits. kItems: the number of keys of a thread.
template <class T, bool kDescending, bool kValues, class Index, class Out, class Count, int kBlock, int kItems>
XPOPS_DEVICE void radix_pass(const RadixParams& params) {
  using Map = Order<T, kDescending>;
  using Bits = typename Map::Bits;
  using State = TileState<Count>;
  constexpr bool kIndices = !is_same_v<Index, void>;
  using Place = conditional_t<kIndices, Index, uint8>;
  constexpr int kWarps = kBlock / kWarp, kTile = kBlock * kItems, kSegment = kWarp * kItems;
  constexpr int kBytes = sizeof(Bits) > sizeof(Place) ? sizeof(Bits) : sizeof(Place);
  static_assert(kBlock >= kDigits, "a thread for each digit");
  __shared__ uint32 offsets[kWarps][kDigits];  // for each warp and digit, the place in the tile of the next key
  __shared__ Count places[kDigits];            // added to a place in the tile, gives the place in the row
  __shared__ uint32 ticket;
  __shared__ uint4 staged[kTile * kBytes / sizeof(uint4)];
  Bits* const staged_keys = reinterpret_cast<Bits*>(staged);

  const uint32 row = blockIdx.x % params.rows, digit = static_cast<uint32>(params.digit);
  const uint32 passes = reinterpret_cast<const uint32*>(params.passes)[row];
  if (!(passes >> digit & 1)) return;
  // Tiles are numbered in the order in which their blocks start, so that no tile waits for a block that cannot run.
  if (threadIdx.x == 0) {
    ticket = atomicAdd(reinterpret_cast<uint32*>(params.tickets) + uint64(digit) * params.rows + row, 1u);
  }
  uint32* const own = offsets[threadIdx.x / kWarp];
  for (int i = lane(); i < kDigits; i += kWarp) own[i] = 0;
  __syncthreads();
  const RadixRoute route(passes, digit);
  const uint64 row_start = row * params.length;
  const uint32 tile = ticket;
  const uint64 start = static_cast<uint64>(tile) * kTile;
  const uint64 left = params.length - start;
  const int size = left < kTile ? static_cast<int>(left) : kTile;

  // Item i of a lane comes after items i - 1 of all lanes of its warp. So loads are coalesced, and the sort is stable.
  const int mine = threadIdx.x / kWarp * kSegment + threadIdx.x % kWarp;
  Bits keys[kItems];
  const Bits* const from = reinterpret_cast<const Bits*>(route.source(params)) + row_start + start + mine;
  if (size == kTile) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) keys[i] = from[i * kWarp];
    if (route.first) {
#pragma unroll
      for (int i = 0; i < kItems; ++i) keys[i] = Map::encode(keys[i]);
    }
  } else {  // padding comes after all keys and is not written
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      keys[i] = Map::kLast;
      if (mine + i * kWarp < size) keys[i] = route.first ? Map::encode(from[i * kWarp]) : from[i * kWarp];
    }
  }

  // Count and publish first, because other tiles wait for the counts.
#pragma unroll
  for (int i = 0; i < kItems; ++i) atomicAdd(&own[digit_of(keys[i], digit)], 1u);
  __syncthreads();
  const bool counts = threadIdx.x < kDigits;
  // The states of this digit for all tiles of this row. Passes use the two halves in turn. This pass clears the half of
  // the next pass.
  const auto states = [&](bool turn) {
    const uint64 skipped = (turn * uint64(params.rows) + row) * params.tiles;
    return reinterpret_cast<Count*>(params.states) + skipped * kDigits + threadIdx.x;
  };
  const uint64 here = static_cast<uint64>(tile) * kDigits;
  uint32 before[kWarps], count = 0;
  if (counts) {
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
      before[i] = count;
      count += offsets[i][threadIdx.x];
    }
    *reinterpret_cast<volatile Count*>(states(route.turn) + here) = count | (tile ? State::kOwn : State::kAll);
    if (sizeof(T) > 1) states(!route.turn)[here] = 0;
  }
  const uint32 begin = sum_before(count);
  if (counts) {
#pragma unroll
    for (int i = 0; i < kWarps; ++i) offsets[i][threadIdx.x] = before[i] + begin;
  }
  __syncthreads();

  const uint32 below_me = (1u << (threadIdx.x % kWarp)) - 1;
  uint32 ranks[kIndices ? kItems : 1];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const uint32 value = digit_of(keys[i], digit), peers = match_digit(value);
    const uint32 below = __popc(peers & below_me), next = own[value];
    __syncwarp();
    if (below == 0) own[value] = next + __popc(peers);
    __syncwarp();
    staged_keys[next + below] = keys[i];
    if constexpr (kIndices) ranks[i] = next + below;
  }
  Place carried[kIndices ? kItems : 1];
  if constexpr (kIndices) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int place = mine + i * kWarp;
      carried[i] = static_cast<Place>(start + place);
      if (!route.first && place < size) {
        carried[i] = row_of_indices<Place, Out>(route.source_index(params), route.odd, row_start)[start + place];
      }
    }
  }

  if (counts) {
    const Count sum = tile ? look_back(states(route.turn), tile) : 0;
    if (tile) *reinterpret_cast<volatile Count*>(states(route.turn) + here) = (sum + count) | State::kAll;
    const uint64 table = (static_cast<uint64>(row) * sizeof(T) + digit) * kDigits + threadIdx.x;
    places[threadIdx.x] = reinterpret_cast<const Count*>(params.counts)[table] + sum - begin;
  }
  __syncthreads();
  Bits* const to = settled(reinterpret_cast<Bits*>(route.target(params)) + row_start);
  Count targets[kIndices ? kItems : 1];
  const auto deliver = [&](bool whole) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int place = i * kBlock + threadIdx.x;
      if (whole || place < size) {
        const Bits key = staged_keys[place];
        const Count target = static_cast<Count>(places[digit_of(key, digit)] + place);
        if (kValues || !route.last) to[target] = route.last ? Map::decode(key) : key;
        if constexpr (kIndices) targets[i] = target;
      }
    }
  };
  if (size == kTile) {
    deliver(true);
  } else {
    deliver(false);
  }
  if constexpr (kIndices) {
    Place* const staged_indices = reinterpret_cast<Place*>(staged);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) staged_indices[ranks[i]] = carried[i];
    __syncthreads();
    Out* const out = settled(reinterpret_cast<Out*>(params.indices) + row_start);
    Place* const to_index = settled(row_of_indices<Place, Out>(route.target_index(params), !route.odd, row_start));
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int place = i * kBlock + threadIdx.x;
      if (place < size) {
        if (route.last) {
          out[targets[i]] = static_cast<Out>(staged_indices[place]);
        } else {
          to_index[targets[i]] = staged_indices[place];
        }
      }
    }
  }
}

}  // namespace xpops
