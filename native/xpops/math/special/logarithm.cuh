// Logarithms of sums of two numbers. They have one path, so that a warp computes nothing twice: CUDA's log1p(double) has two.
#pragma once

#include "xpops/math/scaled_exp.cuh"
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

// Whether LogParts takes x.
template <class T> XPOPS_DEVICE bool is_normal(T x) { return x >= limits<T>::min_normal() && x < limits<T>::max() / 4; }

// A logarithm as a sum of two numbers.
template <class T> struct LogPair {
  T high, low;
};

// log(x + low) = power log(2) + f - tail, for an x that is_normal accepts and a `low` of the size of x's rounding error. The
// power is 0 for x from 0.71 to 1.41, so that the logarithm has its relative accuracy also near 1.
template <class T> struct LogParts {
  T power, f, tail;

  XPOPS_DEVICE explicit LogParts(T x) {
    using B = LogBits<T>;
    const auto bits = float_bits(x), field = (bits - B::kLeast) >> B::kMantissa << B::kMantissa;
    power = static_cast<T>(static_cast<int32>(static_cast<typename B::Signed>(field) >> B::kMantissa));
    scale = bits_float(B::kOne - field);
    f = add_rn(bits_float(bits - field), T(-1));
    s = f * reciprocal(f + 2);
    const T square = s * s, half = T(0.5) * f * f;
    tail = fma(-s, fma(square, atanh_rest(square), half), half);
  }
  XPOPS_DEVICE LogParts(T x, T low) : LogParts(x) {
    const T given = low * scale;
    tail -= fma(given, -2 * s, given);  // nearly given / (1 + f)
  }

  XPOPS_DEVICE T sum() const { return fma(power, LogBits<T>::kHigh, f - fma(-LogBits<T>::kLow, power, tail)); }
  // The logarithm as a sum of two numbers, where the second is below the first's rounding error.
  XPOPS_DEVICE LogPair<T> pair() const {
    const T product = power * LogBits<T>::kHigh, near = add_rn(product, f);  // the product is exact
    const T rest = f - add_rn(near, -product) - fma(-LogBits<T>::kLow, power, tail), high = add_rn(near, rest);
    return {high, add_rn(near, -high) + rest};
  }
  // x + low - 1 - log(x + low), from the parts of x without `low`. Near 1 nothing cancels.
  XPOPS_DEVICE T excess(T x, T low) const {
    const T far = fma(-power, LogBits<T>::kHigh, x - (f + 1)), near = fma(-LogBits<T>::kLow, power, tail);
    const T given = low * scale;
    return far + (fma(low, fma(-scale, 1 - 2 * s, T(1)), near) + T(0.5) * given * given);
  }

 private:
  T s, scale;  // scale is 2^-power
};

template <class T> XPOPS_DEVICE T logarithm(T x) { return LogParts<T>(x).sum(); }
template <class T> XPOPS_DEVICE T logarithm(T x, T low) { return LogParts<T>(x, low).sum(); }

// log(x) and log(1 + x) of any x. Of zeros, negative, subnormal and infinite numbers the pair has no second number.
template <class T> XPOPS_DEVICE LogPair<T> log_pair(T x) {
  return is_normal(x) ? LogParts<T>(x).pair() : LogPair<T>{log(x), T(0)};
}
template <class T> XPOPS_DEVICE LogPair<T> log1p_pair(T x) {
  const T sum = 1 + x;
  return is_normal(sum) && x > T(-0.5) && x != 0 ? LogParts<T>(sum, x - (sum - 1)).pair() : LogPair<T>{log1p(x), T(0)};
}

// x / (y + y_low) for y > 0, as a sum of two numbers. The first is not normal if there is no such sum.
template <class T> struct Quotient {
  T value, low;
  XPOPS_DEVICE Quotient(T x, T y, T y_low = 0) {
    const T inverse = reciprocal(y);
    value = mul_rn(x, inverse);
    low = fma(-value, y_low, fma(-value, y, x)) * inverse;
  }
};

}  // namespace detail
}  // namespace xpops
