// Gather along one axis, from shared memory: a block copies its part of the array there, with the whole axis, so that
// the array is read in the order of its memory however the indices jump.
#pragma once

#include <xpops/kernels/gather/gather.cuh>

namespace xpops {

// The axes of a block's part: the indexed one, and one before and after it. All others are batch axes
// (xpops/plan/staged_gather.py).
enum PartAxis { kOuter, kAlong, kInner, kPartAxes };

// All numbers are words. The slab is the array's part in shared memory.
template <int kBatch, class Index_>
struct StagedGatherParams {
  using Index = Index_;
  using Stride = typename SignedOf<Index>::type;
  static constexpr int kBatchAxes = kBatch;
  uint64 array, out, indices;
  uint64 report, length, code;            // see GatherParams
  uint64 lengths[kPartAxes];              // of the result
  Stride strides[3][kBatch + kPartAxes];  // of the array, the result and the indices: batch, then the part
  FastDivMod<Index> tiles[kPartAxes];     // of parts along each axis
  FastDivMod<Index> divisors[kBatch > 1 ? kBatch - 1 : 1];
  FastDivMod<uint32> part[kPartAxes];     // the lengths of a part of the result
  FastDivMod<uint32> slab[kPartAxes];     // those of the array's part, in the order in which it is read
  uint32 order[kPartAxes];                // the axes in this order
  uint32 steps[kPartAxes];                // in the slab, along the axes of a part
  FastDivMod<uint32> chunks;              // packs in a run
};

// How the array's part lies in memory: scattered, or in runs that are contiguous in the slab, too.
enum class Runs { kNone, kInner, kAlong, kAll };

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

// Copies the array's part to shared memory, element by element.
template <class W, int kThreads, class Params>
XPOPS_DEVICE void stage_elements(const Params& params, const StagedPart<Params>& part, W* slab) {
  using Index = typename Params::Index;
  constexpr int kUnroll = 4;
  const W* from = reinterpret_cast<const W*>(params.array) + part.starts[0];
  const uint32 size = params.slab[0].divisor * params.slab[1].divisor * params.slab[2].divisor;
  uint32 sizes[kPartAxes], steps[kPartAxes];
  Index strides[kPartAxes];
#pragma unroll
  for (int i = 0; i < kPartAxes; ++i) {
    const uint32 axis = params.order[i];
    sizes[i] = axis == kAlong ? params.slab[i].divisor : axis == kOuter ? part.sizes[kOuter] : part.sizes[kInner];
    strides[i] = static_cast<Index>(params.strides[0][Params::kBatchAxes + axis]);
    steps[i] = params.steps[axis];
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
      places[u] = there ? at[0] * steps[0] + at[1] * steps[1] + at[2] * steps[2] : ~0u;
      if (there) words[u] = from[static_cast<typename Params::Stride>(offset)];
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (places[u] != ~0u) slab[places[u]] = words[u];
    }
  }
}

// The same in packs of runs.
template <class W, Runs kRuns, int kThreads, class Params>
XPOPS_DEVICE void stage_runs(const Params& params, const StagedPart<Params>& part, W* slab) {
  using Index = typename Params::Index;
  constexpr int kPack = kMaxPackBytes / sizeof(W), kUnroll = 2;
  const W* from = reinterpret_cast<const W*>(params.array) + part.starts[0];
  const auto* strides = params.strides[0] + Params::kBatchAxes;
  const uint32 length = static_cast<uint32>(params.length);
  const uint32 run = kRuns == Runs::kInner   ? part.sizes[kInner]
                     : kRuns == Runs::kAlong ? length * part.sizes[kInner]
                                             : part.sizes[kOuter] * length * part.sizes[kInner];
  const uint32 rows = (kRuns == Runs::kAll ? 1 : part.sizes[kOuter]) * (kRuns == Runs::kInner ? length : 1);
  const uint32 size = rows * params.chunks.divisor;
#pragma unroll 1
  for (uint32 first = threadIdx.x; first < size; first += kThreads * kUnroll) {
    Pack<W, kPack> packs[kUnroll];
    uint32 columns[kUnroll], places[kUnroll];
    const W* starts[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      uint32 outer = first + u * kThreads;
      columns[u] = outer < size ? params.chunks.divmod(outer) * kPack : run;
      const uint32 along = kRuns == Runs::kInner ? params.slab[kAlong].divmod(outer) : 0;
      places[u] = outer * params.steps[kOuter] + along * params.steps[kAlong] + columns[u];
      starts[u] = from +
                  static_cast<typename Params::Stride>(outer * static_cast<Index>(strides[kOuter]) +
                                                       along * static_cast<Index>(strides[kAlong])) +
                  columns[u];
      if (columns[u] + kPack <= run) packs[u].load_unaligned(starts[u]);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (columns[u] + kPack <= run && places[u] % kPack == 0) {
        *reinterpret_cast<typename Pack<W, kPack>::Bits*>(
            slab + places[u]) = packs[u].bits[0];  // `store` is for global memory
      } else if (columns[u] + kPack <= run) {
#pragma unroll
        for (int i = 0; i < kPack; ++i) slab[places[u] + i] = packs[u].elem[i];
      } else {
#pragma unroll 1
        for (uint32 i = 0; columns[u] + i < run; ++i) slab[places[u] + i] = starts[u][i];
      }
    }
  }
}

