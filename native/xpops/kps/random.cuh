// Random numbers into registers: of Philox4x32-10, or of any generator whose functor returns a few numbers at once.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/kps/config.cuh>
#include <xpops/math/philox.cuh>
#include <xpops/math/random.cuh>

namespace xpops {
namespace kps {

// A place in one of 2^64 streams of a seed. Each call of a functor takes one counter, which is four words, and goes on.
// Threads whose streams or offsets are far enough apart share no counter.
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

// low + span * u for u in [0, 1): four numbers, or two doubles.
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

// mean + scale * z for z of the normal law: four numbers, or two doubles.
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

// out[i] = number i of compute(state), cast to OutT.
//   ReturnsCount  registers of out: no more than the functor returns numbers
//   compute       returns a VectorType, or a CUDA vector such as float4
//   state         the thread's own: a PhiloxState, or a generator of cuRAND that has been initialised
template <typename StateType, typename OutT, int ReturnsCount, class OpFunc>
XPOPS_DEVICE void ElementwiseRandom(OutT* out, OpFunc compute, StateType* state) {
  const auto numbers = compute(state);
#pragma unroll
  for (int i = 0; i < ReturnsCount; ++i) out[i] = cast<OutT>(details::Part(numbers, i, 0));
}

}  // namespace kps
}  // namespace xpops
