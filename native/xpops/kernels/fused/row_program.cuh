// What the host writes a program for rows with, and how rows.cuh calls it.
#pragma once

#include <xpops/kernels/fused/elementwise.cuh>
#include <xpops/math/fast.cuh>
#include <xpops/math/reduction.cuh>

namespace xpops {

// The k-th type of a list.
template <int k, class Head, class... Tail>
struct At : At<k - 1, Tail...> {};
template <class Head, class... Tail>
struct At<0, Head, Tail...> {
  using type = Head;
};

// A result with one element for each row.
template <class T, int kSlot>
struct RowOutput {
  using Element = typename Storage<T>::type;
  template <class Params>
  XPOPS_DEVICE static void store(const Params& params, uint64 row, T value) {
    reinterpret_cast<Element*>(params.slots[kSlot])[row] = value;
  }
};

template <class... Outs>
struct RowOutputs {
  template <class Params>
  XPOPS_DEVICE static void store(const Params&, uint64, const Results<>&) {}
};
template <class Head, class... Tail>
struct RowOutputs<Head, Tail...> {
  template <class Params, class Value, class... Values>
  XPOPS_DEVICE static void store(const Params& params, uint64 row, const Results<Value, Values...>& from) {
    Head::store(params, row, from.head);
    RowOutputs<Tail...>::store(params, row, from.tail);
  }
};

// Several reductions in one pass over a row, each of its own value of an element. kSums: all of them add up Element.
template <class Head, class... Tail>
struct Together {
  using Rest = Together<Tail...>;
  using Element = typename Head::State;
  static constexpr bool kShifts = false, kSums = Rest::kSums && is_same_v<Element, typename Rest::Element> &&
                                                 is_one_of_v<Head, Sum<Element>, Mean<Element>>;
  struct State {
    typename Head::State head;
    typename Rest::State tail;
  };
  XPOPS_DEVICE static State identity() { return {Head::identity(), Rest::identity()}; }
  template <class Values>
  XPOPS_DEVICE static State lift(const Values& x, int64 position) {
    return {Head::lift(x.head, position), Rest::lift(x.tail, position)};
  }
  XPOPS_DEVICE static State combine(const State& x, const State& y) {
    return {Head::combine(x.head, y.head), Rest::combine(x.tail, y.tail)};
  }
};
template <class Head>
struct Together<Head> {
  using Element = typename Head::State;
  static constexpr bool kShifts = false, kSums = is_one_of_v<Head, Sum<Element>, Mean<Element>>;
  struct State {
    typename Head::State head;
  };
  XPOPS_DEVICE static State identity() { return {Head::identity()}; }
  template <class Values>
  XPOPS_DEVICE static State lift(const Values& x, int64 position) {
    return {Head::lift(x.head, position)};
  }
  XPOPS_DEVICE static State combine(const State& x, const State& y) { return {Head::combine(x.head, y.head)}; }
};

// An operand of 16 bits as float. NaN may lose its sign. Each element takes one instruction, in either half of a word.
template <class T, class, class, Mode kMode, int kSlot, int kStrides = 0>
struct WideOperand : Operand<T, T, float, kMode, kSlot, kStrides> {
  using Base = Operand<T, T, float, kMode, kSlot, kStrides>;
  template <int kPack, class Params>
  XPOPS_DEVICE static float value(const Params&, const typename Base::template Fragment<kPack>& from, int i) {
    if constexpr (kPack % 2 != 0) return widened(from.pack.elem[i]);
    else return widened_half<T>(from.pack.pairs[i / 2], i % 2 != 0);
  }
};

// Rounds what functors computed to a pack of elements of type T. Halves are rounded in pairs, by one instruction.
template <class T, class Pack, class Value, int kPack>
XPOPS_DEVICE void round_all(Pack& to, const Value (&from)[kPack]) {
  if constexpr (is_half_v<T> && is_same_v<Value, float> && kPack % 2 == 0) {
#pragma unroll
    for (int i = 0; i < kPack; i += 2) to.pairs[i / 2] = narrowed_pair<T>(from[i], from[i + 1]);
  } else {
#pragma unroll
    for (int i = 0; i < kPack; ++i) to.elem[i] = cast<T>(from[i]);
  }
}

// Calls a functor that has a state.
struct Call {
  template <class Functor, class... T>
  XPOPS_DEVICE auto operator()(const Functor& functor, T... x) const {
    return functor(x...);
  }
};

// Writes the results for elements.
template <class Rows, class Program>
struct Written {
  const Rows& rows;
  const typename Program::Each& each;

  template <int kCount>
  XPOPS_DEVICE void take(const typename Rows::template Operands<kCount>& from, typename Rows::Index linear, int) {
    decltype(apply<Call>(rows.params.each, from, 0, each)) values[kCount];
    apply_all<Call>(rows.params.each, from, values, each);
    typename Program::Out::template Fragment<kCount> out;
    round_all<typename Program::Out::T>(out.pack, values);
    if (rows.any) Program::Out::store(rows.params.each, linear, out);
  }
};

}  // namespace xpops
