// Packs: several elements that one instruction loads or stores.
#pragma once

#include <xpops/core/config.cuh>
#include <xpops/core/traits.cuh>

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

// The aligned words that hold kSize elements of memory that is aligned to an element only.
template <class T, int kSize>
struct UnalignedWords {
  static constexpr int kItem = sizeof(T), kBytes = kItem * kSize;
  static constexpr int kWord = kBytes < kMaxPackBytes ? kBytes : kMaxPackBytes, kWords = kBytes / kWord;
  static_assert(kBytes >= 4, "words are shifted in parts of four bytes");
  static constexpr int kParts = kBytes / 4;
  using Bits = typename Word<kWord>::type;

  union {
    Bits words[kWords + 1];
    uint32 parts[kParts + kWord / 4];
    T elements[kSize];
  };
  uint32 skip;  // the bytes before the first element

  XPOPS_DEVICE UnalignedWords() {}
  // Loads the words that hold any of the elements [begin, end) of those at `from`. No branch waits for a load, so many
  // loads are in flight at once.
  XPOPS_DEVICE void load(const T* from, int begin, int end) {
    skip = static_cast<uint32>(reinterpret_cast<uint64>(from)) % kWord;
    const Bits* aligned = reinterpret_cast<const Bits*>(reinterpret_cast<const char*>(from) - skip);
    const int first = static_cast<int>(skip) + begin * kItem, last = static_cast<int>(skip) + end * kItem;
#pragma unroll
    for (int i = 0; i <= kWords; ++i) {
      words[i] = Bits{};
      if (begin < end && first < (i + 1) * kWord && last > i * kWord) words[i] = aligned[i];
    }
  }
  // Moves the elements to the first words.
  XPOPS_DEVICE void shift() {
    if constexpr (kWord == 16) drop<2>(skip & 8);
    if constexpr (kWord >= 8 && kItem < 8) drop<1>(skip & 4);
    if constexpr (kItem < 4) {
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        parts[i] = static_cast<uint32>((static_cast<uint64>(parts[i + 1]) << 32 | parts[i]) >> (skip & 3) * 8);
      }
    }
  }
  // Joins the elements below `split` of some words, and the others of other words. Both are shifted.
  XPOPS_DEVICE void splice(const UnalignedWords& below, const UnalignedWords& above, int split) {
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      const int bytes = split * kItem - 4 * i;  // of this part, from `below`
      const uint32 ones = static_cast<uint32>((uint64(1) << 8 * (bytes < 0 ? 0 : bytes < 4 ? bytes : 4)) - 1);
      parts[i] = (below.parts[i] & ones) | (above.parts[i] & ~ones);
    }
  }

 private:
  // Moves all parts down by kCount, if `any`.
  template <int kCount>
  XPOPS_DEVICE void drop(bool any) {
    if (!any) return;
#pragma unroll
    for (int i = 0; i + kCount < kParts + kWord / 4; ++i) parts[i] = parts[i + kCount];
  }
};

// kSize elements in registers. The plan makes sure that their memory is aligned to the whole pack.
template <class T, int kSize>
struct Pack {
  static constexpr int kBytes = sizeof(T) * kSize;
  static constexpr int kWord = kBytes < kMaxPackBytes ? kBytes : kMaxPackBytes;
  static constexpr int kWords = kBytes / kWord;
  using Bits = typename Word<kWord>::type;

  using Pair = conditional_t<kBytes % 4 == 0, uint32, T>;  // of elements of 2 bytes

  union {
    Bits bits[kWords];
    T elem[kSize];
    Pair pairs[kBytes / sizeof(Pair)];
  };

  XPOPS_DEVICE Pack() {}
  XPOPS_DEVICE void load(const T* from) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) bits[i] = reinterpret_cast<const Bits*>(from)[i];
  }
  // Loads the pack if `exists`; else it becomes zeros.
  XPOPS_DEVICE void load_if(bool exists, const T* from) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      bits[i] = Bits{};
      if (exists) bits[i] = reinterpret_cast<const Bits*>(from)[i];
    }
  }
  // Loads from memory that is aligned to an element only. Each word that it reads holds at least one byte of the pack.
  XPOPS_DEVICE void load_unaligned(const T* from) {
    if constexpr (kSize == 1 || kBytes < 4) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) elem[i] = from[i];
    } else {
      UnalignedWords<T, kSize> words;
      words.load(from, 0, kSize);
      words.shift();
      take(words);
    }
  }
  // Loads the elements [begin, end) of such a pack; the others become zeros. No branch waits for a load, so the loads of
  // several packs are in flight at once. Each word that it reads holds at least one of these elements.
  XPOPS_DEVICE void load_part(const T* from, int begin, int end) {
    if constexpr (kSize == 1 || kBytes < 4) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) elem[i] = i >= begin && i < end ? from[i] : T{};
    } else {
      UnalignedWords<T, kSize> words;
      words.load(from, begin, end);
      words.shift();
      take(words);
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        if (i < begin || i >= end) elem[i] = T{};
      }
    }
  }
  // The words are shifted.
  XPOPS_DEVICE void take(const UnalignedWords<T, kSize>& words) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) bits[i] = words.words[i];
  }
  XPOPS_DEVICE void reverse() {
    if constexpr (sizeof(T) == 1 && kBytes >= 4) {
      constexpr int kParts = kBytes / 4;
      uint32 parts[kParts];
#pragma unroll
      for (int i = 0; i < kParts; ++i) parts[i] = reversed(reinterpret_cast<const uint32*>(bits)[kParts - 1 - i]);
#pragma unroll
      for (int i = 0; i < kParts; ++i) reinterpret_cast<uint32*>(bits)[i] = parts[i];
    } else {
#pragma unroll
      for (int i = 0; i < kSize / 2; ++i) {
        const T moved = elem[i];
        elem[i] = elem[kSize - 1 - i];
        elem[kSize - 1 - i] = moved;
      }
    }
  }
  // Hides from the compiler what it knows of the elements, so that it computes from them again instead of keeping results.
  XPOPS_DEVICE void forget() {
#if XPOPS_ON_GPU
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      if constexpr (kWord == 16) {
        asm volatile("" : "+r"(bits[i].x), "+r"(bits[i].y), "+r"(bits[i].z), "+r"(bits[i].w));
      } else if constexpr (kWord == 8) {
        asm volatile("" : "+r"(bits[i].x), "+r"(bits[i].y));
      } else {
        uint32 word = bits[i];
        asm volatile("" : "+r"(word));
        bits[i] = static_cast<Bits>(word);
      }
    }
#endif
  }
  // To global memory only: this uses an intrinsic, because the compiler splits a plain store if it knows the low bits
  // of the offset.
  XPOPS_DEVICE void store(T* to) const {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
#if XPOPS_ON_GPU
      if constexpr (kWord >= 8) {
        __stwb(reinterpret_cast<Bits*>(to) + i, bits[i]);
        continue;
      }
#endif
      reinterpret_cast<Bits*>(to)[i] = bits[i];
    }
  }
  // To shared memory.
  XPOPS_DEVICE void stage(T* to) const {
#pragma unroll
    for (int i = 0; i < kWords; ++i) reinterpret_cast<Bits*>(to)[i] = bits[i];
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

 private:
  // Four bytes in the reversed order: one instruction.
  XPOPS_DEVICE static uint32 reversed(uint32 part) {
    const uint32 halves = part << 16 | part >> 16;
    return (halves & 0x00ff00ff) << 8 | (halves >> 8 & 0x00ff00ff);
  }
};

}  // namespace xpops
