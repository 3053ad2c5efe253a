// The operands of a transposing kernel together: loaded, staged in shared memory, then given to the functor.
#pragma once

#include <xpops/kernels/elementwise.cuh>

namespace xpops {

// A scalar among the parameters.
template <class T, class Loop, class Compute, int kSlot>
struct TransposedScalar {
  struct Fragment {};
  template <class Params, class Origin>
  XPOPS_DEVICE static void load(const Params&, const Origin&, Fragment&) {}
  template <class Params>
  XPOPS_DEVICE static void stage(const Params&, Fragment&) {}
  template <class Params>
  XPOPS_DEVICE static Compute value(const Params& params, const Fragment&, int, int) {
    return to_compute<T, Loop, Compute>(from_slots<T>(&params.slots[kSlot]));
  }
};

template <class... Operands>
struct TransposedFragments {
  template <class Params, class Origin>
  XPOPS_DEVICE void load(const Params&, const Origin&) {}
  template <class Params>
  XPOPS_DEVICE void stage(const Params&) {}
  template <class Op, class Params, class... Values>
  XPOPS_DEVICE auto apply(const Params&, int, int, Values... values) const {
    return Op()(values...);
  }
};

template <class Head, class... Tail>
struct TransposedFragments<Head, Tail...> {
  typename Head::Fragment head;
  TransposedFragments<Tail...> tail;

  template <class Params, class Origin>
  XPOPS_DEVICE void load(const Params& params, const Origin& origin) {
    Head::load(params, origin, head);
    tail.load(params, origin);
  }
  template <class Params>
  XPOPS_DEVICE void stage(const Params& params) {
    Head::stage(params, head);
    tail.stage(params);
  }
  template <class Op, class Params, class... Values>
  XPOPS_DEVICE auto apply(const Params& params, int step, int i, Values... values) const {
    return tail.template apply<Op>(params, step, i, values..., Head::value(params, head, step, i));
  }
};

}  // namespace xpops
