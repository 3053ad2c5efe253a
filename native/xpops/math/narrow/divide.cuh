// Quotients of 16 bits, without the division of float32.
#pragma once

#include "xpops/math/fast.cuh"

namespace xpops {

// The nearest number, as if the exact quotient were rounded. A quotient of numbers with p digits is a tie only if the
// result is subnormal, and otherwise at least 2^(-2p - 1) of itself away from a tie. The quotients below are closer to
// the exact ones than that, and equal them where these are ties.
template <class Out> struct NarrowDivide {
  template <class X> XPOPS_DEVICE Out operator()(X stored_x, X stored_y) const {
    const float x = widened(stored_x), y = widened(stored_y);
    if constexpr (is_same_v<X, bfloat16> && is_same_v<Out, bfloat16>) {
      // The scale keeps the reciprocal in the range of normal floats. If the scaled x overflows or loses digits, so does
      // the result.
      const float size = abs(y), scale = size > 0x1p64f ? 0x1p-64f : size < 0x1p-64f ? 0x1p64f : 1.0f;
      return narrowed<Out>(mul_rn(mul_rn(x, scale), fast_reciprocal(mul_rn(y, scale))));
    } else if constexpr (is_same_v<X, float16>) {
      const float inverse = fast_reciprocal(y), near = mul_rn(x, inverse), rest = fma(-near, y, x);
      return narrowed<Out>(abs(rest) > 0 ? fma(rest, inverse, near) : near);  // `rest` may be NaN, and `near` -0
    } else {
      return narrowed<Out>(x / y);
    }
  }
};

}  // namespace xpops
