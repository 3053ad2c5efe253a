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

// The sine and the cosine of an angle in degrees, up to multiples of 90 degrees: those of x are (s, c), (c, -s), (-s, -c)
// or (-c, s) for a turn of 0, 1, 2 or 3. The reductions are exact.
template <class T> struct Degrees {
  T s, c;
  int32 turn;

  XPOPS_DEVICE explicit Degrees(T x) {
    const T within = fmod(x, T(360)), quarters = round(within / 90), rest = fma(quarters, T(-90), within);
    sincos(rest * T(0.0174532925199432957692), s, c);
    turn = isfinite(x) ? static_cast<int32>(quarters) & 3 : 0;
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
