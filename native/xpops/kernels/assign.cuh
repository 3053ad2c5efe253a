// Assigns where a mask is True: as `where` onto its own third operand, but packs without a True are neither read nor
// written, and packs that are all True are not read.
#pragma once

#include <xpops/kernels/elementwise.cuh>

namespace xpops {

template <class Op, class Out, int kBlock, int kPack, int kUnroll, class Mask, class Value, class Old, class Params>
XPOPS_DEVICE void assign(const Params& params) {
  using Index = typename Params::Index;
  constexpr Index kStep = kBlock * kPack, kTile = kStep * kUnroll;
  const Index skew = Out::template skew<kPack>(params), tile = static_cast<Index>(blockIdx.x) * kTile;
  if (tile >= skew && tile + kTile <= params.size + skew) {
    const Index first = tile - skew + threadIdx.x * kPack;
    Fragments<kPack, Mask, Value, Old> in[kUnroll];
    bool any[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) Mask::load(params, first + u * kStep, in[u].head);
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      bool all = true;
      any[u] = false;
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        const bool chosen = Mask::template value<kPack>(params, in[u].head, i);
        any[u] = any[u] || chosen;
        all = all && chosen;
      }
      if (any[u]) Value::load(params, first + u * kStep, in[u].tail.head);
      if (any[u] && !all) Old::load(params, first + u * kStep, in[u].tail.tail.head);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (any[u]) compute_pack<Op, Out>(params, first + u * kStep, in[u]);
    }
  } else {
    each_element<kBlock, kTile>(params, tile, skew, [&](Index linear) {
      Fragments<1, Mask, Value, Old> in;
      load_all(params, linear, in);
      compute_pack<Op, Out>(params, linear, in);
    });
  }
}

}  // namespace xpops
