// Correlation of a signal with taps: out[i] = sum over j of signal[i + j - before] * taps[j], of the places within the
// signal only. Convolution reads the taps from their end. Beyond the signal a tile has zeros; only if a tap is infinite
// or NaN, whose product with zero is NaN, each product is checked.
//
// A block computes kBlock * kEach outputs, a thread kEach adjacent ones. The block walks the taps in chunks, which it
// keeps in shared memory with the elements of the signal that they meet. For each tap a thread loads one new element
// to its window of kEach elements: {x0 x1 x2} * w0, then {x3 x1 x2} * w1 with sums that begin at x1, and so on.
#pragma once

#include <xpops/block/warp.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

// Slots: the result, the signal, the taps, and the partial sums. Steps and first places are in elements.
struct CorrelateParams {
  uint64 slots[4];
  int64 outputs, length, taps, before;
  int64 first[2], step[2];  // of the signal and the taps; the first element of a reversed operand is its last in memory
  int64 part;               // the taps of a block, a multiple of a chunk
  int64 parts;              // the blocks that share a tile
};

// The type of products and sums. Integers wrap; bools are counted.
template <class T>
using Summed = conditional_t<is_integer_v<T> || is_same_v<T, bool>, wrap_t<T>, compute_t<T>>;

// One product of a sum. NVRTC contracts each to a fused operation.
template <class T>
XPOPS_DEVICE void accumulate(T& sum, T x, T y) {
  if constexpr (is_complex_v<T>) {
    sum.re += x.re * y.re;
    sum.re -= x.im * y.im;
    sum.im += x.re * y.im;
    sum.im += x.im * y.re;
  } else {
    sum += x * y;
  }
}

// kConjugates: the signal (0), the taps (1), or neither (-1).
template <class T, int kBlock, int kEach, int kChunk, int kConjugates>
class Correlation {
 public:
  using Compute = Summed<T>;
  using Stored = typename Storage<T>::type;
  static constexpr int kTile = kBlock * kEach, kSpan = kTile + kChunk;
  static_assert(kChunk % kEach == 0 && kSpan % kBlock == 0 && kChunk % kBlock == 0, "threads share evenly");

  // Elements of the signal in shared memory. One place in kEach + 1 is empty, so that lanes read different banks.
  static constexpr int kPitch = kEach > 1 ? kEach + 1 : 1;
  struct alignas(16) Shared {
    Compute taps[kChunk], signal[kSpan / kEach * kPitch];
  };
  XPOPS_DEVICE static int place(int i) { return i / kEach * kPitch + i % kEach; }

  XPOPS_DEVICE Correlation(const CorrelateParams& params, Shared& shared, int64 tile)
      : params_(params), shared_(shared), start_(tile * kTile) {
#pragma unroll
    for (int r = 0; r < kEach; ++r) sums_[r] = Compute(0);
  }

