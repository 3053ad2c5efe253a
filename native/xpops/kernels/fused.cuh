// Elementwise expressions that the host wrote as a functor: what it needs beside elementwise.cuh and tiled.cuh.
#pragma once

#include <xpops/kernels/elementwise.cuh>

namespace xpops {

// A value as it would come back from memory: the product that a functor may end with is not contracted with a sum that
// another one begins with, so that a fused expression has the bits of its operators called one by one.
template <class T>
XPOPS_DEVICE T settled(T x) {
  if constexpr (is_same_v<T, float> || is_same_v<T, double>) {
    return mul_rn(x, T(1));
  } else {
    return x;
  }
}

template <class T>
XPOPS_DEVICE T square_rn(T x) {
  return mul_rn(x, x);
}

// What a functor with several results returns.
template <class... T>
struct Results {};
template <class Head, class... Tail>
struct Results<Head, Tail...> {
  Head head;
  Results<Tail...> tail;
};

// Several results in the place of one `Operand`: as large as each other, and in the same order.
template <class... Outs>
struct Outputs {
  using T = Results<typename Outs::T...>;
  template <int kPack>
  struct Fragment {
    struct {
      T elem[kPack];
    } pack;
  };

  template <int kPack, class Params>
  XPOPS_DEVICE static void store(const Params& params, typename Params::Index linear, const Fragment<kPack>& from) {
    Fragments<kPack, Outs...> parts;
#pragma unroll
    for (int i = 0; i < kPack; ++i) part(parts, i, from.pack.elem[i]);
    store_parts(params, linear, parts);
  }

 private:
  template <int kPack>
  XPOPS_DEVICE static void part(Fragments<kPack>&, int, const Results<>&) {}
  template <int kPack, class Head, class... Tail, class Value, class... Values>
  XPOPS_DEVICE static void part(Fragments<kPack, Head, Tail...>& to, int i, const Results<Value, Values...>& from) {
    to.head.pack.elem[i] = from.head;
    part(to.tail, i, from.tail);
  }

  template <int kPack, class Params>
  XPOPS_DEVICE static void store_parts(const Params&, typename Params::Index, const Fragments<kPack>&) {}
  template <int kPack, class Params, class Head, class... Tail>
  XPOPS_DEVICE static void store_parts(const Params& params, typename Params::Index linear,
                                       const Fragments<kPack, Head, Tail...>& from) {
    Head::store(params, linear, from.head);
    store_parts(params, linear, from.tail);
  }
};

}  // namespace xpops
