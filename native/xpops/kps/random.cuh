// Random numbers in registers: from Philox4x32-10, or any generator whose functor returns several numbers at once.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/kps/config.cuh>
#include <xpops/math/philox.cuh>
#include <xpops/math/random.cuh>

namespace xpops {
namespace kps {

// A position in one of the 2^64 subsequences of a seed. Each call of a functor uses one counter, which gives four
// random words, and advances the offset. Threads never use the same counter if their subsequences differ, or their
// offsets differ by more than the number of calls.
struct PhiloxState {
  uint64 offset, subsequence;
  uint2 keys[kPhiloxRounds];

  XPOPS_DEVICE PhiloxState(uint64 seed, uint64 subsequence, uint64 offset = 0)
      : offset(offset), subsequence(subsequence) {
#pragma unroll
    for (int i = 0; i < kPhiloxRounds; ++i) {
      keys[i].x = static_cast<uint32>(seed) + i * 0x9e3779b9u;
      keys[i].y = static_cast<uint32>(seed >> 32) + i * 0xbb67ae85u;
    }
  }
  XPOPS_DEVICE RandomWords Next() { return philox(offset++, subsequence, keys); }
};

// low + span * u for u in [0, 1). Returns four numbers, or two doubles.
template <typename T>
struct UniformFunctor {
  double parameters[2];
  XPOPS_HOST_DEVICE explicit UniformFunctor(double low = 0, double span = 1) : parameters{low, span} {}
  XPOPS_DEVICE auto operator()(PhiloxState* state) const {
    details::VectorType<T, Uniform<T>::kCount> result;
    Uniform<T>{parameters}(state->Next(), result.val);
    return result;
  }
};

// mean + scale * z for standard normal z. Returns four numbers, or two doubles.
template <typename T>
struct NormalFunctor {
  double parameters[2];
  XPOPS_HOST_DEVICE explicit NormalFunctor(double mean = 0, double scale = 1) : parameters{mean, scale} {}
  XPOPS_DEVICE auto operator()(PhiloxState* state) const {
    details::VectorType<T, Normal<T>::kCount> result;
    Normal<T>{parameters}(state->Next(), result.val);
    return result;
  }
};

namespace details {

template <class Numbers>
XPOPS_DEVICE auto Part(const Numbers& numbers, int i, int) -> decltype(numbers.val[i]) {
  return numbers.val[i];
}
template <class Numbers>
XPOPS_DEVICE auto Part(const Numbers& numbers, int i, long) -> decltype((&numbers.x)[i]) {
  return (&numbers.x)[i];
}

}  // namespace details

// out[i] = number i that compute(state) returns, cast to OutT.
//   ReturnsCount  the number of registers of out, at most the number that compute returns
//   compute       returns a VectorType, or a CUDA vector such as float4
//   state         this thread's own state: a PhiloxState, or an initialised cuRAND generator
template <typename StateType, typename OutT, int ReturnsCount, class OpFunc>
XPOPS_DEVICE void ElementwiseRandom(OutT* out, OpFunc compute, StateType* state) {
  const auto numbers = compute(state);
#pragma unroll
  for (int i = 0; i < ReturnsCount; ++i) out[i] = cast<OutT>(details::Part(numbers, i, 0));
}

}  // namespace kps
}  // namespace xpops
