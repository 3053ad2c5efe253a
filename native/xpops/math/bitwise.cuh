// Bitwise functors for bool and integers, logical ones for bool.
#pragma once

#include "xpops/core/traits.cuh"

namespace xpops {

struct BitwiseAnd {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return static_cast<T>(x & y); }
};

struct BitwiseOr {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return static_cast<T>(x | y); }
};

struct BitwiseXor {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return static_cast<T>(x ^ y); }
};

struct BitwiseInvert {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if constexpr (is_same_v<T, bool>) return !x;
    else return static_cast<T>(~x);
  }
};

// If the count is negative, or at least the width, the result is 0; or, for a right shift of a negative number, -1.
struct BitwiseLeftShift {
  template <class T> XPOPS_DEVICE T operator()(T x, T count) const {
    bool inside = static_cast<unsigned_t<T>>(count) < 8 * sizeof(T);
    return inside ? static_cast<T>(static_cast<wrap_t<T>>(x) << count) : T(0);
  }
};

struct BitwiseRightShift {
  template <class T> XPOPS_DEVICE T operator()(T x, T count) const {
    bool inside = static_cast<unsigned_t<T>>(count) < 8 * sizeof(T);
    if constexpr (is_signed_v<T>) return static_cast<T>(x >> (inside ? count : T(8 * sizeof(T) - 1)));
    else return inside ? static_cast<T>(x >> count) : T(0);
  }
};

// The zeros below the lowest bit of an integer that is not 0.
template <class U>
XPOPS_DEVICE int trailing_zeros(U x) {
#if XPOPS_ON_GPU
  if constexpr (sizeof(U) == 8) return __ffsll(static_cast<int64>(x)) - 1;
  else return __ffs(static_cast<int32>(x)) - 1;
#else
  return __builtin_ctzll(x);
#endif
}

// Stein's algorithm: shifts and differences, because remainders of 64 bits are slow. It ends when it has the result.
template <class U>
XPOPS_DEVICE U common_divisor(U a, U b) {
  if (a == 0 || b == 0) return a | b;
  const int shared = trailing_zeros(a | b);
  a >>= trailing_zeros(a);
  while (b != 0) {
    b >>= trailing_zeros(b);
    const U less = b < a ? b : a;
    b = b < a ? a - b : b - a;
    a = less;
  }
  return a << shared;
}

// The absolute value, also of the least integer.
template <class U, class T>
XPOPS_DEVICE U size_of(T x) {
  return x < 0 ? U(0) - static_cast<U>(x) : static_cast<U>(x);
}

struct Gcd {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    using U = conditional_t<sizeof(T) == 8, uint64, uint32>;
    return static_cast<T>(common_divisor(size_of<U>(x), size_of<U>(y)));
  }
};

// The least common multiple wraps if it is out of range.
struct Lcm {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    using U = conditional_t<sizeof(T) == 8, uint64, uint32>;
    const U a = size_of<U>(x), b = size_of<U>(y), common = common_divisor(a, b);
    return common == 0 ? T(0) : static_cast<T>(a / common * b);
  }
};

struct LogicalAnd {
  XPOPS_DEVICE bool operator()(bool x, bool y) const { return x && y; }
};

struct LogicalOr {
  XPOPS_DEVICE bool operator()(bool x, bool y) const { return x || y; }
};

struct LogicalXor {
  XPOPS_DEVICE bool operator()(bool x, bool y) const { return x != y; }
};

struct LogicalNot {
  XPOPS_DEVICE bool operator()(bool x) const { return !x; }
};

}  // namespace xpops
