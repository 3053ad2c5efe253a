// Packs: several elements that one instruction loads or stores.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {

// The widest access of the hardware, in bytes.
constexpr int kMaxPackBytes = 16;

template <int kBytes>
struct Word;
template <>
struct Word<1> {
  using type = uint8;
};
template <>
struct Word<2> {
  using type = uint16;
};
template <>
struct Word<4> {
  using type = uint32;
};
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};

// kSize elements in registers. The plan makes sure that their memory is aligned to the whole pack.
template <class T, int kSize>
struct Pack {
  static constexpr int kBytes = sizeof(T) * kSize;
  static_assert(kBytes <= kMaxPackBytes, "a pack is one access");
  using Bits = typename Word<kBytes>::type;

  union {
    Bits bits;
    T elem[kSize];
  };

  XPOPS_DEVICE Pack() {}
  XPOPS_DEVICE void load(const T* from) { bits = *reinterpret_cast<const Bits*>(from); }
  // This uses an intrinsic, because the compiler splits a plain store if it knows the low bits of the offset.
  XPOPS_DEVICE void store(T* to) const {
#if XPOPS_ON_GPU
    if constexpr (kBytes >= 8) {
      __stwb(reinterpret_cast<Bits*>(to), bits);
      return;
    }
#endif
    *reinterpret_cast<Bits*>(to) = bits;
  }
  // Stores the pack to `to` from element `first` on, but nothing from element `size` on.
  XPOPS_DEVICE void store_within(T* to, uint64 first, uint64 size) const {
    if (first + kSize <= size) {
      store(to + first);
    } else {
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        if (first + i < size) to[first + i] = elem[i];
      }
    }
  }
};

}  // namespace xpops
