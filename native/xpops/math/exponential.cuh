// Exponentials, logarithms and square root.
// For a complex dtype include complex.cuh too: the unqualified calls find its overloads by argument-dependent lookup.
#pragma once

#include "xpops/math/real.cuh"

namespace xpops {

struct Exp {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return exp(x); }
};

struct Expm1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return expm1(x); }
};

struct Log {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return log(x); }
};

struct Log1p {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return log1p(x); }
};

struct Log2 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return log2(x); }
};

struct Log10 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return log10(x); }
};

struct Sqrt {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return sqrt(x); }
};

// log(exp(x) + exp(y)). Equal operands have their own branch, which avoids inf - inf.
struct Logaddexp {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const {
    constexpr T kLog2 = static_cast<T>(0.693147180559945309417);
    if (x == y) return x + kLog2;
    T d = x - y;
    return d > 0 ? x + log1p(exp(-d)) : d <= 0 ? y + log1p(exp(d)) : d;
  }
};

}  // namespace xpops