  // Adds the products of the taps from `first` on, at most kChunk of them.
  XPOPS_DEVICE void add(int64 first, int64 end) {
    const int count = end - first < kChunk ? static_cast<int>(end - first) : kChunk;
    const int64 rest = params_.outputs - start_, base = start_ + first - params_.before;
    const int outputs = rest < kTile ? static_cast<int>(rest) : kTile;
    if (base + outputs + count <= 1 || base >= params_.length) return;  // no tap meets the signal
    __syncthreads();
    const bool inside = base >= 0 && base + outputs + count - 1 <= params_.length;
    const bool exact = __syncthreads_and(stage(first, count, base) || inside);
    const Compute* x = shared_.signal + threadIdx.x * kPitch;
    Compute window[kEach], part[kEach];
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      window[r] = x[r];
      part[r] = Compute(0);
    }
    int tap = 0;
    for (; exact && tap + kEach <= count; tap += kEach) step<false>(window, part, x, tap, count, 0);
    for (; tap < count; tap += kEach) step<true>(window, part, x, tap, count, base + threadIdx.x * kEach + tap);
#pragma unroll
    for (int r = 0; r < kEach; ++r) sums_[r] = sums_[r] + part[r];
  }

  // Writes the sums to `to`, converted, `stride` elements apart.
  template <class To>
  XPOPS_DEVICE void write(To* to, int64 stride) {
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kEach; ++r) shared_.signal[threadIdx.x * kPitch + r] = sums_[r];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; i += kBlock) {
      const int at = i + static_cast<int>(threadIdx.x);
      if (start_ + at < params_.outputs) to[(start_ + at) * stride] = cast<To>(shared_.signal[place(at)]);
    }
  }

 private:
  template <int kOperand>
  XPOPS_DEVICE Compute load(int64 at) const {
    const Stored* from = reinterpret_cast<const Stored*>(params_.slots[1 + kOperand]);
    Compute x = to_compute<T, Compute, Compute>(from[params_.first[kOperand] + at * params_.step[kOperand]]);
    if constexpr (kOperand == kConjugates) x.im = -x.im;
    return x;
  }

  // Returns whether the taps that this thread stages are finite.
  XPOPS_DEVICE bool stage(int64 first, int count, int64 base) {
#pragma unroll
    for (int i = 0; i < kSpan; i += kBlock) {
      const int at = i + static_cast<int>(threadIdx.x);
      const int64 from = base + at;
      shared_.signal[place(at)] = from >= 0 && from < params_.length ? load<0>(from) : Compute(0);
    }
    bool finite = true;
#pragma unroll
    for (int i = 0; i < kChunk; i += kBlock) {
      const int at = i + static_cast<int>(threadIdx.x);
      const Compute tap = at < count ? load<1>(first + at) : Compute(0);
      shared_.taps[at] = tap;
      finite = finite && is_zero(tap - tap);
    }
    return finite;
  }

  XPOPS_DEVICE static bool is_zero(Compute x) {
    if constexpr (is_complex_v<Compute>) return x.re == 0 && x.im == 0;
    else return x == 0;
  }

  // The kEach taps from `tap` on. kChecked: only products of a tap and an element of the signal; the first element of the
  // window is that at `at`.
  template <bool kChecked>
  XPOPS_DEVICE void step(Compute (&window)[kEach], Compute (&part)[kEach], const Compute* x, int tap, int count,
                         int64 at) {
    const int64 rest = params_.length - at;
    const int low = at >= 0 ? 0 : at < -2 * kEach ? 2 * kEach : static_cast<int>(-at);
    const int high = rest < 0 ? 0 : rest > 2 * kEach ? 2 * kEach : static_cast<int>(rest);
    const Compute* next = x + (tap / kEach + 1) * kPitch;
    Pack<Compute, kEach> weights;
    weights.load(shared_.taps + tap);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
#pragma unroll
      for (int r = 0; r < kEach; ++r) {
        if (!kChecked || (tap + i < count && r + i >= low && r + i < high)) {
          accumulate(part[r], window[(r + i) % kEach], weights.elem[i]);
        }
      }
      window[i] = next[i];
    }
  }

  const CorrelateParams& params_;
  Shared& shared_;
  int64 start_;
  Compute sums_[kEach];
};

// kShared: several blocks share a tile. Each writes the sums of its part of the taps, for `correlate_sums`.
template <class T, int kBlock, int kEach, int kChunk, int kConjugates, bool kShared>
XPOPS_DEVICE void correlate(const CorrelateParams& params) {
  using Tile = Correlation<T, kBlock, kEach, kChunk, kConjugates>;
  __shared__ typename Tile::Shared shared;
  const int64 parts = kShared ? params.parts : 1, block = blockIdx.x, part = kShared ? block % parts : 0;
  Tile tile(params, shared, kShared ? block / parts : block);
  const int64 end = kShared && part + 1 < parts ? (part + 1) * params.part : params.taps;
#pragma unroll 1
  for (int64 first = part * params.part; first < end; first += kChunk) tile.add(first, end);
  if constexpr (kShared) {
    tile.write(reinterpret_cast<typename Tile::Compute*>(params.slots[3]) + part, parts);
  } else {
    tile.write(reinterpret_cast<T*>(params.slots[0]), 1);
  }
}

// Adds up the parts of each output, always in the same order. kLanes threads, 1 or a warp, share an output.
template <class T, int kLanes>
XPOPS_DEVICE void correlate_sums(const CorrelateParams& params) {
  using Compute = Summed<T>;
  const int64 thread = static_cast<int64>(blockIdx.x) * blockDim.x + threadIdx.x, output = thread / kLanes;
  if (output >= params.outputs) return;
  const Compute* from = reinterpret_cast<const Compute*>(params.slots[3]) + output * params.parts;
  Compute sum = Compute(0);
#pragma unroll 4
  for (int64 part = thread % kLanes; part < params.parts; part += kLanes) sum = sum + from[part];
#pragma unroll
  for (int mask = kLanes / 2; mask > 0; mask /= 2) sum = sum + shuffle_xor(sum, mask);
  if (thread % kLanes == 0) reinterpret_cast<T*>(params.slots[0])[output] = cast<T>(sum);
}

}  // namespace xpops
