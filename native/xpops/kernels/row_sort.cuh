// Sorts rows that fit in the registers of a team of threads, by a sorting network (block/bitonic.cuh). A warp sorts
// several short rows, a block one long row.
//
// The rows of a warp (or block) are contiguous in memory, and all its accesses are coalesced. Through shared memory
// each thread gets a run of its row, and returns it after the sort.
#pragma once

#include <xpops/block/bitonic.cuh>
#include <xpops/math/order.cuh>

namespace xpops {

// The items that the network compares: a key alone, or a key and its original place, which makes the sort stable.
// padding() comes after all items of a row, or equals the last.
struct KeyWord {  // keys of 32 bits or less
  uint32 bits;
  template <class Key> XPOPS_DEVICE static KeyWord of(Key key, uint32) { return {key}; }
  XPOPS_DEVICE static KeyWord padding() { return {~0u}; }
  XPOPS_DEVICE uint32 key() const { return bits; }
  XPOPS_DEVICE uint32 place() const { return 0; }
  XPOPS_DEVICE bool operator<(KeyWord other) const { return bits < other.bits; }
};

struct KeyLong {  // keys of 64 bits
  uint64 bits;
  XPOPS_DEVICE static KeyLong of(uint64 key, uint32) { return {key}; }
  XPOPS_DEVICE static KeyLong padding() { return {~uint64(0)}; }
  XPOPS_DEVICE uint64 key() const { return bits; }
  XPOPS_DEVICE uint32 place() const { return 0; }
  XPOPS_DEVICE bool operator<(KeyLong other) const { return bits < other.bits; }
};

struct PlacedWord {  // keys of 16 bits or less, places below 2^16 - 1
  uint32 bits;
  template <class Key> XPOPS_DEVICE static PlacedWord of(Key key, uint32 place) { return {uint32(key) << 16 | place}; }
  XPOPS_DEVICE static PlacedWord padding() { return {~0u}; }
  XPOPS_DEVICE uint32 key() const { return bits >> 16; }
  XPOPS_DEVICE uint32 place() const { return bits & 0xffff; }
  XPOPS_DEVICE bool operator<(PlacedWord other) const { return bits < other.bits; }
};

struct PlacedLong {  // keys of 32 bits
  uint64 bits;
  XPOPS_DEVICE static PlacedLong of(uint32 key, uint32 place) { return {uint64(key) << 32 | place}; }
  XPOPS_DEVICE static PlacedLong padding() { return {~uint64(0)}; }
  XPOPS_DEVICE uint32 key() const { return static_cast<uint32>(bits >> 32); }
  XPOPS_DEVICE uint32 place() const { return static_cast<uint32>(bits); }
  XPOPS_DEVICE bool operator<(PlacedLong other) const { return bits < other.bits; }
};

struct PlacedTriple {  // keys of 64 bits
  uint32 low, high, at;
  XPOPS_DEVICE static PlacedTriple of(uint64 key, uint32 place) {
    return {static_cast<uint32>(key), static_cast<uint32>(key >> 32), place};
  }
  XPOPS_DEVICE static PlacedTriple padding() { return {~0u, ~0u, ~0u}; }
  XPOPS_DEVICE uint64 key() const { return uint64(high) << 32 | low; }
  XPOPS_DEVICE uint32 place() const { return at; }
  XPOPS_DEVICE bool operator<(const PlacedTriple& other) const {
    return key() < other.key() || (key() == other.key() && at < other.at);
  }
};

template <class Key, bool kPlaced>
using Sortable = conditional_t<
    kPlaced, conditional_t<sizeof(Key) == 8, PlacedTriple, conditional_t<sizeof(Key) == 4, PlacedLong, PlacedWord>>,
    conditional_t<sizeof(Key) == 8, KeyLong, KeyWord>>;

// The kernel parameters, which the host writes (xpops/engine/cuda/kernels/sort.py).
struct RowSortParams {
  uint64 values, indices, x;  // addresses; 0 for a result that the caller does not want
  uint64 rows;
  uint32 length, unused;
};

// T: the elements. Index: the dtype of the indices, or void if there are none. kLanes threads with kItems keys each
// hold a row. kFull: the length of a row is exactly kLanes * kItems.
template <class T, bool kDescending, bool kValues, class Index, int kItems, int kLanes, bool kFull, int kBlock>
XPOPS_DEVICE void row_sort(const RowSortParams& params) {
  using Map = Order<T, kDescending>;
  using Bits = typename Map::Bits;
  constexpr bool kIndices = !is_same_v<Index, void>;
  using Item = Sortable<Bits, kIndices>;
  constexpr int kUnit = kLanes > kWarp ? kLanes : kWarp, kRows = kUnit / kLanes, kUnits = kBlock / kUnit;
  // Padding of one item after every line of about 128 bytes: threads one run apart then access different banks.
  constexpr int kLine = 128 / (sizeof(Item) == 12 ? 16 : sizeof(Item));
  constexpr int kPitch = kUnit + kUnit / kLine;
  static_assert(kLine % kItems == 0 && kUnit % kLine == 0, "runs and rounds keep to lines");
  __shared__ Item shared[kUnits][kPitch * kItems];
  const int thread = static_cast<int>(threadIdx.x) % kUnit;
  Item* const buffer = shared[threadIdx.x / kUnit];
  const auto padded = [](int i) { return i + i / kLine; };
  const auto synchronize = [] {
    if constexpr (kUnit == kWarp) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  };

  const int length = kFull ? kItems * kLanes : static_cast<int>(params.length);
  const uint64 first = (static_cast<uint64>(blockIdx.x) * kUnits + threadIdx.x / kUnit) * kRows;
  const uint64 left = first < params.rows ? params.rows - first : 0;
  const int count = static_cast<int>(left < kRows ? left : kRows) * length;
  const uint64 start = first * length + thread;

  const Bits* const x = reinterpret_cast<const Bits*>(params.x) + start;
  Item* const mine = buffer + padded(thread);
  Bits loaded[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) loaded[i] = i * kUnit + thread < count ? x[i * kUnit] : Bits();
#pragma unroll
  for (int i = 0; i < kItems; ++i) mine[i * kPitch] = Item::of(Map::encode(loaded[i]), 0);
  synchronize();

  const int member = thread % kLanes, row = thread / kLanes * length, column = member * kItems;
  const auto inside = [=](int i) { return kFull || (column + i < length && row < count); };
  const auto at = [=](int i) { return kFull ? padded(row + column) + i : padded(row + column + i); };
  Item items[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    items[i] = inside(i) ? Item::of(static_cast<Bits>(buffer[at(i)].key()), column + i) : Item::padding();
  }
  sort_team<kLanes>(items, member, buffer);
  synchronize();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (inside(i)) buffer[at(i)] = items[i];
  }
  synchronize();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (i * kUnit + thread < count) {
      const Item item = mine[i * kPitch];
      if constexpr (kValues) {
        reinterpret_cast<Bits*>(params.values)[start + i * kUnit] = Map::decode(static_cast<Bits>(item.key()));
      }
      if constexpr (kIndices) {
        reinterpret_cast<Index*>(params.indices)[start + i * kUnit] = static_cast<Index>(item.place());
      }
    }
  }
}

}  // namespace xpops
