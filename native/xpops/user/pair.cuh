// Two 16-bit floats with the members x and y, as CUDA's __half2; and arithmetic on both.
#pragma once

#include <xpops/user/half.cuh>

namespace xpops {

template <class T> struct alignas(4) half_pair {
  T x, y;
  half_pair() = default;
  XPOPS_DEVICE half_pair(T x, T y) : x(x), y(y) {}
  XPOPS_DEVICE half_pair(packed2<T> both) : x(both.first()), y(both.second()) {}
  XPOPS_DEVICE operator packed2<T>() const { return {x, y}; }
};

#define XPOPS_PAIR_ARITHMETIC(op)                                                                               \
  template <class T> XPOPS_DEVICE half_pair<T> operator op(half_pair<T> a, half_pair<T> b) {                    \
    return {a.x op b.x, a.y op b.y};                                                                            \
  }                                                                                                             \
  template <class T> XPOPS_DEVICE half_pair<T>& operator op##=(half_pair<T>& a, half_pair<T> b) { return a = a op b; }
XPOPS_PAIR_ARITHMETIC(+)
XPOPS_PAIR_ARITHMETIC(-)
XPOPS_PAIR_ARITHMETIC(*)
XPOPS_PAIR_ARITHMETIC(/)
#undef XPOPS_PAIR_ARITHMETIC

template <class T> XPOPS_DEVICE half_pair<T> operator-(half_pair<T> a) { return {-a.x, -a.y}; }

// As CUDA's: true if it holds for both.
#define XPOPS_PAIR_COMPARISON(op)                                                            \
  template <class T> XPOPS_DEVICE bool operator op(half_pair<T> a, half_pair<T> b) {         \
    return a.x op b.x && a.y op b.y;                                                         \
  }
XPOPS_PAIR_COMPARISON(==)
XPOPS_PAIR_COMPARISON(!=)
XPOPS_PAIR_COMPARISON(<)
XPOPS_PAIR_COMPARISON(<=)
XPOPS_PAIR_COMPARISON(>)
XPOPS_PAIR_COMPARISON(>=)
#undef XPOPS_PAIR_COMPARISON

}  // namespace xpops
