// Logarithms of sums of two numbers. They have one path, so that a warp computes nothing twice: CUDA's log1p(double) has two.
#pragma once

#include "xpops/math/special/real.cuh"

namespace xpops {
namespace detail {

// (2 atanh(s) / s - 2) / s^2 from s^2, for |s| <= 0.172. Minimax fits (Remez) with errors of 2^-51 and 2^-29.
XPOPS_TABLE double kAtanhTable[] = {
    0.666666666666667, 0.39999999999899055, 0.2857142862616183, 0.22222211106743767, 0.1818289103087431,
    0.1533166201959699, 0.1461714735964449};
XPOPS_DEVICE double atanh_rest(double square) { return horner(square, kAtanhTable); }
XPOPS_DEVICE float atanh_rest(float square) { return horner(square, 0.6666667f, 0.40000123f, 0.2855079f, 0.23331223f); }

template <class T> struct LogBits;
template <> struct LogBits<float> {
  using Signed = int32;
  static constexpr int kMantissa = 23;
  static constexpr uint32 kOne = 0x3f800000u, kLeast = 0x3f350000u;  // 1 and about sqrt(1 / 2)
  static constexpr float kHigh = 0x1.62e3p-1f, kLow = 0x1.2fefa2p-17f;  // log(2)
};
template <> struct LogBits<double> {
  using Signed = int64;
  static constexpr int kMantissa = 52;
  static constexpr uint64 kOne = 0x3ff0000000000000u, kLeast = 0x3fe6a09e00000000u;
  static constexpr double kHigh = 0x1.62e42feep-1, kLow = 0x1.a39ef35793c76p-33;
};

// log(x + low) = power log(2) + f - tail, for a positive normal x and a `low` of the size of x's rounding error. The power
// is 0 for x from 0.71 to 1.41, so that the logarithm has its relative accuracy also near 1.
template <class T> struct LogParts {
  T power, f, tail;

  XPOPS_DEVICE LogParts(T x, T low) {
    using B = LogBits<T>;
    const auto bits = float_bits(x), field = (bits - B::kLeast) >> B::kMantissa << B::kMantissa;
    power = static_cast<T>(static_cast<int32>(static_cast<typename B::Signed>(field) >> B::kMantissa));
    f = add_rn(bits_float(bits - field), T(-1));
    const T s = f * reciprocal(f + 2), square = s * s, half = T(0.5) * f * f;
    const T given = low * bits_float(B::kOne - field), change = fma(given, -2 * s, given);  // given / (1 + f), nearly
    tail = fma(-s, fma(square, atanh_rest(square), half), half - change);
  }

  XPOPS_DEVICE T sum() const { return fma(power, LogBits<T>::kHigh, f - fma(-LogBits<T>::kLow, power, tail)); }
};

template <class T> XPOPS_DEVICE T log_sum(T x, T low) { return LogParts<T>(x, low).sum(); }

// log(x / y) for positive x and y whose quotient is normal.
template <class T> XPOPS_DEVICE T log_quotient(T x, T y) {
  const T inverse = reciprocal(y), quotient = mul_rn(x, inverse);
  return log_sum(quotient, fma(-quotient, y, x) * inverse);
}

}  // namespace detail
}  // namespace xpops
