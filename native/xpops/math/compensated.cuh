// Products that carry their rounding errors.
#pragma once

#include <xpops/math/real.cuh>

namespace xpops {

// A product of real numbers, and the sum of its rounding errors, each of which fma computes exactly. In a tree of plain
// products the errors of equal factors are equal, so that a million of them add up instead of cancelling.
template <class T>
struct CompensatedProduct {
  T product, error;

  // (a + e)(b + f) is a b + (e (b + f) + a f). The intrinsic keeps the compiler from contracting the product.
  XPOPS_DEVICE CompensatedProduct times(const CompensatedProduct& other) const {
    const T rounded = mul_rn(product, other.product), rest = fma(product, other.product, -rounded);
    return {rounded, fma(error, other.product + other.error, fma(product, other.error, rest))};
  }

  // The error of an infinite product is NaN, and is ignored. A product of -0 has no error, and stays -0.
  XPOPS_DEVICE T total() const { return isfinite(error) && error != 0 ? product + error : product; }
};

}  // namespace xpops
