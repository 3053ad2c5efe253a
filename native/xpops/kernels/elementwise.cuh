// The elementwise family: computes one result from any number of operands, of any dtypes and layouts.
//
// A block computes a tile of kBlock * kUnroll packs of kPack elements, in the order of the result's memory. A thread
// issues all its loads before it uses the first value, so that many loads are in flight. A last tile that is not full
// is computed element by element, and so is the first one of a skewed result. This costs one more copy of the functor's code, but saves a guard for every pack.
//
// The headers of this folder define device functions. For each kernel the host generates a few lines, the glue: a
// __global__ function that calls one instance of a template (xpops/engine/cuda/kernels/glue.py).
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/core/types.cuh>
#include <xpops/index/coordinates.cuh>
#include <xpops/kernels/fragments.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/rows.cuh>
#include <xpops/memory/slots.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

// How an operand's memory relates to the linear order of the result (xpops/plan/elementwise.py decides).
enum class Mode {
  kLinear,   // the same order: vector accesses for a pack
  kShifted,  // the same order, aligned to its elements only: vector loads of aligned words, which are shifted
  kSkewed,   // the result only: the same order, aligned to its elements only; the first pack begins before the result
  kScalar,   // a value among the parameters: double, int64, uint64 or two doubles
  kUniform,  // one element in memory for the whole result
  kVector,   // strided, but a pack never leaves a row of stride 1: vector accesses
  kSplat,    // strided, but a pack never leaves a row of stride 0: one access
  kRow,      // strided, with stride 1 along rows of any length and alignment: as kShifted, unless a pack leaves its row
  kReversed, // as kRow, with stride -1 along rows
  kRepeated, // strided, with stride 0 along rows that are not shorter than a pack: one access for each row of a pack
  kGather,   // strided: one access for each element
};

// The kernel parameters, which the host writes (xpops/plan/elementwise.py). Slot 0 has the address of the result. Other
// slots have the addresses of operands, or their values.
template <int kSlots, int kRank, int kStrided, class Index_>
struct ElementwiseParams {
  using Index = Index_;
  static constexpr int kAxes = kRank;
  uint64 slots[kSlots];
  uint64 size;
  FastDivMod<Index> divisors[kRank > 1 ? kRank - 1 : 1];
  typename SignedOf<Index>::type strides[kStrided > 0 ? kStrided : 1][kRank > 0 ? kRank : 1];
};

// Whether a pack may have elements of two rows.
template <Mode kMode>
inline constexpr bool kInRows = kMode == Mode::kRow || kMode == Mode::kReversed || kMode == Mode::kRepeated;

// The elements of a pack of an operand.
template <class T, int kPack, Mode kMode>
using FragmentOf = conditional_t<
    kPack == 1 || !kInRows<kMode>, LoadedPack<T, kMode == Mode::kScalar ? 1 : kPack>,
    conditional_t<kMode == Mode::kRepeated, RepeatedPack<T, kPack>, RowPack<T, kPack, kMode == Mode::kReversed>>>;

// One operand or the result. T: the dtype in memory; for a scalar the type in which it travels: double, int64, uint64
// or complex<double>. Loop: the dtype to which the operator converts the operand, by promotion. Compute: the type that
// its functor gets. kStrides: the row of the operand in ElementwiseParams::strides.
template <class T_, class Loop, class Compute, Mode kMode_, int kSlot, int kStrides = 0>
struct Operand {
  using T = T_;
  using Element = typename Storage<T>::type;
  static constexpr Mode kMode = kMode_;

  // The elements of a pack. Loads may be in flight until settle() returns.
  template <int kPack>
  struct Fragment : FragmentOf<Element, kPack, kMode> {};

  template <class Params>
  XPOPS_DEVICE static Element* base(const Params& params) {
    return reinterpret_cast<Element*>(params.slots[kSlot]);
  }

  // The elements of the first aligned pack that are before the first element.
  template <int kPack, class Params>
  XPOPS_DEVICE static typename Params::Index skew(const Params& params) {
    if constexpr (kMode != Mode::kSkewed) return 0;
    else return static_cast<typename Params::Index>(params.slots[kSlot] / sizeof(Element) % kPack);
  }

  template <class Params>
  XPOPS_DEVICE static int64 offset(const Params& params, typename Params::Index linear) {
    if constexpr (kMode == Mode::kLinear || kMode == Mode::kShifted || kMode == Mode::kSkewed) return linear;
    else if constexpr (kMode == Mode::kUniform) return 0;
    else if constexpr (kMode != Mode::kScalar) {
      return Coordinates<Params::kAxes, typename Params::Index>(params.divisors, linear).offset(params.strides[kStrides]);
    }
  }

