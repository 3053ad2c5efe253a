// cast<To>(x) converts between any two dtypes. Results are rounded once, to nearest even.
//   to bool       x != 0, so NaN is true
//   complex       to real takes the real part, from real sets the imaginary part to +0
//   to integers   integers wrap; floating point truncates, and out of range it is unspecified but never traps
#pragma once

#include "xpops/core/traits.cuh"
#include "xpops/core/types.cuh"

namespace xpops {
namespace detail {

// Rounds towards zero to float and sets the last bit when that was inexact (round to odd). Rounding the result again,
// to 22 bits or fewer, then gives what a single rounding would have given (Boldo and Melquiond, 2008).
XPOPS_DEVICE float to_float_odd(double x) {
#if XPOPS_ON_GPU
  float f = __double2float_rz(x);
#else
  float f = static_cast<float>(x);
  if (absolute(static_cast<double>(f)) > absolute(x)) f = bits_float(float_bits(f) - 1);
#endif
  return static_cast<double>(f) == x ? f : bits_float(float_bits(f) | 1);
}

// 64-bit integers go through double. If they have more than 53 bits, their last 11 bits are or-ed into the bit before.
XPOPS_DEVICE float to_float_odd(uint64 x) {
  if (x >> 53) x = (x & ~uint64(0x7ff)) | (x & 0x7ff ? 0x800 : 0);
  return to_float_odd(static_cast<double>(x));
}
XPOPS_DEVICE float to_float_odd(int64 x) {
  float f = to_float_odd(x < 0 ? uint64(0) - static_cast<uint64>(x) : static_cast<uint64>(x));
  return x < 0 ? -f : f;
}

// A float that rounds to a 16- or 8-bit type as x itself would.
template <class T> XPOPS_DEVICE float narrowable(T x) {
  if constexpr (is_same_v<T, double>) {
    return to_float_odd(x);
  } else if constexpr (is_integer_v<T> && sizeof(T) == 8) {
    return to_float_odd(x);
  } else if constexpr (is_integer_v<T> && sizeof(T) == 4) {
    return to_float_odd(static_cast<double>(x));
  } else {
    return static_cast<float>(x);  // exact
  }
}

// Goes through a signed integer that is wide enough, so that -1.0 becomes the largest unsigned value, as NumPy on x86.
template <class To, class From> XPOPS_DEVICE To truncate(From x) {
  if constexpr (sizeof(To) < 4) {
    return static_cast<To>(static_cast<int32>(x));
  } else if constexpr (is_same_v<To, uint32>) {
    return static_cast<To>(static_cast<int64>(x));
  } else if constexpr (is_same_v<To, uint64>) {
    return x < 0 ? static_cast<To>(static_cast<int64>(x)) : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace detail

template <class To, class From> XPOPS_DEVICE To cast(From x) {
  if constexpr (is_same_v<To, From>) {
    return x;
  } else if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>) {
      return To(static_cast<real_t<To>>(x.re), static_cast<real_t<To>>(x.im));
    } else if constexpr (is_same_v<To, bool>) {
      return x.re != 0 || x.im != 0;
    } else {
      return cast<To>(x.re);
    }
  } else if constexpr (is_complex_v<To>) {
    return To(cast<real_t<To>>(x));
  } else if constexpr (is_half_v<From> || is_float8_v<From>) {
    return cast<To>(static_cast<float>(x));  // exact
  } else if constexpr (is_same_v<To, bool>) {
    return x != 0;
  } else if constexpr (is_half_v<To> || is_float8_v<To>) {
#if XPOPS_ON_GPU
    if constexpr (is_same_v<To, float16> && is_same_v<From, double>) {
      To y;
      asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x));
      return y;
    }
#endif
    return To(detail::narrowable(x));
  } else if constexpr (is_floating_v<From> && is_integer_v<To>) {
    return detail::truncate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace xpops
