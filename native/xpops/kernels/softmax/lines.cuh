// The lines of softmax: their addresses, loads and stores, and reductions over the threads of a line.
//
// A line is a row, or a pack of neighbouring columns. kCount threads of a block share a line, or as many of each of the
// kCluster blocks of a cluster. Each takes every kReach-th step. A step is a pack of the result, which has no gaps.
// Packs are aligned in memory; so the first and the last pack of a ragged row may have elements of other rows.
#pragma once

#include <xpops/block/cluster.cuh>
#include <xpops/block/warp.cuh>
#include <xpops/kernels/elementwise.cuh>
#include <xpops/kernels/softmax/weights.cuh>

namespace xpops {

// The kernel parameters, which the host writes. Lines and steps are counted in packs.
template <class Elementwise>
struct SoftmaxParams {
  using Index = typename Elementwise::Index;
  Elementwise each;  // slots: the result, the operand, the states
  Index lines, steps;
  Index row;  // elements of a ragged row
  Index chunk;  // steps of one split
  FastDivMod<Index> splits;  // blocks that share a line, in a cluster or not
  FastDivMod<Index> inner;  // columns side by side
};

// kFull: every thread has a line, and all steps exist. kRagged: rows whose length is not a multiple of the pack.
template <class In, class Out, bool kLog, bool kColumns, bool kFull, bool kRagged, int kBlock, int kCount, int kCluster,
          int kPack, int kSteps, class Params>
struct SoftmaxLines : SoftmaxWeights<typename In::T, Out, kLog, kColumns, kPack, kSteps> {
  using Weights = SoftmaxWeights<typename In::T, Out, kLog, kColumns, kPack, kSteps>;
  using typename Weights::Batch, typename Weights::Each, typename Weights::Real;
  using Weights::kNarrow, Weights::kStates, Weights::wide;
  using Index = typename Params::Index;
  static constexpr int kReach = kCount * kCluster;
  static constexpr int kLines = kBlock / kCount, kStride = kColumns ? kLines : 1;

  // Where this thread's line is in the order of the result, and which steps the thread takes.
  struct Line {
    Index number, start, jump, part;
    Index begin, length;  // of a ragged row
    int first;
    bool inside;

    XPOPS_DEVICE explicit Line(const Params& params) {
      const int thread = static_cast<int>(threadIdx.x), line = kColumns ? thread % kStride : thread / kCount;
      Index block = static_cast<Index>(blockIdx.x);
      part = params.splits.divmod(block);
      first = kColumns ? thread / kStride : thread % kCount;
      if constexpr (kCluster > 1) first += static_cast<int>(part) * kCount;
      number = block * kLines + line;
      inside = number < params.lines;
      Index outer = number;
      const Index column = kColumns ? params.inner.divmod(outer) : 0;
      jump = kColumns ? params.inner.divisor * kPack : kPack;
      start = outer * params.steps * jump + column * kPack;
      if constexpr (kRagged) {
        begin = number * params.row;
        length = params.row;
        start = begin / kPack * kPack;
      }
    }
    XPOPS_DEVICE int64 at(Index step) const { return static_cast<int64>(start) + static_cast<int64>(step) * jump; }
    // The distance from a step of this thread to its next: a constant for rows.
    XPOPS_DEVICE int64 reach() const { return static_cast<int64>(kReach) * jump; }
    // Whether the line has the element at `linear`.
    XPOPS_DEVICE bool has(int64 linear) const { return !kRagged || static_cast<Index>(linear) - begin < length; }
  };

  // Combines lanes by butterfly shuffles, with the distances kFrom, 2 * kFrom, ... that are below kTo and kWarp.
  template <int kFrom, int kTo, class Combine>
  XPOPS_DEVICE static Each exchange(Each x, Combine combine) {
#pragma unroll
    for (int reach = kFrom; reach < kWarp && reach < kTo; reach *= 2) {
      const Each other = shuffle_xor(x, reach);
#pragma unroll
      for (int i = 0; i < kStates; ++i) x.of[i] = combine(x.of[i], other.of[i]);
    }
    return x;
  }

  // Combines the values of all threads of a line, in an order that is always the same. All of them get the result. See
  // combine_cluster about kCall.
  template <int kCall, class Combine>
  XPOPS_DEVICE static Each reduce(Each x, Combine combine) {
    const auto combine_each = [=](Each a, const Each& b) {
#pragma unroll
      for (int i = 0; i < kStates; ++i) a.of[i] = combine(a.of[i], b.of[i]);
      return a;
    };
    return combine_cluster<kCluster, kStride, kCall>(reduce_block(x, combine), combine_each);
  }

