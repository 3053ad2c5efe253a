// Parts of radix sort: lanes with the same digit, prefix sums of digit counts, and decoupled look-back over the counts
// of tiles.
#pragma once

#include <xpops/block/warp.cuh>

namespace xpops {

constexpr int kDigitBits = 8, kDigits = 1 << kDigitBits;

template <class Key>
XPOPS_DEVICE uint32 digit_of(Key key, int digit) {
  return static_cast<uint32>(key >> (digit * kDigitBits)) & (kDigits - 1);
}

// The mask of the lanes whose `digit & kBit` equals this lane's. PTX needs one test of the bit; the compiler would
// generate two tests and a shift.
template <uint32 kBit>
XPOPS_DEVICE uint32 match_bit(uint32 digit) {
#if XPOPS_ON_GPU
  uint32 peers;
  asm volatile(
      "{ .reg .pred set; .reg .b32 bit; and.b32 bit, %1, %2; setp.ne.u32 set, bit, 0;"
      " vote.sync.ballot.b32 %0, set, 0xffffffff; @!set not.b32 %0, %0; }"
      : "=r"(peers)
      : "r"(digit), "n"(kBit));
  return peers;
#else
  const uint32 voters = __ballot_sync(kFullMask, (digit & kBit) != 0);
  return digit & kBit ? voters : ~voters;
#endif
}

// a & b & c in one instruction, which the compiler does not generate from C++.
XPOPS_DEVICE uint32 all_of(uint32 a, uint32 b, uint32 c) {
#if XPOPS_ON_GPU
  uint32 all;
  asm("lop3.b32 %0, %1, %2, %3, 0x80;" : "=r"(all) : "r"(a), "r"(b), "r"(c));
  return all;
#else
  return a & b & c;
#endif
}

// The mask of the lanes that have this lane's digit.
XPOPS_DEVICE uint32 match_digit(uint32 digit) {
  const uint32 low = all_of(match_bit<1>(digit), match_bit<2>(digit), match_bit<4>(digit));
  const uint32 high = all_of(match_bit<8>(digit), match_bit<16>(digit), match_bit<32>(digit));
  return all_of(low, high, match_bit<64>(digit)) & match_bit<128>(digit);
}

// The sum of `count` over all lower threads, for the first kDigits threads of the block. All threads must call it.
template <class Count>
XPOPS_DEVICE Count sum_before(Count count) {
  __shared__ Count totals[kDigits / kWarp];
  Count sum = count;
#pragma unroll
  for (int reach = 1; reach < kWarp; reach *= 2) {
    const Count below = shuffle_up(sum, reach);
    if (lane() >= reach) sum += below;
  }
  __syncthreads();  // until all threads have read the totals of an earlier call
  if (lane() == kWarp - 1 && threadIdx.x < kDigits) totals[warp()] = sum;
  __syncthreads();
  sum -= count;
#pragma unroll
  for (int i = 0; i < kDigits / kWarp; ++i) {
    if (i < warp()) sum += totals[i];
  }
  return sum;
}

// A tile publishes one word for each digit: first its own count (kOwn), then the count of all tiles up to and including
// it (kAll). One access reads or writes the whole word.
template <class Count>
struct TileState {
  static constexpr Count kOwn = Count(1) << (8 * sizeof(Count) - 2), kAll = kOwn << 1, kCount = kOwn - 1;
};

// Decoupled look-back: how many keys in all tiles before `tile` have this thread's digit. A thread loads several states
// at once, because the latency is long.
template <class Count>
XPOPS_DEVICE Count look_back(const Count* states, uint32 tile) {
  using State = TileState<Count>;
  constexpr int kReach = 4;
  Count sum = 0;
  for (int64 next = static_cast<int64>(tile) - 1; next >= 0;) {
    Count seen[kReach];
#pragma unroll
    for (int i = 0; i < kReach; ++i) {
      seen[i] = next >= i ? *reinterpret_cast<const volatile Count*>(states + (next - i) * kDigits) : State::kAll;
    }
    bool known = true;
#pragma unroll
    for (int i = 0; i < kReach; ++i) {
      known = known && seen[i] >= State::kOwn;
      if (known) {
        sum += seen[i] & State::kCount;
        --next;
        if (seen[i] >= State::kAll) return sum;
      }
    }
  }
  return sum;
}

}  // namespace xpops
