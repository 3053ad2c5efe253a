// Reducers: how elements become a state, states become one, and the last one a result.
//
// A reducer of elements of type T has
//   State                   what partial results are; trivially copyable
//   identity()              the state of no elements
//   lift(x, position)       the state of one element; position counts along the reduced axes
//   combine(a, b)           the state of both; its order changes rounding only
//   finish(state, ending)   the result, before it is cast to the result's dtype
// and may have lift_all(x, positions) for several elements at once, which else are lifted one by one and combined
// pairwise; positions(i) ascends. If kShifts, the first element that goes to an output is taken off all of them.
#pragma once

#include <xpops/math/arithmetic.cuh>

namespace xpops {

// What the host knows about the end of a reduction.
struct Ending {
  double count;    // of elements
  double divisor;  // count less the correction, 0 at least
};

namespace detail {

template <class T>
XPOPS_DEVICE T lowest() {
  if constexpr (is_floating_v<T>) return -limits<T>::infinity();
  else return limits<T>::lowest();
}
template <class T>
XPOPS_DEVICE T highest() {
  if constexpr (is_floating_v<T>) return limits<T>::infinity();
  else return limits<T>::max();
}

}  // namespace detail

// A state that is an element: T itself.
template <class T>
struct ElementReducer {
  using State = T;
  static constexpr bool kShifts = false;
  XPOPS_DEVICE static T lift(T x, int64) { return x; }
  XPOPS_DEVICE static T finish(T state, const Ending&) { return state; }
};

template <class T>
struct Sum : ElementReducer<T> {
  XPOPS_DEVICE static T identity() { return T(0); }
  XPOPS_DEVICE static T combine(T a, T b) { return Add()(a, b); }
};

template <class T>
struct Prod : ElementReducer<T> {
  XPOPS_DEVICE static T identity() { return T(1); }
  XPOPS_DEVICE static T combine(T a, T b) { return Multiply()(a, b); }
};

template <class T>
struct Max : ElementReducer<T> {
  XPOPS_DEVICE static T identity() { return detail::lowest<T>(); }
  XPOPS_DEVICE static T combine(T a, T b) { return Maximum()(a, b); }
};

template <class T>
struct Min : ElementReducer<T> {
  XPOPS_DEVICE static T identity() { return detail::highest<T>(); }
  XPOPS_DEVICE static T combine(T a, T b) { return Minimum()(a, b); }
};

template <class T>
struct Any : ElementReducer<T> {
  XPOPS_DEVICE static bool identity() { return false; }
  XPOPS_DEVICE static bool combine(bool a, bool b) { return a | b; }
};

template <class T>
struct All : ElementReducer<T> {
  XPOPS_DEVICE static bool identity() { return true; }
  XPOPS_DEVICE static bool combine(bool a, bool b) { return a & b; }
};

template <class T>
struct CountNonzero {
  using State = int64;
  static constexpr bool kShifts = false;
  XPOPS_DEVICE static int64 identity() { return 0; }
  XPOPS_DEVICE static int64 lift(T x, int64) { return x; }
  template <int kCount, class Positions>
  XPOPS_DEVICE static int64 lift_all(const T (&x)[kCount], const Positions&) {
    uint32 sum = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum += x[i];
    return sum;
  }
  XPOPS_DEVICE static int64 combine(int64 a, int64 b) { return a + b; }
  XPOPS_DEVICE static int64 finish(int64 state, const Ending&) { return state; }
};

template <class T>
struct Mean : Sum<T> {
  XPOPS_DEVICE static T finish(T state, const Ending& ending) {
    return state / T(static_cast<real_t<T>>(ending.count));
  }
};

// A sum beside the sum of its rounding errors, which Knuth's two-sum makes known: as good as one in twice the digits.
template <class T>
struct CompensatedSum {
  static constexpr bool kShifts = false;
  struct State {
    T sum, error;
  };
  XPOPS_DEVICE static State identity() { return {0, 0}; }
  XPOPS_DEVICE static State lift(T x, int64) { return {x, 0}; }
  XPOPS_DEVICE static State combine(const State& a, const State& b) {
    const T sum = a.sum + b.sum, part = sum - a.sum;
    return {sum, ((a.sum - (sum - part)) + (b.sum - part)) + (a.error + b.error)};
  }
  XPOPS_DEVICE static T finish(const State& state, const Ending&) {
    return isfinite(state.error) ? state.sum + state.error : state.sum;  // infinity has an error of NaN
  }
};

template <class T>
struct CompensatedMean : CompensatedSum<T> {
  XPOPS_DEVICE static T finish(const typename CompensatedSum<T>::State& state, const Ending& ending) {
    return CompensatedSum<T>::finish(state, ending) / static_cast<T>(ending.count);
  }
};

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

// The position of the first extreme element. A NaN comes before every number, and the first NaN before the others.
template <class T, class Order>
struct Arg {
  static constexpr bool kShifts = false;
  struct State {
    T value;
    int64 position;
  };

