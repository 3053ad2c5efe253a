// The prefix of a tile that another block is computing what comes before of: look-back, in a fixed order.
//
// Tiles form groups of kRadix, and groups form supergroups of kRadix. A tile publishes its own sum; the last tile of a
// group the group's; the last tile of a supergroup everything up to there. What comes before a tile is then
//   everything before its supergroup  +  the groups before its own  +  the tiles before it in its group,
// each combined from left to right: how a sum is made depends on the tile's number and on nothing else. kRadix 1 is a
// plain chain. Blocks start in the order of their numbers, so that nobody waits for one that could not start: CUDA does not
// promise it, but every GPU does it, and the look-back of other libraries stands on it too.
#pragma once

#include <xpops/block/scan.cuh>
#include <xpops/block/warp.cuh>

namespace xpops {

// A state that one block leaves for others. Each 32-bit word travels with a flag in one 64-bit access, so a reader sees
// both or neither, and no fence is needed. The memory is zeros at first.
template <class State>
class Published {
 public:
  XPOPS_DEVICE void publish(const State& state) {
    Words from;
    from.state = state;
#pragma unroll
    for (int i = 0; i < kWords; ++i) *at(i) = uint64(1) << 32 | from.words[i];
  }

  // Whether the state is there; then it is in `to`.
  XPOPS_DEVICE bool read(State& to) const {
    Words words;
    uint64 ready = uint64(1) << 32;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const uint64 word = *at(i);
      ready &= word;
      words.words[i] = static_cast<uint32>(word);
    }
    to = words.state;
    return ready != 0;
  }

  XPOPS_DEVICE State wait() const {
    State state;
    while (!read(state)) pause();
    return state;
  }

  static XPOPS_DEVICE void pause() {
#if !XPOPS_ON_GPU || __CUDA_ARCH__ >= 700
    __nanosleep(20);
#endif
  }

 private:
  static constexpr int kWords = (sizeof(State) + 3) / 4;
  union Words {
    uint32 words[kWords];
    State state;
    XPOPS_DEVICE Words() {
#pragma unroll
      for (int i = 0; i < kWords; ++i) words[i] = 0;
    }
  };

  XPOPS_DEVICE volatile uint64* at(int i) { return &words_[i]; }
  XPOPS_DEVICE const volatile uint64* at(int i) const { return &words_[i]; }

  uint64 words_[kWords];
};

// The published states of the tiles of kColumns independent scans side by side.
template <class State, int kRadix>
class LookBack {
 public:
  // `memory` holds zeros, (tiles + groups + supergroups) * columns states; for kRadix 1 tiles * columns.
  XPOPS_DEVICE LookBack(void* memory, int tiles, int64 columns, int tile)
      : columns_(columns), tile_(tile), last_(tiles - 1) {
    Published<State>* states = static_cast<Published<State>*>(memory);
    if constexpr (kRadix > 1) {
      tiles_ = states, groups_ = tiles_ + tiles * columns, supers_ = groups_ + (tiles + kRadix - 1) / kRadix * columns;
    } else {
      tiles_ = groups_ = supers_ = states;
    }
  }

  // By one thread for each column: what comes before the tile, whose own sum is `own`.
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

  // By a whole warp for a single column: lanes read kRadix states at once. Every lane gets the result.
  template <class Op>
  XPOPS_DEVICE Before<State> by_warp(const Op& op, const State& own) {
    static_assert(kRadix == kWarp, "a lane for each state");
    const int here = lane();
    if (here == 0 && tile_ != last_) tiles_[tile_].publish(own);
    State tile_sum, group_sum, super_sum;
    bool has_tile = here >= in_group(), has_group = here >= in_super(), has_super = super() == 0;
    bool grouped = false;
    Before<State> tiles;
    for (;;) {  // all three at once: each takes the time of a trip to memory
      if (!has_tile) has_tile = tiles_[group() * kRadix + here].read(tile_sum);
      if (!has_group) has_group = groups_[super() * kRadix + here].read(group_sum);
      if (!has_super) has_super = supers_[super() - 1].read(super_sum);
      if (!grouped && __all_sync(kFullMask, has_tile)) {
        grouped = true;
        tiles = first_lanes(op, tile_sum, in_group());
        if (here == 0 && closes_group()) groups_[group()].publish(tiles.then(op, own));
      }
      if (__all_sync(kFullMask, has_tile && has_group && has_super)) break;
      Published<State>::pause();
    }
    Before<State> before;
    if (super() > 0) before.append(op, super_sum);
    return finish(op, before, first_lanes(op, group_sum, in_super()), tiles, own, 0, here == 0);
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

  // The first `count` states of a column, from left to right; several are read at once.
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

  template <class Op>
  XPOPS_DEVICE static Before<State> first_lanes(const Op& op, const State& state, int count) {
    State sums[1] = {state};
    scan_lanes<kWarp>(op, sums);
    Before<State> before;
    before.state = shuffle(sums[0], count > 0 ? count - 1 : 0);
    before.any = count > 0;
    return before;
  }

  Published<State>*tiles_, *groups_, *supers_;
  int64 columns_;
  int tile_, last_;
};

}  // namespace xpops
