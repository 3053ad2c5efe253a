// Reducers that return the position of an element: Argmax and Argmin, Nanargmax and Nanargmin.
#pragma once

#include <xpops/math/reduction.cuh>

namespace xpops {

// The position of the first extreme element. If there are NaNs, it is the position of the first NaN. If kNumbers, NaNs
// do not count, and the position is -1 where all elements are NaN. Position is an integer type that holds all positions.
template <class T, class Order, bool kNumbers, class Position>
struct Arg {
  static constexpr bool kShifts = false;
  struct State {
    T value;
    Position position;
  };

  XPOPS_DEVICE static State identity() {
    return {Order::template worst<T>(), limits<Position>::max()};
  }
  XPOPS_DEVICE static State lift(T x, int64 position) { return {x, static_cast<Position>(position)}; }
  // Finds the first of the best elements by its register index. Computes a position only if it replaces `state`.
  template <int kCount, class Positions>
  XPOPS_DEVICE static State append(const State& state, const T (&x)[kCount], const Positions& positions) {
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
    if (!better(value[0], state.value) && state.position != limits<Position>::max()) return state;
    return {value[0], static_cast<Position>(positions(number[0]))};
  }
  XPOPS_DEVICE static State combine(const State& a, const State& b) {
    const bool tie = !better(b.value, a.value) && !better(a.value, b.value);
    return tie ? (b.position < a.position ? b : a) : better(b.value, a.value) ? b : a;
  }
  XPOPS_DEVICE static int64 finish(const State& state, const Ending&) {
    if constexpr (kNumbers) {
      if (state.value != state.value || state.position == limits<Position>::max()) return -1;
    }
    return state.position;
  }

 private:
  XPOPS_DEVICE static bool better(T a, T b) {
    if constexpr (!is_floating_v<T>) return !Order::behind(a, b);
    else if constexpr (kNumbers) return a == a && !Order::behind(a, b);
    else return b == b && !Order::behind(a, b);
  }
};

struct Descending {
  template <class T>
  XPOPS_DEVICE static T worst() { return detail::lowest<T>(); }
  template <class T>
  XPOPS_DEVICE static bool behind(T a, T b) { return a <= b; }
};

struct Ascending {
  template <class T>
  XPOPS_DEVICE static T worst() { return detail::highest<T>(); }
  template <class T>
  XPOPS_DEVICE static bool behind(T a, T b) { return a >= b; }
};

// Positions take 32 bits. The reducers whose names begin with Long are for 2^31 elements and more.
template <class T, class Position = int32>
struct Argmax : Arg<T, Descending, false, Position> {};
template <class T, class Position = int32>
struct Argmin : Arg<T, Ascending, false, Position> {};
template <class T, class Position = int32>
struct Nanargmax : Arg<T, Descending, true, Position> {};
template <class T, class Position = int32>
struct Nanargmin : Arg<T, Ascending, true, Position> {};
template <class T>
struct LongArgmax : Argmax<T, int64> {};
template <class T>
struct LongArgmin : Argmin<T, int64> {};
template <class T>
struct LongNanargmax : Nanargmax<T, int64> {};
template <class T>
struct LongNanargmin : Nanargmin<T, int64> {};

}  // namespace xpops
