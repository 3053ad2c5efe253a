// What comes before each of many tiles, found by one block for all others.
//
// Every other block publishes the sum of its tile and waits for one word. Looking back instead, each at the sums of many
// tiles before its own, all blocks read the same few lines of L2 again and again: 2^28 float32 took 675 us that way and
// take 533 this way (one H200, 2026-11), where a copy takes 510. Sums are combined in an order that depends on the
// tiles' numbers and on nothing else.
//
// Blocks wait for this one, and it waits for them in the order of their numbers. So it has to be the first to start, and
// they to start in order. CUDA does not promise that, but every GPU does it.
#pragma once

#include <xpops/block/published.cuh>
#include <xpops/block/scan.cuh>
#include <xpops/index/divmod.cuh>

namespace xpops {

template <class State>
class TilePrefixes {
 public:
  // `memory` holds zeros, two published states for each tile.
  XPOPS_DEVICE TilePrefixes(uint64 memory, uint32 tiles)
      : sums_(reinterpret_cast<Published<State>*>(memory)), prefixes_(sums_ + tiles), tiles_(tiles) {}

  // By one thread of the block of a tile: leaves its sum, and gets what comes before it, unless it is the first of its row.
  XPOPS_DEVICE void publish(uint32 tile, const State& sum) { sums_[tile].publish(sum); }
  XPOPS_DEVICE State wait(uint32 tile) const { return prefixes_[tile].wait(); }

  // By the block that serves the others. Each row of tiles begins with nothing before it. A warp takes 32 tiles at a time,
  // hands what comes before the next 32 to the next warp, and goes on behind the last one.
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
  // A tile is told what comes before it as soon as that is known: its own sum or later ones may come from blocks that can
  // only start when this tile's has ended.
  template <class Op>
  XPOPS_DEVICE void serve_run(const Op& op, const FastDivMod<uint32>& row, uint32 run, const Published<State>& from,
                              Published<State>& to) {
    const uint32 tile = run * kWarp + lane(), last = tiles_ - 1;
    uint32 rows = tile;
    const int in_row = static_cast<int>(row.divmod(rows)), in_run = in_row < lane() ? in_row : lane();
    State own, sum, outer;
    bool ready = false, has_outer = run == 0;
    int summed = -1, served = -1;  // the last lane before which everything is known: of this run, and of all before, too
    while (served < kWarp) {
      if (!ready) ready = sums_[tile < last ? tile : last].read(own);
      const uint32 all = __ballot_sync(kFullMask, ready);
      const int known = __popc(all & ~(all + 1));  // up to the first that is missing
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
