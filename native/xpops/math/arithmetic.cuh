// Arithmetic functors. Integers wrap; divided by 0 they give 0. Floating point follows the array API's special cases.
#pragma once

#include "xpops/core/traits.cuh"
#include "xpops/math/fast.cuh"
#include "xpops/math/narrow/divide.cuh"
#include "xpops/math/narrow/pow.cuh"
#include "xpops/math/narrow/remainder.cuh"
#include "xpops/math/packed.cuh"
#include "xpops/math/real.cuh"

namespace xpops {
namespace detail {

// The quotient, rounded down, and the remainder with the sign of y, which is not 0. A quotient beyond T wraps.
template <class T> struct Division {
  T quotient, remainder;

  XPOPS_DEVICE Division(T x, T y) {
    if constexpr (sizeof(T) <= 2) {
      const bool below = is_negative(y), opposite = is_negative(x) != below;
      const uint32 size = below ? 0u - static_cast<uint32>(y) : static_cast<uint32>(y);
      const uint32 rest = opposite != below ? 0u - static_cast<uint32>(x) : static_cast<uint32>(x);
      // (rest + 1/2) / size is 1 / (2 * size) away from all integers, and the error is at most 2^-22 of less than 2^16.
      uint32 down = fast_integer((fast_float(rest) + 0.5f) * fast_reciprocal(fast_float(size)));
      uint32 left = rest - down * size;
      if (opposite && left != 0) {
        ++down;
        left = size - left;
      }
      quotient = static_cast<T>(opposite ? 0u - down : down);
      remainder = static_cast<T>(below ? 0u - left : left);
    } else if constexpr (is_signed_v<T>) {
      const bool negates = y == -1;  // the least integer has no opposite
      const T q = negates ? static_cast<T>(0 - wrap(x)) : x / y, r = negates ? T(0) : x % y;
      const bool above = r != 0 && (r < 0) != (y < 0);
      quotient = q - above;
      remainder = above ? r + y : r;
    } else {
      quotient = x / y;
      remainder = x % y;
    }
  }
};

// floor(x / y). The division may round up to an integer. The remainder x - f * y, which fma computes with the right
// sign, then has the opposite sign to y, and f is 1 too large. From 2^digits on every float is an integer: the rounded
// quotient is the result, as in NumPy.
template <class T> XPOPS_DEVICE T float_floor_divide(T x, T y) {
  T q = x / y, f = floor(q);
  T r = fma(-f, y, x);
  bool above = (r < 0 && y > 0) || (r > 0 && y < 0);
  return above && abs(q) < T(2) / limits<T>::epsilon() ? f - T(1) : f;
}

template <class T> XPOPS_DEVICE T float_remainder(T x, T y) {
  T r = fmod(x, y);
  if (r == 0) return copysign(T(0), y);
  return (r < 0) != (y < 0) ? r + y : r;
}

}  // namespace detail

struct Add {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if constexpr (is_integer_v<T>) return static_cast<T>(detail::wrap(x) + detail::wrap(y));
    else return x + y;
  }
  template <class P> XPOPS_DEVICE P apply2(P x, P y) const { return packed::add(x, y); }
};

struct Subtract {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if constexpr (is_integer_v<T>) return static_cast<T>(detail::wrap(x) - detail::wrap(y));
    else return x - y;
  }
  template <class P> XPOPS_DEVICE P apply2(P x, P y) const { return packed::subtract(x, y); }
};

struct Multiply {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if constexpr (is_integer_v<T>) return static_cast<T>(detail::wrap(x) * detail::wrap(y));
    else return x * y;
  }
  template <class P> XPOPS_DEVICE P apply2(P x, P y) const { return packed::multiply(x, y); }
};

struct Divide {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return x / y; }
};

// infinity // finite is infinite, and finite // infinity is -0 if the signs differ. The standard names these results,
// but also allows Python's, which are NaN and -1.
struct FloorDivide {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if constexpr (is_integer_v<T>) {
      return y == 0 ? T(0) : detail::Division<T>(x, y).quotient;
    } else {
      return detail::float_floor_divide(x, y);
    }
  }
};

struct Remainder {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if constexpr (is_integer_v<T>) {
      return y == 0 ? T(0) : detail::Division<T>(x, y).remainder;
    } else {
      return detail::float_remainder(x, y);
    }
  }
};

// Integers with a negative exponent: powers of 1 and -1 are exact, all other bases give 0.
struct Pow {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if constexpr (is_integer_v<T>) return detail::integer_pow(x, y);
    else if constexpr (is_complex_v<T>) return pow(x, y);
    else return y == T(2) || y == T(3) ? detail::square_or_cube(x, y) : pow(x, y);  // the most common exponents
  }
};

