// The indices of scatter reductions. An index names the place (an element of the result) into which a source is
// reduced. Places count from 0. One value of the index may mean that the source is skipped.
#pragma once

#include <xpops/core/config.cuh>

namespace xpops {

// If an index is out of range, the kernel writes a report: a word of 64 bits that the host reads
// (xpops/engine/cuda/runtime/faults.py). Its low kTargetReportBits bits are the index. The bits above are the code of
// the call.
constexpr int kTargetReportBits = 48;

struct TargetRange {
  uint64 report, length, code;  // the address for reports; the number of places; the bits above the index
  int64 skipped;  // sources with this index are skipped; -1 for none

  // The place that an index names, or -1 for none. If the index is out of range, `wrong` gets the report.
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
