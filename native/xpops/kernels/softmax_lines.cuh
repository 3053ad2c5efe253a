// The lines of softmax: their addresses, loads and stores, and the weights, sums and maxima of a line.
//
// A line is a row, or a pack of neighbouring columns. kCount threads of a block share a line, or as many of each of the
// kCluster blocks of a cluster. Each takes every kReach-th step. A step is a pack.
#pragma once

#include <xpops/block/cluster.cuh>
#include <xpops/block/warp.cuh>
#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/index/divmod.cuh>
#include <xpops/math/scaled_exp.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// The kernel parameters, which the host writes. Lines and steps are counted in packs.
template <class Index_>
struct SoftmaxParams {
  using Index = Index_;
  uint64 out, in, states;
  Index lines, steps;
  Index chunk;               // steps of one split
  FastDivMod<Index> splits;  // blocks that share a line, in a cluster or not
  FastDivMod<Index> inner;   // columns side by side
};

namespace detail {

struct Larger {
  XPOPS_DEVICE float operator()(float x, float y) const { return packed::maximum(x, y); }
  XPOPS_DEVICE double operator()(double x, double y) const { return y > x || y != y ? y : x; }
};

struct Total {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return x + y; }
};

}  // namespace detail

// kFull: every thread has a line, and all steps exist.
template <class T, class Out, bool kLog, bool kColumns, bool kFull, int kBlock, int kCount, int kCluster, int kPack,
          int kSteps, class Params>
struct SoftmaxLines {
  using Index = typename Params::Index;
  using Real = compute_t<T>;
  static constexpr bool kNarrow = is_same_v<Real, float> && sizeof(Out) < 4;
  static constexpr int kReach = kCount * kCluster;
  static constexpr int kLines = kBlock / kCount, kStride = kColumns ? kLines : 1, kStates = kColumns ? kPack : 1;

  struct Each {  // a number for each column of a pack, or for a row
    Real of[kStates];
  };

  // Where this thread's line begins, in packs, and which steps the thread takes.
  struct Line {
    Index number, start, jump, part;
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
      jump = kColumns ? params.inner.divisor : 1;
      start = outer * params.steps * jump + column;
    }
    XPOPS_DEVICE int64 at(Index step) const { return static_cast<int64>(start + step * jump) * kPack; }
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
      if constexpr (kStride == 1) {
        x = exchange<1, kParts>(mine[lane() % kParts], combine);
      } else {
        x = *mine;
#pragma unroll 4
        for (int part = 1; part < kParts; ++part) {
#pragma unroll
          for (int i = 0; i < kStates; ++i) x.of[i] = combine(x.of[i], mine[part * kStride].of[i]);
        }
      }
      __syncthreads();  // the next call writes `parts` again
    }
    return x;
  }

  // 2^64 exp(x - peak). Unless kNarrow, it corrects the rounding error of the difference.
  XPOPS_DEVICE static Real weight(Real x, Real peak) {
    const Real distance = add_rn(x, -peak);
    if constexpr (kNarrow) {
      return fast_exp2(fma(distance, 0x1.715476p+0f, 64.0f));
    } else {
      const Real back = add_rn(distance, -x);
      const Real low = add_rn(add_rn(x, -add_rn(distance, -back)), -add_rn(peak, back));
      const Real found = scaled_exp(distance, low);
      return distance < kNothing<Real> ? Real(0) : found;
    }
  }

  struct Batch {
    Real x[kSteps][kPack];
  };

  XPOPS_DEVICE static bool taken(const Line& line, Index step, Index end) {
    return kFull || (line.inside && step < end);
  }

  // Loads the steps from `step` on. Steps that do not exist become minus infinity.
  XPOPS_DEVICE static Batch load(const Params& params, const Line& line, Index step, Index end) {
    Pack<T, kPack> packs[kSteps];
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const Index here = step + i * kReach;
      if (taken(line, here, end)) packs[i].load(reinterpret_cast<const T*>(params.in) + line.at(here));
    }
    Batch batch;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const bool is_taken = taken(line, step + i * kReach, end);
#pragma unroll
      for (int j = 0; j < kPack; ++j) batch.x[i][j] = is_taken ? wide(packs[i].elem[j]) : -limits<Real>::infinity();
    }
    return batch;
  }

  XPOPS_DEVICE static Real wide(T x) {
    if constexpr (is_same_v<Real, float>) return widened(x);
    else return x;
  }

  XPOPS_DEVICE static Each peaks_of(const Batch& batch, Each peaks) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
