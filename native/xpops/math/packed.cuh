// Sum, difference, product, maximum and minimum of two packed 16-bit floats with one instruction each; and maximum and
// minimum of one float or double. Functors use them in apply2, which computes two elements at once. The results for 16
// bits equal those computed in float and then rounded: float has 24 >= 2 * 11 + 2 digits, so rounding twice changes
// nothing (Figueroa, 1995).
#pragma once

#include "xpops/math/real.cuh"

namespace xpops {
namespace packed {

// NaN propagates and -0 < +0, as in PTX's max.NaN and min.NaN.
template <class T> XPOPS_DEVICE T maximum(T x, T y) {
#if XPOPS_PTX_SM80
  if constexpr (is_same_v<T, float>) {
    T r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return r;
  }
#endif
  if (x != x || y != y) return x + y;
  return x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

template <class T> XPOPS_DEVICE T minimum(T x, T y) {
#if XPOPS_PTX_SM80
  if constexpr (is_same_v<T, float>) {
    T r;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y));
    return r;
  }
#endif
  if (x != x || y != y) return x + y;
  return x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}

namespace detail {
template <class T, class Op> XPOPS_DEVICE packed2<T> each(packed2<T> x, packed2<T> y, Op op) {
  return packed2<T>(T(op(static_cast<float>(x.first()), static_cast<float>(y.first()))),
                    T(op(static_cast<float>(x.second()), static_cast<float>(y.second()))));
}
struct AddOp {
  XPOPS_DEVICE float operator()(float x, float y) const { return add_rn(x, y); }
};
struct SubtractOp {
  XPOPS_DEVICE float operator()(float x, float y) const { return add_rn(x, -y); }
};
struct MultiplyOp {
  XPOPS_DEVICE float operator()(float x, float y) const { return mul_rn(x, y); }
};
struct MaximumOp {
  XPOPS_DEVICE float operator()(float x, float y) const { return maximum(x, y); }
};
struct MinimumOp {
  XPOPS_DEVICE float operator()(float x, float y) const { return minimum(x, y); }
};
}  // namespace detail

// bfloat16 has add and mul from sm_90 on, and fma from sm_80 on. So these are x * 1 + y, y * -1 + x and x * y + -0,
// which fma rounds once.
#if XPOPS_PTX_SM80
#define XPOPS_PACKED(name, Op, f16, bf16_three)                                                      \
  XPOPS_DEVICE float16x2 name(float16x2 x, float16x2 y) {                                            \
    uint32 r;                                                                                        \
    asm(f16 " %0, %1, %2;" : "=r"(r) : "r"(x.bits), "r"(y.bits));                                    \
    return float16x2(r);                                                                             \
  }                                                                                                  \
  XPOPS_DEVICE bfloat16x2 name(bfloat16x2 x, bfloat16x2 y) {                                         \
    uint32 r;                                                                                        \
    asm(bf16_three : "=r"(r) : "r"(x.bits), "r"(y.bits), "r"(0x3f803f80u), "r"(0xbf80bf80u), "r"(0x80008000u)); \
    return bfloat16x2(r);                                                                            \
  }
#else
#define XPOPS_PACKED(name, Op, f16, bf16_three) \
  template <class P> XPOPS_DEVICE P name(P x, P y) { return detail::each(x, y, detail::Op()); }
#endif

XPOPS_PACKED(add, AddOp, "add.rn.f16x2", "fma.rn.bf16x2 %0, %1, %3, %2;")
XPOPS_PACKED(subtract, SubtractOp, "sub.rn.f16x2", "fma.rn.bf16x2 %0, %2, %4, %1;")
XPOPS_PACKED(multiply, MultiplyOp, "mul.rn.f16x2", "fma.rn.bf16x2 %0, %1, %2, %5;")
XPOPS_PACKED(maximum2, MaximumOp, "max.NaN.f16x2", "max.NaN.bf16x2 %0, %1, %2;")
XPOPS_PACKED(minimum2, MinimumOp, "min.NaN.f16x2", "min.NaN.bf16x2 %0, %1, %2;")

#undef XPOPS_PACKED

}  // namespace packed
}  // namespace xpops
