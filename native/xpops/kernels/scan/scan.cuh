// Scans along one axis: every element is read once and written once.
//
//   scan_tiles     along contiguous memory, few rows: a block for each tile, and one block that computes their prefixes
//   scan_rows      along contiguous memory, many rows: a group of lanes walks along a row
//   scan_columns   across contiguous memory: a block for each tile of neighbouring columns, with decoupled look-back
//   scan_staged    few neighbouring columns, or short rows: a block for each run of the result, through shared memory
//
// The plan (xpops/plan/scan/) chooses packs so that packs of the result are aligned. Packs of 1 may have any strides.
// Stride says how the elements of a pack lie in the operand along rows. Across columns packs are aligned there, too.
#pragma once

#include <xpops/index/coordinates.cuh>
#include <xpops/kernels/numbers.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// Slots: the addresses of the first result and the first operand, scratch memory (zeros), and the scanner's scalars.
template <int kSlots, int kRank>
struct ScanParams {
  static constexpr int kAxes = kRank;
  uint64 slots[kSlots];
  int64 length;             // along the axis
  int64 in_step, out_step;  // along the axis
  int64 columns;            // neighbouring columns, with the strides below; 1 for the kernels that walk rows
  int64 in_column_step, out_column_step;
  int64 batches;  // rows, or sets of columns, along all other axes
  int64 tiles;    // along the axis
  int64 states;   // scan_columns: bytes of published states for each batch
  // scan_tiles: tiles in a row; scan_columns: strips of columns, batches; scan_staged: columns, batches or rows
  FastDivMod<uint32> grid[2];
  FastDivMod<uint64> divisors[kRank > 1 ? kRank - 1 : 1];
  int64 in_strides[kRank], out_strides[kRank];
};

// Scanner<Compute> scans elements. They are converted from In to Out, then to Compute; results are converted to Out.
template <class In_, class Out_, class Compute, class Scanner>
struct ScanTypes {
  using In = typename Storage<In_>::type;
  using Out = Out_;
  using Op = Scanner;
  using State = typename Scanner::State;

  XPOPS_DEVICE static State lift(const Op& op, In x) { return op.lift(to_number<In_, Out, Compute>(x)); }
  XPOPS_DEVICE static Out value(const Op& op, const State& state) { return from_number<Out>(op.value(state)); }
};

enum class Stride {
  kPack,     // an aligned pack
  kOne,      // one after the other, from any element on
  kReversed, // one before the other
  kAny,
};

// Reads the operand's elements for a pack of the result; the first of them is at `from`.
template <Stride kStride, class T, int kPack>
XPOPS_DEVICE void read_pack(const T* from, int64 step, Pack<T, kPack>& to) {
  if constexpr (kPack == 1 || kStride == Stride::kPack) {
    to.load(from);
  } else if constexpr (kStride == Stride::kOne) {
    to.load_unaligned(from);
  } else if constexpr (kStride == Stride::kReversed) {
    to.load_unaligned(from - (kPack - 1));
    to.reverse();
  } else {
#pragma unroll
    for (int i = 0; i < kPack; ++i) to.elem[i] = from[i * step];
  }
}

// Reads the elements [begin, end) of such a pack, which need not be aligned; the others become zeros.
template <Stride kStride, class T, int kPack>
XPOPS_DEVICE void read_part(const T* from, int begin, int end, Pack<T, kPack>& to) {
  if constexpr (kStride == Stride::kOne) {
    to.load_part(from, begin, end);
  } else {
    to.load_part(from - (kPack - 1), kPack - end, kPack - begin);
    to.reverse();
  }
}

// The addresses of one batch.
template <class Types, class Params>
struct ScanBatch {
  const typename Types::In* in;
  typename Types::Out* out;

  XPOPS_DEVICE ScanBatch(const Params& params, uint64 batch) {
    const Coordinates<Params::kAxes, uint64> at(params.divisors, batch);
    out = reinterpret_cast<typename Types::Out*>(params.slots[0]) + at.offset(params.out_strides);
    in = reinterpret_cast<const typename Types::In*>(params.slots[1]) + at.offset(params.in_strides);
  }
};

}  // namespace xpops
