// Bessel functions. Those of the first and second kind are CUDA's, or the C library's.
#pragma once

#include "xpops/math/scaled_exp.cuh"
#include "xpops/math/special/bessel_polynomials.cuh"

namespace xpops {
namespace detail {

// I(x), times exp(-|x|) if scaled.
template <int kOrder, class T> XPOPS_DEVICE T bessel_i(T x, bool scaled) {
  const T size = abs(x);
  T value;
  if (size <= kSeries<T>) {
    value = i_series<kOrder>(T(0.25) * size * size);
    if (kOrder) value *= size;
    if (scaled) value *= exp(-size);
  } else {
    const T root = inverse_root(size), part = i_factor<kOrder>(fma(2 * kSeries<T> * root, root, T(-1))) * root;
    if (scaled) {
      value = isinf(x) ? T(0) : part;
    } else {
      const T power = exp(T(0.5) * size);
      value = isinf(x) ? size : part * power * power;
    }
  }
  return kOrder ? copysign(value, x) : value;
}

// K(x), times exp(x) if scaled.
template <int kOrder, class T> XPOPS_DEVICE T bessel_k(T x, bool scaled) {
  if (!(x > 0)) return x == 0 ? kInfinity<T> : kNan<T>;
  if (x <= 1) {
    const T u = T(0.25) * x * x, i = i_unit<kOrder>(u), logarithm = log(x);
    const T value = kOrder ? fma(x, fma(logarithm, i, k_unit<1>(u)), 1 / x) : fma(-logarithm, i, k_unit<0>(u));
    return scaled ? value * exp(x) : value;
  }
  if (isinf(x)) return 0;
  const T value = k_factor<kOrder>(fma(T(-4), reciprocal(x + 1), T(1))) * inverse_root(x);
  return scaled ? value : value * exp(-x);
}

}  // namespace detail

struct I0 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_i<0>(x, false); }
};
struct I0e {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_i<0>(x, true); }
};
struct I1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_i<1>(x, false); }
};
struct I1e {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_i<1>(x, true); }
};
struct K0 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_k<0>(x, false); }
};
struct K0e {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_k<0>(x, true); }
};
struct K1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_k<1>(x, false); }
};
struct K1e {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_k<1>(x, true); }
};

struct J0 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return j0(x); }
};
struct J1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return j1(x); }
};
struct Y0 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return x < 0 ? detail::kNan<T> : y0(x); }
};
struct Y1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return x < 0 ? detail::kNan<T> : y1(x); }
};

// The second kind of integer order, by the recurrence over the order, which is stable upwards.
struct Yn {
  template <class T> XPOPS_DEVICE T operator()(T n, T x) const {
    const T order = abs(trunc(n)), sign = n < 0 && detail::is_odd(order) ? T(-1) : T(1);
    if (!(x > 0) || !(order <= detail::kMostSteps<T>)) return x == 0 ? -sign * detail::kInfinity<T> : detail::kNan<T>;
    T last = y0(x), value = y1(x);
    if (order == 0) return last;
    const T inverse = 1 / x;
    for (T k = 2; k < 2 * order && !isinf(value); k += 2) {
      const T rough = k * inverse, error = fma(-rough, x, k);
      const T ratio = isfinite(error) ? fma(error, inverse, rough) : rough;  // k / x
      const T next = ratio * value - last;
      last = value;
      value = next;
    }
    return sign * value;
  }
};

}  // namespace xpops
