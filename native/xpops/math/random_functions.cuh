// Functions of random words, which the distributions in random.cuh use.
//
// NumPy computes the same bits (xpops/engine/cpu/random_functions.py). So these functions call nothing from a math
// library but fma and sqrt, which round correctly, and fix each rounding, so that the compiler contracts nothing. The
// polynomials are minimax (Remez), with errors below 2^-24 for float and 2^-59 for double.
#pragma once

#include <xpops/core/traits.cuh>
#include <xpops/core/types.cuh>
#include <xpops/math/real.cuh>

namespace xpops {

// x * y + z. It is rounded once for float, which NumPy can compute in double, and twice for double.
XPOPS_DEVICE float fused(float x, float y, float z) { return fma(x, y, z); }
XPOPS_DEVICE double fused(double x, double y, double z) { return add_rn(mul_rn(x, y), z); }

// The correctly rounded square root of x > 0 that is neither tiny nor infinite. Unlike sqrt it needs no branch for
// those.
XPOPS_DEVICE float root(float x) {
#if XPOPS_ON_GPU
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  const float rough = mul_rn(x, inverse);
  return fma(fma(-rough, rough, x), mul_rn(inverse, 0.5f), rough);
#else
  return sqrt(x);
#endif
}
XPOPS_DEVICE double root(double x) {
#if XPOPS_ON_GPU
  double inverse;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(x));
  const double e = fma(x, -mul_rn(inverse, inverse), 1.0), y = fma(fma(e, 0.375, 0.5), mul_rn(inverse, e), inverse);
  const double rough = mul_rn(x, y);
  return fma(fma(-rough, rough, x), mul_rn(y, 0.5), rough);
#else
  return sqrt(x);
#endif
}

// The correctly rounded x / y of numbers between 2^-100 and 2^100, or x = 0. It is the compiler's division without the
// branch for other numbers.
XPOPS_DEVICE double quotient(double x, double y) {
#if XPOPS_ON_GPU
  double inverse;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(y));
  const double e = fma(-y, inverse, 1.0), better = fma(inverse, fma(e, e, e), inverse);
  inverse = fma(better, fma(-y, better, 1.0), better);
  const double rough = mul_rn(x, inverse);
  return fma(inverse, fma(-y, rough, x), rough);
#else
  return x / y;
#endif
}

template <class T>
XPOPS_DEVICE T polynomial(T, T last) {
  return last;
}
template <class T, class... Rest>
XPOPS_DEVICE T polynomial(T x, T first, Rest... rest) {
  return fused(x, polynomial(x, rest...), first);
}
template <int kCount>
XPOPS_DEVICE double polynomial(double x, const double (&table)[kCount]) {
  double sum = table[kCount - 1];
#pragma unroll
  for (int i = kCount - 2; i >= 0; --i) sum = fused(x, sum, table[i]);
  return sum;
}

// log(1 + x) for x from sqrt(1/2) - 1 to sqrt(2) - 1.
XPOPS_DEVICE float log1p_near(float x) {
  const float p = polynomial(x, 0.3333391f, -0.25001338f, 0.19963068f, -0.16577592f, 0.1491474f, -0.14267424f,
                             0.08700429f);
  return fused(mul_rn(x, x), fused(x, p, -0.5f), x);
}
XPOPS_TABLE double kRandomLog[] = {0.6666666666666734,  0.39999999999414304, 0.2857142874247851, 0.2222219856312965,
                                   0.18183564883969408, 0.15314035423649772, 0.14796109274213035};
XPOPS_DEVICE double log1p_near(double x) {
  const double s = quotient(x, add_rn(x, 2.0)), z = mul_rn(s, s);  // 2 atanh(s)
  return fused(s, mul_rn(z, polynomial(z, kRandomLog)), add_rn(s, s));
}

// sin(x) for |x| <= pi / 2.
XPOPS_DEVICE float sin_near(float x) {
  const float z = mul_rn(x, x), p = polynomial(z, -0.1666666f, 0.0083330665f, -0.00019809596f, 2.6057653e-06f);
  return fused(mul_rn(x, z), p, x);
}
XPOPS_TABLE double kRandomSine[] = {-0.16666666666666666,   0.008333333333333194,    -0.00019841269841209183,
                                    2.7557319211130673e-06, -2.5052106872182503e-08, 1.6058939674061378e-10,
                                    -7.642990644115888e-13, 2.721165893133841e-15};
XPOPS_DEVICE double sin_near(double x) {
  const double z = mul_rn(x, x);
  return fused(mul_rn(x, z), polynomial(z, kRandomSine), x);
}

// Integers of the width of T, and constants: kUnit is 2^-bits, and kLog2 is log(2) * 2^-kMantissa.
template <class T>
struct RandomWord;
template <>
struct RandomWord<float> {
  using Word = uint32;
  using Signed = int32;
  static constexpr int kMantissa = 23;
  static constexpr float kUnit = 0x1p-32f, kLog2 = 0x1.62e43p-1f * 0x1p-23f, kPi = 0x1.921fb6p1f;
};
template <>
struct RandomWord<double> {
  using Word = uint64;
  using Signed = int64;
  static constexpr int kMantissa = 52;
  static constexpr double kUnit = 0x1p-64, kLog2 = 0x1.62e42fefa39efp-1 * 0x1p-52, kPi = 0x1.921fb54442d18p1;
};

// -log((w + 1/2) / 2^bits), which is never 0: if the argument is near 1, its distance to 1 is computed from ~w, because
// w + 1/2 would be rounded.
template <class T>
XPOPS_DEVICE T minus_log(typename RandomWord<T>::Word w) {
  using R = RandomWord<T>;
  using Word = typename R::Word;
  using Signed = typename R::Signed;
  constexpr Word kField = ~Word(0) << R::kMantissa, kOne = static_cast<Word>(8 * sizeof(T)) << R::kMantissa;
  const T root = static_cast<T>(0.70710678118654752440);
  const Word bits = float_bits(add_rn(static_cast<T>(w), T(0.5))), field = (bits - float_bits(root)) & kField;
  const T distance = fma(static_cast<T>(static_cast<Word>(~w)), -R::kUnit, R::kUnit * T(-0.5));
  const T near = field == kOne ? distance : add_rn(bits_float(bits - field), T(-1));
  const T halvings = static_cast<T>(static_cast<Signed>(kOne - field));  // their number times 2^kMantissa
  return fused(halvings, R::kLog2, -log1p_near(near));
}

// The sine and the cosine of pi s / 2^bits, where s is w << 1 as a signed integer.
template <class T>
XPOPS_DEVICE void sincos_half_turn(typename RandomWord<T>::Word w, T& sine, T& cosine) {
  using R = RandomWord<T>;
  using Word = typename R::Word;
  const Word turn = w << 1;
  const auto angle = static_cast<typename R::Signed>(turn);
  const Word rest = (Word(1) << (8 * sizeof(T) - 1)) - (angle < 0 ? Word(0) - turn : turn);
  sine = sin_near(mul_rn(static_cast<T>(angle), R::kPi * R::kUnit));
  cosine = sin_near(mul_rn(static_cast<T>(rest), R::kPi * R::kUnit));
}

}  // namespace xpops
