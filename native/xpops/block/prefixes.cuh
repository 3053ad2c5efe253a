// The prefixes of all tiles in one pass: one block computes them for all other blocks, always in the same order.
//
// Every other block publishes the sum of its tile and waits for one state, the prefix. Decoupled look-back was slower:
// every block reads the sums of many tiles before its own, so all blocks read the same few lines of L2 again and again.
// 2^28 float32 took 675 us with look-back and take 533 us this way (one H200, 2026-11). A copy takes 510 us. The order
// of combination depends only on the tiles' numbers.
//
// All blocks wait for this block, and it waits for them in the order of their numbers. So this block must start first,
// and the others in the order of their numbers. CUDA does not promise this order, but every GPU keeps it.
#pragma once

#include <xpops/block/published.cuh>
#include <xpops/block/scan.cuh>
#include <xpops/index/divmod.cuh>

namespace xpops {

template <class State>
class TilePrefixes {
 public:
  // `memory` holds zeros at first: two published states for each tile.
  XPOPS_DEVICE TilePrefixes(uint64 memory, uint32 tiles)
      : sums_(reinterpret_cast<Published<State>*>(memory)), prefixes_(sums_ + tiles), tiles_(tiles) {}

  // One thread of a tile's block calls these. It publishes the sum of the tile, then waits for the prefix. The first
  // tile of a row has no prefix and must not wait.
  XPOPS_DEVICE void publish(uint32 tile, const State& sum) { sums_[tile].publish(sum); }
  XPOPS_DEVICE State wait(uint32 tile) const { return prefixes_[tile].wait(); }

  // The block that serves the others calls this. The prefix starts anew at each row of tiles. A warp serves a run of 32
  // tiles at a time and hands the prefix of the next run to the next warp. Its own next run is kWarps runs later.
  template <int kWarps, class Op>
  XPOPS_DEVICE void serve(const Op& op, const FastDivMod<uint32>& row) {
    __shared__ Published<State> handed[kWarps];
    if (threadIdx.x < kWarps) handed[threadIdx.x].clear();
    __syncthreads();
    for (uint32 run = warp(); run * kWarp < tiles_; run += kWarps) {
      serve_run(op, row, run, handed[warp()], handed[(warp() + 1) % kWarps]);
    }
  }

 private:
  // Publishes the prefix of each tile as soon as it is known, without waiting for the whole run. The sum of this tile,
  // or of a later tile, may come from a block that can start only after the block of this tile has ended.
  template <class Op>
  XPOPS_DEVICE void serve_run(const Op& op, const FastDivMod<uint32>& row, uint32 run, const Published<State>& from,
                              Published<State>& to) {
    const uint32 tile = run * kWarp + lane(), last = tiles_ - 1;
    uint32 rows = tile;
    const int in_row = static_cast<int>(row.divmod(rows)), in_run = in_row < lane() ? in_row : lane();
    State own, sum, outer;
    bool ready = false, has_outer = run == 0;
    int summed = -1, served = -1;  // the highest lane with a known prefix: within this run; over all runs
    while (served < kWarp) {
      if (!ready) ready = sums_[tile < last ? tile : last].read(own);
      const uint32 all = __ballot_sync(kFullMask, ready);
      const int known = __popc(all & ~(all + 1));  // the number of lanes before the first without a sum
      if (known != summed) {
        summed = known;
        sum = own;
#pragma unroll
        for (int reach = 1; reach < kWarp; reach *= 2) {
          const State other = shuffle_up(sum, reach);
          if (in_run >= reach) sum = op.combine(other, sum);
        }
      }
      if (!has_outer) has_outer = __all_sync(kFullMask, from.read(outer, run));
      if (!has_outer || served == summed) {
        pause<0>();
        continue;
      }
      Before<State> before;
      if (in_row > lane()) before.append(op, outer);
      if (summed == kWarp && lane() == kWarp - 1) to.publish(before.then(op, sum), run + 1);
      const State left = shuffle_up(sum, 1);
      if (in_run > 0) before.append(op, left);
      if (lane() > served && lane() <= summed && tile <= last && in_row > 0) prefixes_[tile].publish(before.state);
      served = summed;
    }
  }

  Published<State>*sums_, *prefixes_;
  uint32 tiles_;
};

}  // namespace xpops
