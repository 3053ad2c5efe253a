// Entropies, and losses that are convex functions.
#pragma once

#include "xpops/math/special/logarithm.cuh"

namespace xpops {

// -x log(x).
struct Entr {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    return x > 0 ? -x * log(x) : x == 0 ? T(0) : isnan(x) ? x : -detail::kInfinity<T>;
  }
};

namespace detail {

// x log(x / y) of positive numbers.
template <class T> XPOPS_DEVICE T relative_entropy(T x, T y) {
  const Quotient<T> ratio(x, y);
  const bool usual = is_normal(ratio.value) && is_normal(y);
  return x * (usual ? logarithm(ratio.value, ratio.low) : log(x) - log(y));
}

}  // namespace detail

struct RelEntr {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if (isnan(x) || isnan(y)) return x + y;
    if (x > 0 && y > 0) return detail::relative_entropy(x, y);
    return x == 0 && y >= 0 ? T(0) : detail::kInfinity<T>;
  }
};

// x log(x / y) - x + y.
struct KlDiv {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    if (isnan(x) || isnan(y)) return x + y;
    if (x > 0 && y > 0) {
      const detail::Quotient<T> ratio(y, x);
      const bool usual = detail::is_normal(ratio.value) && detail::is_normal(x) && detail::is_normal(y);
      if (!usual) return x * (log(x) - log(y)) - x + y;
      return x * detail::LogParts<T>(ratio.value).excess(ratio.value, ratio.low);
    }
    return x == 0 && y >= 0 ? y : detail::kInfinity<T>;
  }
};

struct Huber {
  template <class T> XPOPS_DEVICE T operator()(T delta, T r) const {
    if (delta < 0) return detail::kInfinity<T>;
    const T size = abs(r);
    return size <= delta ? T(0.5) * r * r : delta * (size - T(0.5) * delta);
  }
};

// delta^2 (sqrt(1 + (r / delta)^2) - 1).
struct PseudoHuber {
  template <class T> XPOPS_DEVICE T operator()(T delta, T r) const {
    if (delta < 0) return detail::kInfinity<T>;
    if (delta == 0 || r == 0) return 0;
    if (isinf(r)) return abs(r);
    const T ratio = r / delta;
    return r * (r / (1 + hypot(T(1), ratio)));
  }
};

}  // namespace xpops
