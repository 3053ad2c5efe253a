// Atomic functions for the dtypes that CUDA C++ leaves out. As CUDA's, they return the old value, and work in global and
// in shared memory. FastAtomicAdd returns nothing, and is faster for 16-bit floats in global memory.
//
// They are templates: where CUDA C++, or the source itself, has a function for a dtype, that one is called.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/user/half.cuh>

namespace xpops {

// An element in memory: the type of the numbers it holds, and their bits. Partial specialisations may add elements.
template <class T, class = void> struct Element {};
template <class T>
struct Element<T, enable_if_t<is_number_v<T> || is_half_v<T> || is_float8_v<T>>> {
  using Value = T;
  using Bits = unsigned_t<T>;
  XPOPS_DEVICE static Value value(Bits bits) { return __builtin_bit_cast(T, bits); }
  XPOPS_DEVICE static Bits bits(Value x) { return __builtin_bit_cast(Bits, x); }
};
template <> struct Element<bool> {
  using Value = bool;
  using Bits = uint8;
  XPOPS_DEVICE static bool value(uint8 bits) { return bits != 0; }
  XPOPS_DEVICE static uint8 bits(bool x) { return x; }
};

// The type of a function's other arguments, so that only the pointer decides what T is.
template <class T> using value_t = typename Element<T>::Value;

namespace detail {

XPOPS_DEVICE uint16 swap_if(uint16* at, uint16 seen, uint16 next) { return ::atomicCAS(at, seen, next); }
XPOPS_DEVICE uint32 swap_if(uint32* at, uint32 seen, uint32 next) { return ::atomicCAS(at, seen, next); }
XPOPS_DEVICE uint64 swap_if(uint64* at, uint64 seen, uint64 next) { return ::atomicCAS(at, seen, next); }
// CUDA has no such function for a byte. The other byte of the two keeps its value.
XPOPS_DEVICE uint8 swap_if(uint8* at, uint8 seen, uint8 next) {
  const uint64 address = reinterpret_cast<uint64>(at);
  const int shift = 8 * static_cast<int>(address & 1);
  uint16* both = reinterpret_cast<uint16*>(address & ~uint64(1));
  uint16 old = *reinterpret_cast<volatile uint16*>(both);
  for (;;) {
    if (static_cast<uint8>(old >> shift) != seen) return static_cast<uint8>(old >> shift);
    const uint16 changed = static_cast<uint16>((old & ~(0xff << shift)) | next << shift);
    const uint16 found = ::atomicCAS(both, old, changed);
    if (found == old) return seen;
    old = found;
  }
}

// Replaces an element by `change` of it and x.
template <class Change, class T> XPOPS_DEVICE value_t<T> update(T* at, value_t<T> x) {
  using Bits = typename Element<T>::Bits;
  Bits* const to = reinterpret_cast<Bits*>(at);
  Bits seen = *reinterpret_cast<volatile Bits*>(to);
  for (;;) {
    const Bits next = Element<T>::bits(Change::of(Element<T>::value(seen), x));
    const Bits found = swap_if(to, seen, next);
    if (found == seen) return Element<T>::value(seen);
    seen = found;
  }
}

#define XPOPS_CHANGE(name, expression)                                                           \
  struct name {                                                                                  \
    template <class T> XPOPS_DEVICE static T of(T old, T x) { return static_cast<T>(expression); } \
  };
XPOPS_CHANGE(Sum, compute_t<T>(old) + compute_t<T>(x))
XPOPS_CHANGE(Difference, compute_t<T>(old) - compute_t<T>(x))
XPOPS_CHANGE(And, old& x)
XPOPS_CHANGE(Or, old | x)
XPOPS_CHANGE(Xor, old ^ x)
#undef XPOPS_CHANGE
struct Replacement {
  template <class T> XPOPS_DEVICE static T of(T, T x) { return x; }
};

// As fmax and fmin: a NaN loses to any number.
struct Larger {
  template <class T> XPOPS_DEVICE static T of(T old, T x) {
    const compute_t<T> a = static_cast<compute_t<T>>(old), b = static_cast<compute_t<T>>(x);
    return a < b || a != a ? x : old;
  }
};
struct Smaller {
  template <class T> XPOPS_DEVICE static T of(T old, T x) {
    const compute_t<T> a = static_cast<compute_t<T>>(old), b = static_cast<compute_t<T>>(x);
    return b < a || a != a ? x : old;
  }
};

}  // namespace detail

template <class T> XPOPS_DEVICE value_t<T> atomicAdd(T* at, value_t<T> x) {
#if defined(__CUDA_ARCH__)
  T old;
  if constexpr (is_same_v<T, float16>) {
    asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old.bits) : "l"(at), "h"(x.bits) : "memory");
    return old;
  }
#if __CUDA_ARCH__ >= 900
  if constexpr (is_same_v<T, bfloat16>) {
    asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(old.bits) : "l"(at), "h"(x.bits) : "memory");
    return old;
  }
#endif
  if constexpr (is_integer_v<dtype_t<T>> && sizeof(T) == 8) {
    return static_cast<T>(::atomicAdd(reinterpret_cast<uint64*>(at), static_cast<uint64>(x)));
  }
