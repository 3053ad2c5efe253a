// Remainders of 16 bits, without the loop of fmod unless the quotient is very large.
#pragma once

#include "xpops/math/fast.cuh"
#include "xpops/math/real.cuh"

namespace xpops {
namespace detail {

// Called, so that its loop is compiled once.
static XPOPS_NOINLINE float called_fmod(float x, float y) { return fmod(x, y); }

// The remainder of x >= 0 divided by y >= 0, both of at most 11 digits. The quotient from the approximate reciprocal is
// at most 1 off, and the rest is a multiple of the last digit of y below 2 y, so that fma computes it exactly.
XPOPS_DEVICE float narrow_fmod(float x, float y) {
  const float ratio = x * fast_reciprocal(y);
  if (!(ratio < 0x1p21f) || y < 0x1p-100f || y > 0x1p100f) return called_fmod(x, y);
  const float rest = fma(-floor(ratio), y, x);
  return rest < 0 ? rest + y : rest >= y ? rest - y : rest;
}

}  // namespace detail

template <class Out> struct NarrowRemainder {
  template <class X> XPOPS_DEVICE Out operator()(X stored_x, X stored_y) const {
    const float x = widened(stored_x), y = widened(stored_y), size = abs(y);
    const float rest = detail::narrow_fmod(abs(x), size);
    const bool opposite = (x < 0) != (y < 0);
    return narrowed<Out>(rest == 0 ? copysign(0.0f, y) : copysign(opposite ? size - rest : rest, y));
  }
};

}  // namespace xpops
