// The predicates of a selection: an element is not 0, or differs from the element before it.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/core/types.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

// Loads kSize elements, with accesses of kAccess elements, to which their address is aligned.
template <class T, int kSize, int kAccess>
XPOPS_DEVICE void load_elements(const T* from, T* to) {
  constexpr int kWidth = kAccess < kSize ? kAccess : kSize;
#pragma unroll
  for (int i = 0; i < kSize; i += kWidth) {
    Pack<T, kWidth> pack;
    pack.load(from + i);
#pragma unroll
    for (int j = 0; j < kWidth; ++j) to[i + j] = pack.elem[j];
  }
}

// A predicate has
//   Fragment          the values that are needed to test kPack neighbouring elements
//   load(...)         loads a Fragment
//   flags(...)        tests the elements of a Fragment, and returns one bit for each
//   chosen_at(x, i)   tests one element in memory

template <class T, int kAccess>
struct NonZero {
  using Element = typename Storage<T>::type;
  static constexpr int kPack = kMaxPackBytes / sizeof(Element);

  union Fragment {
    Element elem[kPack];
    uint32 words[kMaxPackBytes / 4];
    XPOPS_DEVICE Fragment() {}
  };

  XPOPS_DEVICE static void load(const Element* x, uint64 first, Fragment& to) {
    load_elements<Element, kPack, kAccess>(x + first, to.elem);
  }

  XPOPS_DEVICE static uint32 flags(const Fragment& from, uint64) {
    uint32 found = 0;
    if constexpr (is_same_v<T, bool>) {
#pragma unroll
      for (int i = 0; i < kPack / 4; ++i) {
        const uint32 word = from.words[i];
        // Mark every nonzero byte by its highest bit, then pack these four bits.
        const uint32 highest = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
        found |= (highest * 0x00204081u) >> 28 << (4 * i);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) found |= static_cast<uint32>(chosen(from.elem[i])) << i;
    }
    return found;
  }

  XPOPS_DEVICE static bool chosen_at(const Element* x, uint64 i) { return chosen(x[i]); }
  XPOPS_DEVICE static bool chosen(Element x) { return cast<bool>(x); }
};

// Chooses an element that differs from the element before it, and the first element.
template <class T, int kAccess>
struct Differs {
  using Element = typename Storage<T>::type;
  static constexpr int kPack = kMaxPackBytes / sizeof(Element);

  struct Fragment {
    Element elem[kPack], before;
    XPOPS_DEVICE Fragment() {}
  };

  XPOPS_DEVICE static void load(const Element* x, uint64 first, Fragment& to) {
    load_elements<Element, kPack, kAccess>(x + first, to.elem);
    to.before = x[first == 0 ? 0 : first - 1];
  }

  XPOPS_DEVICE static uint32 flags(const Fragment& from, uint64 first) {
    uint32 found = first == 0 || differ(from.before, from.elem[0]);
#pragma unroll
    for (int i = 1; i < kPack; ++i) found |= static_cast<uint32>(differ(from.elem[i - 1], from.elem[i])) << i;
    return found;
  }

  XPOPS_DEVICE static bool chosen_at(const Element* x, uint64 i) { return i == 0 || differ(x[i - 1], x[i]); }
  XPOPS_DEVICE static bool differ(Element x, Element y) { return cast<compute_t<T>>(x) != cast<compute_t<T>>(y); }
};

}  // namespace xpops
