// Products of integers by tensor cores, which multiply 8 bits and add in 32.
//
// Modulo 2^n an integer is a sum of signed digits of 8 bits, x = d0 + 2^8 d1 + 2^16 d2 + ..., and so a product is
//   sum over s of 2^8s * (a0 b_s + a1 b_(s-1) + ... + a_s b0),
// where terms of 2^n and more do not count. With the digits of one operand side by side along the inner axis, and those
// of the other in reverse, each bracket is a single product of matrices: of the first s + 1 parts of one and the last
// s + 1 parts of the other. Sums of 32 bits may wrap: what is lost counts 2^32.
#pragma once

#include <xpops/index/divmod.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

constexpr int kDigitBits = 8, kDigitPack = 16;

// Slots: the digits, and the matrices. There is a thread for each 16 digits of an element's place.
struct DigitsParams {
  uint64 slots[2];
  uint64 threads;
  int64 inner, padded;            // elements of a line, and digits of a part: a multiple of 16
  int64 steps[3];                 // along the stack, from line to line, along a line
  FastDivMod<uint64> lines, packs;  // of a matrix; of a part
};

// Writes each line's digits: kDigits parts of `padded` digits, the lowest first, or last if kReverse. Neighbouring threads
// read neighbours in memory: along a line, or if kAcross of neighbouring lines.
template <class Element, int kDigits, bool kReverse, bool kAcross>
XPOPS_DEVICE void split_digits(const DigitsParams& params) {
  uint64 stack = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (stack >= params.threads) return;
  uint64 line, pack;
  if constexpr (kAcross) {
    line = params.lines.divmod(stack);
    pack = params.packs.divmod(stack);
  } else {
    pack = params.packs.divmod(stack);
    line = params.lines.divmod(stack);
  }
  const auto* from = reinterpret_cast<const typename Storage<Element>::type*>(params.slots[1]) +
                     static_cast<int64>(stack) * params.steps[0] + static_cast<int64>(line) * params.steps[1];
  Pack<int8, kDigitPack> digits[kDigits];
#pragma unroll
  for (int i = 0; i < kDigitPack; ++i) {
    const int64 at = static_cast<int64>(pack) * kDigitPack + i;
    uint32 x = at < params.inner ? to_compute<Element, Element, uint32>(from[at * params.steps[2]]) : 0;
#pragma unroll
    for (int digit = 0; digit < kDigits; ++digit) {
      digits[digit].elem[i] = static_cast<int8>(x);
      x = (x - static_cast<uint32>(static_cast<int32>(digits[digit].elem[i]))) >> kDigitBits;
    }
  }
  int8* to = reinterpret_cast<int8*>(params.slots[0]) +
             (stack * params.lines.divisor + line) * kDigits * static_cast<uint64>(params.padded) + pack * kDigitPack;
#pragma unroll
  for (int digit = 0; digit < kDigits; ++digit) {
    digits[digit].store(to + (kReverse ? kDigits - 1 - digit : digit) * params.padded);
  }
}

// Slots: the result, and sums of products of 32 bits.
struct DigitSumParams {
  uint64 slots[2];
  uint64 size;
};

// Adds sums that count 2^(8 kPlace) to the result; the lowest begin it.
template <class Element, int kPlace>
XPOPS_DEVICE void add_digits(const DigitSumParams& params) {
  const uint64 at = static_cast<uint64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= params.size) return;
  Element* out = reinterpret_cast<Element*>(params.slots[0]);
  const uint32 sum = reinterpret_cast<const uint32*>(params.slots[1])[at];
  if constexpr (kPlace == 0) {
    out[at] = cast<Element>(sum);
  } else {
    out[at] = cast<Element>(cast<uint32>(out[at]) + (sum << kPlace * kDigitBits));
  }
}

}  // namespace xpops
