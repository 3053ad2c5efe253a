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
  static constexpr int kWord = kBytes < kMaxPackBytes ? kBytes : kMaxPackBytes;
  static constexpr int kWords = kBytes / kWord;
  using Bits = typename Word<kWord>::type;

  union {
    Bits bits[kWords];
    T elem[kSize];
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
  // Loads from memory that is aligned to an element only: loads the aligned words that hold the pack, and shifts them.
  // Each word that it reads holds at least one byte of the pack.
  XPOPS_DEVICE void load_unaligned(const T* from) {
    if constexpr (kSize == 1 || kBytes < 4) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) elem[i] = from[i];
    } else {
      const uint32 skip = static_cast<uint32>(reinterpret_cast<uint64>(from)) % kWord;
      const Bits* words = reinterpret_cast<const Bits*>(reinterpret_cast<const char*>(from) - skip);
      union {
        Bits loaded[kWords + 1];
        uint32 parts[kParts + kWord / 4];
      };
#pragma unroll
      for (int i = 0; i < kWords; ++i) loaded[i] = words[i];
      loaded[kWords] = loaded[kWords - 1];
      if (skip) loaded[kWords] = words[kWords];
      shift(parts, skip);
#pragma unroll
      for (int i = 0; i < kWords; ++i) bits[i] = loaded[i];
    }
  }
  // Loads the elements [begin, end) of such a pack; the others become zeros. No branch waits for a load, so the loads of
  // several packs are in flight at once. Each word that it reads holds at least one of these elements.
  XPOPS_DEVICE void load_part(const T* from, int begin, int end) {
    if constexpr (kSize == 1 || kBytes < 4) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) elem[i] = i >= begin && i < end ? from[i] : T{};
    } else {
      const int skip = static_cast<int>(reinterpret_cast<uint64>(from) % kWord), size = static_cast<int>(sizeof(T));
      const Bits* words = reinterpret_cast<const Bits*>(reinterpret_cast<const char*>(from) - skip);
      union {
        Bits loaded[kWords + 1];
        uint32 parts[kParts + kWord / 4];
      };
#pragma unroll
      for (int i = 0; i <= kWords; ++i) {
        loaded[i] = Bits{};
        if (begin < end && skip + begin * size < (i + 1) * kWord && skip + end * size > i * kWord) loaded[i] = words[i];
      }
      shift(parts, static_cast<uint32>(skip));
#pragma unroll
      for (int i = 0; i < kWords; ++i) bits[i] = loaded[i];
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        if (i < begin || i >= end) elem[i] = T{};
      }
    }
  }
  XPOPS_DEVICE void reverse() {
#pragma unroll
    for (int i = 0; i < kSize / 2; ++i) {
      const T moved = elem[i];
      elem[i] = elem[kSize - 1 - i];
      elem[kSize - 1 - i] = moved;
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
  static constexpr int kParts = kBytes / 4;

  // Moves the parts down by `skip` bytes, less than a word.
  template <int kSize_>
  XPOPS_DEVICE static void shift(uint32 (&parts)[kSize_], uint32 skip) {
    if constexpr (kWord == 16) drop<2>(parts, skip & 8);
    if constexpr (kWord >= 8 && sizeof(T) < 8) drop<1>(parts, skip & 4);
    if constexpr (sizeof(T) < 4) {
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        parts[i] = static_cast<uint32>((static_cast<uint64>(parts[i + 1]) << 32 | parts[i]) >> (skip & 3) * 8);
      }
    }
  }

  // Moves the parts down by kCount if `any`.
  template <int kCount, int kSize_>
  XPOPS_DEVICE static void drop(uint32 (&parts)[kSize_], bool any) {
    if (!any) return;
#pragma unroll
    for (int i = 0; i + kCount < kSize_; ++i) parts[i] = parts[i + kCount];
  }
};

}  // namespace xpops
