// The first elements of each sorted row, without sorting the row, in one read.
//
// A block takes one part of a row. A sample, spread evenly over the part, gives a bound: at least `count` elements do
// not come after it. The block then reads its part and collects the candidates, the elements up to the bound, in shared
// memory. If they fill it, the block keeps the first `count` of them and lowers the bound. In the end it sorts its first
// `count` elements. If a row has several parts, the results of all are a shorter row for the next launch.
//
// Equal keys are ordered by their place. So which elements are chosen does not depend on the order of threads.
#pragma once

#include <xpops/kernels/sort/candidates.cuh>
#include <xpops/kernels/sort/items.cuh>
#include <xpops/math/order.cuh>
#include <xpops/memory/dynamic.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// The kernel parameters, which the host writes (xpops/engine/cuda/kernels/topk.py).
struct TopKParams {
  uint64 values, indices;  // addresses; 0 for a result that the caller does not want
  uint64 x;
  uint64 places;  // int64: where the elements of x were in the rows of the first launch; 0: they are these rows
  uint64 length;  // of a row of x
  uint64 part;  // the elements of each part of a row but the last; whole packs, and at least `count`
  uint64 results;  // of a row: of all its parts
  uint32 parts;  // of a row
  uint32 count;  // the results of a part; fewer if the last part is shorter
};

// The elements that a thread of kBlock loads at once: kPacks packs of 16 bytes.
template <class Map, int kBlock, int kPacks, bool kAligned>
struct TopKTile {
  using Bits = typename Map::Bits;
  using Key = wrap_t<Bits>;
  static constexpr int kPack = kMaxPackBytes / sizeof(Bits), kItems = kPack * kPacks;
  static constexpr uint32 kSize = kBlock * kItems;
  static_assert(kItems <= 32, "a bit for each item");

  // Keys of 8 and 16 bits share words. The compiler would put an array of them into local memory.
  static constexpr int kShare = sizeof(Bits) < 4 ? 4 / sizeof(Bits) : 1, kBits = 8 * sizeof(Bits);
  Key words[kItems / kShare];
  uint32 first, step;  // the place of the first pack, and the distance of the packs
  uint32 valid;  // a bit for each item: it is in the part

  // Loads the packs from `base` on.
  XPOPS_DEVICE void load(const Bits* x, uint32 size, uint32 base) {
    first = base + threadIdx.x * kPack;
    step = kBlock * kPack;
    load_packs(x, size, base + kSize <= size);
  }

  // Loads packs that are spread evenly over the part, which is larger than a tile.
  XPOPS_DEVICE void load_sample(const Bits* x, uint32 size) {
    const uint32 section = size / kItems;  // in packs
    first = static_cast<uint32>(static_cast<uint64>(section) * threadIdx.x / kBlock) * kPack;
    step = section * kPack;
    load_packs(x, size, true);
  }

  // Loads all packs, or as far as they are in the part, and encodes them.
  XPOPS_DEVICE void load_packs(const Bits* x, uint32 size, bool all) {
    valid = 0xffffffffu >> (32 - kItems);
    Bits loaded[kItems];
    if (all) {
      read_packs<true>(x, size, loaded);
    } else {
      read_packs<false>(x, size, loaded);
#pragma unroll
      for (int i = 0; i < kItems; ++i) {
        if (has_pack(i / kPack, size)) continue;
        if (place(i) < size) {
          loaded[i] = x[place(i)];
        } else {
          valid &= ~(1u << i);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kItems; i += kShare) {
      Key word = 0;
#pragma unroll
      for (int j = 0; j < kShare; ++j) word |= static_cast<Key>(Map::encode(loaded[i + j])) << j * kBits;
      words[i / kShare] = word;
    }
  }

  XPOPS_DEVICE bool has_pack(int p, uint32 size) const { return first + p * step + kPack <= size; }

  // Reads all packs, or those that are in the part; issues all loads before the first use.
  template <bool kAll>
  XPOPS_DEVICE void read_packs(const Bits* x, uint32 size, Bits (&loaded)[kItems]) const {
    Pack<Bits, kPack> packs[kPacks];
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const Bits* const from = x + (first + p * step);
      if (!kAll && !has_pack(p, size)) {
#pragma unroll
        for (int i = 0; i < kPack; ++i) packs[p].elem[i] = Bits();
      } else if constexpr (kAligned) {
        packs[p].load(from);
      } else {
        packs[p].load_unaligned(from);
      }
    }
#pragma unroll
    for (int i = 0; i < kItems; ++i) loaded[i] = packs[i / kPack].elem[i % kPack];
  }

  XPOPS_DEVICE Key key(int i) const { return static_cast<Bits>(words[i / kShare] >> i % kShare * kBits); }
  XPOPS_DEVICE uint32 place(int i) const { return first + i / kPack * step + i % kPack; }
  XPOPS_DEVICE bool has(int i) const { return valid >> i & 1; }

  XPOPS_DEVICE uint32 admitted(const Bound<Key>& bound) const {
    uint32 flags = 0;
#pragma unroll
    for (int i = 0; i < kItems; ++i) flags |= static_cast<uint32>(key(i) <= bound.key) << i;
    flags &= valid;
    if (flags == 0) return 0;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (key(i) == bound.key && place(i) > bound.place) flags &= ~(1u << i);
    }
    return flags;
  }

