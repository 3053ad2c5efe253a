// Packs whose elements are in one row of memory, or in two: the last ones of a row and the first ones of the next.
//
// Loads are in flight until settle(): loads of other packs begin before the first one is awaited.
#pragma once

#include <xpops/core/traits.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// Nothing is left to do after the loads.
struct Settled {
  XPOPS_DEVICE void settle() {}
};

template <class T, int kSize>
struct LoadedPack : Settled {
  Pack<T, kSize> pack;
};

// In a row, elements are neighbours: in the order of the pack, or in the reversed order.
template <class T, int kSize, bool kReversed>
struct RowPack {
  // Whether words are loaded, and shifted, instead of elements; and whether words of two rows are.
  static constexpr bool kWords = sizeof(T) >= 4 || (sizeof(T) * kSize >= 4 && kSize > 2);
  static constexpr bool kSplices = kWords && sizeof(T) < 4;
  Pack<T, kSize> pack;

  // Loads a pack that does not leave its row.
  XPOPS_DEVICE void load_row(const T* row) {
    left = kSize;
    if constexpr (kWords) words.load(begin(row), 0, kSize);
    else each([&](int i, int at) { pack.elem[i] = begin(row)[at]; });
  }
  // Loads `count` elements from `row` on, and the others from `other` on. Each word is read for one of its elements.
  XPOPS_DEVICE void load_rows(const T* row, const T* other, int count) {
    left = count;
    const T* then = kReversed ? other + count : other - count;
    if constexpr (kSplices) {
      words.load(begin(row), kReversed ? kSize - count : 0, kReversed ? kSize : count);
      next.load(begin(then), kReversed ? 0 : count, kReversed ? kSize - count : kSize);
    } else if constexpr (kWords) {
      words.skip = 0;
      each([&](int i, int at) { words.elements[at] = begin(i < count ? row : then)[at]; });
    } else {
      each([&](int i, int at) { pack.elem[i] = begin(i < count ? row : then)[at]; });
    }
  }
  XPOPS_DEVICE void settle() {
    if constexpr (kWords) {
      words.shift();
      if constexpr (kSplices) {
        if (left < kSize) {
          next.shift();
          if constexpr (kReversed) words.splice(next, words, kSize - left);
          else words.splice(words, next, left);
        }
      }
      pack.take(words);
      if constexpr (kReversed) pack.reverse();
    }
  }

 private:
  struct None {};
  using Words = conditional_t<kWords, UnalignedWords<T, kWords ? kSize : 4>, None>;
  Words words, next;
  int left;  // elements of the first row

  // Of a pack whose first element is at `row`.
  XPOPS_DEVICE static const T* begin(const T* row) { return kReversed ? row - (kSize - 1) : row; }

  // Calls visit(i, at) for each element i, and its place in memory after the begin.
  template <class Visit>
  XPOPS_DEVICE static void each(const Visit& visit) {
#pragma unroll
    for (int i = 0; i < kSize; ++i) visit(i, kReversed ? kSize - 1 - i : i);
  }
};

// All elements of a row are the same.
template <class T, int kSize>
struct RepeatedPack {
  Pack<T, kSize> pack;
  T first, second;
  int left;  // elements of the first row

  XPOPS_DEVICE void load_row(const T* row) {
    left = kSize;
    first = *row;
  }
  XPOPS_DEVICE void load_rows(const T* row, const T* other, int count) {
    left = count;
    first = *row;
    second = *other;
  }
  XPOPS_DEVICE void settle() {
#pragma unroll
    for (int i = 0; i < kSize; ++i) pack.elem[i] = i < left ? first : second;
  }
};

}  // namespace xpops
