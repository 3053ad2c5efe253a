// The items that sorting networks compare: a key alone, or a key and its original place, which makes a sort stable.
#pragma once

#include <xpops/core/traits.cuh>

namespace xpops {

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

}  // namespace xpops
