// Scanners: they turn elements into states, and combine states from left to right.
//
// A scanner of elements of type T has
//   State            the state of a run of consecutive elements; trivially copyable
//   lift(x)          the state of one element
//   combine(a, b)    the state of a run and the run that follows it; associative up to rounding
//   value(state)     the result at the run's last element
//   initial()        the result before the first element
// and is constructed from the scalar slots of the kernel's parameters. There is no identity, because combining with it
// would change -0.0 and complex infinities.
#pragma once

#include <xpops/core/types.cuh>
#include <xpops/math/real.cuh>

namespace xpops {

// Base of scanners whose state is an element.
template <class T>
struct ElementScanner {
  using State = T;
  XPOPS_DEVICE explicit ElementScanner(const uint64*) {}
  XPOPS_DEVICE T lift(T x) const { return x; }
  XPOPS_DEVICE T value(T state) const { return state; }
};

template <class T>
struct CumulativeSum : ElementScanner<T> {
  using ElementScanner<T>::ElementScanner;
  XPOPS_DEVICE T combine(T a, T b) const { return a + b; }
  XPOPS_DEVICE T initial() const { return T(0); }
};

template <class T>
struct CumulativeProd : ElementScanner<T> {
  using ElementScanner<T>::ElementScanner;
  XPOPS_DEVICE T combine(T a, T b) const { return a * b; }
  XPOPS_DEVICE T initial() const { return T(1); }
};

// The recurrence y[i] = x[i] + gamma * y[i - 1]. A run multiplies the y before it by `factor`, which is gamma to the
// power of the run's length.
template <class T>
struct DiscountedCumsum {
  struct State {
    T factor, sum;
  };

  T gamma;

  XPOPS_DEVICE explicit DiscountedCumsum(const uint64* slots)
      : gamma(static_cast<T>(*reinterpret_cast<const double*>(slots))) {}
  XPOPS_DEVICE State lift(T x) const { return {gamma, x}; }
  XPOPS_DEVICE State combine(const State& a, const State& b) const {
    return {a.factor * b.factor, b.sum + carried(a.sum, b.factor)};
  }
  XPOPS_DEVICE T value(const State& state) const { return state.sum; }
  XPOPS_DEVICE T initial() const { return T(0); }

 private:
  // An infinite sum stays infinite even if the factor has underflowed to 0, as it does when computed step by step.
  XPOPS_DEVICE T carried(T sum, T factor) const {
    if (factor == 0 && gamma != 0 && isinf(sum)) return copysign(T(1), factor) * sum;
    return sum * factor;
  }
};

}  // namespace xpops
