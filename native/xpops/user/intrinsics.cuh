// CUDA's intrinsics on float16, bfloat16 and pairs of them. The compiler finds them by the type of their arguments, so
// they do not meet CUDA's own. Those that make a half of something else are in native/cuda/.
#pragma once

#include <xpops/user/pair.cuh>

namespace xpops {

template <class T, class R = T> using if_half_t = enable_if_t<is_half_v<T>, R>;

// A function of one half, or of two, and the same of pairs.
#define XPOPS_UNARY(name, name2, expression)                                     \
  template <class T> XPOPS_DEVICE if_half_t<T> name(T a) { return T(expression); } \
  template <class T> XPOPS_DEVICE half_pair<T> name2(half_pair<T> a) { return {name(a.x), name(a.y)}; }
#define XPOPS_BINARY(name, name2, expression)                                         \
  template <class T> XPOPS_DEVICE if_half_t<T> name(T a, T b) { return T(expression); } \
  template <class T> XPOPS_DEVICE half_pair<T> name2(half_pair<T> a, half_pair<T> b) { return {name(a.x, b.x), name(a.y, b.y)}; }

XPOPS_UNARY(__hneg, __hneg2, -a)
XPOPS_UNARY(__habs, __habs2, abs(a))
XPOPS_UNARY(hceil, h2ceil, ceil(a))
XPOPS_UNARY(hfloor, h2floor, floor(a))
XPOPS_UNARY(htrunc, h2trunc, trunc(a))
XPOPS_UNARY(hrint, h2rint, rint(a))
XPOPS_UNARY(hsqrt, h2sqrt, sqrt(a))
XPOPS_UNARY(hrsqrt, h2rsqrt, 1.0f / ::sqrtf(a))
XPOPS_UNARY(hrcp, h2rcp, 1.0f / static_cast<float>(a))
XPOPS_UNARY(hexp, h2exp, exp(a))
XPOPS_UNARY(hexp2, h2exp2, exp2(a))
XPOPS_UNARY(hexp10, h2exp10, ::powf(10.0f, a))
XPOPS_UNARY(hlog, h2log, log(a))
XPOPS_UNARY(hlog2, h2log2, log2(a))
XPOPS_UNARY(hlog10, h2log10, log10(a))
XPOPS_UNARY(hsin, h2sin, sin(a))
XPOPS_UNARY(hcos, h2cos, cos(a))
XPOPS_UNARY(htanh, h2tanh, tanh(a))
XPOPS_BINARY(__hadd, __hadd2, a + b)
XPOPS_BINARY(__hsub, __hsub2, a - b)
XPOPS_BINARY(__hmul, __hmul2, a * b)
XPOPS_BINARY(__hdiv, __h2div, a / b)
XPOPS_BINARY(__hadd_rn, __hadd2_rn, a + b)
XPOPS_BINARY(__hsub_rn, __hsub2_rn, a - b)
XPOPS_BINARY(__hmul_rn, __hmul2_rn, a * b)
// A NaN loses to any number; with _nan it wins.
XPOPS_BINARY(__hmax, __hmax2, a != a || a < b ? b : a)
XPOPS_BINARY(__hmin, __hmin2, a != a || b < a ? b : a)
XPOPS_BINARY(__hmax_nan, __hmax2_nan, b != b || a < b ? b : a)
XPOPS_BINARY(__hmin_nan, __hmin2_nan, b != b || b < a ? b : a)
// Clamped to [0, 1]; a NaN becomes 0.
template <class T> XPOPS_DEVICE if_half_t<T> saturated(T a) { return a > 0 ? a < 1 ? a : T(1) : T(0); }
XPOPS_BINARY(__hadd_sat, __hadd2_sat, saturated(a + b))
XPOPS_BINARY(__hsub_sat, __hsub2_sat, saturated(a - b))
XPOPS_BINARY(__hmul_sat, __hmul2_sat, saturated(a * b))
#undef XPOPS_UNARY
#undef XPOPS_BINARY

template <class T> XPOPS_DEVICE if_half_t<T> __hfma(T a, T b, T c) { return fma(a, b, c); }
template <class T> XPOPS_DEVICE if_half_t<T> __hfma_sat(T a, T b, T c) { return saturated(fma(a, b, c)); }
template <class T> XPOPS_DEVICE if_half_t<T> __hfma_relu(T a, T b, T c) { return __hmax_nan(T(0), fma(a, b, c)); }
template <class T> XPOPS_DEVICE half_pair<T> __hfma2(half_pair<T> a, half_pair<T> b, half_pair<T> c) {
  return {fma(a.x, b.x, c.x), fma(a.y, b.y, c.y)};
}

// Comparisons: of halves; of pairs, with 1.0 or 0.0 for each; of pairs, whether it holds for both. A comparison with a
// NaN is false, in the functions that end in u it is true.
#define XPOPS_COMPARISON(name, op)                                                                              \
  template <class T> XPOPS_DEVICE if_half_t<T, bool> __h##name(T a, T b) { return a op b; }                     \
  template <class T> XPOPS_DEVICE if_half_t<T, bool> __h##name##u(T a, T b) { return a op b || a != a || b != b; } \
  template <class T> XPOPS_DEVICE half_pair<T> __h##name##2(half_pair<T> a, half_pair<T> b) {                   \
    return {T(a.x op b.x), T(a.y op b.y)};                                                                      \
  }                                                                                                             \
  template <class T> XPOPS_DEVICE bool __hb##name##2(half_pair<T> a, half_pair<T> b) { return a.x op b.x && a.y op b.y; }
