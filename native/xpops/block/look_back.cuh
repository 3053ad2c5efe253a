// Decoupled look-back: computes the prefix of a tile from states that earlier blocks publish, always in the same order.
//
// kRadix tiles form a group, and kRadix groups form a supergroup. A tile publishes its own sum. The last tile of a
// group publishes the sum of the group. The last tile of a supergroup publishes the sum of everything up to its own
// end. The prefix of a tile is then
//   everything before its supergroup  +  the groups before its own  +  the tiles before it in its group,
// each combined from left to right. So the order of combination depends only on the tile's number. If kRadix is 1, the
// tiles form a plain chain. A block must not wait for a block that cannot start. If the grid has more blocks than run
// at a time, the blocks must start in the order of their numbers. CUDA does not promise this, but every GPU does it.
#pragma once

#include <xpops/block/published.cuh>
#include <xpops/block/scan.cuh>

namespace xpops {

// The published states of the tiles, for `columns` independent scans side by side.
template <class State, int kRadix>
class LookBack {
 public:
  // `memory` holds zeros at first: (tiles + groups + supergroups) * columns states; for kRadix 1 tiles * columns.
  XPOPS_DEVICE LookBack(void* memory, int tiles, int64 columns, int tile)
      : columns_(columns), tile_(tile), last_(tiles - 1) {
    Published<State>* states = static_cast<Published<State>*>(memory);
    if constexpr (kRadix > 1) {
      tiles_ = states, groups_ = tiles_ + tiles * columns, supers_ = groups_ + (tiles + kRadix - 1) / kRadix * columns;
    } else {
      tiles_ = groups_ = supers_ = states;
    }
  }

  // One thread calls it for each column. Publishes `own`, the sum of the tile, and returns the prefix of the tile.
  template <class Op>
  XPOPS_DEVICE Before<State> by_thread(const Op& op, const State& own, int64 column) {
    Before<State> tiles, groups;
    if constexpr (kRadix > 1) {
      if (tile_ != last_) tiles_[tile_ * columns_ + column].publish(own);
      tiles = combined(op, tiles_ + group() * kRadix * columns_ + column, in_group());
      if (closes_group()) groups_[group() * columns_ + column].publish(tiles.then(op, own));
      groups = combined(op, groups_ + super() * kRadix * columns_ + column, in_super());
    }
    Before<State> before;
    if (super() > 0) before.append(op, supers_[(super() - 1) * columns_ + column].wait());
    return finish(op, before, groups, tiles, own, column, true);
  }

 private:
  XPOPS_DEVICE int group() const { return tile_ / kRadix; }
  XPOPS_DEVICE int super() const { return tile_ / (kRadix * kRadix); }
  XPOPS_DEVICE int in_group() const { return tile_ % kRadix; }
  XPOPS_DEVICE int in_super() const { return group() % kRadix; }
  XPOPS_DEVICE bool closes_group() const { return in_group() == kRadix - 1 && tile_ != last_; }

  template <class Op>
  XPOPS_DEVICE Before<State> finish(const Op& op, Before<State> before, const Before<State>& groups,
                                    const Before<State>& tiles, const State& own, int64 column, bool publishes) {
    if (groups.any) before.append(op, groups.state);
    if (tiles.any) before.append(op, tiles.state);
    if (publishes && closes_group() && in_super() == kRadix - 1) {
      supers_[super() * columns_ + column].publish(before.then(op, own));
    }
    return before;
  }

  // Combines the first `count` states of a column from left to right. Reads several states at once.
  template <class Op>
  XPOPS_DEVICE Before<State> combined(const Op& op, const Published<State>* states, int count) const {
    constexpr int kBatch = kRadix < 4 ? kRadix : 4;
    Before<State> sum;
#pragma unroll 1
    for (int first = 0; first < count; first += kBatch) {
      State batch[kBatch];
      bool ready[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        ready[i] = first + i < count && states[(first + i) * columns_].read(batch[i]);
      }
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        if (first + i < count) sum.append(op, ready[i] ? batch[i] : states[(first + i) * columns_].wait());
      }
    }
    return sum;
  }

  Published<State>*tiles_, *groups_, *supers_;
  int64 columns_;
  int tile_, last_;
};

}  // namespace xpops
