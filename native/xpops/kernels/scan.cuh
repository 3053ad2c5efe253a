// Scans along one axis: every element is read once and written once.
//
//   scan_tiles     along contiguous memory, few rows: a block for each tile, and one that tells what comes before them
//   scan_rows      along contiguous memory, many rows: a few lanes walk down a row
//   scan_columns   across contiguous memory: a block computes a tile of neighbouring columns, and looks back
//
// The plan (xpops/plan/scan.py) chooses packs so that every access is aligned: a pack never leaves a row, except that
// the last one of a row may be incomplete. Packs of 1 may lie in any strides.
#pragma once

#include <xpops/index/coordinates.cuh>
#include <xpops/memory/pack.cuh>
#include <xpops/memory/storage.cuh>

namespace xpops {

// Slots: the first result, the first operand, scratch memory (zeros), and gamma where the scanner has one.
template <int kSlots, int kRank>
struct ScanParams {
  static constexpr int kAxes = kRank;
  uint64 slots[kSlots];
  int64 length;             // along the axis
  int64 in_step, out_step;  // along the axis
  int64 columns;            // side by side, in steps of column_steps; 1 for the kernels that walk rows
  int64 in_column_step, out_column_step;
  int64 batches;  // along all other axes
  int64 tiles;    // along the axis
  int64 states;   // bytes of published states for each batch, where columns are scanned
  FastDivMod<uint32> grid[2];  // tiles in a row; or strips side by side, and batches
  FastDivMod<uint64> divisors[kRank > 1 ? kRank - 1 : 1];
  int64 in_strides[kRank], out_strides[kRank];
};

// Scanner<Compute> scans elements that are converted from In to Out, then to Compute, and back.
template <class In_, class Out_, class Compute, class Scanner>
struct ScanTypes {
  using In = typename Storage<In_>::type;
  using Out = Out_;
  using Op = Scanner;
  using State = typename Scanner::State;

  XPOPS_DEVICE static State lift(const Op& op, In x) { return op.lift(to_compute<In_, Out, Compute>(x)); }
  XPOPS_DEVICE static Out value(const Op& op, const State& state) { return cast<Out>(op.value(state)); }
};

// The rows of one batch.
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
