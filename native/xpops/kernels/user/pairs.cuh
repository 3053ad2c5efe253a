// The elementwise family for functors that compute two 16-bit floating-point numbers at a time.
#pragma once

#include <xpops/kernels/elementwise.cuh>
#include <xpops/math/packed.cuh>

namespace xpops {

// Marks parameters, so that compute_pack has an overload for pairs.
template <class Params>
struct Pairs : Params {};

template <class Op, class T, int kPack, class Params, class... Values>
XPOPS_DEVICE packed2<T> apply_pair(const Params&, const Fragments<kPack>&, int, int, Values... values) {
  return Op().apply2(values...);
}

// Calls `apply2` on two elements of every operand.
template <class Op, class T, int kPack, class Params, class Head, class... Tail, class... Values>
XPOPS_DEVICE packed2<T> apply_pair(const Params& params, const Fragments<kPack, Head, Tail...>& from, int i, int j,
                                   Values... values) {
  const packed2<T> pair(Head::template value<kPack>(params, from.head, i), Head::template value<kPack>(params, from.head, j));
  return apply_pair<Op, T>(params, from.tail, i, j, values..., pair);
}

// An element without a neighbour is paired with itself.
template <class Op, class Out, int kPack, class... In, class Params>
XPOPS_DEVICE void compute_pack(const Pairs<Params>& params, typename Params::Index linear,
                               const Fragments<kPack, In...>& in) {
  constexpr int kWidth = kPack % 2 == 0 ? 2 : 1;
  typename Out::template Fragment<kPack> out;
#pragma unroll
  for (int i = 0; i < kPack; i += kWidth) {
    const auto pair = apply_pair<Op, typename Out::T>(params, in, i, i + kWidth - 1);
    out.pack.elem[i] = pair.first();
    if constexpr (kWidth == 2) out.pack.elem[i + 1] = pair.second();
  }
  Out::store(params, linear, out);
}

}  // namespace xpops
