// Reducers: they turn elements into states, combine states, and turn the last state into the result.
//
// A reducer of elements of type T has
//   State                   the type of partial results; trivially copyable
//   identity()              the state of no elements
//   lift(x, position)       the state of one element; position is its index along the reduced axes
//   combine(a, b)           the state of both; the order of states changes only rounding
//   finish(state, ending)   the result, before it is cast to the result's dtype
//   kShifts                 whether kernels subtract the first element of each output from its elements (Pivot)
// and may have
//   lift_all(x, positions)  the state of several elements; positions(i), the position of x[i], ascends with i
//   append(state, x, positions)  the state of `state` and of several elements that come after all of its elements
// Without lift_all, elements are lifted one by one and combined pairwise.
#pragma once

#include <xpops/math/arithmetic.cuh>

namespace xpops {

// What the host passes to finish().
struct Ending {
  double count;    // number of elements of an output
  double divisor;  // count - correction, or NaN if that is not positive
};

namespace detail {

// Divides by a real number. The parts of a complex x are divided separately: NaN in one does not reach the other.
template <class T>
XPOPS_DEVICE T part_by_part(T x, real_t<T> divisor) {
  if constexpr (is_complex_v<T>) return {x.re / divisor, x.im / divisor};
  else return x / divisor;
}

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

// Base of reducers whose state is an element.
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
    return detail::part_by_part(state, static_cast<real_t<T>>(ending.count));
  }
};

// The sum, and the sum of its rounding errors, each of which Knuth's two-sum computes exactly. Together they are about
// as accurate as a sum in twice the precision.
template <class T>
struct CompensatedSum {
  static constexpr bool kShifts = false;
  struct State {
    T sum, error;
  };
  XPOPS_DEVICE static State identity() { return {T(0), T(0)}; }
  XPOPS_DEVICE static State lift(T x, int64) { return {x, T(0)}; }
  XPOPS_DEVICE static State combine(const State& a, const State& b) {
    const T sum = a.sum + b.sum, part = sum - a.sum;
    return {sum, ((a.sum - (sum - part)) + (b.sum - part)) + (a.error + b.error)};
  }
  XPOPS_DEVICE static T finish(const State& state, const Ending&) {
    if constexpr (is_complex_v<T>) return {total(state.sum.re, state.error.re), total(state.sum.im, state.error.im)};
    else return total(state.sum, state.error);
  }

 private:
  // The error of an infinite sum is NaN, and is ignored.
  template <class Real>
  XPOPS_DEVICE static Real total(Real sum, Real error) {
    return isfinite(error) ? sum + error : sum;
  }
};

template <class T>
struct CompensatedMean : CompensatedSum<T> {
  XPOPS_DEVICE static T finish(const typename CompensatedSum<T>::State& state, const Ending& ending) {
    return detail::part_by_part(CompensatedSum<T>::finish(state, ending), static_cast<real_t<T>>(ending.count));
  }
};

// A product of float32 numbers in float64. The rounding errors of equal products are equal: in a tree of float32 products
// a million of them may add up. Nothing overflows on the way to a result within range.
template <class T>
struct CompensatedProd : Prod<double> {
  XPOPS_DEVICE static double lift(T x, int64) { return x; }
  XPOPS_DEVICE static T finish(double state, const Ending&) { return static_cast<T>(state); }
};

// from(x) is x minus the first element of its output if the reducer has kShifts, else x.
template <class Reducer, class T, bool = Reducer::kShifts>
struct Pivot {
  XPOPS_DEVICE T from(T x) const { return x; }
};
template <class Reducer, class T>
struct Pivot<Reducer, T, true> {
  T first;
  XPOPS_DEVICE T from(T x) const { return x - first; }
};

namespace detail {

// The position of element i in consecutive packs of kPack elements. The packs start `step` positions apart.
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

template <class Reducer, class T, int kCount, class = void>
inline constexpr bool appends_v = false;
template <class Reducer, class T, int kCount>
inline constexpr bool appends_v<Reducer, T, kCount, void_t<decltype(&Reducer::template append<kCount, Positions<1>>)>> =
    true;

}  // namespace detail

// The state of kCount elements: packs of kPack elements, which start `step` positions apart.
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

// The state of `state` and of kCount elements as above, which come after its elements.
template <class Reducer, int kPack, class T, int kCount>
XPOPS_DEVICE typename Reducer::State append_all(const typename Reducer::State& state, const T (&x)[kCount],
                                                int64 position, int64 step) {
  if constexpr (detail::appends_v<Reducer, T, kCount>) {
    return Reducer::append(state, x, detail::Positions<kPack>{position, step});
  } else {
    return Reducer::combine(state, lift_all<Reducer, kPack>(x, position, step));
  }
}

}  // namespace xpops
