// Fused elementwise expressions: the host generates one functor for an expression. This header has what such functors
// need besides elementwise.cuh and transpose/.
#pragma once

#include <xpops/kernels/elementwise.cuh>
#include <xpops/kernels/fused/near.cuh>

namespace xpops {

// Rounds a value as a store to memory would. The compiler then cannot contract a product at the end of one functor with
// a sum at the start of the next. So a fused expression has the same bits as its operators called one by one. Adding
// -0.0 changes no value. A product with 1 does not help for float32: ptxas removes it and contracts across it.
template <class T>
XPOPS_DEVICE T settled(T x) {
  if constexpr (is_same_v<T, float> || is_same_v<T, double>) return add_rn(x, T(-0.0));
  else if constexpr (is_complex_v<T>) return {settled(x.re), settled(x.im)};
  else return x;
}

// Hides from the compiler how a value was computed, as if it came from memory. Otherwise the compiler sees that two
// functors share a product, and contracts it with a different sum than in either functor alone.
template <class T>
XPOPS_DEVICE T loaded(T x) {
#if XPOPS_ON_GPU
  if constexpr (is_same_v<T, float>) asm volatile("" : "+f"(x));
  else if constexpr (is_same_v<T, double>) asm volatile("" : "+d"(x));
  else if constexpr (is_complex_v<T>) return {loaded(x.re), loaded(x.im)};
#endif
  return x;
}

template <class T>
XPOPS_DEVICE T square_rn(T x) {
  return mul_rn(x, x);
}

// Products and sums that the compiler may contract, for functions that need not have the bits of their operators.
namespace contracted {

template <class T>
XPOPS_DEVICE T add_rn(T x, T y) {
  return x + y;
}
template <class T>
XPOPS_DEVICE T mul_rn(T x, T y) {
  return x * y;
}
template <class T>
XPOPS_DEVICE T square_rn(T x) {
  return x * x;
}

}  // namespace contracted

// The return type of a functor with several results.
template <class... T>
struct Results {};
template <class Head, class... Tail>
struct Results<Head, Tail...> {
  Head head;
  Results<Tail...> tail;
};

// Several results in place of one `Operand`. All have the same size and the same order.
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
  XPOPS_DEVICE static typename Params::Index skew(const Params&) {
    return 0;
  }
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
