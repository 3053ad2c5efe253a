// Functors for the compute primitives. They compute in compute_t<T>: float16 and bfloat16 in float.
//
// initial() is the identity of the operation, on the host and on the device. For complex numbers include
// math/complex.cuh.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/core/types.cuh>
#include <xpops/math/arithmetic.cuh>
#include <xpops/math/exponential.cuh>

namespace xpops {
namespace kps {
namespace details {

// The type that arithmetic on T is done in.
template <typename T>
struct MPTypeTrait {
  using Type = compute_t<T>;
};

// The bits of 1, of the largest value (infinity if there is one) and of the sign, for types that the host cannot
// convert to.
template <typename T>
struct SmallFloat;
template <>
struct SmallFloat<float16> {
  static constexpr uint16 kOne = 0x3c00, kHighest = 0x7c00, kSign = 0x8000;
};
template <>
struct SmallFloat<bfloat16> {
  static constexpr uint16 kOne = 0x3f80, kHighest = 0x7f80, kSign = 0x8000;
};
template <>
struct SmallFloat<float8_e4m3fn> {  // has no infinity
  static constexpr uint8 kOne = 0x38, kHighest = 0x7e, kSign = 0x80;
};
template <>
struct SmallFloat<float8_e5m2> {
  static constexpr uint8 kOne = 0x3c, kHighest = 0x7c, kSign = 0x80;
};
template <typename T>
inline constexpr bool is_small_v = is_half_v<T> || is_float8_v<T>;

template <typename T>
XPOPS_HOST_DEVICE T FromBits(unsigned_t<T> bits) {
  T x;
  x.bits = bits;
  return x;
}

template <typename T>
XPOPS_HOST_DEVICE T Zero() {
  if constexpr (is_small_v<T>) return FromBits<T>(0);
  else return T(0);
}
template <typename T>
XPOPS_HOST_DEVICE T One() {
  if constexpr (is_small_v<T>) return FromBits<T>(SmallFloat<T>::kOne);
  else return T(1);
}
template <typename T>
XPOPS_HOST_DEVICE T Highest() {
  if constexpr (is_small_v<T>) return FromBits<T>(SmallFloat<T>::kHighest);
  else if constexpr (is_floating_v<T>) return limits<T>::infinity();
  else return limits<T>::max();
}
template <typename T>
XPOPS_HOST_DEVICE T Lowest() {
  if constexpr (is_small_v<T>) return FromBits<T>(SmallFloat<T>::kHighest | SmallFloat<T>::kSign);
  else if constexpr (is_floating_v<T>) return -limits<T>::infinity();
  else return limits<T>::lowest();
}

// Applies an operator of xpops/math to elements of T.
template <class Op, typename T>
XPOPS_DEVICE T Apply(T a, T b) {
  return cast<T>(Op()(cast<compute_t<T>>(a), cast<compute_t<T>>(b)));
}

// Integers are computed in double, the others in compute_t<T>; the result is not rounded to T.
template <typename T>
using TranscendentalType = conditional_t<is_integer_v<T> || is_same_v<T, bool>, double, compute_t<T>>;

template <typename T>
XPOPS_DEVICE TranscendentalType<T> Exp(T x) {
  return xpops::Exp()(cast<TranscendentalType<T>>(x));
}
template <typename T>
XPOPS_DEVICE TranscendentalType<T> Log(T x) {
  return xpops::Log()(cast<TranscendentalType<T>>(x));
}

// Division as in C++. But integers divided by 0 give 0, and the lowest integer divided by -1 wraps.
struct Quotient {
  template <typename T>
  XPOPS_DEVICE T operator()(T a, T b) const {
    if constexpr (is_integer_v<T>) {
      if (b == 0) return T(0);
      if constexpr (is_signed_v<T>) {
        if (b == -1) return Negative()(a);
      }
      return static_cast<T>(a / b);
    } else if constexpr (is_same_v<T, bool>) {
      return a && b;
    } else {
      return a / b;
    }
  }
};

}  // namespace details

// Unary functors take Tx and return Ty. All can be constructed from an integer, so that a reduction can construct any
// of them from its number of elements. Only DivideFunctor uses this number.

template <typename Tx, typename Ty = Tx>
struct ExpFunctor {
  ExpFunctor() = default;
  XPOPS_HOST_DEVICE explicit ExpFunctor(int) {}
  XPOPS_DEVICE Ty operator()(const Tx x) const { return cast<Ty>(details::Exp(x)); }
};

template <typename Tx, typename Ty = Tx>
struct IdentityFunctor {
  IdentityFunctor() = default;
  XPOPS_HOST_DEVICE explicit IdentityFunctor(int) {}
  XPOPS_DEVICE Ty operator()(const Tx x) const { return cast<Ty>(x); }
};

// x / n. If both types are integers, it divides; else it multiplies by 1 / n.
template <typename Tx, typename Ty = Tx>
struct DivideFunctor {
 private:
  static constexpr bool kIntegers = is_integer_v<Tx> && is_integer_v<Ty>;
  using Number = conditional_t<kIntegers, Tx, real_t<details::TranscendentalType<Tx>>>;
  Number n;  // or 1 / n

