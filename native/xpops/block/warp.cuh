// Warp shuffles for values of any trivially copyable type.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {

constexpr int kWarp = 32;
constexpr uint32 kFullMask = 0xffffffffu;

XPOPS_DEVICE int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
XPOPS_DEVICE int warp() { return static_cast<int>(threadIdx.x) / kWarp; }

namespace detail {

// Applies `move` to every 32-bit word of x.
template <class T, class Move>
XPOPS_DEVICE T by_words(T x, Move move) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  union Words {
    uint32 words[kWords];
    T value;
    XPOPS_DEVICE Words() {}
  } from, to;
  from.value = x;
#pragma unroll
  for (int i = 0; i < kWords; ++i) to.words[i] = move(from.words[i]);
  return to.value;
}

}  // namespace detail

// Returns x of lane `from`.
template <class T>
XPOPS_DEVICE T shuffle(T x, int from) {
  return detail::by_words(x, [=](uint32 word) { return __shfl_sync(kFullMask, word, from); });
}

// Returns x of lane `lane() ^ mask`.
template <class T>
XPOPS_DEVICE T shuffle_xor(T x, int mask) {
  return detail::by_words(x, [=](uint32 word) { return __shfl_xor_sync(kFullMask, word, mask); });
}

// Returns x of lane `lane() - distance`. If there is no such lane, returns this lane's own x.
template <class T>
XPOPS_DEVICE T shuffle_up(T x, int distance) {
  return detail::by_words(x, [=](uint32 word) { return __shfl_up_sync(kFullMask, word, distance); });
}

// Returns x of lane `lane() + distance`. If there is no such lane, returns this lane's own x.
template <class T>
XPOPS_DEVICE T shuffle_down(T x, int distance) {
  return detail::by_words(x, [=](uint32 word) { return __shfl_down_sync(kFullMask, word, distance); });
}

}  // namespace xpops
