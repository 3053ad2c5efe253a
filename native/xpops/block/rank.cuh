// Selects by rank among the words that the threads of a block hold, without sorting them: radix select from the highest
// bit that differs between any two words, 8 bits at a time.
#pragma once

#include <xpops/block/radix.cuh>
#include <xpops/core/traits.cuh>

namespace xpops {

// The words up to a rank. If `whole`, they are the words <= bound. Otherwise they are the words < bound, and of the
// words equal to bound the first in some other order, up to the rank `rest` among them.
template <class Word>
struct Ranked {
  Word bound;
  uint32 rest;
  bool whole;
};

// The shared memory of words_to_rank.
struct RankSpace {
  static constexpr int kTurns = 3;  // a turn's counts are zeroed two barriers after they were read
  uint32 counts[kTurns][kDigits];
  uint32 set[2], unset[2];
};

namespace detail {

// ORs `x` over the warp.
XPOPS_DEVICE uint32 or_over_warp(uint32 x) {
#if XPOPS_ON_GPU && !XPOPS_PTX_SM80
#pragma unroll
  for (int reach = kWarp / 2; reach > 0; reach /= 2) x |= shuffle_xor(x, reach);
  return x;
#else
  return __reduce_or_sync(kFullMask, x);
#endif
}

// ORs `x` over the block into `all`, 32 bits at a time.
template <class Word>
XPOPS_DEVICE void or_into(uint32* all, Word x) {
#pragma unroll
  for (int i = 0; i < int(sizeof(Word) / 4); ++i) {
    const uint32 word = or_over_warp(static_cast<uint32>(static_cast<uint64>(x) >> 32 * i));
    if (lane() == 0) atomicOr(all + i, word);
  }
}

template <class Word>
XPOPS_DEVICE Word joined_words(const uint32* words) {
  return static_cast<Word>(sizeof(Word) == 8 ? static_cast<uint64>(words[sizeof(Word) / 4 - 1]) << 32 | words[0]
                                             : words[0]);
}

// The bin of kDigits counts that holds the word of rank `rank`; `rank` becomes the rank in the bin. `size` gets the
// count of the bin. Each warp computes it.
XPOPS_DEVICE uint32 bin_of_rank(const uint32* counts, uint32& rank, uint32& size) {
  constexpr int kBins = kDigits / kWarp;
  uint32 own[kBins], sum = 0;
#pragma unroll
  for (int i = 0; i < kBins; ++i) {
    own[i] = counts[lane() * kBins + i];
    sum += own[i];
  }
  uint32 upto = sum;
#pragma unroll
  for (int reach = 1; reach < kWarp; reach *= 2) {
    const uint32 below = shuffle_up(upto, reach);
    if (lane() >= reach) upto += below;
  }
  uint32 bin = lane() * kBins, left = rank - (upto - sum), found = own[0];
  bool passed = false;
#pragma unroll
  for (int i = 0; i + 1 < kBins; ++i) {
    passed = passed || left < own[i];
    if (!passed) {
      left -= own[i];
      found = own[i + 1];
      ++bin;
    }
  }
  const int from = __ffs(static_cast<int>(__ballot_sync(kFullMask, upto > rank))) - 1;
  rank = shuffle(left, from);
  size = shuffle(found, from);
  return shuffle(bin, from);
}

}  // namespace detail

// Finds the words up to rank `rank`, counted from 0; there are more words than that. visit(f) calls f with each word of
// this thread, the same words in each call. Word is uint32 or uint64. All threads of the block must call.
template <class Word, class Visit>
XPOPS_DEVICE Ranked<Word> words_to_rank(RankSpace& space, const Visit& visit, uint32 rank) {
  constexpr int kTurns = RankSpace::kTurns;
  const auto zero = [](uint32(&bins)[kDigits]) {
    for (int i = threadIdx.x; i < kDigits; i += blockDim.x) bins[i] = 0;
  };
  __syncthreads();
  zero(space.counts[0]);
  if (threadIdx.x < 2) space.set[threadIdx.x] = space.unset[threadIdx.x] = 0;
  __syncthreads();
  Word ones = 0, zeros = 0;
  visit([&](Word word) {
    ones |= word;
    zeros |= ~word;
  });
  detail::or_into(space.set, ones);
  detail::or_into(space.unset, zeros);
  __syncthreads();
  ones = detail::joined_words<Word>(space.set);
  const Word differing = ones & detail::joined_words<Word>(space.unset);
  if (differing == 0) return {ones, rank, false};
  const int top = sizeof(Word) == 8 ? 63 - __clzll(static_cast<int64>(differing))
                                    : 31 - __clz(static_cast<int>(differing));
  int shift = top < kDigitBits ? 0 : top - (kDigitBits - 1);
  Word fixed = ~static_cast<Word>((Word(2) << top) - 1), known = ones & fixed;
  for (int turn = 0;; turn = turn + 1 == kTurns ? 0 : turn + 1) {
    visit([&](Word word) {
      if ((word & fixed) == known)
        atomicAdd(&space.counts[turn][static_cast<uint32>(word >> shift) & (kDigits - 1)], 1u);
    });
    zero(space.counts[turn + 1 == kTurns ? 0 : turn + 1]);
    __syncthreads();
    uint32 size;
    known |= Word(detail::bin_of_rank(space.counts[turn], rank, size)) << shift;
    fixed |= Word(kDigits - 1) << shift;
    if (size == rank + 1) return {static_cast<Word>(known | static_cast<Word>((Word(1) << shift) - 1)), rank, true};
    if (shift == 0) return {known, rank, false};
    shift = shift < kDigitBits ? 0 : shift - kDigitBits;
  }
}

}  // namespace xpops
