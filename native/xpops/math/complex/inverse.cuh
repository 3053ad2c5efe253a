// asin, acos, atan, asinh, acosh and atanh of complex numbers.
// asin and acos: T. Hull, T. Fairgrieve and P. Tang, "Implementing the complex arcsine and arccosine functions using
// exception handling" (ACM TOMS 23, 1997). atanh: W. Kahan, "Branch cuts for complex elementary functions" (1987).
#pragma once

#include "xpops/math/complex/exponential.cuh"

namespace xpops {
namespace detail {

template <class T> inline constexpr T kLn2 = T(0.693147180559945309417);

// (h - b) / 2 without cancellation, where h = hypot(a, b).
template <class T> XPOPS_DEVICE T half_excess(T a, T b, T h) {
  return b < 0 ? T(0.5) * (h - b) : b == 0 ? T(0.5) * a : T(0.5) * a * (a / (h + b));
}

// asinh(x + yj) for x and y from 0 to 1 / epsilon that are not both tiny. r and s are the distances from -j and +j;
// a = (r + s) / 2, and b = y / a. The real part is acosh(a). The imaginary part is asin(b) if use_b, for which that is
// accurate. Else it is atan2(opposite, adjacent), which are y and sqrt(a^2 - y^2) up to a common factor.
template <class T> struct InverseSine {
  T re, b, opposite, adjacent;
  bool use_b;
};

template <class T> XPOPS_DEVICE InverseSine<T> inverse_sine(T x, T y) {
  constexpr T kEps = limits<T>::epsilon();
  InverseSine<T> w;
  T r = hypot(x, y + T(1)), s = hypot(x, y - T(1)), a = T(0.5) * (r + s);
  if (a < 1) a = T(1);
  bool away = x >= kEps * abs(y - T(1));  // x is not negligible in hypot(x, y - 1)
  if (a >= T(10)) {
    w.re = log(a + sqrt(a * a - T(1)));
  } else if (y == 1 && x < kEps * kEps / T(128)) {
    w.re = sqrt(x);
  } else if (away) {
    T m = half_excess(x, T(1) + y, r) + half_excess(x, T(1) - y, s);  // a - 1
    w.re = log1p(m + sqrt(m * (a + T(1))));
  } else if (y < 1) {
    w.re = x / sqrt((T(1) - y) * (T(1) + y));
  } else {
    w.re = log1p((y - T(1)) + sqrt((y - T(1)) * (y + T(1))));
  }
  w.b = y / a;
  w.opposite = y;
  w.use_b = w.b <= T(0.6417);
  if (w.use_b) {
    w.adjacent = T(0);
  } else if (y == 1 && x < kEps / T(128)) {
    w.adjacent = sqrt(x) * sqrt(T(0.5) * (a + y));
  } else if (away) {
    w.adjacent = sqrt((half_excess(x, y + T(1), r) + half_excess(x, y - T(1), s)) * (a + y));
  } else if (y > 1) {
    constexpr T kUp = T(4) / kEps / kEps;  // scales x, which may be subnormal
    w.adjacent = x * kUp * y / sqrt((y + T(1)) * (y - T(1)));
    w.opposite = y * kUp;
  } else {
    w.adjacent = sqrt((T(1) - y) * (T(1) + y));
  }
  return w;
}

template <class T> XPOPS_DEVICE bool beyond(T x, T y) {  // where asinh(z) is log(2 z) to working precision
  return x > T(1) / limits<T>::epsilon() || y > T(1) / limits<T>::epsilon();
}
template <class T> XPOPS_DEVICE bool tiny(T x, T y) {  // where z^3 / 6 is negligible against z
  constexpr T kTiny = is_same_v<T, float> ? T(1e-4) : T(5e-9);
  return x < kTiny && y < kTiny;
}

}  // namespace detail

template <class T> XPOPS_DEVICE complex<T> asinh(complex<T> z) {
  T x = z.re, y = z.im, ax = abs(x), ay = abs(y);
  if (isnan(x) || isnan(y)) {
    if (isinf(x)) return {x, y};
    if (isinf(y)) return {copysign(y, x), x};  // any sign is allowed; NaN's keeps asinh(-z) = -asinh(z)
    if (y == 0) return {x, y};
    return {limits<T>::nan(), limits<T>::nan()};
  }
  if (detail::beyond(ax, ay)) {
    complex<T> w = log(complex<T>(ax, ay));
    return {copysign(w.re + detail::kLn2<T>, x), copysign(w.im, y)};
  }
  if (detail::tiny(ax, ay)) return z;
  detail::InverseSine<T> w = detail::inverse_sine(ax, ay);
  return {copysign(w.re, x), copysign(w.use_b ? asin(w.b) : atan2(w.opposite, w.adjacent), y)};
}

template <class T> XPOPS_DEVICE complex<T> asin(complex<T> z) {
  complex<T> w = asinh(complex<T>(z.im, z.re));
  return {w.im, w.re};
}

template <class T> XPOPS_DEVICE complex<T> acos(complex<T> z) {
  constexpr T kHalfPi = detail::kPi<T> / T(2);
  T x = z.re, y = z.im, ax = abs(x), ay = abs(y), re, im;
  if (isnan(x) || isnan(y)) {
    if (isinf(x)) return {y, copysign(ax, signbit(y) ? T(1) : T(-1))};
    if (isinf(y)) return {x, -y};
    return {x == 0 ? kHalfPi : limits<T>::nan(), limits<T>::nan()};
  }
  if (detail::beyond(ax, ay)) {
    complex<T> w = log(z);
    re = abs(w.im), im = w.re + detail::kLn2<T>;
  } else if (detail::tiny(ax, ay)) {
    re = kHalfPi - x, im = ay;
  } else {
    detail::InverseSine<T> w = detail::inverse_sine(ay, ax);
    re = w.use_b ? acos(copysign(w.b, x)) : atan2(w.adjacent, copysign(w.opposite, x));
    im = w.re;
  }
  return {re, signbit(y) ? im : -im};
}

template <class T> XPOPS_DEVICE complex<T> acosh(complex<T> z) {
  complex<T> w = acos(z);
  return {abs(w.im), copysign(w.re, z.im)};
}

template <class T> XPOPS_DEVICE complex<T> atanh(complex<T> z) {
  constexpr T kEps = limits<T>::epsilon();
  T x = z.re, y = z.im, ax = abs(x), ay = abs(y), re, im;
  if (y == 0 && ax <= 1) return {atanh(x), y};
  if (x == 0) return {x, atan(y)};
  if (isinf(y)) return {copysign(T(0), x), copysign(detail::kPi<T> / T(2), y)};
  if (isinf(x)) return {copysign(T(0), x), isnan(y) ? y : copysign(detail::kPi<T> / T(2), y)};
  if (isnan(x) || isnan(y)) return {limits<T>::nan(), limits<T>::nan()};
  if (detail::beyond(ax, ay)) {
    re = (complex<T>(T(1), T(0)) / complex<T>(ax, ay)).re;
    return {copysign(re, x), copysign(detail::kPi<T> / T(2), y)};
  }
  if (detail::tiny(ax, ay)) return z;
  T d = ax - T(1);
  if (d == 0 && ay < kEps) {
    re = T(0.5) * (detail::kLn2<T> - log(ay));
  } else {
    // log1p(4 x / ((x - 1)^2 + y^2)) / 4, without y^2 where it is negligible, because it may underflow there
    T y2 = ay < kEps * abs(d) ? T(0) : ay * ay;
    re = T(0.25) * log1p(T(4) * ax / fma(d, d, y2));
  }
  im = d == 0 ? atan2(T(2), -ay) : atan2(T(2) * ay, -d * (T(1) + ax) - (ay < kEps ? T(0) : ay * ay));
  return {copysign(re, x), copysign(T(0.5) * im, y)};
}

template <class T> XPOPS_DEVICE complex<T> atan(complex<T> z) {
  complex<T> w = atanh(complex<T>(z.im, z.re));
  return {w.im, w.re};
}

}  // namespace xpops