#endif
  return detail::update<detail::Sum>(at, x);
}
template <class T> XPOPS_DEVICE value_t<T> atomicSub(T* at, value_t<T> x) {
  return detail::update<detail::Difference>(at, x);
}
template <class T> XPOPS_DEVICE value_t<T> atomicMax(T* at, value_t<T> x) {
  return detail::update<detail::Larger>(at, x);
}
template <class T> XPOPS_DEVICE value_t<T> atomicMin(T* at, value_t<T> x) {
  return detail::update<detail::Smaller>(at, x);
}
template <class T> XPOPS_DEVICE value_t<T> atomicExch(T* at, value_t<T> x) {
  return detail::update<detail::Replacement>(at, x);
}
template <class T> XPOPS_DEVICE value_t<T> atomicAnd(T* at, value_t<T> x) { return detail::update<detail::And>(at, x); }
template <class T> XPOPS_DEVICE value_t<T> atomicOr(T* at, value_t<T> x) { return detail::update<detail::Or>(at, x); }
template <class T> XPOPS_DEVICE value_t<T> atomicXor(T* at, value_t<T> x) { return detail::update<detail::Xor>(at, x); }

// Compares bits, so NaNs may be equal, and 0 and -0 differ.
template <class T> XPOPS_DEVICE value_t<T> atomicCAS(T* at, value_t<T> compare, value_t<T> x) {
  using Bits = typename Element<T>::Bits;
  const Bits old = detail::swap_if(reinterpret_cast<Bits*>(at), Element<T>::bits(compare), Element<T>::bits(x));
  return Element<T>::value(old);
}

}  // namespace xpops

using xpops::atomicAdd;
using xpops::atomicAnd;
using xpops::atomicCAS;
using xpops::atomicExch;
using xpops::atomicMax;
using xpops::atomicMin;
using xpops::atomicOr;
using xpops::atomicSub;
using xpops::atomicXor;

namespace xpops {

// Adds the two parts one after the other: another thread may see one without the other.
template <class T> XPOPS_DEVICE complex<T> atomicAdd(complex<T>* at, complex<T> x) {
  return {::atomicAdd(&at->re, x.re), ::atomicAdd(&at->im, x.im)};
}

namespace detail {

// Whether the hardware adds a pair. The emulator does, too.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
template <class T> inline constexpr bool adds_pairs_v = is_same_v<T, float16>;
#else
template <class T> inline constexpr bool adds_pairs_v = is_half_v<T>;
#endif

// Adds to two 16-bit floats at an address that is aligned to 4 bytes, without the old values.
template <class T> XPOPS_DEVICE void add_pair_at(uint32* at, uint32 pair) {
#if defined(__CUDA_ARCH__)
  if constexpr (is_same_v<T, float16>) {
    asm volatile("red.add.noftz.f16x2 [%0], %1;" ::"l"(at), "r"(pair) : "memory");
  } else {
    asm volatile("red.add.noftz.bf16x2 [%0], %1;" ::"l"(at), "r"(pair) : "memory");
  }
#else
  for (uint32 seen = *at;;) {
    const packed2<T> old(seen), x(pair);
    const packed2<T> sum(old.first() + x.first(), old.second() + x.second());
    const uint32 found = swap_if(at, seen, sum.bits);
    if (found == seen) return;
    seen = found;
  }
#endif
}

}  // namespace detail

// Adds `value` to base[offset], an element of an array of `length` elements.
//
// A 16-bit float is added as a pair with its neighbour in the same four bytes, to which -0.0 is added: this changes no
// number. Where that neighbour is outside of the array, the element is added alone.
template <class T, class Offset, class Length>
XPOPS_DEVICE void FastAtomicAdd(T* base, Offset offset, Length length, value_t<T> value) {
  T* const at = base + offset;
  if constexpr (detail::adds_pairs_v<T>) {
    const bool upper = reinterpret_cast<uint64>(at) & 2;
    if (upper ? static_cast<int64>(offset) > 0 : static_cast<int64>(offset) + 1 < static_cast<int64>(length)) {
      const uint32 bits = Element<T>::bits(value);
      detail::add_pair_at<T>(reinterpret_cast<uint32*>(at - upper), upper ? bits << 16 | 0x8000u : bits | 0x80000000u);
      return;
    }
  }
  ::atomicAdd(at, value);
}

namespace detail {

// Our type of the same format as one of CUDA's half types, which exist if the source includes their header.
template <class T, class = void> struct OurHalf {};
template <class T>
struct OurHalf<T, enable_if_t<std::is_class<T>::value && mixes_v<float16, T>>> {
  using Ours = float16;
  using Value = T;
};
template <class T>
struct OurHalf<T, enable_if_t<std::is_class<T>::value && mixes_v<bfloat16, T>>> {
  using Ours = bfloat16;
  using Value = T;
};

}  // namespace detail

template <class T, class Offset, class Length, class Half = typename detail::OurHalf<T>::Ours>
XPOPS_DEVICE void FastAtomicAdd(T* base, Offset offset, Length length, typename detail::OurHalf<T>::Value value) {
  FastAtomicAdd(reinterpret_cast<Half*>(base), offset, length, __builtin_bit_cast(Half, value));
}

}  // namespace xpops

using xpops::FastAtomicAdd;
