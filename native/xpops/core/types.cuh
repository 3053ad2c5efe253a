// Element types that CUDA C++ lacks without its headers: 16- and 8-bit floating point, packed pairs, complex numbers.
#pragma once

#include "xpops/core/bits.cuh"
#include "xpops/core/conversion.cuh"

namespace xpops {

// Products and sums that the compiler must not contract to one fused operation (NVRTC contracts by default). So
// z * conj(z) is real, and error-free transforms hold. The host tests are compiled with -ffp-contract=off.
#if XPOPS_ON_GPU
XPOPS_DEVICE float mul_rn(float x, float y) { return __fmul_rn(x, y); }
XPOPS_DEVICE double mul_rn(double x, double y) { return __dmul_rn(x, y); }
XPOPS_DEVICE float add_rn(float x, float y) { return __fadd_rn(x, y); }
XPOPS_DEVICE double add_rn(double x, double y) { return __dadd_rn(x, y); }
#else
inline float mul_rn(float x, float y) { return x * y; }
inline double mul_rn(double x, double y) { return x * y; }
inline float add_rn(float x, float y) { return x + y; }
inline double add_rn(double x, double y) { return x + y; }
#endif

namespace detail {

// Rounds to a format with ExpBits bits of exponent and ManBits bits of mantissa, to nearest even. `magnitude` has the
// bits of |x| for a float x; the result has the bits of the rounded |x|. Callers must check for two cases: x is NaN;
// and overflow, for which the exponent field of the result is 2^ExpBits - 1 or more. Normal results are rounded as
// integers. For subnormal results, the sum with kMagic is rounded at their last bit (F. Giesen,
// "float_to_half_fast3_rtne").
template <int ExpBits, int ManBits> XPOPS_DEVICE uint32 round_small(uint32 magnitude) {
  constexpr int kShift = 23 - ManBits;
  constexpr int kBias = (1 << (ExpBits - 1)) - 1;
  constexpr uint32 kMinNormal = uint32(127 - kBias + 1) << 23;
  if (magnitude < kMinNormal) {
    constexpr uint32 kMagic = uint32(127 - kBias + 1 + kShift) << 23;
    return float_bits(add_rn(bits_float(magnitude), bits_float(kMagic))) - kMagic;
  }
  uint32 odd = (magnitude >> kShift) & 1;
  return (magnitude - (uint32(127 - kBias) << 23) + ((1u << (kShift - 1)) - 1) + odd) >> kShift;
}

// The bits of x, rounded to 16 bits. Every NaN becomes +NaN. The instruction that rounds a pair, here with 0, is several
// times as fast as that for one number.
#if XPOPS_PTX_SM80
XPOPS_DEVICE uint16 float16_bits(float x) {
  uint32 pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(x));
  return static_cast<uint16>(pair);
}
XPOPS_DEVICE uint16 bfloat16_bits(float x) {
  uint32 pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(x));
  return static_cast<uint16>(pair);
}
#elif XPOPS_ON_GPU
XPOPS_DEVICE uint16 float16_bits(float x) {
  uint16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
#endif

}  // namespace detail

// IEEE binary16.
struct float16 {
  uint16 bits;
  float16() = default;
  template <class S, class = typename Conversion<float16, S>::Implicit>
  XPOPS_DEVICE float16(S x) : bits(Conversion<float16, S>::bits(x)) {}
  template <class S, class = typename Conversion<float16, S>::To> XPOPS_DEVICE operator S() const {
    return Conversion<float16, S>::value(*this);
  }
  template <class S, class = typename Conversion<float16, S>::Explicit, class = void>
  XPOPS_DEVICE explicit operator S() const {
    return Conversion<float16, S>::value(*this);
  }
  // The sign bit is merged in, because cvt turns every NaN into +NaN, but copysign must be able to make a -NaN.
  XPOPS_DEVICE explicit float16(float x) {
    uint32 b = float_bits(x);
#if XPOPS_ON_GPU
    bits = detail::float16_bits(x);
#else
    uint32 m = b & 0x7fffffff;
    bits = m > 0x7f800000 ? 0x7e00 : m >= 0x47800000 ? 0x7c00 : static_cast<uint16>(detail::round_small<5, 10>(m));
#endif
    bits = static_cast<uint16>(bits | ((b >> 16) & 0x8000));
  }
  XPOPS_DEVICE explicit operator float() const {
    float x;
#if XPOPS_ON_GPU
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
#else
    uint32 m = bits & 0x7fff;
    x = m >= 0x7c00 ? bits_float((m << 13) | 0x7f800000) : bits_float(m << 13) * 0x1p112f;
#endif
    return bits_float(float_bits(x) | (uint32(bits & 0x8000) << 16));
  }
};

