// The elementwise family for functors that compute two elements at a time.
#pragma once

#include <xpops/kernels/elementwise.cuh>
#include <xpops/kernels/user/functor.cuh>

namespace xpops {

// Marks parameters, so that compute_pack has an overload for pairs.
template <class Params>
struct Pairs : Params {};

// Two neighbours. They are aligned together, so that a functor may access them at once.
template <class T>
struct Two {
  alignas(2 * sizeof(T)) T elem[2];
};

template <class Op, class T, int kPack, class Params, class... Values>
XPOPS_DEVICE bool apply_pair(const Params&, const Fragments<kPack>&, int, int, Two<T>& to, const Values&... values) {
  return Op::apply_pair(to.elem, values...);
}

// Calls `Op::apply_pair` on two elements of every operand.
template <class Op, class T, int kPack, class Params, class Head, class... Tail, class... Values>
XPOPS_DEVICE bool apply_pair(const Params& params, const Fragments<kPack, Head, Tail...>& from, int i, int j, Two<T>& to,
                             const Values&... values) {
  auto first = Head::template value<kPack>(params, from.head, i);
  const Two<decltype(first)> two{first, Head::template value<kPack>(params, from.head, j)};
  return apply_pair<Op>(params, from.tail, i, j, to, values..., two);
}

// An element without a neighbour is paired with itself.
template <class Op, class Out, int kPack, class... In, class Params>
XPOPS_DEVICE void compute_pack(const Pairs<Params>& params, typename Params::Index linear,
                               const Fragments<kPack, In...>& in) {
  constexpr int kWidth = kPack % 2 == 0 ? 2 : 1;
  typename Out::template Fragment<kPack> out;
#pragma unroll
  for (int i = 0; i < kPack; i += kWidth) {
    Two<typename Out::T> two;
    if (!apply_pair<Op>(params, in, i, i + kWidth - 1, two)) {
      for (int j = 0; j < kWidth; ++j) two.elem[j] = cast<typename Out::T>(apply<Op>(params, in, i + j));
    }
    for (int j = 0; j < kWidth; ++j) out.pack.elem[i + j] = two.elem[j];
  }
  Out::store(params, linear, out);
}

}  // namespace xpops
