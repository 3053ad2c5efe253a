// Circular and hyperbolic functions and their inverses.
// For a complex dtype include complex.cuh too: the unqualified calls find its overloads by argument-dependent lookup.
#pragma once

#include "xpops/math/real.cuh"

namespace xpops {

struct Sin {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return sin(x); }
};

struct Cos {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return cos(x); }
};

struct Tan {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return tan(x); }
};

struct Asin {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return asin(x); }
};

struct Acos {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return acos(x); }
};

struct Atan {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return atan(x); }
};

struct Sinh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return sinh(x); }
};

struct Cosh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return cosh(x); }
};

struct Tanh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return tanh(x); }
};

struct Asinh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return asinh(x); }
};

struct Acosh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return acosh(x); }
};

struct Atanh {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return atanh(x); }
};

struct Atan2 {
  template <class T> XPOPS_DEVICE T operator()(T y, T x) const { return atan2(y, x); }
};

}  // namespace xpops
