// Type traits of element types: categories, the type in which they are computed, limits.
#pragma once

#include "xpops/core/types.cuh"

namespace xpops {

template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;

template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;

template <class A, class B> inline constexpr bool is_same_v = false;
template <class A> inline constexpr bool is_same_v<A, A> = true;

template <class T, class... Ts> inline constexpr bool is_one_of_v = (is_same_v<T, Ts> || ...);

template <class T> inline constexpr bool is_complex_v = false;
template <class T> inline constexpr bool is_complex_v<complex<T>> = true;

template <class T> inline constexpr bool is_half_v = is_one_of_v<T, float16, bfloat16>;
template <class T> inline constexpr bool is_float8_v = is_one_of_v<T, float8_e4m3fn, float8_e5m2>;
template <class T>
inline constexpr bool is_floating_v = is_one_of_v<T, float, double, float16, bfloat16, float8_e4m3fn, float8_e5m2>;

// The eight integer dtypes. bool is a category of its own, as in the standard.
template <class T>
inline constexpr bool is_integer_v = is_one_of_v<T, int8, int16, int32, int64, uint8, uint16, uint32, uint64>;
template <class T>
inline constexpr bool is_signed_v = is_one_of_v<T, int8, int16, int32, int64> || is_floating_v<T>;

template <class T> struct real_of { using type = T; };
template <class T> struct real_of<complex<T>> { using type = T; };
template <class T> using real_t = typename real_of<T>::type;

// Two values: in one register, if it holds both.
template <class T> using pair_t = conditional_t<is_half_v<T>, packed2<T>, unpacked2<T>>;

// float for the 16- and 8-bit floating-point types, otherwise T itself.
template <class T> using compute_t = conditional_t<is_half_v<T> || is_float8_v<T>, float, T>;

// unsigned_t has T's width; wrap_t has the width to which C++ promotes T. Arithmetic in wrap_t wraps, without overflow.
template <class T>
using unsigned_t = conditional_t<sizeof(T) == 1, uint8,
                                 conditional_t<sizeof(T) == 2, uint16, conditional_t<sizeof(T) == 4, uint32, uint64>>>;
template <class T> using wrap_t = conditional_t<sizeof(T) <= 4, uint32, uint64>;

// For integers, bool, float and double. For 16- and 8-bit floating point, use the limits of compute_t<T>.
template <class T> struct limits {
  static_assert(is_integer_v<T>, "limits: integers, bool, float and double only");
  static constexpr XPOPS_HOST_DEVICE T max() {
    return is_signed_v<T> ? T(static_cast<unsigned_t<T>>(~unsigned_t<T>(0)) >> 1) : T(~unsigned_t<T>(0));
  }
  static constexpr XPOPS_HOST_DEVICE T lowest() { return is_signed_v<T> ? T(-max() - 1) : T(0); }
};

template <> struct limits<bool> {
  static constexpr XPOPS_HOST_DEVICE bool max() { return true; }
  static constexpr XPOPS_HOST_DEVICE bool lowest() { return false; }
};

template <> struct limits<float> {
  static constexpr int digits = 24;
  static constexpr XPOPS_HOST_DEVICE float max() { return 0x1.fffffep127f; }
  static constexpr XPOPS_HOST_DEVICE float lowest() { return -0x1.fffffep127f; }
  static constexpr XPOPS_HOST_DEVICE float min_normal() { return 0x1p-126f; }
  static constexpr XPOPS_HOST_DEVICE float epsilon() { return 0x1p-23f; }
  static constexpr XPOPS_HOST_DEVICE float infinity() { return __builtin_bit_cast(float, 0x7f800000u); }
  static constexpr XPOPS_HOST_DEVICE float nan() { return __builtin_bit_cast(float, 0x7fc00000u); }
};

template <> struct limits<double> {
  static constexpr int digits = 53;
  static constexpr XPOPS_HOST_DEVICE double max() { return 0x1.fffffffffffffp1023; }
  static constexpr XPOPS_HOST_DEVICE double lowest() { return -0x1.fffffffffffffp1023; }
  static constexpr XPOPS_HOST_DEVICE double min_normal() { return 0x1p-1022; }
  static constexpr XPOPS_HOST_DEVICE double epsilon() { return 0x1p-52; }
  static constexpr XPOPS_HOST_DEVICE double infinity() { return __builtin_bit_cast(double, 0x7ff0000000000000ull); }
  static constexpr XPOPS_HOST_DEVICE double nan() { return __builtin_bit_cast(double, 0x7ff8000000000000ull); }
};

}  // namespace xpops
