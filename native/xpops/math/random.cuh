// Laws: distributions of random numbers, for the rows of xpops/ops/random.py. Each turns the four words of one counter
// into kCount elements. xpops/engine/cpu/random.py computes the same bits with NumPy.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/core/traits.cuh>
#include <xpops/core/types.cuh>
#include <xpops/math/philox.cuh>
#include <xpops/math/random_functions.cuh>

namespace xpops {

// Base of the distributions of real dtypes. An element takes one word of 32 bits, or two if it is a double.
template <class T>
struct RealLaw {
  using Real = compute_t<T>;
  static constexpr bool kDouble = is_same_v<T, double>;
  static constexpr int kCount = kDouble ? 2 : 4;

  XPOPS_DEVICE static typename RandomWord<Real>::Word word(const RandomWords& words, int i) {
    if constexpr (kDouble) {
      return words.pair(i);
    } else {
      return words.word[i];
    }
  }
};

// low + span * u, where u is in [0, 1) and has as many random bits as the dtype has digits.
template <class T>
struct Uniform : RealLaw<T> {
  using typename RealLaw<T>::Real;
  Real low, span;

  XPOPS_DEVICE explicit Uniform(const double* parameters)
      : low(static_cast<Real>(parameters[0])), span(static_cast<Real>(parameters[1])) {}
  XPOPS_DEVICE void operator()(const RandomWords& words, T* to) const {
    constexpr int kDigits = is_same_v<T, bfloat16> ? 8 : is_same_v<T, float16> ? 11 : limits<Real>::digits;
    constexpr int kDropped = 8 * sizeof(Real) - kDigits;
    constexpr Real kStep = RandomWord<Real>::kUnit * static_cast<Real>(1ull << kDropped);
#pragma unroll
    for (int i = 0; i < this->kCount; ++i) {
      const Real u = mul_rn(static_cast<Real>(this->word(words, i) >> kDropped), kStep);
      to[i] = cast<T>(add_rn(low, mul_rn(span, u)));
    }
  }
};

// mean + scale * z for standard normal z. Two words give two of them (G. Box and M. Muller, 1958). The top bit of the
// second word is the sign of the radius, and so negates both; its other bits are an angle from -pi / 2 to pi / 2.
template <class T>
struct Normal : RealLaw<T> {
  using typename RealLaw<T>::Real;
  Real mean, scale;

  XPOPS_DEVICE explicit Normal(const double* parameters)
      : mean(static_cast<Real>(parameters[0])), scale(static_cast<Real>(parameters[1])) {}
  XPOPS_DEVICE void operator()(const RandomWords& words, T* to) const {
    using Word = typename RandomWord<Real>::Word;
    constexpr Word kTop = Word(1) << (8 * sizeof(Real) - 1);
#pragma unroll
    for (int i = 0; i < this->kCount; i += 2) {
      const Word turn = this->word(words, i + 1);
      const Real half = minus_log<Real>(this->word(words, i));
      const Real radius = mul_rn(scale, bits_float(float_bits(root(add_rn(half, half))) | (turn & kTop)));
      Real sine, cosine;
      sincos_half_turn<Real>(turn, sine, cosine);
      to[i] = cast<T>(fused(radius, cosine, mean));
      to[i + 1] = cast<T>(fused(radius, sine, mean));
    }
  }
};

template <class T>
struct Exponential : RealLaw<T> {
  using typename RealLaw<T>::Real;
  Real scale;

  XPOPS_DEVICE explicit Exponential(const double* parameters) : scale(static_cast<Real>(parameters[0])) {}
  XPOPS_DEVICE void operator()(const RandomWords& words, T* to) const {
#pragma unroll
    for (int i = 0; i < this->kCount; ++i) to[i] = cast<T>(mul_rn(scale, minus_log<Real>(this->word(words, i))));
  }
};

// True with the probability threshold / 2^32.
template <class T>
struct Bernoulli {
  static constexpr int kCount = 4;
  uint64 threshold;

  XPOPS_DEVICE explicit Bernoulli(const uint64* parameters) : threshold(parameters[0]) {}
  XPOPS_DEVICE void operator()(const RandomWords& words, T* to) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) to[i] = words.word[i] < threshold;
  }
};

// The high 64 bits of a product.
XPOPS_DEVICE uint64 high_product(uint64 x, uint64 y) {
#if XPOPS_ON_GPU
  return __umul64hi(x, y);
#else
  return static_cast<uint64>(static_cast<unsigned __int128>(x) * y >> 64);
#endif
}

// low + floor(span * r / 2^64) modulo 2^64, where r has 64 random bits. A span of 0 means 2^64.
template <class T>
struct Integers {
  static constexpr int kCount = 2;
  uint64 low, span;

  XPOPS_DEVICE explicit Integers(const uint64* parameters) : low(parameters[0]), span(parameters[1]) {}
  XPOPS_DEVICE void operator()(const RandomWords& words, T* to) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const uint64 r = words.pair(i);
      to[i] = static_cast<T>(low + (span == 0 ? r : high_product(span, r)));
    }
  }
};

// low + floor(span * r / 2^128) modulo 2^64, where r has 128 random bits, and the first word is the lowest.
template <class T>
struct WideIntegers {
  static constexpr int kCount = 1;
  uint64 low, span;

  XPOPS_DEVICE explicit WideIntegers(const uint64* parameters) : low(parameters[0]), span(parameters[1]) {}
  XPOPS_DEVICE void operator()(const RandomWords& words, T* to) const {
    const uint64 r = words.pair(1), below = high_product(span, words.pair(0));
    const bool carry = span * r + below < below;
    to[0] = static_cast<T>(low + high_product(span, r) + carry);
  }
};

}  // namespace xpops
