// Integer matrix products on tensor cores, which multiply 8-bit integers and add in 32 bits.
//
// Modulo 2^n an integer is a sum of signed digits of 8 bits, x = d0 + 2^8 d1 + 2^16 d2 + ... So a product is
//   sum over s of 2^8s * (a0 b_s + a1 b_(s-1) + ... + a_s b0),
// where terms with 8 s >= n vanish. The digits of one operand are side by side along the inner axis, the digits of
// the other in reverse order. Then each bracket is one matrix product: the first s + 1 parts of one operand times the
// last s + 1 parts of the other. 32-bit sums may wrap: a wrap changes the result by a multiple of 2^32, which vanishes.
#pragma once

#include <xpops/index/divmod.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

constexpr int kDigitBits = 8, kDigitPack = 16;

// Slots: the digits, and the matrices. One thread splits 16 neighbouring elements of a line.
struct DigitsParams {
  uint64 slots[2];
  uint64 threads;
  int64 inner, padded;            // elements of a line; digits of a part, a multiple of 16
  int64 steps[3];                 // strides: along the stack, from line to line, along a line
  FastDivMod<uint64> lines, packs;  // lines of a matrix; packs of a part
};

// Writes the digits of each line as kDigits parts of `padded` digits. The lowest digit is first, or last if kReverse.
// Neighbouring threads read neighbouring elements: along a line, or of neighbouring lines if kAcross.
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

// Slots: the result, and the 32-bit sums of products.
struct DigitSumParams {
  uint64 slots[2];
  uint64 size;
};

// Adds sums with the weight 2^(8 kPlace) to the result. kPlace 0 overwrites the result.
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
