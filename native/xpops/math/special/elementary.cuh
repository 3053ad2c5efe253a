// Powers, exponentials and logarithms that the standard does not have, and transformations of data.
#pragma once

#include "xpops/math/activation.cuh"
#include "xpops/math/special/logarithm.cuh"

namespace xpops {

struct Cbrt {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return cbrt(x); }
};

struct Exp2 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return exp2(x); }
};

struct Exp10 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return exp10(x); }
};

// (exp(x) - 1) / x.
struct Exprel {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    return x == 0 ? T(1) : isinf(x) && x > 0 ? x : expm1(x) / x;
  }
};

// cos(x) - 1.
struct Cosm1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    const T sine = sin(T(0.5) * x);
    return -2 * sine * sine;
  }
};

struct Expit {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return Sigmoid()(x); }
};

// log(x / (1 - x)).
struct Logit {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    const T rest = 1 - x;
    const detail::Quotient<T> odds(x, rest, (1 - rest) - x);
    return detail::is_normal(odds.value) ? detail::logarithm(odds.value, odds.low) : log(x / rest);
  }
};

// x log(y), and 0 if x is 0 and y is a number.
struct Xlogy {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return x == 0 && !isnan(y) ? T(0) : x * log(y); }
};

struct Xlog1py {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return x == 0 && !isnan(y) ? T(0) : x * log1p(y); }
};

namespace detail {

// (x^power - 1) / power, from log(x). The rounding error of the exponent is added to it.
template <class T> XPOPS_DEVICE T box_cox(LogPair<T> logarithm, T power) {
  const T y = power * logarithm.high;
  if (power == 0 || abs(y) < limits<T>::min_normal()) return logarithm.high;
  const T low = abs(y) < 1000 ? fma(power, logarithm.low, fma(power, logarithm.high, -y)) : T(0);
  if (y < T(20)) {
    const T result = expm1(y);
    return fma(result + 1, low, result) / power;
  }
  const T root = exp(T(0.5) * y);  // a larger power may be infinite
  return root * (1 + low) / power * root - 1 / power;
}

// The logarithm of (1 + power x)^(1 / power).
template <class T> XPOPS_DEVICE T inverse_box_cox(T x, T power) {
  if (power == 0) return x;
  const T y = power * x;
  return abs(y) < limits<T>::min_normal() ? x : (isinf(y) ? log(abs(power)) + log(abs(x)) : log1p(y)) / power;
}

}  // namespace detail

struct Boxcox {
  template <class T> XPOPS_DEVICE T operator()(T x, T power) const {
    return detail::box_cox(detail::log_pair(x), power);
  }
};

struct Boxcox1p {
  template <class T> XPOPS_DEVICE T operator()(T x, T power) const {
    return detail::box_cox(detail::log1p_pair(x), power);
  }
};

struct InvBoxcox {
  template <class T> XPOPS_DEVICE T operator()(T x, T power) const { return exp(detail::inverse_box_cox(x, power)); }
};

struct InvBoxcox1p {
  template <class T> XPOPS_DEVICE T operator()(T x, T power) const { return expm1(detail::inverse_box_cox(x, power)); }
};

}  // namespace xpops
