// Reductions of expressions: the reduce family loads the operands and computes the expression, instead of loading an
// array's elements.
#pragma once

#include <xpops/kernels/fused/elementwise.cuh>
#include <xpops/kernels/reduce/reduce.cuh>

namespace xpops {

// One operand. kVector: one access loads a pack. kShifted: the same, but packs may be unaligned. kSplat: one element fills
// a pack. kGather: one access loads each element. kUniform: the same element everywhere. kScalar: a value among the
// parameters. Op gets it as Compute.
template <class T, Mode kMode, int kSlot, int kLine_ = 0, class Loop = T, class Compute = Loop>
struct ReduceOperand : Operand<T, Loop, Compute, kMode, kSlot> {
  using Base = Operand<T, Loop, Compute, kMode, kSlot>;
  using Element = typename Base::Element;
  static constexpr bool kInLine =
      kMode == Mode::kVector || kMode == Mode::kShifted || kMode == Mode::kSplat || kMode == Mode::kGather;
  static constexpr int kLine = kLine_;

  template <int kPack>
  XPOPS_DEVICE static void load(const Element* from, int64 neighbour, typename Base::template Fragment<kPack>& to) {
    if constexpr (kMode == Mode::kVector) {
      to.pack.load(from);
    } else if constexpr (kMode == Mode::kShifted) {
      to.pack.load_unaligned(from);
    } else if constexpr (kMode == Mode::kGather) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) to.pack.elem[i] = from[i * neighbour];
    } else if constexpr (kMode != Mode::kScalar) {
      const Element value = *from;
#pragma unroll
      for (int i = 0; i < kPack; ++i) to.pack.elem[i] = value;
    }
  }
};

// A reducer whose result, rounded to Stored, is the operand of a functor: the functor's result takes its place.
template <class Reducer, class Stored, class Functor>
struct Ended : Reducer {
  XPOPS_DEVICE static auto finish(const typename Reducer::State& state, const Ending& ending) {
    return Functor()(cast<Stored>(Reducer::finish(state, ending)));
  }
};

// The address in each operand of the first element of an output.
template <class Params, class... In>
struct FusedStart {
  XPOPS_DEVICE FusedStart(const Params&, const KeptCoordinates<Params>&) {}
  template <int kPack>
  XPOPS_DEVICE int64 head(const Params&) const {
    return 0;
  }
};
template <class Params, class Head, class... Tail>
struct FusedStart<Params, Head, Tail...> {
  const typename Head::Element* first = nullptr;
  FusedStart<Params, Tail...> tail;

  XPOPS_DEVICE FusedStart(const Params& params, const KeptCoordinates<Params>& at) : tail(params, at) {
    if constexpr (Head::kMode != Mode::kScalar) first = Head::base(params);
    if constexpr (Head::kInLine) first += at.offset(params.in_kept[Head::kLine]);
  }
  // All operands that are loaded in packs have the same alignment: the first of them gives the head.
  template <int kPack>
  XPOPS_DEVICE int64 head(const Params& params) const {
    if constexpr (Head::kMode == Mode::kVector) return before_packs<kPack>(first);
    else return tail.template head<kPack>(params);
  }
};

// A source (reduce.cuh) whose elements Op computes from the operands' elements.
template <class Op, class Loop, class Compute_, class Out_, class... In>
struct ReduceExpression {
  using Compute = Compute_;
  using Out = Out_;

  template <class Params>
  using Start = FusedStart<Params, In...>;

  template <int kPack, class Params>
  struct Loaded {
    using Index = typename Params::Index;
    using At = ReducedCoordinates<Params>;
    static constexpr int kLast = Params::kReducedAxes - 1;
    Fragments<kPack, In...> parts;

    XPOPS_DEVICE void along(const Params& params, const Start<Params>& start, int64 head, Index step) {
      At at(params.reduced, step);
      at.at[kLast] = at.at[kLast] * kPack + static_cast<Index>(head);
      load<false>(params, start, at, parts);
    }
    XPOPS_DEVICE void element(const Params& params, const Start<Params>& start, int64 position) {
      At at(params.reduced, 0);
      at.at[kLast] = static_cast<Index>(position);
      load<false>(params, start, at, parts);
    }
    XPOPS_DEVICE void across(const Params& params, const Start<Params>& start, Index step) {
      load<true>(params, start, At(params.reduced, step), parts);
    }
    XPOPS_DEVICE Compute value(const Params& params, int i) const {
      return cast<Compute>(cast<Loop>(apply<Op>(params, parts, i)));
    }

   private:
    // Packs are along the last kept axis if kAcross, else along the last reduced axis.
    template <bool kAcross>
    XPOPS_DEVICE static void load(const Params&, const FusedStart<Params>&, const At&, Fragments<kPack>&) {}
    template <bool kAcross, class Head, class... Tail>
    XPOPS_DEVICE static void load(const Params& params, const FusedStart<Params, Head, Tail...>& start, const At& at,
                                  Fragments<kPack, Head, Tail...>& to) {
      if constexpr (Head::kInLine) {
        constexpr int kLine = Head::kLine;
        const int64 neighbour = kAcross ? params.in_kept[kLine][Params::kKeptAxes - 1] : params.in_reduced[kLine][kLast];
        Head::template load<kPack>(start.first + at.offset(params.in_reduced[kLine]), neighbour, to.head);
      } else {
        Head::template load<kPack>(start.first, 0, to.head);
      }
      load<kAcross>(params, start.tail, at, to.tail);
    }
  };
};

}  // namespace xpops