#pragma unroll
      for (int j = 0; j < kPack; ++j) peaks.of[j % kStates] = detail::Larger()(peaks.of[j % kStates], batch.x[i][j]);
    }
    return peaks;
  }

  // Sums pairwise over a pack, and sequentially over steps.
  XPOPS_DEVICE static Each total_of(const Batch& weights) {
    Each total = same(Real(0));
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      Real part[kPack];
#pragma unroll
      for (int j = 0; j < kPack; ++j) part[j] = weights.x[i][j];
#pragma unroll
      for (int reach = 1; !kColumns && reach < kPack; reach *= 2) {
#pragma unroll
        for (int j = 0; j < kPack; j += 2 * reach) part[j] += part[j + reach];
      }
#pragma unroll
      for (int j = 0; j < kStates; ++j) total.of[j] += part[j];
    }
    return total;
  }

  XPOPS_DEVICE static Each same(Real x) {
    Each all;
#pragma unroll
    for (int i = 0; i < kStates; ++i) all.of[i] = x;
    return all;
  }

  // exp(x) 2^(GridExp::kGrid - shift), if `shift` is on the grid of scaled_exp and no value is far from 0. It costs
  // half as much as `weight`, and is as exact.
  XPOPS_DEVICE static Real plain_weight(Real x, Real shift, Real lowest) {
    const GridExp parts(packed::maximum(x, lowest));
    const Real power = fast_exp2(add_rn(parts.on_grid, -shift));
    return fma(power, parts.rest, power);
  }

  // The weights relative to a number near the peak. This choice does not change their ratios.
  XPOPS_DEVICE static Batch plain_weights_of(const Batch& batch, const Each& peaks) {
    Each shift, lowest;
#pragma unroll
    for (int i = 0; i < kStates; ++i) {
      shift.of[i] = GridExp(peaks.of[i]).on_grid - 64;
      lowest.of[i] = peaks.of[i] + kNothing<Real>;
    }
    Batch weights;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        weights.x[i][j] = plain_weight(batch.x[i][j], shift.of[j % kStates], lowest.of[j % kStates]);
      }
    }
    return weights;
  }

  XPOPS_DEVICE static bool near_zero(const Each& peaks) {
    bool near = true;
#pragma unroll
    for (int i = 0; i < kStates; ++i) near &= abs(peaks.of[i]) < Real(500);
    return near;
  }

  XPOPS_DEVICE static Batch weights_of(const Batch& batch, const Each& peaks) {
    Batch weights;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
#pragma unroll
      for (int j = 0; j < kPack; ++j) weights.x[i][j] = weight(batch.x[i][j], peaks.of[j % kStates]);
    }
    return weights;
  }

  XPOPS_DEVICE static Batch held_weights_of(const Batch& batch, const Each& peaks) {
    if constexpr (is_same_v<Real, float> && !kNarrow && !kLog) {
      if (near_zero(peaks)) return plain_weights_of(batch, peaks);
    }
    return weights_of(batch, peaks);
  }

  // The total without the weights of the largest elements. Only the logarithm uses it.
  XPOPS_DEVICE static Each rest_of(const Batch& batch, Batch weights, const Each& peaks) {
    if constexpr (!kLog) return same(Real(0));
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
#pragma unroll
      for (int j = 0; j < kPack; ++j) {
        if (batch.x[i][j] == peaks.of[j % kStates]) weights.x[i][j] = Real(0);
      }
    }
    return total_of(weights);
  }

  // The number that turns the elements of a line into results: the reciprocal of the total, or its logarithm. Below 2
  // the logarithm is computed from the rest, because the total has lost digits when 1 was added to the rest.
  XPOPS_DEVICE static Each ending_of(const Each& total, const Each& rest) {
    Each ending;
#pragma unroll
    for (int i = 0; i < kStates; ++i) {
      if constexpr (kLog) {
        const Real sum = total.of[i] * kUnscale<Real>;
        ending.of[i] = sum < 2 ? log1p(rest.of[i] * kUnscale<Real>) : log(sum);
      } else {
        ending.of[i] = reciprocal(total.of[i]);
      }
    }
    return ending;
  }

  // Stores the results of a batch. Without kLog the batch holds weights.
  XPOPS_DEVICE static void store(const Params& params, const Line& line, Index step, Index end, const Batch& batch,
                                 const Each& peaks, const Each& ending) {
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const Index here = step + i * kReach;
      if (!taken(line, here, end)) continue;
      constexpr int kFit = kMaxPackBytes / static_cast<int>(sizeof(Out)), kWidth = kPack < kFit ? kPack : kFit;
#pragma unroll
      for (int k = 0; k < kPack; k += kWidth) {
        Pack<Out, kWidth> pack;
#pragma unroll
        for (int j = 0; j < kWidth; ++j) {
          const int state = (k + j) % kStates;
          const Real x = batch.x[i][k + j];
          const Real y = kLog ? (x - peaks.of[state]) - ending.of[state] : x * ending.of[state];
          if constexpr (kNarrow) pack.elem[j] = narrowed<Out>(y);
          else pack.elem[j] = cast<Out>(y);
        }
        pack.store(reinterpret_cast<Out*>(params.out) + line.at(here) + k);
      }
    }
  }
};

}  // namespace xpops
