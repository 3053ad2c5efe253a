// The reduce family: any reducer over any axes, in one launch and one read of memory.
//
// Axes are kept or reduced. The host coalesces the axes of each kind (xpops/plan/reduce/). rows.cuh is for elements that
// are closest in memory along a reduced axis: a group of threads walks a row. tiles.cuh is for such rows if they are short
// and packs would cross their ends; short.cuh, if they have so few elements that a thread takes several rows. columns.cuh
// is for elements that are closest along a kept axis: a thread walks down a pack of columns. If there are too few rows or
// columns to keep the GPU busy, several blocks share each of them. The last block combines their states, always in the
// same order.
//
// A source provides the elements to reduce: ReduceArray here, or an expression (kernels/fused/reduce.cuh). A source has
//   Compute, Out              the type that the reducer gets, and the dtype of the result
//   Start<Params>             the address of the first element of an output, or of a pack of columns
//     Start(params, at)         from its coordinates along the kept axes
//     head<kPack>(params)       the number of elements before the first aligned pack
//   Loaded<kPack, Params>     elements in registers
//     along(...)                loads kPack elements of a row: steps count packs after `head` elements
//     element(...)              loads one element of a row, if there is one reduced axis
//     across(...)               loads kPack columns: a step is one element of each
//     value(params, i)          returns the i-th element
#pragma once

#include <xpops/index/coordinates.cuh>
#include <xpops/kernels/numbers.cuh>
#include <xpops/math/reduction.cuh>
#include <xpops/memory/exchange.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// The kernel parameters, which the host writes. Slots hold addresses, and the scalars of an expression. Operands with
// equal strides share a line of strides. reduce_rows counts the last reduced axis in packs (`reduced`, and for arrays
// `in_reduced`), and reduce_columns the last kept axis (`kept`).
template <int kKept, int kReduced, class Index_, int kSlots_ = 1, int kLines_ = 1>
struct ReduceParams {
  using Index = Index_;
  using Offset = typename SignedOf<Index>::type;
  static constexpr int kKeptAxes = kKept, kReducedAxes = kReduced, kSlots = kSlots_, kLines = kLines_;
  uint64 out, slots[kSlots], states, counters;  // addresses; blocks that share an output use the last two
  Ending ending;
  uint64 outputs;  // for reduce_columns: packs of outputs
  uint64 length;   // steps along all reduced axes together
  uint64 chunk;    // steps of one split
  Index last;      // for reduce_columns: where the last pack along the last kept axis begins
  Index left;      // for reduce_columns: elements after the last step
  FastDivMod<Index> splits;
  FastDivMod<Index> kept[kKept > 1 ? kKept - 1 : 1], reduced[kReduced > 1 ? kReduced - 1 : 1];
  Offset out_kept[kKept], in_kept[kLines][kKept], in_reduced[kLines][kReduced];
};

template <class Params>
using KeptCoordinates = Coordinates<Params::kKeptAxes, typename Params::Index>;
template <class Params>
using ReducedCoordinates = Coordinates<Params::kReducedAxes, typename Params::Index>;

// The number of elements before the first aligned pack.
template <int kPack, class Element>
XPOPS_DEVICE int64 before_packs(const Element* start) {
  return (kPack - reinterpret_cast<uint64>(start) / sizeof(Element) % kPack) % kPack;
}

// The elements of an array, or the products of two arrays. Their addresses are the slots; their strides are equal. If not
// kAligned, packs begin at any element.
template <class T, class Loop, class Compute_, class Out_, bool kAligned>
struct ReduceArray {
  using Element = typename Storage<T>::type;
  using Compute = Compute_;
  using Out = Out_;

  XPOPS_DEVICE static Compute computed(Element x) { return to_number<T, Loop, Compute>(x); }

  template <class Params>
  struct Start {
    const Element* first;
    XPOPS_DEVICE Start(const Params& params, const KeptCoordinates<Params>& at)
        : first(reinterpret_cast<const Element*>(params.slots[0]) + at.offset(params.in_kept[0])) {}
    template <int kPack>
    XPOPS_DEVICE int64 head(const Params&) const {
      return before_packs<kPack>(first);
    }
  };

  template <int kPack, class Params>
  struct Loaded {
    Pack<Element, kPack> packs[Params::kSlots];

    XPOPS_DEVICE void along(const Params& params, const Start<Params>& start, int64 head, typename Params::Index step) {
      load(params, start.first + head + (Params::kReducedAxes == 1 && kPack > 1 ? static_cast<int64>(step) * kPack
                                                                                : offset(params, step)));
    }
    XPOPS_DEVICE void element(const Params& params, const Start<Params>& start, int64 position) {
      load(params, start.first + position);
    }
    XPOPS_DEVICE void across(const Params& params, const Start<Params>& start, typename Params::Index step) {
      load(params, start.first + offset(params, step));
    }
    XPOPS_DEVICE Compute value(const Params&, int i) const {
      const Compute x = computed(packs[0].elem[i]);
      if constexpr (Params::kSlots == 1) return x;
      else return Multiply()(x, computed(packs[1].elem[i]));
    }

   private:
    XPOPS_DEVICE static int64 offset(const Params& params, typename Params::Index step) {
      return ReducedCoordinates<Params>(params.reduced, step).offset(params.in_reduced[0]);
    }
    XPOPS_DEVICE void load(const Params& params, const Element* from) {
#pragma unroll
      for (int i = 0; i < Params::kSlots; ++i) {
        if (i > 0) from += static_cast<int64>(params.slots[i] - params.slots[0]) / static_cast<int64>(sizeof(Element));
        if constexpr (kAligned) packs[i].load(from);
        else packs[i].load_unaligned(from);
      }
    }
  };
};

// Combines every kStep-th of `count` states that other blocks have left, from number `first` on. They are kPitch states
// apart. kFlight loads are in flight before the first of their states is combined.
template <class Reducer, int kFlight, int kStep, int kPitch = 1, class Index>
XPOPS_DEVICE typename Reducer::State combine_parts(const typename Reducer::State* states, Index first, Index count) {
  typename Reducer::State state = Reducer::identity();
  for (; first < count; first += kFlight * kStep) {
    typename Reducer::State others[kFlight];
#pragma unroll
    for (int i = 0; i < kFlight; ++i) {
      const Index each = first + i * kStep;
      others[i] = each < count ? load_coherent(states + each * kPitch) : Reducer::identity();
    }
#pragma unroll
    for (int i = 0; i < kFlight; ++i) state = Reducer::combine(state, others[i]);
  }
  return state;
}

template <class Reducer, class Source, class Params>
XPOPS_DEVICE typename Storage<typename Source::Out>::type result_of(const Params& params,
                                                                    const typename Reducer::State& state) {
  return cast<typename Source::Out>(Reducer::finish(state, params.ending));
}

template <class Reducer, class Source, class Params>
XPOPS_DEVICE void write_result(const Params& params, int64 offset, const typename Reducer::State& state) {
  using Stored = typename Storage<typename Source::Out>::type;
  reinterpret_cast<Stored*>(params.out)[offset] = result_of<Reducer, Source>(params, state);
}

}  // namespace xpops
