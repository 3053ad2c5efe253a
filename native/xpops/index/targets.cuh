// Indices of places to reduce into: from 0 on, and one may stand for nothing.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {

// Bits of a report that hold the index; those above say which call it was for (xpops/engine/cuda/faults.py).
constexpr int kTargetReportBits = 48;

struct TargetRange {
  uint64 report, length, code;
  int64 skipped;  // this index is left out; -1 for none

  // The place that an index names, or -1; `wrong` says where there is none.
  template <class I>
  XPOPS_DEVICE int64 target(I index, uint64& wrong) const {
    constexpr int64 kMost = (1ll << (kTargetReportBits - 1)) - 1;
    constexpr bool kSigned = I(-1) < I(0);
    int64 i = static_cast<int64>(index);
    if (static_cast<uint64>(i) < length) return i == skipped ? -1 : i;
    if (!kSigned && i < 0) i = kMost;  // a uint64 that int64 does not hold
    i = i > kMost ? kMost : i < -kMost ? -kMost : i;
    wrong = code | (static_cast<uint64>(i) & ((1ull << kTargetReportBits) - 1));
    return -1;
  }

  XPOPS_DEVICE void tell(uint64 wrong) const {
    if (wrong) *reinterpret_cast<volatile uint64*>(report) = wrong;
  }
};

}  // namespace xpops