  template <class Combine>
  XPOPS_DEVICE static Each reduce_block(Each x, Combine combine) {
    constexpr int kSpan = kStride * kCount;
    x = exchange<kStride, kSpan>(x, combine);
    constexpr int kWide = kStride < kWarp ? kWarp : kStride, kParts = kSpan / kWide;
    if constexpr (kParts > 1) {
      __shared__ Each parts[kBlock / kWide * kStride];
      const int thread = static_cast<int>(threadIdx.x), place = thread % kStride;
      if (thread % kWide < kStride) parts[thread / kWide * kStride + place] = x;
      __syncthreads();
      const Each* mine = parts + thread / kSpan * (kParts * kStride) + place;
      // The lanes of a place share its parts, and combine what they found.
      constexpr int kShare = kStride < kWarp ? kWarp / kStride : 1, kLanes = kParts < kShare ? kParts : kShare;
      const int from = lane() / kStride % kLanes;
      x = mine[from * kStride];
#pragma unroll
      for (int part = kLanes; part < kParts; part += kLanes) {
#pragma unroll
        for (int i = 0; i < kStates; ++i) x.of[i] = combine(x.of[i], mine[(from + part) * kStride].of[i]);
      }
      x = exchange<kStride, kStride * kLanes>(x, combine);
      __syncthreads();  // the next call writes `parts` again
    }
    return x;
  }

  // Whether the line has all elements of a thread's batch. Then its loads and stores need no further conditions.
  XPOPS_DEVICE static bool has_batch(const Line& line, Index step, Index end) {
    const Index last = step + (kSteps - 1) * kReach;
    if (!line.inside || last >= end) return false;
    return !kRagged || (line.has(line.at(step)) && line.has(line.at(last) + (kPack - 1)));
  }

  // Whether the line has elements of this step, which begins at `at`.
  template <bool kInside>
  XPOPS_DEVICE static bool taken(const Line& line, Index step, Index end, int64 at) {
    return kInside || (line.inside && step < end && (!kRagged || static_cast<Index>(at) < line.begin + line.length));
  }

  using Packed = typename In::template Fragment<kPack>;

  // Loads a pack. Of a pack that ends beyond the array it loads only the elements that exist.
  template <bool kInside>
  XPOPS_DEVICE static void load_pack(const Params& params, int64 at, Packed& to) {
    if constexpr (In::kMode == Mode::kLinear) {
      to.pack.load(In::base(params.each) + at);
    } else if (kInside || !kRagged || static_cast<uint64>(at) + kPack <= params.each.size) {
      In::load(params.each, static_cast<Index>(at), to);
      to.settle();
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        typename In::template Fragment<1> one;
        if (static_cast<uint64>(at) + i < params.each.size) In::load(params.each, static_cast<Index>(at + i), one);
        to.pack.elem[i] = one.pack.elem[0];
      }
    }
  }

  // Loads the steps from `step` on. Elements that do not exist become minus infinity. kInside: as has_batch.
  template <bool kInside>
  XPOPS_DEVICE static Batch load(const Params& params, const Line& line, Index step, Index end) {
    Packed packs[kSteps];
    const int64 origin = line.at(step);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int64 at = origin + i * line.reach();
      if (taken<kInside>(line, step + i * kReach, end, at)) load_pack<kInside>(params, at, packs[i]);
    }
    Batch batch;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int64 at = origin + i * line.reach();
      const bool is_taken = taken<kInside>(line, step + i * kReach, end, at);
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        const bool exists = kInside || (is_taken && line.has(at + j));
        batch.x[i][j] = exists ? wide(packs[i].pack.elem[j]) : -limits<Real>::infinity();
      }
    }
    return batch;
  }

  // Stores the results of a batch. Without kLog the batch holds weights.
  template <bool kInside>
  XPOPS_DEVICE static void store(const Params& params, const Line& line, Index step, Index end, const Batch& batch,
                                 const Each& peaks, const Each& ending) {
    const int64 origin = line.at(step);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int64 at = origin + i * line.reach();
      if (!taken<kInside>(line, step + i * kReach, end, at)) continue;
      constexpr int kFit = kMaxPackBytes / static_cast<int>(sizeof(Out)), kWidth = kPack < kFit ? kPack : kFit;
#pragma unroll
      for (int k = 0; k < kPack; k += kWidth) {
        Pack<Out, kWidth> pack;
#pragma unroll
        for (int j = 0; j < kWidth; ++j) {
          const int state = (k + j) % kStates;
          pack.elem[j] = Weights::result_of(batch.x[i][k + j], peaks.of[state], ending.of[state]);
        }
        Out* to = reinterpret_cast<Out*>(params.each.slots[0]);
        if constexpr (kInside) pack.store(to + at + k);
        else store_pack(to, line, at + k, pack);
      }
    }
  }

  template <int kWidth>
  XPOPS_DEVICE static void store_pack(Out* to, const Line& line, int64 at, const Pack<Out, kWidth>& pack) {
    if (line.has(at) && line.has(at + (kWidth - 1))) {
      pack.store(to + at);
    } else {
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        if (line.has(at + i)) to[at + i] = pack.elem[i];
      }
    }
  }
};

}  // namespace xpops
