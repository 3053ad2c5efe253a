// Sorts rows that fit in the registers of a team of threads, by a sorting network (block/bitonic.cuh). A warp sorts
// several short rows, a block one long row.
//
// The rows of a warp (or block) are contiguous in memory, and all its accesses are coalesced. Through shared memory
// each thread gets a run of its row, and returns it after the sort.
#pragma once

#include <xpops/block/bitonic.cuh>
#include <xpops/kernels/sort/items.cuh>
#include <xpops/math/order.cuh>

namespace xpops {

// The kernel parameters, which the host writes (xpops/engine/cuda/kernels/sort.py).
struct RowSortParams {
  uint64 values, indices, x;  // addresses; 0 for a result that the caller does not want
  uint64 rows;
  uint32 length, kept;  // the elements of a row, and those that the results keep: the first of the sorted row
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
  const auto write = [&](uint64 to, const Item& item) {
    if constexpr (kValues) {
      reinterpret_cast<Bits*>(params.values)[to] = Map::decode(static_cast<Bits>(item.key()));
    }
    if constexpr (kIndices) reinterpret_cast<Index*>(params.indices)[to] = static_cast<Index>(item.place());
  };
  if (params.kept < params.length) {
    const uint64 to = (first + thread / kLanes) * params.kept;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (row < count && column + i < static_cast<int>(params.kept)) write(to + column + i, items[i]);
    }
    return;
  }
  synchronize();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (inside(i)) buffer[at(i)] = items[i];
  }
  synchronize();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (i * kUnit + thread < count) write(start + i * kUnit, mine[i * kPitch]);
  }
}

}  // namespace xpops
