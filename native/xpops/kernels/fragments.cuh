// The operands of an elementwise functor in registers, and calls of the functor with them.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/core/types.cuh>

namespace xpops {

// A tuple of fragments, one for each operand.
template <int kPack, class... Operands>
struct Fragments {};
template <int kPack, class Head, class... Tail>
struct Fragments<kPack, Head, Tail...> {
  typename Head::template Fragment<kPack> head;
  Fragments<kPack, Tail...> tail;
};

// Loads the fragments, which must be settled before they are used.
template <int kPack, class Params>
XPOPS_DEVICE void load_all(const Params&, typename Params::Index, Fragments<kPack>&) {}

template <int kPack, class Params, class Head, class... Tail>
XPOPS_DEVICE void load_all(const Params& params, typename Params::Index linear, Fragments<kPack, Head, Tail...>& to) {
  Head::load(params, linear, to.head);
  load_all(params, linear, to.tail);
}

template <int kPack>
XPOPS_DEVICE void settle_all(Fragments<kPack>&) {}

template <int kPack, class Head, class... Tail>
XPOPS_DEVICE void settle_all(Fragments<kPack, Head, Tail...>& loaded) {
  loaded.head.settle();
  settle_all(loaded.tail);
}

// Calls `op` on the i-th element of every operand.
template <class Op, int kPack, class Params, class... Values>
XPOPS_DEVICE auto apply(const Params&, const Fragments<kPack>&, int, Values... values) {
  return Op()(values...);
}

template <class Op, int kPack, class Params, class Head, class... Tail, class... Values>
XPOPS_DEVICE auto apply(const Params& params, const Fragments<kPack, Head, Tail...>& from, int i, Values... values) {
  return apply<Op>(params, from.tail, i, values..., Head::template value<kPack>(params, from.head, i));
}

// Calls a functor instead of inlining it. A long functor is then compiled once, not once for each element of a thread.
template <class Op>
struct Outlined {
  template <class... T>
  XPOPS_NOINLINE auto operator()(T... x) const {
    return Op()(x...);
  }
};

// Whether a functor takes two elements at once, too.
template <class Functor, class = void>
inline constexpr bool takes_pairs_v = false;
template <class Functor>
inline constexpr bool takes_pairs_v<Functor, enable_if_t<Functor::kPairs>> = true;

// Calls `op` on the elements i and i + 1 of every operand at once; see `Operand::pair`.
template <class Op, int kPack, class Params, class... Values>
XPOPS_DEVICE auto apply_pair(const Params&, const Fragments<kPack>&, int, const Values&... values) {
  return Op()(values...);
}

template <class Op, int kPack, class Params, class Head, class... Tail, class... Values>
XPOPS_DEVICE auto apply_pair(const Params& params, const Fragments<kPack, Head, Tail...>& from, int i,
                             const Values&... values) {
  return apply_pair<Op>(params, from.tail, i, values..., Head::template pair<kPack>(params, from.head, i));
}

template <class To, class From>
XPOPS_DEVICE To converted(const From& x) {
  if constexpr (is_same_v<To, From>) return x;
  else return cast<To>(x);
}

// Calls `op` on all elements of a pack, after the first values: in pairs, if it or a functor among these takes pairs.
template <class Op, int kPack, class... In, class Params, class Value, class... First>
XPOPS_DEVICE void apply_all(const Params& params, const Fragments<kPack, In...>& from, Value (&to)[kPack],
                            const First&... first) {
  if constexpr (kPack % 2 == 0 && (takes_pairs_v<Op> || ... || takes_pairs_v<First>)) {
#pragma unroll
    for (int i = 0; i < kPack; i += 2) {
      const auto found = apply_pair<Op>(params, from, i, first...);
      to[i] = converted<Value>(found.first());
      to[i + 1] = converted<Value>(found.second());
    }
  } else {
#pragma unroll
    for (int i = 0; i < kPack; ++i) to[i] = converted<Value>(apply<Op>(params, from, i, first...));
  }
}

}  // namespace xpops
