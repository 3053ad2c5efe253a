// Logarithm, sine and cosine of random words, for the laws of random.cuh.
//
// NumPy comes to the same bits (xpops/engine/cpu/random_functions.py), so nothing here is left to a library, or to the
// compiler: every rounding is written out. The polynomials are minimax (Remez): within 2^-24 for float, 2^-54 for double.
#pragma once

#include <xpops/core/traits.cuh>
#include <xpops/core/types.cuh>
#include <xpops/math/real.cuh>

namespace xpops {

// x * y + z: rounded once for float, as NumPy can by way of double; twice for double.
XPOPS_DEVICE float fused(float x, float y, float z) { return fma(x, y, z); }
XPOPS_DEVICE double fused(double x, double y, double z) { return add_rn(mul_rn(x, y), z); }

template <class T>
XPOPS_DEVICE T polynomial(T, T last) {
  return last;
}
template <class T, class... Rest>
XPOPS_DEVICE T polynomial(T x, T first, Rest... rest) {
  return fused(x, polynomial(x, rest...), first);
}

// log(1 + x) for x from sqrt(1/2) - 1 to sqrt(2) - 1.
XPOPS_DEVICE float log1p_near(float x) {
  const float p = polynomial(x, 0.3333391f, -0.25001338f, 0.19963068f, -0.16577592f, 0.1491474f, -0.14267424f, 0.08700429f);
  return fused(mul_rn(x, x), fused(x, p, -0.5f), x);
}
XPOPS_DEVICE double log1p_near(double x) {
  const double s = x / add_rn(x, 2.0), z = mul_rn(s, s);  // 2 atanh(s)
  const double p = polynomial(z, 0.6666666666666734, 0.39999999999414304, 0.2857142874247851, 0.2222219856312965,
                              0.18183564883969408, 0.15314035423649772, 0.14796109274213035);
  return fused(s, mul_rn(z, p), add_rn(s, s));
}

// sin(x) and cos(x) for x up to pi / 4.
XPOPS_DEVICE void sincos_near(float x, float& sine, float& cosine) {
  const float z = mul_rn(x, x);
  sine = fused(mul_rn(x, z), polynomial(z, -0.16666655f, 0.008332178f, -0.00019517266f), x);
  cosine = fused(z, polynomial(z, -0.49999896f, 0.041656293f, -0.0013597794f), 1.0f);
}
XPOPS_DEVICE void sincos_near(double x, double& sine, double& cosine) {
  const double z = mul_rn(x, x);
  const double p = polynomial(z, -0.16666666666666632, 0.008333333333322418, -0.00019841269829812185,
                              2.755731369351247e-06, -2.5050758375937398e-08, 1.5896811358214452e-10);
  const double q = polynomial(z, -0.49999999999999484, 0.04166666666650313, -0.0013888888871720548,
                              2.4801579014022894e-05, -2.7555295965464184e-07, 2.0633565543058e-09);
  sine = fused(mul_rn(x, z), p, x);
  cosine = fused(z, q, 1.0);
}

// The word of a float or a double, and what belongs to its size.
template <class T>
struct RandomWord;
template <>
struct RandomWord<float> {
  using Word = uint32;
  using Signed = int32;
  static constexpr int kMantissa = 23;
  static constexpr float kUnit = 0x1p-32f, kLog2 = 0x1.62e43p-1f * 0x1p-23f, kHalfPi = 0x1.921fb6p0f;
};
template <>
struct RandomWord<double> {
  using Word = uint64;
  using Signed = int64;
  static constexpr int kMantissa = 52;
  static constexpr double kUnit = 0x1p-64, kLog2 = 0x1.62e42fefa39efp-1 * 0x1p-52, kHalfPi = 0x1.921fb54442d18p0;
};

// -log((w + 1/2) / 2^bits), which is never 0: near 1 the argument comes from its distance to 1.
template <class T>
XPOPS_DEVICE T minus_log(typename RandomWord<T>::Word w) {
  using R = RandomWord<T>;
  using Word = typename R::Word;
  using Signed = typename R::Signed;
  constexpr Word kField = ~Word(0) << R::kMantissa, kOne = static_cast<Word>(8 * sizeof(T)) << R::kMantissa;
  const T root = static_cast<T>(0.70710678118654752440);
  const Word bits = float_bits(add_rn(static_cast<T>(w), T(0.5))), field = (bits - float_bits(root)) & kField;
  const T distance = mul_rn(add_rn(static_cast<T>(static_cast<Word>(~w)), T(0.5)), -R::kUnit);
  const T near = field == kOne ? distance : add_rn(bits_float(bits - field), T(-1));
  const T halvings = static_cast<T>(static_cast<Signed>(kOne - field));  // times 2^kMantissa
  return fused(halvings, R::kLog2, -log1p_near(near));
}

// The sine and the cosine of 2 pi w / 2^bits.
template <class T>
XPOPS_DEVICE void sincos_turn(typename RandomWord<T>::Word w, T& sine, T& cosine) {
  using R = RandomWord<T>;
  using Word = typename R::Word;
  constexpr int kBits = 8 * sizeof(T);
  constexpr Word kSign = Word(1) << (kBits - 1);
  const Word quadrant = (w + (Word(1) << (kBits - 3))) >> (kBits - 2);
  const T rest = static_cast<T>(static_cast<typename R::Signed>(w << 2));  // from -2^(bits - 1), which is -pi / 4
  T s, c;
  sincos_near(mul_rn(rest, R::kHalfPi * R::kUnit), s, c);
  sine = quadrant & 1 ? c : s;
  cosine = quadrant & 1 ? s : c;
  sine = bits_float(float_bits(sine) ^ (quadrant & 2 ? kSign : Word(0)));
  cosine = bits_float(float_bits(cosine) ^ ((quadrant + 1) & 2 ? kSign : Word(0)));
}

}  // namespace xpops
