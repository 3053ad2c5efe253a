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
