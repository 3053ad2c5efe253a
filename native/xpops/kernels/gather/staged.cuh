// Gather along one axis, from shared memory: a block copies its part of the array there, with the whole axis, so that
// the array is read in the order of its memory however the indices jump.
#pragma once

#include <xpops/kernels/gather/gather.cuh>

namespace xpops {

// The axes of a block's part: `kOuter` and `kInner` are before and after the indexed axis. All others are batch axes
// (xpops/plan/staged_gather.py).
enum PartAxis { kOuter, kAlong, kInner, kPartAxes };

// All numbers are words.
template <int kBatch, class Index_>
struct StagedGatherParams {
  using Index = Index_;
  using Stride = typename SignedOf<Index>::type;
  static constexpr int kBatchAxes = kBatch;
  uint64 array, out, indices;
  uint64 report, length, code;           // see GatherParams
  uint64 lengths[kPartAxes];             // of the result
  Stride strides[3][kBatch + kPartAxes]; // of the array, the result and the indices: batch, then the part
  FastDivMod<Index> tiles[kPartAxes];    // of parts along each axis
  FastDivMod<Index> divisors[kBatch > 1 ? kBatch - 1 : 1];
  FastDivMod<uint32> part[kPartAxes];    // the lengths of a part of the result
  // The array's part in the order in which it is read: for each axis its number, its length and its step in the slab.
  FastDivMod<uint32> slab[kPartAxes];
  uint32 order[kPartAxes], steps[kPartAxes];
  uint32 pitch, step;  // in the slab, along the outer and the indexed axis
};

// Where the part of this block begins.
template <class Params>
struct StagedPart {
  using Index = typename Params::Index;
  uint32 sizes[kPartAxes];  // of the result's part, which may be shorter at the end of an axis
  int64 starts[3];

  XPOPS_DEVICE explicit StagedPart(const Params& params) {
    constexpr int kBatch = Params::kBatchAxes;
    Index tile = static_cast<Index>(blockIdx.x), firsts[kPartAxes];
#pragma unroll
    for (int axis = kPartAxes - 1; axis >= 0; --axis) {
      firsts[axis] = params.tiles[axis].divmod(tile) * params.part[axis].divisor;
      const uint64 rest = params.lengths[axis] - firsts[axis];
      sizes[axis] = rest < params.part[axis].divisor ? static_cast<uint32>(rest) : params.part[axis].divisor;
    }
    const Coordinates<kBatch, Index> at(params.divisors, tile);
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      starts[k] = at.offset(params.strides[k]);
#pragma unroll
      for (int axis = 0; axis < kPartAxes; ++axis) {
        if (k == 0 && axis == kAlong) continue;  // the array's part has the whole axis
        starts[k] += static_cast<int64>(firsts[axis]) * params.strides[k][kBatch + axis];
      }
    }
  }
};

// Copies the array's part to shared memory.
template <class W, int kThreads, int kUnroll, class Params>
XPOPS_DEVICE void stage(const Params& params, const StagedPart<Params>& part, W* slab) {
  using Index = typename Params::Index;
  const W* from = reinterpret_cast<const W*>(params.array) + part.starts[0];
  const uint32 size = params.slab[0].divisor * params.slab[1].divisor * params.slab[2].divisor;
  uint32 sizes[kPartAxes];
  Index strides[kPartAxes];
#pragma unroll
  for (int i = 0; i < kPartAxes; ++i) {
    const uint32 axis = params.order[i];
    sizes[i] = axis == kAlong ? params.slab[i].divisor : axis == kOuter ? part.sizes[kOuter] : part.sizes[kInner];
    strides[i] = static_cast<Index>(params.strides[0][Params::kBatchAxes + axis]);
  }
#pragma unroll 1
  for (uint32 first = threadIdx.x; first < size; first += kThreads * kUnroll) {
    W words[kUnroll];
    uint32 places[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      uint32 at[kPartAxes];
      at[0] = first + u * kThreads;
      at[2] = params.slab[2].divmod(at[0]);
      at[1] = params.slab[1].divmod(at[0]);
      const bool there = at[0] < sizes[0] && at[1] < sizes[1] && at[2] < sizes[2];
      const Index offset = at[0] * strides[0] + at[1] * strides[1] + at[2] * strides[2];
      places[u] = there ? at[0] * params.steps[0] + at[1] * params.steps[1] + at[2] * params.steps[2] : ~0u;
      if (there) words[u] = from[static_cast<typename Params::Stride>(offset)];
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (places[u] != ~0u) slab[places[u]] = words[u];
    }
  }
}

// W is any type of a word's size, I that of the indices, kSlab the words of shared memory.
template <class W, class I, int kSlab, int kThreads, int kUnroll, class Params>
XPOPS_DEVICE void gather_staged(const Params& params) {
  using Index = typename Params::Index;
  using Stride = typename Params::Stride;
  __shared__ W slab[kSlab];
  const StagedPart<Params> part(params);
  stage<W, kThreads, kUnroll>(params, part, slab);
  W* out = reinterpret_cast<W*>(params.out) + part.starts[1];
  const I* indices = reinterpret_cast<const I*>(params.indices) + part.starts[2];
  const Stride* to = params.strides[1] + Params::kBatchAxes;
  const Stride* with = params.strides[2] + Params::kBatchAxes;
  const uint32 size = part.sizes[kOuter] * params.part[kAlong].divisor * params.part[kInner].divisor;
  uint64 wrong = 0;
  __syncthreads();
#pragma unroll 1
  for (uint32 first = threadIdx.x; first < size; first += kThreads * kUnroll) {
    I found[kUnroll];
    uint32 places[kUnroll];
    int64 targets[kUnroll];
    bool there[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      uint32 outer = first + u * kThreads;
      const uint32 inner = params.part[kInner].divmod(outer), along = params.part[kAlong].divmod(outer);
      there[u] = outer < part.sizes[kOuter] && along < part.sizes[kAlong] && inner < part.sizes[kInner];
      const Index o = outer, a = along, i = inner;
      places[u] = outer * params.pitch + inner;
      targets[u] = static_cast<Stride>(o * static_cast<Index>(to[kOuter]) + a * static_cast<Index>(to[kAlong]) +
                                       i * static_cast<Index>(to[kInner]));
      const Index at = o * static_cast<Index>(with[kOuter]) + a * static_cast<Index>(with[kAlong]) +
                       i * static_cast<Index>(with[kInner]);
      if (there[u]) found[u] = indices[static_cast<Stride>(at)];
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (!there[u]) continue;
      const uint32 place = static_cast<uint32>(place_of(found[u], params.length, params.code, wrong));
      out[targets[u]] = slab[places[u] + place * params.step];
    }
  }
  if (wrong) *reinterpret_cast<volatile uint64*>(params.report) = wrong;
}

}  // namespace xpops