struct Negative {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if constexpr (is_integer_v<T>) return detail::opposite(x);
    else return -x;
  }
  template <class P> XPOPS_DEVICE P apply2(P x) const { return P(x.bits ^ 0x80008000u); }
};

struct Positive {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return x; }
};

struct Identity {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return x; }
};

struct Abs {
  template <class T> XPOPS_DEVICE real_t<T> operator()(T x) const {
    if constexpr (is_integer_v<T> && is_signed_v<T>) return x < 0 ? static_cast<T>(0 - detail::wrap(x)) : x;
    else if constexpr (is_integer_v<T>) return x;
    else return abs(x);
  }
  template <class P> XPOPS_DEVICE P apply2(P x) const { return P(x.bits & 0x7fff7fffu); }
};

struct Sign {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if constexpr (is_complex_v<T>) return sign(x);
    else if constexpr (is_integer_v<T> && !is_signed_v<T>) return T(x != 0);
    else return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? T(0) : x;  // NaN stays NaN, -0 becomes +0
  }
};

struct Square {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return Multiply()(x, x); }
};

struct Reciprocal {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return T(1) / x; }
};

struct Hypot {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return hypot(x, y); }
};

// Squares of float16 are floats, and those of bfloat16 need a scale.
template <class Out> struct NarrowHypot {
  template <class X> XPOPS_DEVICE Out operator()(X stored_x, X stored_y) const {
    constexpr float kInfinity = limits<float>::infinity();
    float x = widened(stored_x), y = widened(stored_y), scale = 1;
    const bool is_infinite = abs(x) == kInfinity || abs(y) == kInfinity;  // even if the other one is NaN
    if constexpr (is_same_v<X, bfloat16>) {
      const float large = packed::maximum(abs(x), abs(y)), inverse = detail::scale_of(large);
      scale = detail::inverse_scale_of(large);
      x *= inverse;
      y *= inverse;
    }
    const float root = fast_sqrt(fma(x, x, y * y)) * scale;
    return narrowed<Out>(is_infinite ? kInfinity : root);
  }
};

// NaN propagates and -0 < +0.
struct Maximum {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if constexpr (is_floating_v<T>) return packed::maximum(x, y);
    else return x < y ? y : x;
  }
  template <class P> XPOPS_DEVICE P apply2(P x, P y) const { return packed::maximum2(x, y); }
};

struct Minimum {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if constexpr (is_floating_v<T>) return packed::minimum(x, y);
    else return y < x ? y : x;
  }
  template <class P> XPOPS_DEVICE P apply2(P x, P y) const { return packed::minimum2(x, y); }
};

// If lo > hi, the result is hi, as in NumPy.
struct Clip {
  template <class T> XPOPS_DEVICE T operator()(T x, T lo, T hi) const { return Minimum()(Maximum()(x, lo), hi); }
};

// Copies the sign bit, so it works for NaN too.
struct Copysign {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    using U = unsigned_t<T>;
    constexpr U kSign = U(1) << (8 * sizeof(T) - 1);
    return bits_float((float_bits(x) & ~kSign) | (float_bits(y) & kSign));
  }
};

// The neighbour of a 16-bit number is not its neighbour in float, so callers must not convert operands to compute_t<T>.
struct Nextafter {
  template <class T> XPOPS_DEVICE enable_if_t<!is_half_v<T>, T> operator()(T x, T y) const { return nextafter(x, y); }
  template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T> operator()(T x, T y) const {
    float a = static_cast<float>(x), b = static_cast<float>(y);
    if (isnan(a) || isnan(b)) return isnan(a) ? x : y;
    if (a == b) return y;
    if (a == 0) x.bits = static_cast<uint16>((y.bits & 0x8000) | 1);
    else x.bits = static_cast<uint16>(x.bits + ((a < b) == (a > 0) ? 1 : -1));
    return x;
  }
};

struct Real {
  template <class T> XPOPS_DEVICE real_t<T> operator()(T x) const {
    if constexpr (is_complex_v<T>) return x.re;
    else return x;
  }
};

struct Imag {
  template <class T> XPOPS_DEVICE real_t<T> operator()(T x) const {
    if constexpr (is_complex_v<T>) return x.im;
    else return T(0);
  }
};

struct Conj {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if constexpr (is_complex_v<T>) return conj(x);
    else return x;
  }
};

}  // namespace xpops
