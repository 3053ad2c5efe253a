// What the host writes a program for rows with, and how rows.cuh calls it.
#pragma once

#include <xpops/kernels/fused/elementwise.cuh>

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

template <class Reducer>
struct Combine {
  using State = typename Reducer::State;
  XPOPS_DEVICE State operator()(const State& x, const State& y) const { return Reducer::combine(x, y); }
};

// Calls a functor that has a state.
struct Call {
  template <class Functor, class... T>
  XPOPS_DEVICE auto operator()(const Functor& functor, T... x) const {
    return functor(x...);
  }
};

}  // namespace xpops
