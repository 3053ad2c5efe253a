// A bound among items that the threads of a block hold: keys, ordered by their places where they are equal.
#pragma once

#include <xpops/block/rank.cuh>

namespace xpops {

// A bound in the order of (key, place).
template <class Key>
struct Bound {
  Key key;
  uint32 place;
  XPOPS_DEVICE bool admits(Key other, uint32 at) const { return other < key || (other == key && at <= place); }
};

// Visitors of words for words_to_rank, from a visitor of items, which calls f(key, place). They are structures, because
// NVRTC before 13 takes generic lambdas for functions of the host.
template <class Key, class Items>
struct KeysOf {
  const Items& items;
  template <class Function>
  XPOPS_DEVICE void operator()(const Function& f) const {
    items([&](Key key, uint32) { f(key); });
  }
};

template <class Key, class Items>
struct PlacesOf {
  const Items& items;
  Key chosen;
  template <class Function>
  XPOPS_DEVICE void operator()(const Function& f) const {
    items([&](Key key, uint32 place) {
      if (key == chosen) f(place);
    });
  }
};

// The bound that admits all items up to rank `rank`. items(f) calls f(key, place) for each item of this thread.
template <class Key, class Items>
XPOPS_DEVICE Bound<Key> bound_at(RankSpace& space, const Items& items, uint32 rank) {
  const Ranked<Key> keys = words_to_rank<Key>(space, KeysOf<Key, Items>{items}, rank);
  if (keys.whole) return {keys.bound, ~0u};
  const PlacesOf<Key, Items> equal{items, keys.bound};
  return {keys.bound, words_to_rank<uint32>(space, equal, keys.rest).bound};
}

// The least items of kGroups groups of items of a thread; a bit is set for each group that is not empty.
template <class Key, int kGroups>
struct LeastItems {
  Bound<Key> least[kGroups];
  uint32 filled = 0;
  template <class Function>
  XPOPS_DEVICE void operator()(const Function& f) const {
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      if (filled >> g & 1) f(least[g].key, least[g].place);
    }
  }
};

}  // namespace xpops