// The upper half of a float.
struct bfloat16 {
  uint16 bits;
  bfloat16() = default;
  template <class S, class = typename Conversion<bfloat16, S>::Implicit>
  XPOPS_DEVICE bfloat16(S x) : bits(Conversion<bfloat16, S>::bits(x)) {}
  template <class S, class = typename Conversion<bfloat16, S>::To> XPOPS_DEVICE operator S() const {
    return Conversion<bfloat16, S>::value(*this);
  }
  template <class S, class = typename Conversion<bfloat16, S>::Explicit, class = void>
  XPOPS_DEVICE explicit operator S() const {
    return Conversion<bfloat16, S>::value(*this);
  }
  XPOPS_DEVICE explicit bfloat16(float x) {
    uint32 b = float_bits(x);
#if XPOPS_PTX_SM80
    bits = static_cast<uint16>(detail::bfloat16_bits(x) | ((b >> 16) & 0x8000));
#else
    bool is_nan = (b & 0x7fffffff) > 0x7f800000;
    bits = static_cast<uint16>(is_nan ? ((b >> 16) | 0x40) : (b + 0x7fff + ((b >> 16) & 1)) >> 16);
#endif
  }
  XPOPS_DEVICE explicit operator float() const { return bits_float(uint32(bits) << 16); }
};

// 4 exponent bits, 3 mantissa bits, no infinity: overflow and infinity become NaN.
struct float8_e4m3fn {
  uint8 bits;
  float8_e4m3fn() = default;
  XPOPS_DEVICE explicit float8_e4m3fn(float x) {
    uint32 b = float_bits(x), m = b & 0x7fffffff;
    uint32 r = detail::round_small<4, 3>(m);
    bits = static_cast<uint8>((m > 0x43e80000 ? 0x7f : r) | (b >> 31 << 7));  // 464, halfway to 480, ties to 448
  }
  XPOPS_DEVICE explicit operator float() const {
    uint32 m = bits & 0x7f;
    float x = m == 0x7f ? bits_float(0x7fc00000u) : bits_float(m << 20) * 0x1p120f;
    return bits_float(float_bits(x) | (uint32(bits >> 7) << 31));
  }
};

// 5 exponent bits, 2 mantissa bits: the upper half of a float16.
struct float8_e5m2 {
  uint8 bits;
  float8_e5m2() = default;
  XPOPS_DEVICE explicit float8_e5m2(float x) {
    uint32 b = float_bits(x), m = b & 0x7fffffff;
    uint32 r = detail::round_small<5, 2>(m);
    bits = static_cast<uint8>((m > 0x7f800000 ? 0x7e : m >= 0x47700000 ? 0x7c : r) | (b >> 31 << 7));  // 61440 is inf
  }
  XPOPS_DEVICE explicit operator float() const {
    float16 h;
    h.bits = static_cast<uint16>(bits << 8);
    return static_cast<float>(h);
  }
};

// Two values in one register, the first in the low half. The paired functors (apply2) take and return them.
template <class T> struct packed2 {
  uint32 bits;
  packed2() = default;
  XPOPS_DEVICE packed2(T first, T second) : bits(first.bits | (uint32(second.bits) << 16)) {}
  XPOPS_DEVICE explicit packed2(uint32 b) : bits(b) {}
  XPOPS_DEVICE T first() const { return half(bits); }
  XPOPS_DEVICE T second() const { return half(bits >> 16); }

 private:
  static XPOPS_DEVICE T half(uint32 b) {
    T x;
    x.bits = static_cast<uint16>(b);
    return x;
  }
};
using float16x2 = packed2<float16>;
using bfloat16x2 = packed2<bfloat16>;

// Two values of any type.
template <class T> struct unpacked2 {
  T one, other;
  XPOPS_DEVICE T first() const { return one; }
  XPOPS_DEVICE T second() const { return other; }
};
template <class T> XPOPS_DEVICE unpacked2<T> two(T first, T second) { return {first, second}; }

