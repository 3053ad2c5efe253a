// The arithmetic of softmax: the weights of elements, and the sums and maxima of what a thread holds.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/math/scaled_exp.cuh>

namespace xpops {

namespace detail {

struct Larger {
  XPOPS_DEVICE float operator()(float x, float y) const { return packed::maximum(x, y); }
  XPOPS_DEVICE double operator()(double x, double y) const { return y > x || y != y ? y : x; }
};

struct Total {
  template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return x + y; }
};

}  // namespace detail

template <class T, class Out, bool kLog, bool kColumns, int kPack, int kSteps>
struct SoftmaxWeights {
  using Real = compute_t<T>;
  static constexpr bool kNarrow = is_same_v<Real, float> && sizeof(Out) < 4;
  static constexpr int kStates = kColumns ? kPack : 1;

  struct Each {  // a number for each column of a pack, or for a row
    Real of[kStates];
  };

  struct Batch {
    Real x[kSteps][kPack];
  };

  XPOPS_DEVICE static Real wide(T x) {
    if constexpr (is_same_v<Real, float>) return widened(x);
    else return x;
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

  // The result of an element; without kLog, of its weight.
  XPOPS_DEVICE static Out result_of(Real x, Real peak, Real ending) {
    const Real y = kLog ? (x - peak) - ending : x * ending;
    if constexpr (kNarrow) return narrowed<Out>(y);
    else return cast<Out>(y);
  }
};

}  // namespace xpops
