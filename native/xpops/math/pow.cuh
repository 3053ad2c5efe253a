// Powers of integers, and pow(float, float). The error of the latter is below 1.9 ulp; CUDA's powf promises 4. Subnormal
// numbers are kept, and the special cases are those of C99. Method: log2(x) as a sum of two floats, times y as a sum of
// two floats, then 2^n * 2^f. Negative numbers and all other operands share one branch.
#pragma once

#include "xpops/math/real.cuh"

namespace xpops {
namespace detail {

// Integers are computed in an unsigned type at least as wide as int, because its overflow is defined.
template <class T> XPOPS_DEVICE wrap_t<T> wrap(T x) { return static_cast<wrap_t<T>>(x); }

// -x, which wraps. Where the assembler of CUDA 13.0 joins two minima or maxima of 32-bit integers for sm_90 or sm_100,
// as in max(max(-a, -b), -c), it loses the sign of b. So it must not see that these are negations.
template <class T> XPOPS_DEVICE T opposite(T x) {
#if XPOPS_ON_GPU
  if constexpr (sizeof(T) <= 4) {
    uint32 inverted;
    asm("not.b32 %0, %1;" : "=r"(inverted) : "r"(static_cast<uint32>(x)));
    return static_cast<T>(inverted + 1u);
  }
#endif
  return static_cast<T>(0 - wrap(x));
}

template <class T> XPOPS_DEVICE bool is_negative(T x) {
  if constexpr (is_signed_v<T>) return x < 0;
  else return false;
}

// r base^n modulo 2^bits. An even base is 0. An odd one is 1 + t, where t^(kTerms + 1) is 0, so its power is the sum of
// C(n, k) t^k for k up to kTerms.
template <int kTerms, class W, class N> XPOPS_DEVICE W times_binomial_power(W r, W base, N n) {
  constexpr W kInverseOfThree = static_cast<W>(0xaaaaaaaaaaaaaaabull);
  const W t = base - 1, n1 = static_cast<W>(n);
  W sum = n1;
  if constexpr (kTerms > 1) {
    const W n2 = static_cast<W>(n & 1 ? n * ((n - 1) >> 1) : (n >> 1) * (n - 1));  // C(n, 2)
    W rest = n2;
    if constexpr (kTerms > 2) rest += t * (n2 * (n1 - 2) * kInverseOfThree);
    sum += t * rest;
  }
  return base & 1 ? r * (1 + t * sum) : n == 0 ? r : W(0);
}

// Squaring stops after kSteps steps: then an even base is 0, and an odd one 1 plus a multiple of 2^(kSteps + 2). Narrow
// integers take all steps: a loop would wait for the largest y of a warp.
template <class T> XPOPS_DEVICE T integer_pow(T x, T y) {
  constexpr int kSteps = sizeof(T) == 1 ? 3 : sizeof(T) == 2 ? 6 : sizeof(T) == 4 ? 9 : 14;
  constexpr int kTerms = sizeof(T) <= 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  const bool inverts = is_negative(y);
  unsigned_t<T> n = inverts ? 0 : static_cast<unsigned_t<T>>(y);
  wrap_t<T> base = wrap(x), r = 1;
  if constexpr (sizeof(T) <= 2) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step, n = static_cast<unsigned_t<T>>(n >> 1)) {
      r = n & 1 ? r * base : r;
      base *= base;
    }
    r = times_binomial_power<kTerms>(r, base, n);
  } else {
    for (int step = 0; step < kSteps && n != 0; ++step, n = static_cast<unsigned_t<T>>(n >> 1)) {
      if (n & 1) r *= base;
      base *= base;
    }
    if (n != 0) r = times_binomial_power<kTerms>(r, base, n);
  }
  if (!inverts) return static_cast<T>(r);
  return x == 1 ? T(1) : x == T(-1) ? ((y & 1) ? T(-1) : T(1)) : T(0);
}

// x to the power 2 or 3. The error of a cube is below 1.5 ulp.
template <class T> XPOPS_DEVICE T square_or_cube(T x, T y) {
  const T square = mul_rn(x, x);
  return y == T(2) ? square : mul_rn(square, x);
}

// Whether y >= 0 is an integer. Floats from 2^23 on are, and the sum rounds smaller ones to integers.
XPOPS_DEVICE bool has_no_fraction(float y) { return y >= 0x1p23f || add_rn(add_rn(y, 0x1p23f), -0x1p23f) == y; }

// pow(x, y) of x < 0, where `power` is that of -x.
XPOPS_DEVICE float pow_of_negative(float y, float power) {
  const float size = abs(y);
  return !has_no_fraction(size) ? limits<float>::nan() : has_no_fraction(0.5f * size) ? power : -power;
}

// 1 / x for x near 2. A few ulp of error are harmless: log2_split corrects by the residual.
XPOPS_DEVICE float reciprocal_near_two(float x) {
#if XPOPS_ON_GPU
  float r;
  asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  return 1.0f / x;
#endif
}

