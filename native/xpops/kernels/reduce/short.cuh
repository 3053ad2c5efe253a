// The reduce family for rows of few elements that lie one after the other, from an aligned address on: a thread loads
// packs that hold whole rows, reduces each row in registers, and stores their results together.
#pragma once

#include <xpops/kernels/reduce/reduce.cuh>

namespace xpops {

// A row has kLength elements. kPack, a power of two: elements of an access.
template <class Reducer, class Source, int kLength, int kPack>
struct ShortReduction {
  using Compute = typename Source::Compute;
  using Element = typename Source::Element;
  using Stored = typename Storage<typename Source::Out>::type;
  static constexpr int kCommon = kLength % kPack == 0 ? kPack : kLength & -kLength;  // the greatest common divisor
  static constexpr int kPacks = kLength / kCommon, kRows = kPack / kCommon;

  // The result of row number `row` of the elements that `element(i)` returns.
  template <class Params, class Get>
  XPOPS_DEVICE static Stored row(const Params& params, int row, Get element) {
    Pivot<Reducer, Compute> pivot;
    if constexpr (Reducer::kShifts) pivot.first = Source::computed(element(row * kLength));
    Compute x[kLength];
#pragma unroll
    for (int i = 0; i < kLength; ++i) x[i] = pivot.from(Source::computed(element(row * kLength + i)));
    return result_of<Reducer, Source>(params, append_all<Reducer, kLength>(Reducer::identity(), x, 0, kLength));
  }
};

template <class Reducer, class Source, int kBlock, int kLength, int kPack, class Params>
XPOPS_DEVICE void reduce_short(const Params& params) {
  using Short = ShortReduction<Reducer, Source, kLength, kPack>;
  using Element = typename Short::Element;
  using Stored = typename Short::Stored;
  constexpr int kRows = Short::kRows;
  const uint64 first = (static_cast<uint64>(blockIdx.x) * kBlock + threadIdx.x) * kRows;
  const Element* from = reinterpret_cast<const Element*>(params.slots[0]) + first * kLength;
  Stored* to = reinterpret_cast<Stored*>(params.out) + first;
  if (first + kRows <= params.outputs) {
    Pack<Element, kPack> packs[Short::kPacks];
#pragma unroll
    for (int i = 0; i < Short::kPacks; ++i) packs[i].load(from + i * kPack);
    Pack<Stored, kRows> results;
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      results.elem[row] = Short::row(params, row, [&](int i) { return packs[i / kPack].elem[i % kPack]; });
    }
    if (params.out % Pack<Stored, kRows>::kWord == 0) {
      results.store(to);
    } else {
#pragma unroll
      for (int row = 0; row < kRows; ++row) to[row] = results.elem[row];
    }
  } else {
#pragma unroll 1
    for (int row = 0; first + row < params.outputs; ++row) {
      to[row] = Short::row(params, row, [&](int i) { return from[i]; });
    }
  }
}

}  // namespace xpops
