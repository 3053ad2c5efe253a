// float16 and bfloat16 as ordinary numbers, for the code of users: conversions, arithmetic, mathematical functions.
//
// Every operation computes in float and rounds its result once, to nearest even. Other numbers mix with them as with
// float, but integers do not widen: float16 * 2 is float16, float16 * 2.0f is float. Functions that take a float, as
// expf and fmaxf do, get it by conversion.
#pragma once

#include <xpops/user/conversion.cuh>

namespace xpops {

// Whether T is a half and S another number, or CUDA's type of the same format; and the type of their sum.
template <class T, class S, class = void> inline constexpr bool mixes_v = false;
template <class T, class S>
inline constexpr bool mixes_v<T, S, typename Conversion<T, S>::Implicit> = is_half_v<T>;
template <class T, class S>
using mixed_t = enable_if_t<mixes_v<T, S>, conditional_t<is_number_v<S> && !is_whole_v<S>, S, T>>;
// The type in which T is compared with S.
template <class S> using compared_t = conditional_t<is_number_v<S>, S, float>;

#define XPOPS_HALF_ARITHMETIC(op)                                                                      \
  template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T> operator op(T x, T y) {                 \
    return static_cast<T>(static_cast<float>(x) op static_cast<float>(y));                             \
  }                                                                                                    \
  template <class T, class S> XPOPS_DEVICE mixed_t<T, S> operator op(T x, S y) {                       \
    return static_cast<mixed_t<T, S>>(x) op static_cast<mixed_t<T, S>>(y);                             \
  }                                                                                                    \
  template <class T, class S> XPOPS_DEVICE mixed_t<T, S> operator op(S x, T y) {                       \
    return static_cast<mixed_t<T, S>>(x) op static_cast<mixed_t<T, S>>(y);                             \
  }                                                                                                    \
  template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T&> operator op##=(T& x, T y) {            \
    return x = x op y;                                                                                 \
  }                                                                                                    \
  template <class T, class S> XPOPS_DEVICE enable_if_t<mixes_v<T, S>, T&> operator op##=(T& x, S y) {  \
    return x = static_cast<T>(x op y);                                                                 \
  }                                                                                                    \
  template <class T, class S> XPOPS_DEVICE enable_if_t<mixes_v<T, S> && is_number_v<S>, S&> operator op##=(S& x, T y) {  \
    return x = static_cast<S>(x op static_cast<float>(y));                                             \
  }
XPOPS_HALF_ARITHMETIC(+)
XPOPS_HALF_ARITHMETIC(-)
XPOPS_HALF_ARITHMETIC(*)
XPOPS_HALF_ARITHMETIC(/)
#undef XPOPS_HALF_ARITHMETIC

#define XPOPS_HALF_COMPARISON(op)                                                                          \
  template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, bool> operator op(T x, T y) {                  \
    return static_cast<float>(x) op static_cast<float>(y);                                                 \
  }                                                                                                        \
  template <class T, class S> XPOPS_DEVICE enable_if_t<mixes_v<T, S>, bool> operator op(T x, S y) {        \
    return static_cast<float>(x) op static_cast<compared_t<S>>(y);                                         \
  }                                                                                                        \
  template <class T, class S> XPOPS_DEVICE enable_if_t<mixes_v<T, S>, bool> operator op(S x, T y) {        \
    return static_cast<compared_t<S>>(x) op static_cast<float>(y);                                         \
  }
XPOPS_HALF_COMPARISON(==)
XPOPS_HALF_COMPARISON(!=)
XPOPS_HALF_COMPARISON(<)
XPOPS_HALF_COMPARISON(<=)
XPOPS_HALF_COMPARISON(>)
XPOPS_HALF_COMPARISON(>=)
#undef XPOPS_HALF_COMPARISON

template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T> operator+(T x) { return x; }
template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T> operator-(T x) {
  x.bits ^= 0x8000;
  return x;
}
template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T&> operator++(T& x) { return x += 1; }
template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T&> operator--(T& x) { return x -= 1; }
template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T> operator++(T& x, int) {
  const T kept = x;
  ++x;
  return kept;
}
template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T> operator--(T& x, int) {
  const T kept = x;
  --x;
  return kept;
}

// Without these, a call would be ambiguous between the functions of CUDA C++ and those of xpops/math.
#define XPOPS_HALF_UNARY(name)                                                      \
  template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T> name(T x) {          \
    return static_cast<T>(::name(static_cast<float>(x)));                           \
  }
#define XPOPS_HALF_BINARY(name)                                                     \
  template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T> name(T x, T y) {     \
    return static_cast<T>(::name(static_cast<float>(x), static_cast<float>(y)));    \
  }
XPOPS_HALF_UNARY(exp)
XPOPS_HALF_UNARY(exp2)
XPOPS_HALF_UNARY(expm1)
XPOPS_HALF_UNARY(log)
XPOPS_HALF_UNARY(log1p)
XPOPS_HALF_UNARY(log2)
XPOPS_HALF_UNARY(log10)
XPOPS_HALF_UNARY(sqrt)
XPOPS_HALF_UNARY(cbrt)
XPOPS_HALF_UNARY(sin)
XPOPS_HALF_UNARY(cos)
XPOPS_HALF_UNARY(tan)
XPOPS_HALF_UNARY(asin)
XPOPS_HALF_UNARY(acos)
XPOPS_HALF_UNARY(atan)
XPOPS_HALF_UNARY(sinh)
XPOPS_HALF_UNARY(cosh)
XPOPS_HALF_UNARY(tanh)
XPOPS_HALF_UNARY(asinh)
XPOPS_HALF_UNARY(acosh)
XPOPS_HALF_UNARY(atanh)
XPOPS_HALF_UNARY(erf)
XPOPS_HALF_UNARY(erfc)
XPOPS_HALF_UNARY(ceil)
XPOPS_HALF_UNARY(floor)
XPOPS_HALF_UNARY(trunc)
XPOPS_HALF_UNARY(round)
XPOPS_HALF_UNARY(rint)
XPOPS_HALF_UNARY(fabs)
XPOPS_HALF_BINARY(pow)
XPOPS_HALF_BINARY(fmod)
XPOPS_HALF_BINARY(atan2)
XPOPS_HALF_BINARY(hypot)
XPOPS_HALF_BINARY(copysign)
XPOPS_HALF_BINARY(fmin)
XPOPS_HALF_BINARY(fmax)
#undef XPOPS_HALF_UNARY
#undef XPOPS_HALF_BINARY

template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T> abs(T x) {
  x.bits &= 0x7fff;
  return x;
}
// Rounded once. In float it would be rounded twice, since the product alone may fill a float.
template <class T> XPOPS_DEVICE enable_if_t<is_half_v<T>, T> fma(T x, T y, T z) {
#if XPOPS_PTX_SM80
  T r;
  if constexpr (is_same_v<T, float16>) {
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(x.bits), "h"(y.bits), "h"(z.bits));
  } else {
    asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(r.bits) : "h"(x.bits), "h"(y.bits), "h"(z.bits));
  }
  return r;
#else
  return cast<T>(::fma(cast<double>(x), cast<double>(y), cast<double>(z)));
#endif
}

}  // namespace xpops
