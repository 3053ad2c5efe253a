// Comparisons, classification, and Where. Less and its like take real numbers only, as in the standard.
#pragma once

#include "xpops/math/real.cuh"

namespace xpops {

struct Equal {
  template <class T> XPOPS_DEVICE bool operator()(T x, T y) const { return x == y; }
};

struct NotEqual {
  template <class T> XPOPS_DEVICE bool operator()(T x, T y) const { return x != y; }
};

struct Less {
  template <class T> XPOPS_DEVICE bool operator()(T x, T y) const { return x < y; }
};

struct LessEqual {
  template <class T> XPOPS_DEVICE bool operator()(T x, T y) const { return x <= y; }
};

struct Greater {
  template <class T> XPOPS_DEVICE bool operator()(T x, T y) const { return x > y; }
};

struct GreaterEqual {
  template <class T> XPOPS_DEVICE bool operator()(T x, T y) const { return x >= y; }
};

struct Isfinite {
  template <class T> XPOPS_DEVICE bool operator()(T x) const {
    if constexpr (is_complex_v<T>) return isfinite(x.re) && isfinite(x.im);
    else if constexpr (is_floating_v<T>) return isfinite(x);
    else return true;
  }
};

struct Isinf {
  template <class T> XPOPS_DEVICE bool operator()(T x) const {
    if constexpr (is_complex_v<T>) return isinf(x.re) || isinf(x.im);
    else if constexpr (is_floating_v<T>) return isinf(x);
    else return false;
  }
};

struct Isnan {
  template <class T> XPOPS_DEVICE bool operator()(T x) const {
    if constexpr (is_complex_v<T>) return isnan(x.re) || isnan(x.im);
    else if constexpr (is_floating_v<T>) return isnan(x);
    else return false;
  }
};

struct Signbit {
  template <class T> XPOPS_DEVICE bool operator()(T x) const { return signbit(x); }
};

struct Where {
  template <class T> XPOPS_DEVICE T operator()(bool condition, T x, T y) const { return condition ? x : y; }
};

}  // namespace xpops
