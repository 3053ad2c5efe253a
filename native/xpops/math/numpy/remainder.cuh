// The remainder with the sign of the dividend, as in C. The device library's fmod shifts and subtracts bit by bit, which
// takes up to 2000 steps; these steps reduce 52 bits of the quotient each, or 23 for float.
#pragma once

#include "xpops/math/real.cuh"

namespace xpops {
namespace detail {

// x - n * y for x >= 0, y > 0 and the integral part n of the quotient, which must be below 2^digits. The rounded quotient
// may be n + 1. Both remainders are multiples of the last digit of y and at most y, so that fma computes them exactly.
template <class T> XPOPS_DEVICE T step_of_fmod(T x, T y) {
  const T rest = fma(-trunc(x / y), y, x);
  return rest < 0 ? add_rn(rest, y) : rest;
}

// x >= y > 0, both finite. First the remainders by multiples of y by powers of 2, for which the quotients are small.
template <class T> XPOPS_DEVICE T fmod_of_sizes(T x, T y) {
  constexpr T kUp = T(1) / limits<T>::epsilon(), kDown = limits<T>::epsilon();
  T multiple = y;
  while (multiple < x * kDown) multiple *= kUp;  // at most x, so it does not overflow
  while (multiple > y) {
    x = step_of_fmod(x, multiple);
    multiple *= kDown;  // exact, because it goes back to y
  }
  return step_of_fmod(x, y);
}

template <class T> XPOPS_DEVICE T exact_fmod(T x, T y) {
  const T a = abs(x), b = abs(y);
  if (a < b) return x;  // also if y is infinite
  if (!(a <= limits<T>::max()) || !(b > 0)) return limits<T>::nan();
  return copysign(fmod_of_sizes(a, b), x);
}

}  // namespace detail

// Integers divided by 0 give 0.
struct Fmod {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if constexpr (is_floating_v<T>) {
      return detail::exact_fmod(x, y);
    } else {
      if constexpr (is_signed_v<T>) {
        if (y == T(-1)) return T(0);  // the quotient of the least integer overflows
      }
      return y == T(0) ? T(0) : static_cast<T>(x % y);
    }
  }
};

}  // namespace xpops
