// The candidates of a block for the first elements of a sorted row, in shared memory.
#pragma once

#include <xpops/block/bitonic.cuh>
#include <xpops/kernels/sort/bound.cuh>

namespace xpops {

// Visits the candidates of a block: a thread of kBlock visits every kBlock-th.
template <class Key, class Item, int kBlock>
struct HeldItems {
  const Item* items;
  uint32 size;
  template <class Function>
  XPOPS_DEVICE void operator()(const Function& f) const {
    for (uint32 i = threadIdx.x; i < size; i += kBlock) f(static_cast<Key>(items[i].key()), items[i].place());
  }
};

template <class Item, int kBlock, int kCapacity>
struct Candidates {
  Item* items;
  uint32* added;  // may exceed kCapacity: the items beyond it were not written

  XPOPS_DEVICE uint32 held() const { return *added < kCapacity ? *added : kCapacity; }

  // Whether an item found no room. All lanes must call.
  XPOPS_DEVICE bool overflowed() const {
    return __any_sync(kFullMask, *static_cast<const volatile uint32*>(added) > kCapacity);
  }

  // Adds the items whose bits are set, as far as there is room. Returns the bits of the others. All lanes must call.
  template <int kItems, class Make>
  XPOPS_DEVICE uint32 add(uint32 flags, const Make& make) {
    if (!__any_sync(kFullMask, flags != 0)) return 0;
    const uint32 own = __popc(flags);
    uint32 upto = own, at = 0;
#pragma unroll
    for (int reach = 1; reach < kWarp; reach *= 2) {
      const uint32 below = shuffle_up(upto, reach);
      if (lane() >= reach) upto += below;
    }
    if (lane() == kWarp - 1) at = atomicAdd(added, upto);
    at = shuffle(at, kWarp - 1) + upto - own;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (flags >> i & 1) {
        if (at < kCapacity) {
          items[at] = make(i);
          flags &= ~(1u << i);
        }
        ++at;
      }
    }
    return flags;
  }

  // Keeps the first `count` of more items. Returns their bound. All threads must call, after a barrier.
  template <class Key>
  XPOPS_DEVICE Bound<Key> keep(RankSpace& space, uint32 count) {
    const uint32 size = held();
    const HeldItems<Key, Item, kBlock> all{items, size};
    const Bound<Key> bound = bound_at<Key>(space, all, count - 1);
    if (threadIdx.x == 0) *added = 0;
    for (uint32 base = 0; base < size; base += kBlock) {  // writes only to places that all threads have read
      const uint32 i = base + threadIdx.x;
      const Item item = i < size ? items[i] : Item::padding();
      __syncthreads();
      add<1>(i < size && bound.admits(static_cast<Key>(item.key()), item.place()), [&](int) { return item; });
    }
    __syncthreads();
    return bound;
  }
};

// Sorts the first `count` items in shared memory; kRoom, a power of two, is at least as large.
template <int kBlock, int kRoom, class Item>
XPOPS_DEVICE void sort_first(Item* items, uint32 count) {
  constexpr int kLanes = kRoom <= 8 * kWarp ? kWarp : kBlock, kItems = kRoom > kLanes ? kRoom / kLanes : 1;
  if (kLanes == kBlock || warp() == 0) {
    Item own[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const uint32 at = i * kLanes + threadIdx.x;
      own[i] = at < count ? items[at] : Item::padding();
    }
    sort_team<kLanes>(own, static_cast<int>(threadIdx.x), items);
    if constexpr (kLanes == kBlock) __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) items[threadIdx.x * kItems + i] = own[i];
  }
  __syncthreads();
}

}  // namespace xpops