// The results of a block, in C order. If a part has several rows, it has all of their lines, so `size` counts them. Packs do
// not leave a line, or the part is contiguous in the result.
template <class W, class I, int kThreads, int kPack, int kUnroll, class Params>
struct StagedResults {
  using Index = typename Params::Index;
  using Stride = typename Params::Stride;

  const Params& params;
  const StagedPart<Params>& part;
  const W* slab;

  // A place in the part.
  struct Position {
    uint32 outer, along, inner;

    XPOPS_DEVICE Position(const Params& params, uint32 linear) : outer(linear) {
      inner = params.part[kInner].divmod(outer);
      along = params.part[kAlong].divmod(outer);
    }
    XPOPS_DEVICE void advance(const Params& params) {
      const bool next_line = ++inner == params.part[kInner].divisor;
      inner = next_line ? 0 : inner;
      along += next_line;
      const bool next_row = along == params.part[kAlong].divisor;
      along = next_row ? 0 : along;
      outer += next_row;
    }
    XPOPS_DEVICE bool inside(const StagedPart<Params>& part) const {
      return outer < part.sizes[kOuter] && along < part.sizes[kAlong] && inner < part.sizes[kInner];
    }
    XPOPS_DEVICE int64 offset(const Stride* strides) const {
      return static_cast<Stride>(outer * static_cast<Index>(strides[kOuter]) +
                                 along * static_cast<Index>(strides[kAlong]) +
                                 inner * static_cast<Index>(strides[kInner]));
    }
  };

  XPOPS_DEVICE W* target(const Position& at) const {
    return reinterpret_cast<W*>(params.out) + part.starts[1] + at.offset(params.strides[1] + Params::kBatchAxes);
  }
  XPOPS_DEVICE I index(const Position& at) const {
    const I* indices = reinterpret_cast<const I*>(params.indices) + part.starts[2];
    return indices[at.offset(params.strides[2] + Params::kBatchAxes)];
  }
  XPOPS_DEVICE uint32 line(const Position& at) const {
    return at.outer * params.steps[kOuter] + at.inner * params.steps[kInner];
  }
  XPOPS_DEVICE void report(I index) const { report_missed(index, params.length, params.code, params.report); }
  XPOPS_DEVICE W element(uint32 line, I index, uint32& missed) const {
    return slab[line + place_of<uint32>(index, params.length, missed) * params.steps[kAlong]];
  }

  XPOPS_DEVICE void write() const {
    const uint32 size = part.sizes[kOuter] * part.sizes[kAlong] * params.part[kInner].divisor;
    const uint32 shift = static_cast<uint32>(part.starts[1] % kPack);  // packs are aligned from this far before it
#pragma unroll 1
    for (uint32 base = threadIdx.x * kPack; base < size + shift; base += kThreads * kPack * kUnroll) {
      I found[kUnroll][kPack];
      uint32 lines[kUnroll][kPack];
      W* to[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const uint32 first = base + u * kThreads * kPack - shift;
        Position at(params, first);
        to[u] = nullptr;
        if (first + shift < shift || first + kPack > size || !at.inside(part)) continue;
        to[u] = target(at);
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
          lines[u][i] = line(at);
          found[u][i] = index(at);
          at.advance(params);
        }
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (to[u] == nullptr) {
          write_elements(base + u * kThreads * kPack, shift, size);
          continue;
        }
        uint32 missed = 0;
        Pack<W, kPack> pack;
#pragma unroll
        for (int i = 0; i < kPack; ++i) pack.elem[i] = element(lines[u][i], found[u][i], missed);
        pack.store(to[u]);
        if (missed) {
#pragma unroll
          for (int i = 0; i < kPack; ++i) report(found[u][i]);
        }
      }
    }
  }

  // Writes those elements of a pack that belong to the part.
  XPOPS_DEVICE void write_elements(uint32 first, uint32 shift, uint32 size) const {
#pragma unroll 1
    for (uint32 i = first; i < first + kPack; ++i) {
      if (i < shift || i >= size + shift) continue;
      const Position at(params, i - shift);
      if (!at.inside(part)) continue;
      uint32 missed = 0;
      const I found = index(at);
      *target(at) = element(line(at), found, missed);
      if (missed) report(found);
    }
  }
};

// W is any type of a word's size, I that of the indices, kSlab the words of shared memory.
template <class W, class I, Runs kRuns, int kSlab, int kThreads, int kPack, int kUnroll, class Params>
XPOPS_DEVICE void gather_staged(const Params& params) {
  alignas(kMaxPackBytes) __shared__ W slab[kSlab];
  const StagedPart<Params> part(params);
  if constexpr (kRuns == Runs::kNone) stage_elements<W, kThreads>(params, part, slab);
  else stage_runs<W, kRuns, kThreads>(params, part, slab);
  __syncthreads();
  StagedResults<W, I, kThreads, kPack, kUnroll, Params>{params, part, slab}.write();
}

}  // namespace xpops