 public:
  XPOPS_HOST_DEVICE DivideFunctor() : n(1) {}
  XPOPS_HOST_DEVICE explicit DivideFunctor(int number) : n(static_cast<Number>(kIntegers ? number : 1.0 / number)) {}
  XPOPS_DEVICE Ty operator()(const Tx x) const {
    if constexpr (kIntegers) return cast<Ty>(details::Quotient()(x, n));
    else if constexpr (is_complex_v<Tx>) return cast<Ty>(Tx(x.re * n, x.im * n));
    else return cast<Ty>(cast<Number>(x) * n);
  }
};

// The additive inverse, -x.
template <typename Tx, typename Ty = Tx>
struct InverseFunctor {
  InverseFunctor() = default;
  XPOPS_HOST_DEVICE explicit InverseFunctor(int) {}
  XPOPS_DEVICE Ty operator()(const Tx x) const { return cast<Ty>(Negative()(cast<compute_t<Tx>>(x))); }
};

// x * x, where x is first cast to Ty.
template <typename Tx, typename Ty = Tx>
struct SquareFunctor {
  SquareFunctor() = default;
  XPOPS_HOST_DEVICE explicit SquareFunctor(int) {}
  XPOPS_DEVICE Ty operator()(const Tx x) const { return cast<Ty>(Square()(cast<compute_t<Ty>>(cast<Ty>(x)))); }
};

// Binary functors.

// NaN if an operand is NaN; -0 is less than +0.
template <typename T>
struct MinFunctor {
  XPOPS_HOST_DEVICE T initial() const { return details::Highest<T>(); }
  XPOPS_DEVICE T operator()(const T a, const T b) const { return details::Apply<Minimum>(a, b); }
};

template <typename T>
struct MaxFunctor {
  XPOPS_HOST_DEVICE T initial() const { return details::Lowest<T>(); }
  XPOPS_DEVICE T operator()(const T a, const T b) const { return details::Apply<Maximum>(a, b); }
};

// Integers wrap.
template <typename T>
struct AddFunctor {
  XPOPS_HOST_DEVICE T initial() const { return details::Zero<T>(); }
  XPOPS_DEVICE T operator()(const T a, const T b) const { return details::Apply<Add>(a, b); }
};

template <typename T>
struct MulFunctor {
  XPOPS_HOST_DEVICE T initial() const { return details::One<T>(); }
  XPOPS_DEVICE T operator()(const T a, const T b) const { return details::Apply<Multiply>(a, b); }
};

// 1 or 0 in T.
template <typename T>
struct LogicalOrFunctor {
  XPOPS_HOST_DEVICE T initial() const { return details::Zero<T>(); }
  XPOPS_DEVICE T operator()(const T a, const T b) const { return cast<T>(cast<bool>(a) || cast<bool>(b)); }
};

template <typename T>
struct LogicalAndFunctor {
  XPOPS_HOST_DEVICE T initial() const { return details::One<T>(); }
  XPOPS_DEVICE T operator()(const T a, const T b) const { return cast<T>(cast<bool>(a) && cast<bool>(b)); }
};

template <typename T>
struct SubFunctor {
  XPOPS_HOST_DEVICE T initial() const { return details::Zero<T>(); }
  XPOPS_DEVICE T operator()(const T a, const T b) const { return details::Apply<Subtract>(a, b); }
};

// Quotients of integers are truncated; integers divided by 0 give 0.
template <typename T, typename Enable = void>
struct DivFunctor {
  XPOPS_HOST_DEVICE T initial() const { return details::One<T>(); }
  XPOPS_DEVICE T operator()(const T a, const T b) const { return details::Apply<details::Quotient>(a, b); }
};

// The quotient is rounded down; integers divided by 0 give 0.
template <typename T>
struct FloorDivFunctor {
  XPOPS_HOST_DEVICE T initial() const { return details::One<T>(); }
  XPOPS_DEVICE T operator()(const T a, const T b) const { return details::Apply<FloorDivide>(a, b); }
};

}  // namespace kps
}  // namespace xpops