  XPOPS_DEVICE static State identity() {
    return {Order::template worst<T>(), limits<int64>::max()};
  }
  XPOPS_DEVICE static State lift(T x, int64 position) { return {x, position}; }
  // Of several the first of the best; its number is known before its position, which takes 64 bits.
  template <int kCount, class Positions>
  XPOPS_DEVICE static State lift_all(const T (&x)[kCount], const Positions& positions) {
    T value[kCount];
    int number[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) value[i] = x[i], number[i] = i;
#pragma unroll
    for (int reach = 1; reach < kCount; reach *= 2) {
#pragma unroll
      for (int i = 0; i + reach < kCount; i += 2 * reach) {
        if (better(value[i + reach], value[i])) value[i] = value[i + reach], number[i] = number[i + reach];
      }
    }
    return {value[0], positions(number[0])};
  }
  XPOPS_DEVICE static State combine(const State& a, const State& b) {
    const bool tie = !better(b.value, a.value) && !better(a.value, b.value);
    return tie ? (b.position < a.position ? b : a) : better(b.value, a.value) ? b : a;
  }
  XPOPS_DEVICE static int64 finish(const State& state, const Ending&) { return state.position; }

 private:
  XPOPS_DEVICE static bool better(T a, T b) {
    if constexpr (is_floating_v<T>) return Order::before(a, b) || (a != a && b == b);
    else return Order::before(a, b);
  }
};

struct Descending {
  template <class T>
  XPOPS_DEVICE static T worst() { return detail::lowest<T>(); }
  template <class T>
  XPOPS_DEVICE static bool before(T a, T b) { return a > b; }
};

struct Ascending {
  template <class T>
  XPOPS_DEVICE static T worst() { return detail::highest<T>(); }
  template <class T>
  XPOPS_DEVICE static bool before(T a, T b) { return a < b; }
};

template <class T>
struct Argmax : Arg<T, Descending> {};
template <class T>
struct Argmin : Arg<T, Ascending> {};

namespace detail {

// Where the elements of several packs of kPack lie, `step` positions from one pack to the next.
template <int kPack>
struct Positions {
  int64 first, step;
  XPOPS_DEVICE int64 operator()(int i) const { return first + i / kPack * step + i % kPack; }
};

template <class...>
using void_t = void;

template <class Reducer, class T, int kCount, class = void>
inline constexpr bool lifts_all_v = false;
template <class Reducer, class T, int kCount>
inline constexpr bool
    lifts_all_v<Reducer, T, kCount, void_t<decltype(&Reducer::template lift_all<kCount, Positions<1>>)>> = true;

}  // namespace detail

// The state of several packs of kPack elements in a row, `step` positions from one pack to the next.
template <class Reducer, int kPack, class T, int kCount>
XPOPS_DEVICE typename Reducer::State lift_all(const T (&x)[kCount], int64 position, int64 step) {
  const detail::Positions<kPack> positions{position, step};
  if constexpr (detail::lifts_all_v<Reducer, T, kCount>) {
    return Reducer::lift_all(x, positions);
  } else {
    typename Reducer::State states[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) states[i] = Reducer::lift(x[i], positions(i));
#pragma unroll
    for (int reach = 1; reach < kCount; reach *= 2) {
#pragma unroll
      for (int i = 0; i + reach < kCount; i += 2 * reach) states[i] = Reducer::combine(states[i], states[i + reach]);
    }
    return states[0];
  }
}

}  // namespace xpops
