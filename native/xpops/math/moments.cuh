// Reducers for the variance and the standard deviation.
#pragma once

#include <xpops/math/fast.cuh>
#include <xpops/math/reduction.cuh>

namespace xpops {

// Count, mean, and sum of squared deviations from the mean. lift_all computes first the mean of its registers, then the
// deviations. combine uses the formula of Chan, Golub and LeVeque (1979). So nothing squares a mean.
template <class T>
struct Moments {
  using Real = real_t<T>;
  static constexpr bool kShifts = true;  // so that no digits are lost if the mean is far from 0
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
  // 1 / count to about one unit in the last place, without the branches of a division.
  XPOPS_DEVICE static Real reciprocal(Real count) {
    Real estimate = fast_reciprocal(static_cast<float>(count));
    if constexpr (is_same_v<Real, double>) {  // Newton's method doubles the digits
      estimate *= 2 - count * estimate;
      estimate *= 2 - count * estimate;
    }
    return estimate;
  }
  XPOPS_DEVICE static State identity() { return {T(0), 0, 0}; }
  XPOPS_DEVICE static State lift(T x, int64) { return {x, 1, square(x - x)}; }  // squares is NaN if x is not finite

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
  // combine(state, lift_all(x)), without branches. A thread that has equally many elements of several outputs computes
  // the share once.
  template <int kCount, class Positions>
  XPOPS_DEVICE static State append(const State& state, const T (&x)[kCount], const Positions& positions) {
    const State more = lift_all(x, positions);
    const Real count = state.count + kCount, share = kCount * reciprocal(count);
    const T delta = more.mean - state.mean;
    const Real squares = state.squares + more.squares + square(delta) * (state.count * share);
    const bool first = state.count == 0;
    return {first ? more.mean : state.mean + scale(delta, share), count, first ? more.squares : squares};
  }
  XPOPS_DEVICE static State combine(const State& a, const State& b) {
    if (b.count == 0) return a;
    if (a.count == 0) return b;
    const Real count = a.count + b.count, share = b.count * reciprocal(count);
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
