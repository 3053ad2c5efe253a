// Quotients and square roots of expressions that need not be exact, within 2 units in the last place.
#pragma once

#include <xpops/core/traits.cuh>
#include <xpops/math/real.cuh>

namespace xpops {

// 1 / y, by one approximate instruction for float if kNear.
template <bool kNear, class T>
XPOPS_DEVICE T inverse_of(T y) {
#if XPOPS_ON_GPU
  if constexpr (kNear && is_same_v<T, float>) {
    float inverse;
    asm("rcp.approx.f32 %0, %1;" : "=f"(inverse) : "f"(y));
    return inverse;
  }
#endif
  return 1 / y;
}

// x / y by two products for many x. The inverse of y is kept as two factors, and one of them is a power of two. Without
// it the inverse could be infinite or subnormal although the quotient is not. If y is a square root (kRoot), one product
// is enough: square roots are neither so small nor so large. T: float or double.
template <class T, bool kRoot = false, bool kNear = false>
struct Divisor {
  T inverse, scale;

  Divisor() = default;
  XPOPS_DEVICE explicit Divisor(T y) {
    constexpr T kLarge = 0x1p64;
    scale = abs(y) > kLarge ? 1 / kLarge : abs(y) < 1 / kLarge ? kLarge : T(1);
    inverse = inverse_of<kNear>(y * scale);
  }
  XPOPS_DEVICE T operator()(T x) const { return x * inverse * scale; }
};

template <class T, bool kNear>
struct Divisor<T, true, kNear> {
  T inverse;

  Divisor() = default;
  XPOPS_DEVICE explicit Divisor(T y) : inverse(inverse_of<kNear>(y)) {}
  XPOPS_DEVICE T operator()(T x) const { return x * inverse; }
};

struct NearDivide {
  XPOPS_DEVICE float operator()(float x, float y) const { return Divisor<float, false, true>(y)(x); }
};

struct NearReciprocal {
  XPOPS_DEVICE float operator()(float x) const { return NearDivide()(1.0f, x); }
};

struct NearSqrt {
  XPOPS_DEVICE float operator()(float x) const {
#if XPOPS_ON_GPU
    float root;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return sqrt(x);
#endif
  }
};

}  // namespace xpops
