// Reducers that need the mean and the squares of what deviates from it.
#pragma once

#include <xpops/math/reduction.cuh>

namespace xpops {

// Count, mean and sum of squared deviations of some elements. Several at once are done in two steps over registers, and
// merged with others by the formula of Chan, Golub and LeVeque (1979), so that no square of a mean is ever taken.
template <class T>
struct Moments {
  using Real = real_t<T>;
  static constexpr bool kShifts = true;  // so that a mean far from 0 costs no digits
  struct State {
    T mean;
    Real count, squares;
  };

  XPOPS_DEVICE static Real square(T x) {
    if constexpr (is_complex_v<T>) return x.re * x.re + x.im * x.im;
    else return x * x;
  }
  XPOPS_DEVICE static T scale(T x, Real factor) {
    if constexpr (is_complex_v<T>) return {x.re * factor, x.im * factor};
    else return x * factor;
  }
  XPOPS_DEVICE static State identity() { return {T(0), 0, 0}; }
  XPOPS_DEVICE static State lift(T x, int64) { return {x, 1, square(x - x)}; }  // NaN where x is not finite

  template <int kCount, class Positions>
  XPOPS_DEVICE static State lift_all(const T (&x)[kCount], const Positions&) {
    T sum = x[0];
#pragma unroll
    for (int i = 1; i < kCount; ++i) sum = sum + x[i];
    const T mean = scale(sum, Real(1) / kCount);
    Real squares = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) squares += square(x[i] - mean);
    return {mean, Real(kCount), squares};
  }
  XPOPS_DEVICE static State combine(const State& a, const State& b) {
    if (b.count == 0) return a;
    if (a.count == 0) return b;
    const Real count = a.count + b.count, share = b.count / count;
    const T delta = b.mean - a.mean;
    return {a.mean + scale(delta, share), count, a.squares + b.squares + square(delta) * (a.count * share)};
  }
};

template <class T>
struct Var : Moments<T> {
  using typename Moments<T>::Real;
  XPOPS_DEVICE static Real finish(const typename Moments<T>::State& state, const Ending& ending) {
    return state.squares / static_cast<Real>(ending.divisor);
  }
};

template <class T>
struct Std : Moments<T> {
  using typename Moments<T>::Real;
  XPOPS_DEVICE static Real finish(const typename Moments<T>::State& state, const Ending& ending) {
    return sqrt(state.squares / static_cast<Real>(ending.divisor));
  }
};

}  // namespace xpops