XPOPS_COMPARISON(eq, ==)
XPOPS_COMPARISON(lt, <)
XPOPS_COMPARISON(le, <=)
XPOPS_COMPARISON(gt, >)
XPOPS_COMPARISON(ge, >=)
#undef XPOPS_COMPARISON

template <class T> XPOPS_DEVICE if_half_t<T, bool> __hne(T a, T b) { return a < b || b < a; }
template <class T> XPOPS_DEVICE if_half_t<T, bool> __hneu(T a, T b) { return a != b; }
template <class T> XPOPS_DEVICE half_pair<T> __hne2(half_pair<T> a, half_pair<T> b) {
  return {T(__hne(a.x, b.x)), T(__hne(a.y, b.y))};
}
template <class T> XPOPS_DEVICE bool __hbne2(half_pair<T> a, half_pair<T> b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
template <class T> XPOPS_DEVICE if_half_t<T, bool> __hisnan(T a) { return a != a; }
template <class T> XPOPS_DEVICE if_half_t<T, int> __hisinf(T a) {
  const float x = a;
  return x == limits<float>::infinity() ? 1 : x == -limits<float>::infinity() ? -1 : 0;
}
template <class T> XPOPS_DEVICE half_pair<T> __hisnan2(half_pair<T> a) { return {T(a.x != a.x), T(a.y != a.y)}; }

template <class T> XPOPS_DEVICE T __low2half(half_pair<T> a) { return a.x; }
template <class T> XPOPS_DEVICE T __high2half(half_pair<T> a) { return a.y; }
template <class T> XPOPS_DEVICE T __low2bfloat16(half_pair<T> a) { return a.x; }
template <class T> XPOPS_DEVICE T __high2bfloat16(half_pair<T> a) { return a.y; }
template <class T> XPOPS_DEVICE float __low2float(half_pair<T> a) { return a.x; }
template <class T> XPOPS_DEVICE float __high2float(half_pair<T> a) { return a.y; }
template <class T> XPOPS_DEVICE half_pair<T> __low2half2(half_pair<T> a) { return {a.x, a.x}; }
template <class T> XPOPS_DEVICE half_pair<T> __high2half2(half_pair<T> a) { return {a.y, a.y}; }
template <class T> XPOPS_DEVICE half_pair<T> __lowhigh2highlow(half_pair<T> a) { return {a.y, a.x}; }
template <class T> XPOPS_DEVICE half_pair<T> __lows2half2(half_pair<T> a, half_pair<T> b) { return {a.x, b.x}; }
template <class T> XPOPS_DEVICE half_pair<T> __highs2half2(half_pair<T> a, half_pair<T> b) { return {a.y, b.y}; }
template <class T> XPOPS_DEVICE half_pair<if_half_t<T>> __halves2half2(T a, T b) { return {a, b}; }
template <class T> XPOPS_DEVICE half_pair<if_half_t<T>> __half2half2(T a) { return {a, a}; }
template <class T> XPOPS_DEVICE half_pair<if_half_t<T>> __halves2bfloat162(T a, T b) { return {a, b}; }
template <class T> XPOPS_DEVICE half_pair<if_half_t<T>> __bfloat162bfloat162(T a) { return {a, a}; }

XPOPS_DEVICE float __half2float(float16 a) { return a; }
XPOPS_DEVICE float __bfloat162float(bfloat16 a) { return a; }
XPOPS_DEVICE short __half_as_short(float16 a) { return static_cast<short>(a.bits); }
XPOPS_DEVICE unsigned short __half_as_ushort(float16 a) { return a.bits; }
XPOPS_DEVICE short __bfloat16_as_short(bfloat16 a) { return static_cast<short>(a.bits); }
XPOPS_DEVICE unsigned short __bfloat16_as_ushort(bfloat16 a) { return a.bits; }

// To integers: _rz towards zero, _rn to nearest even, _rd down, _ru up.
#define XPOPS_TO_INTEGER(name, Integer)                                                                      \
  template <class T> XPOPS_DEVICE if_half_t<T, Integer> name##_rz(T a) { return static_cast<Integer>(a); }   \
  template <class T> XPOPS_DEVICE if_half_t<T, Integer> name##_rn(T a) { return static_cast<Integer>(rint(a)); } \
  template <class T> XPOPS_DEVICE if_half_t<T, Integer> name##_rd(T a) { return static_cast<Integer>(floor(a)); } \
  template <class T> XPOPS_DEVICE if_half_t<T, Integer> name##_ru(T a) { return static_cast<Integer>(ceil(a)); }
XPOPS_TO_INTEGER(__half2int, int)
XPOPS_TO_INTEGER(__half2uint, unsigned)
XPOPS_TO_INTEGER(__half2short, short)
XPOPS_TO_INTEGER(__half2ushort, unsigned short)
XPOPS_TO_INTEGER(__half2ll, long long)
XPOPS_TO_INTEGER(__half2ull, unsigned long long)
XPOPS_TO_INTEGER(__bfloat162int, int)
XPOPS_TO_INTEGER(__bfloat162uint, unsigned)
XPOPS_TO_INTEGER(__bfloat162ll, long long)
#undef XPOPS_TO_INTEGER

}  // namespace xpops