  template <int kPack, class Params>
  XPOPS_DEVICE static void load(const Params& params, typename Params::Index linear, Fragment<kPack>& to) {
    if constexpr (kMode == Mode::kLinear || kMode == Mode::kVector) {
      to.pack.load(base(params) + offset(params, linear));
    } else if constexpr (kMode == Mode::kUniform || kMode == Mode::kSplat) {
      const Element value = base(params)[offset(params, linear)];
#pragma unroll
      for (int i = 0; i < kPack; ++i) to.pack.elem[i] = value;
    } else if constexpr (kMode == Mode::kShifted) {
      to.pack.load_unaligned(base(params) + linear);
    } else if constexpr (kInRows<kMode> && kPack > 1) {
      Coordinates<Params::kAxes, typename Params::Index> at(params.divisors, linear);
      const auto& strides = params.strides[kStrides];
      const int left = at.left_in_row(params.divisors, kPack);
      const Element* row = base(params) + at.offset(strides);
      if (left == kPack) {
        to.load_row(row);
      } else {
        at.start_next_row(params.divisors);
        to.load_rows(row, base(params) + at.offset(strides), left);
      }
    } else if constexpr (kMode != Mode::kScalar) {
      Coordinates<Params::kAxes, typename Params::Index> at(params.divisors, linear);
      const auto& strides = params.strides[kStrides];
      if (at.left_in_row(params.divisors, kPack) == kPack) {
        load_run(base(params) + at.offset(strides), strides[Params::kAxes - 1], to);
      } else {
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
          to.pack.elem[i] = base(params)[at.offset(strides)];
          at.advance(params.divisors);
        }
      }
    }
  }

  // As `load`, for a pack that does not leave its row.
  template <int kPack, class Params>
  XPOPS_DEVICE static void load_in_row(const Params& params, typename Params::Index linear, Fragment<kPack>& to) {
    if constexpr (kInRows<kMode> || kMode == Mode::kGather) {
      load_run(base(params) + offset(params, linear), params.strides[kStrides][Params::kAxes - 1], to);
    } else {
      load(params, linear, to);
    }
  }

  template <int kPack>
  XPOPS_DEVICE static void load_run(const Element* from, int64 stride, Fragment<kPack>& to) {
    if constexpr (kMode == Mode::kRow) {
      to.pack.load_unaligned(from);
    } else if constexpr (kMode == Mode::kReversed) {
      to.pack.load_unaligned(from - (kPack - 1));
      to.pack.reverse();
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) to.pack.elem[i] = from[i * stride];
    }
  }

  template <int kPack, class Params>
  XPOPS_DEVICE static Compute value(const Params& params, const Fragment<kPack>& from, int i) {
    if constexpr (kMode == Mode::kScalar) {
      return to_compute<T, Loop, Compute>(from_slots<T>(&params.slots[kSlot]));
    } else {
      return to_compute<T, Loop, Compute>(from.pack.elem[i]);
    }
  }

  // The elements i, which is even, and i + 1. A scalar stays one value.
  template <int kPack, class Params>
  XPOPS_DEVICE static auto pair(const Params& params, const Fragment<kPack>& from, int i) {
    if constexpr (kMode == Mode::kScalar) return value(params, from, i);
    else if constexpr (is_half_v<Element> && is_same_v<Element, Compute>) return packed2<Compute>(from.pack.pairs[i / 2]);
    else return pair_t<Compute>{value(params, from, i), value(params, from, i + 1)};
  }

  template <int kPack, class Params>
  XPOPS_DEVICE static void store(const Params& params, typename Params::Index linear, const Fragment<kPack>& from) {
    if constexpr (kMode == Mode::kLinear || kMode == Mode::kVector || kMode == Mode::kSkewed) {
      from.pack.store(base(params) + offset(params, linear));
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) base(params)[offset(params, linear + i)] = from.pack.elem[i];
    }
  }
};

template <class Op, class Out, int kPack, class... In, class Params>
XPOPS_DEVICE void compute_pack(const Params& params, typename Params::Index linear, const Fragments<kPack, In...>& in) {
  typename Out::T values[kPack];
  apply_all<Op>(params, in, values);
  typename Out::template Fragment<kPack> out;
#pragma unroll
  for (int i = 0; i < kPack; ++i) out.pack.elem[i] = values[i];
  Out::store(params, linear, out);
}

// Calls `visit` with each element that this thread has of a tile at either end of the result.
template <int kBlock, uint32 kTile, class Params, class Visit>
XPOPS_DEVICE void each_element(const Params& params, typename Params::Index tile, typename Params::Index skew,
                               Visit visit) {
  using Index = typename Params::Index;
#pragma unroll 1
  for (Index i = threadIdx.x; i < kTile && tile + i < params.size + skew; i += kBlock) {
    if (tile + i >= skew) visit(tile + i - skew);
  }
}

// The body of every elementwise kernel.
template <class Op, class Out, int kBlock, int kPack, int kUnroll, class... In, class Params>
XPOPS_DEVICE void elementwise(const Params& params) {
  using Index = typename Params::Index;
  constexpr Index kStep = kBlock * kPack, kTile = kStep * kUnroll;
  const Index skew = Out::template skew<kPack>(params), tile = static_cast<Index>(blockIdx.x) * kTile;
  if (tile >= skew && tile + kTile <= params.size + skew) {
    const Index first = tile - skew + threadIdx.x * kPack;
    Fragments<kPack, In...> in[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) load_all(params, first + u * kStep, in[u]);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      settle_all(in[u]);
      compute_pack<Op, Out>(params, first + u * kStep, in[u]);
    }
  } else {
    each_element<kBlock, kTile>(params, tile, skew, [&](Index linear) {
      Fragments<1, In...> in;
      load_all(params, linear, in);
      compute_pack<Op, Out>(params, linear, in);
    });
  }
}

}  // namespace xpops
