// Trigonometric functions of degrees, and sinc.
#pragma once

#include "xpops/math/special/real.cuh"

namespace xpops {

// sin(pi x) / (pi x).
struct Sinc {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    return x == 0 ? T(1) : isinf(x) ? T(0) : detail::sin_pi(x) / (detail::kPi<T> * x);
  }
};

// Degrees, minutes and seconds in radians.
struct Radian {
  template <class T> XPOPS_DEVICE T operator()(T degrees, T minutes, T seconds) const {
    return fma(fma(degrees, T(60), minutes), T(60), seconds) * T(4.848136811095359935899141e-6);
  }
};

namespace detail {

// (sin(x) - kDegree x) / x^3 and (cos(x) - 1) / x^2 for x in degrees, from x^2, for |x| <= 45.5. Minimax fits (Remez) with
// errors of 2^-25 for float and 2^-55 for double in the sine and the cosine.
XPOPS_DEVICE float sine_rest(float u) {
  return horner(u, -8.8609613e-07f, 1.3496013e-11f, -9.787772e-17f, 4.0939654e-22f);
}
XPOPS_TABLE double kSineTable[] = {
    -8.860961557012979e-07, 1.3496016231628194e-11, -9.788384859169903e-17, 4.1412669138024734e-22,
    -1.146773333546005e-27, 2.2192564535658122e-33};
XPOPS_DEVICE double sine_rest(double u) { return horner(u, kSineTable); }
XPOPS_DEVICE float cosine_rest(float u) {
  return horner(u, -0.00015230871f, 3.8663224e-09f, -3.9254454e-14f, 2.1056743e-19f);
}
XPOPS_TABLE double kCosineTable[] = {
    -0.0001523087098933543, 3.86632385156299e-09, -3.925831985740499e-14, 2.135494302845413e-19,
    -7.227874132025801e-25, 1.6679093857634593e-30, -2.766129916280606e-36};
XPOPS_DEVICE double cosine_rest(double u) { return horner(u, kCosineTable); }

// A degree in radians, as a sum of two numbers.
template <class T> inline constexpr T kDegree = T(0.0174532925199432957692);
template <class T> inline constexpr T kDegreeLow = is_same_v<T, float> ? T(1.351996e-10) : T(2.9486522708701687e-19);

// The sine and the cosine of an angle in degrees, up to multiples of 90 degrees: those of x are (s, c), (c, -s), (-s, -c)
// or (-c, s) for a turn of 0, 1, 2 or 3. The reductions are exact.
template <class T> struct Degrees {
  T s, c;
  int32 turn;

  XPOPS_DEVICE explicit Degrees(T x) {
    constexpr bool kSingle = is_same_v<T, float>;
    // Adding it rounds to integers, whose low bits are those of the sum.
    constexpr T kWhole = kSingle ? T(0x1.8p23) : T(0x1.8p52);
    if (!(abs(x) < T(kSingle ? 0x1p20 : 0x1p40))) x = fmod(x, T(360));
    const T shifted = fma(x, T(1 / 90.0), kWhole), rest = fma(add_rn(shifted, -kWhole), T(-90), x), u = rest * rest;
    s = fma(rest, kDegree<T>, rest * fma(u, sine_rest(u), kDegreeLow<T>));
    c = fma(u, cosine_rest(u), T(1));
    turn = static_cast<int32>(float_bits(shifted) & 3);
  }

  XPOPS_DEVICE T sine() const {
    const T value = turn & 1 ? c : s;
    return value == 0 ? T(0) : turn & 2 ? -value : value;
  }
  XPOPS_DEVICE T cosine() const {
    const T value = turn & 1 ? s : c;
    return value == 0 ? T(0) : turn == 1 || turn == 2 ? -value : value;
  }
};

// A quotient that is +infinity at every pole.
template <class T> XPOPS_DEVICE T over(T x, T y) { return y == 0 ? kInfinity<T> : x / y; }

}  // namespace detail

struct Sindg {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::Degrees<T>(x).sine(); }
};

struct Cosdg {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::Degrees<T>(x).cosine(); }
};

struct Tandg {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    const detail::Degrees<T> angle(x);
    return detail::over(angle.sine(), angle.cosine());
  }
};

struct Cotdg {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    const detail::Degrees<T> angle(x);
    return detail::over(angle.cosine(), angle.sine());
  }
};

}  // namespace xpops