  // A bound that at least `count` items do not exceed. It is found among the least items of kGroups groups of each
  // thread: then no other group has an item up to the bound. If there are fewer groups, the bound admits everything.
  template <int kGroups>
  XPOPS_DEVICE Bound<Key> bound_for(RankSpace& space, uint32 count) const {
    constexpr int kGroup = kItems / kGroups;
    LeastItems<Key, kGroups> groups;
    uint32 count_of_groups = 0;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
#pragma unroll
      for (int i = g * kGroup; i < (g + 1) * kGroup; ++i) {
        if (has(i) && (!(groups.filled >> g & 1) || key(i) < groups.least[g].key)) {
          groups.least[g] = {key(i), place(i)};
          groups.filled |= 1u << g;
        }
      }
      count_of_groups += __syncthreads_count(groups.filled >> g & 1);
    }
    if (count_of_groups < count) return {static_cast<Key>(~Key(0)), ~0u};
    return bound_at<Key>(space, groups, count - 1);
  }
};

// T: the elements. Index: the dtype of the indices. kGroups: see TopKTile::bound_for. kCapacity: the most candidates,
// at least kBlock, and more than kRoom. kRoom: see sort_first. kAligned: whether all parts begin at whole packs.
template <class T, bool kDescending, class Index, int kBlock, int kPacks, int kGroups, int kCapacity, int kRoom,
          bool kAligned>
XPOPS_DEVICE void topk(const TopKParams& params) {
  using Map = Order<T, kDescending>;
  using Tile = TopKTile<Map, kBlock, kPacks, kAligned>;
  using Key = typename Tile::Key;
  using Item = conditional_t<sizeof(Key) == 8, PlacedTriple, PlacedLong>;
  __shared__ RankSpace space;
  __shared__ uint32 added;
  Candidates<Item, kBlock, kCapacity> candidates{static_cast<Item*>(dynamic_shared<kCapacity * sizeof(Item)>()),
                                                 &added};

  const uint64 row = blockIdx.x / params.parts, part = blockIdx.x % params.parts, start = part * params.part;
  const uint64 left = params.length - start;
  const uint32 size = static_cast<uint32>(left < params.part ? left : params.part);
  const uint32 count = size < params.count ? size : params.count;
  const auto* const x = reinterpret_cast<const typename Map::Bits*>(params.x) + row * params.length + start;

  if (threadIdx.x == 0) added = 0;
  Tile tile;
  const bool whole = size <= Tile::kSize;
  if (whole) {
    tile.load(x, size, 0);
  } else {
    tile.load_sample(x, size);
  }
  Bound<Key> bound = tile.template bound_for<kGroups>(space, count);
  __syncthreads();
  // Warps do not wait for each other, until one finds no room. Then all of them stop. That warp goes on with its other
  // items when there is room.
  uint32 base = 0, pending = ~0u;
  for (;;) {
#pragma unroll 1
    while (base < size && !candidates.overflowed()) {
      if (!whole) tile.load(x, size, base);
      const uint32 left = candidates.template add<Tile::kItems>(pending & tile.admitted(bound), [&](int i) {
        return Item::of(tile.key(i), tile.place(i));
      });
      const bool stuck = __any_sync(kFullMask, left != 0);
      pending = stuck ? left : ~0u;
      if (!stuck) base += Tile::kSize;
    }
    __syncthreads();
    if (!candidates.overflowed()) break;
    bound = candidates.template keep<Key>(space, count);
  }
  if (candidates.held() > count) candidates.template keep<Key>(space, count);
  sort_first<kBlock, kRoom>(candidates.items, count);

  const uint64 to = row * params.results + part * params.count;
  for (uint32 i = threadIdx.x; i < count; i += kBlock) {
    const Item item = candidates.items[i];
    if (params.values) {
      reinterpret_cast<typename Map::Bits*>(params.values)[to + i] = Map::decode(
          static_cast<typename Map::Bits>(item.key()));
    }
    if (params.indices) {
      const uint64 place = start + item.place();
      reinterpret_cast<Index*>(params.indices)[to + i] = static_cast<Index>(
          params.places ? reinterpret_cast<const int64*>(params.places)[row * params.length + place] : place);
    }
  }
}

}  // namespace xpops
