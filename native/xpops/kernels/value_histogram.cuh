// Histogram of equal bins over an interval, with exactly the counts of NumPy.
//
// NumPy computes a place, floor((x - first) / width * bins), with every step rounded. It then moves by one bin if the
// edges, which are also rounded, require it. If a value is far enough from all edges, a product instead of the quotient
// gives the same bin, and the kernel does not read the edges. xpops/plan/histogram.py computes this distance.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/kernels/histogram.cuh>

namespace xpops {

struct ValueHistogramParams {
  uint64 counts, edges, x;
  uint64 size, length;
  double first, last, width;  // the ends of the interval, and its width
  double factor;              // bins / width
  double low, high;           // if the fraction of a place is between these, its integer part is the bin
};

// T: the elements. Edge: the dtype of edges; elements are converted to it and compared in it. Quotient: the dtype of
// the division.
template <class T, class Edge, class Quotient>
struct EqualBins {
  using Element = T;
  using Compute = compute_t<Edge>;
  const ValueHistogramParams& params;

  XPOPS_DEVICE explicit EqualBins(const ValueHistogramParams& params) : params(params) {}

  XPOPS_DEVICE uint64 bin(T x) const {
    const Compute value = cast<Compute>(cast<Edge>(x));
    const Compute from_first = rounded<Edge>(add_rn(value, -static_cast<Compute>(params.first)));
    const Compute place = mul_rn(from_first, static_cast<Compute>(params.factor));
    const int32 whole = static_cast<int32>(place);
    const Compute part = add_rn(place, -static_cast<Compute>(whole));
    if (static_cast<uint32>(whole) < params.length && part > static_cast<Compute>(params.low) &&
        part < static_cast<Compute>(params.high)) {
      return static_cast<uint32>(whole);
    }
    return exact(value, from_first);
  }

  XPOPS_DEVICE void finish() const {}

 private:
  template <class To, class Wide>
  XPOPS_DEVICE static Wide rounded(Wide x) {
    return cast<Wide>(cast<To>(x));
  }

  XPOPS_DEVICE uint64 exact(Compute value, Compute from_first) const {
    using Wide = compute_t<Quotient>;
    const bool inside = value >= static_cast<Compute>(params.first) && value <= static_cast<Compute>(params.last);
    if (!inside) return params.length;
    const Edge* edges = reinterpret_cast<const Edge*>(params.edges);
    const Wide quotient = rounded<Quotient>(static_cast<Wide>(from_first) / static_cast<Wide>(params.width));
    const Wide bins = rounded<Quotient>(static_cast<Wide>(params.length));
    const uint64 most = params.length - 1, found = static_cast<uint64>(rounded<Quotient>(mul_rn(quotient, bins)));
    uint64 bin = found < most ? found : most;
    if (bin > 0 && value < cast<Compute>(edges[bin])) --bin;
    if (bin < most && value >= cast<Compute>(edges[bin + 1])) ++bin;
    return bin;
  }
};

template <class T, class Edge, class Quotient, int kAccess, int kSlots, int kCopies, int kThreads, int kUnroll>
XPOPS_DEVICE void value_histogram(const ValueHistogramParams& params) {
  EqualBins<T, Edge, Quotient> bins(params);
  count_bins<kAccess, kSlots, kCopies, kThreads, kUnroll>(bins, reinterpret_cast<const T*>(params.x),
                                                          reinterpret_cast<uint64*>(params.counts), params.size,
                                                          params.length);
}

}  // namespace xpops