// log2(x) + bias = hi + lo for normal x, relative error below 2^-30. Not normalised: |lo| <= 2^-8 |hi|.
XPOPS_DEVICE void log2_split(float x, int32 bias, float& hi, float& lo) {
  uint32 b = float_bits(x);
  int32 shift = static_cast<int32>(b - 0x3f3504f3u) >> 23;  // m = x / 2^shift is in [sqrt(1/2), sqrt(2))
  float m = bits_float(b - (static_cast<uint32>(shift) << 23));
  // m is multiplied by t, which is 1.25, 1 or 0.75, so that |m t - 1| < 0.155. The polynomial is then a small part of
  // the sum, and so is its rounding error.
  bool low = m < 0.8944f, high = m > 1.1547f;
  float t = low ? 1.25f : high ? 0.75f : 1.0f;
  float c = low ? -0x1.49cp-2f : high ? 0x1.a9p-2f : 0.0f;  // -log2(t), few bits: adding an integer is exact
  float c_lo = low ? 0x1.87b432p-14f : high ? -0x1.a39fbep-20f : 0.0f;
  // log2(m t) = u + q0 u^3 + q1 u^5 + ..., u = 2 log2(e) f / (2 + f), since log(1 + f) = 2 atanh(f / (2 + f)).
  // f and g - 2 u are exact; u_lo is the error of u.
  float f = fma(m, t, -1.0f), r = reciprocal_near_two(add_rn(f, 2.0f));
  constexpr float kTwoLog2e = 0x1.715476p1f, kTwoLog2eLo = 0x1.4ae0cp-25f;
  float g = mul_rn(f, kTwoLog2e), g_lo = fma(f, kTwoLog2eLo, fma(f, kTwoLog2e, -g));
  float u = mul_rn(g, r), u_lo = mul_rn(r, add_rn(fma(-u, f, fma(-2.0f, u, g)), g_lo));
  float v = mul_rn(u, u);
  float q = fma(fma(0x1.052822p-12f, v, 0x1.7a3272p-9f), v, 0x1.47fd4p-5f);
  float l = fma(mul_rn(u, v), q, add_rn(u_lo, c_lo));
  float e = add_rn(static_cast<float>(shift + bias), c);
  hi = add_rn(e, u);  // |e| > |u| or e == 0, so that the error of this sum is u - (hi - e)
  lo = add_rn(add_rn(u, -add_rn(hi, -e)), l);
}

// 2^f for |f| <= 0.51.
XPOPS_DEVICE float exp2_polynomial(float f) {
  float p = fma(0x1.44138ap-13f, f, 0x1.5f089p-10f);
  p = fma(fma(fma(p, f, 0x1.3b2a54p-7f), f, 0x1.c6af6cp-5f), f, 0x1.ebfbep-3f);
  return fma(fma(p, f, 0x1.62e43p-1f), f, 1.0f);
}

// pow of any x and y: zeros, negative and subnormal bases, infinities, NaN, results near overflow or underflow.
XPOPS_DEVICE float pow_rare(float x, float y) {
  if (x == 1.0f || y == 0.0f) return 1.0f;
  if (isnan(x) || isnan(y)) return x + y;
  float ax = abs(x), ay = abs(y);
  bool integer = has_no_fraction(ay), odd = integer && !has_no_fraction(0.5f * ay);
  float r;
  if (isinf(y)) {
    return ax == 1.0f ? 1.0f : (ax > 1.0f) == (y > 0.0f) ? ay : 0.0f;
  } else if (ax == 0.0f || isinf(ax)) {
    r = (ax == 0.0f) == (y > 0.0f) ? 0.0f : limits<float>::infinity();
  } else if (x < 0.0f && !integer) {
    return limits<float>::nan();
  } else {
    bool small = ax < limits<float>::min_normal();
    float hi, lo;
    log2_split(small ? ax * 0x1p24f : ax, small ? -24 : 0, hi, lo);
    float z = mul_rn(y, hi), z_lo = fma(y, lo, fma(y, hi, -z));
    if (abs(z) >= 250.0f) {
      r = z > 0.0f ? limits<float>::infinity() : 0.0f;
    } else {
      float n = round(add_rn(z, z_lo));
      int32 k = static_cast<int32>(n), half = k >> 1;  // two factors, so that a subnormal result is rounded once
      r = exp2_polynomial(add_rn(add_rn(z, -n), z_lo)) * bits_float(static_cast<uint32>(half + 127) << 23) *
          bits_float(static_cast<uint32>(k - half + 127) << 23);
    }
  }
  return odd && signbit(x) ? -r : r;
}

}  // namespace detail

XPOPS_DEVICE float pow(float x, float y) {
  const float size = abs(x);
  float hi, lo;
  detail::log2_split(size, 0, hi, lo);
  float z = mul_rn(y, hi), z_lo = fma(y, lo, fma(y, hi, -z));
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
  constexpr float kRound = 0x1.8p23f;
  float shifted = add_rn(add_rn(z, z_lo), kRound), n = add_rn(shifted, -kRound);
  float p = detail::exp2_polynomial(add_rn(add_rn(z, -n), z_lo));
  float r = bits_float(float_bits(p) + (float_bits(shifted) << 23));
  // Not so if x is negative or no normal number, or |y log2|x|| >= 124, or it is NaN, as of an infinite or NaN y.
  const bool small = abs(z) < 124.0f;
  if ((float_bits(x) - 0x00800000u < 0x7f000000u) & small) return r;  // & and not &&: one branch
  const bool normal = float_bits(size) - 0x00800000u < 0x7f000000u;
  return normal & small ? detail::pow_of_negative(y, r) : detail::pow_rare(x, y);
}

}  // namespace xpops
