// The parts of a floating-point number: x is a fraction from 1/2 to below 1 times a power of 2.
#pragma once

#include "xpops/math/real.cuh"

namespace xpops {
namespace detail {

template <class T> struct FloatFormat;
template <> struct FloatFormat<float> {
  static constexpr int digits = 24, bias = 127;
};
template <> struct FloatFormat<double> {
  static constexpr int digits = 53, bias = 1023;
};

// 2^power, a normal number.
template <class T> XPOPS_DEVICE T power_of_two(int power) {
  using Format = FloatFormat<T>;
  return bits_float(static_cast<unsigned_t<T>>(power + Format::bias) << (Format::digits - 1));
}

}  // namespace detail

// x * 2^n by three products with powers of 2. Only the last one may round: after an inexact first one, which is
// subnormal, the rest of n is so small that the result is 0. n is truncated; NaN counts as minus infinity.
struct Ldexp {
  template <class T> XPOPS_DEVICE T operator()(T x, T n) const {
    using Format = detail::FloatFormat<T>;
    constexpr T kLimit = T(3 * Format::bias);
    constexpr int kMost = Format::bias, kLeast = 1 - Format::bias;
    int rest = static_cast<int>(n > -kLimit ? (n < kLimit ? n : kLimit) : -kLimit);
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      const int power = rest < kLeast ? kLeast + Format::digits : rest < kMost ? rest : kMost;
      x = mul_rn(x, detail::power_of_two<T>(power));
      rest -= power;
    }
    return mul_rn(x, detail::power_of_two<T>(rest < kLeast ? kLeast : rest < kMost ? rest : kMost));
  }
};

// The exponent of that power of 2; 0 for 0, infinity and NaN.
struct Exponent {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    using Format = detail::FloatFormat<T>;
    const bool is_small = abs(x) < limits<T>::min_normal();
    const T normal = is_small ? x * detail::power_of_two<T>(Format::digits) : x;
    const int field = static_cast<int>(float_bits(abs(normal)) >> (Format::digits - 1));
    const int exponent = field - (Format::bias - 1) - (is_small ? Format::digits : 0);
    return isfinite(x) && x != T(0) ? static_cast<T>(exponent) : T(0);
  }
};

}  // namespace xpops