// The same value twice.
template <class T> XPOPS_DEVICE packed2<T> twice(T x) { return packed2<T>(x, x); }

template <class T> struct alignas(2 * sizeof(T)) complex {
  T re, im;
  complex() = default;
  XPOPS_HOST_DEVICE constexpr complex(T re, T im = T(0)) : re(re), im(im) {}
};

template <class T> XPOPS_DEVICE complex<T> operator+(complex<T> x, complex<T> y) { return {x.re + y.re, x.im + y.im}; }
template <class T> XPOPS_DEVICE complex<T> operator-(complex<T> x, complex<T> y) { return {x.re - y.re, x.im - y.im}; }
template <class T> XPOPS_DEVICE complex<T> operator-(complex<T> x) { return {-x.re, -x.im}; }
template <class T> XPOPS_DEVICE bool operator==(complex<T> x, complex<T> y) { return x.re == y.re && x.im == y.im; }
template <class T> XPOPS_DEVICE bool operator!=(complex<T> x, complex<T> y) { return !(x == y); }

// The textbook formula, as in NumPy. It does not recover infinities as C99 Annex G does.
template <class T> XPOPS_DEVICE complex<T> operator*(complex<T> x, complex<T> y) {
  return {add_rn(mul_rn(x.re, y.re), -mul_rn(x.im, y.im)), add_rn(mul_rn(x.re, y.im), mul_rn(x.im, y.re))};
}

namespace detail {

XPOPS_DEVICE float absolute(float x) { return bits_float(float_bits(x) & 0x7fffffffu); }
XPOPS_DEVICE double absolute(double x) { return bits_float(float_bits(x) & 0x7fffffffffffffffull); }

// A power of two p such that m * p is in [1, 2) for normal m (somewhat below for subnormal m), 1 for 0, inf and NaN.
// Clamped so that p itself is normal.
XPOPS_DEVICE float inverse_power(float m) {
  uint32 e = float_bits(m) >> 23;
  return e == 255 || m == 0 ? 1.0f : bits_float((e > 253 ? 1u : 254u - (e ? e : 1u)) << 23);
}
XPOPS_DEVICE double inverse_power(double m) {
  uint64 e = float_bits(m) >> 52;
  return e == 2047 || m == 0 ? 1.0 : bits_float((e > 2045 ? uint64(1) : 2046 - (e ? e : uint64(1))) << 52);
}

}  // namespace detail

// Smith's division (CACM 5, 1962), as in NumPy also at 0, inf and NaN. The operands are scaled by exact powers of two,
// so that no intermediate value overflows or underflows. A zero divisor divides both parts by |0|.
template <class T> XPOPS_DEVICE complex<T> operator/(complex<T> x, complex<T> y) {
  T cr = detail::absolute(y.re), ci = detail::absolute(y.im);
  if (cr == 0 && ci == 0) return {x.re / cr, x.im / cr};
  T ar = detail::absolute(x.re), ai = detail::absolute(x.im);
  T p = detail::inverse_power(cr >= ci ? cr : ci), q = detail::inverse_power(ar >= ai ? ar : ai);
  T a = x.re * q, b = x.im * q, c = y.re * p, d = y.im * p;
  bool turn = !(cr >= ci);  // if the imaginary part leads, divide x / i by y / i, so that |d / c| <= 1
  T n = turn ? b : a, m = turn ? -a : b, u = turn ? d : c, v = turn ? -c : d;
  T ratio = v / u, den = add_rn(u, mul_rn(v, ratio));
  T re = add_rn(n, mul_rn(m, ratio)) / den, im = add_rn(m, -mul_rn(n, ratio)) / den;
  // Multiply by p / q: in one factor if p and 1 / q are on opposite sides of 1 (exact), else one after the other.
  T inv = T(1) / q;
  bool opposite = (p <= 1) != (inv <= 1);
  T first = opposite ? p * inv : p, second = opposite ? T(1) : inv;
  return {re * first * second, im * first * second};
}

template <class T> XPOPS_DEVICE T real(complex<T> x) { return x.re; }
template <class T> XPOPS_DEVICE T imag(complex<T> x) { return x.im; }
template <class T> XPOPS_DEVICE complex<T> conj(complex<T> x) { return {x.re, -x.im}; }

}  // namespace xpops
