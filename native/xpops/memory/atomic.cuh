// Atomic addition that does not return the old value: the L2 adds, and the thread does not wait.
//
// Where the hardware has no instruction, a loop of compare-and-swap adds, which is several times slower. This is so for
// single 16-bit floats, and for all bfloat16 before sm_90. So a 16-bit float is added as a pair with its neighbour, to
// which -0.0 is added. This changes no number, but adding +0.0 would make -0.0 positive. The hardware flushes float32
// subnormals in global memory to zero, but not those of 16-bit floats and float64.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>

namespace xpops {
namespace detail {

// Replaces a word by `change` of it, by a loop of compare-and-swap, for words that atomicCAS supports.
template <class Word, class Change>
XPOPS_DEVICE void swap_until(Word* at, const Change& change) {
  Word seen = *reinterpret_cast<volatile Word*>(at);
  for (;;) {
    const Word found = atomicCAS(at, seen, change(seen));
    if (found == seen) return;
    seen = found;
  }
}

template <class T>
XPOPS_DEVICE uint16 bits_of_sum(uint16 bits, float x) {
  T old;
  old.bits = bits;
  return T(static_cast<float>(old) + x).bits;
}

// The bits of a word with `low` in its lower half and `high` in its upper half.
template <class T>
XPOPS_DEVICE uint32 pair_bits(T low, T high) {
  return static_cast<uint32>(low.bits) | static_cast<uint32>(high.bits) << 16;
}

template <class T>
XPOPS_DEVICE void add_pair(uint32* to, T low, T high) {
#if defined(__CUDA_ARCH__)
  const uint32 pair = pair_bits(low, high);
  if constexpr (is_same_v<T, float16>) {
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(to), "r"(pair) : "memory");
    return;
  }
#if __CUDA_ARCH__ >= 900
  if constexpr (is_same_v<T, bfloat16>) {
    asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(to), "r"(pair) : "memory");
    return;
  }
#endif
#endif
  swap_until(to, [=](uint32 word) {
    const uint32 sum = bits_of_sum<T>(static_cast<uint16>(word), cast<float>(low));
    return sum | static_cast<uint32>(bits_of_sum<T>(static_cast<uint16>(word >> 16), cast<float>(high))) << 16;
  });
}

}  // namespace detail

// Adds x to an element. `end` is the end of the array, whose first element is aligned to 4 bytes.
template <class T>
XPOPS_DEVICE void atomic_add(T* to, T x, const T* end) {
  if constexpr (is_half_v<T>) {
    T zero;
    zero.bits = 0x8000;
    const bool upper = reinterpret_cast<uint64>(to) & 2;
    if (upper) {
      detail::add_pair(reinterpret_cast<uint32*>(to - 1), zero, x);
    } else if (to + 1 < end) {
      detail::add_pair(reinterpret_cast<uint32*>(to), x, zero);
    } else {  // the neighbour is outside of the array
      detail::swap_until(&to->bits, [=](uint16 bits) { return detail::bits_of_sum<T>(bits, cast<float>(x)); });
    }
#if !XPOPS_ON_GPU  // host compilers have atomicAdd for integers only
  } else if constexpr (is_floating_v<T>) {
    detail::swap_until(reinterpret_cast<unsigned_t<T>*>(to),
                       [=](unsigned_t<T> bits) { return float_bits(bits_float(bits) + x); });
#endif
  } else if constexpr (is_floating_v<T>) {
    atomicAdd(to, x);
  } else {
    atomicAdd(reinterpret_cast<unsigned_t<T>*>(to), static_cast<unsigned_t<T>>(x));
  }
}

// Adds kCount neighbouring elements. Their address is aligned to their total size, or to 16 bytes.
template <class T, int kCount>
XPOPS_DEVICE void atomic_add_pack(T* to, const T (&x)[kCount], const T* end) {
  if constexpr (sizeof(T) * kCount > 16) {
    constexpr int kPart = 16 / sizeof(T);
#pragma unroll
    for (int first = 0; first < kCount; first += kPart) {
      T part[kPart];
#pragma unroll
      for (int i = 0; i < kPart; ++i) part[i] = x[first + i];
      atomic_add_pack(to + first, part, end);
    }
    return;
  }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (is_same_v<T, float> && kCount == 4) {
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3])
                 : "memory");
    return;
  } else if constexpr (is_same_v<T, float> && kCount == 2) {
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(x[0]), "f"(x[1]) : "memory");
    return;
  } else if constexpr (is_half_v<T> && kCount >= 4) {
    uint32 pairs[kCount / 2];
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) pairs[i] = detail::pair_bits(x[2 * i], x[2 * i + 1]);
    if constexpr (kCount == 8 && is_same_v<T, float16>) {
      asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(pairs[0]), "r"(pairs[1]),
                   "r"(pairs[2]), "r"(pairs[3])
                   : "memory");
    } else if constexpr (kCount == 8) {
      asm volatile("red.global.add.noftz.v4.bf16x2 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(pairs[0]), "r"(pairs[1]),
                   "r"(pairs[2]), "r"(pairs[3])
                   : "memory");
    } else if constexpr (is_same_v<T, float16>) {
      asm volatile("red.global.add.noftz.v2.f16x2 [%0], {%1, %2};" ::"l"(to), "r"(pairs[0]), "r"(pairs[1]) : "memory");
    } else {
      asm volatile("red.global.add.noftz.v2.bf16x2 [%0], {%1, %2};" ::"l"(to), "r"(pairs[0]), "r"(pairs[1]) : "memory");
    }
    return;
  }
#endif
  if constexpr (is_half_v<T> && kCount > 1) {
#pragma unroll
    for (int i = 0; i < kCount; i += 2) detail::add_pair(reinterpret_cast<uint32*>(to + i), x[i], x[i + 1]);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) atomic_add(to + i, x[i], end);
  }
}

}  // namespace xpops
