// The prefix of a tile that another block is computing what comes before of: look-back, in a fixed order.
//
// Tiles form groups of kRadix, and groups form supergroups of kRadix. A tile publishes its own sum; the last tile of a
// group the group's; the last tile of a supergroup everything up to there. What comes before a tile is then
//   everything before its supergroup  +  the groups before its own  +  the tiles before it in its group,
// each combined from left to right: how a sum is made depends on the tile's number and on nothing else. kRadix 1 is a
// plain chain. Nobody may wait for a block that could not start: where a grid has more blocks than run at a time, they
// start in the order of their numbers. CUDA does not promise that, but every GPU does it.
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

  Published<State>*tiles_, *groups_, *supers_;
  int64 columns_;
  int tile_, last_;
};

// The same for a single scan, where a whole warp looks back: it reads many states at once, so groups of tiles are larger.
template <class State>
class RowLookBack {
 public:
  static constexpr int kEach = 8, kTiles = kEach * kWarp, kGroups = kWarp;

  // `memory` holds zeros, tiles + groups + supergroups states.
  XPOPS_DEVICE RowLookBack(void* memory, int tiles, int tile)
      : tiles_(static_cast<Published<State>*>(memory)),
        groups_(tiles_ + tiles),
        supers_(groups_ + tiles / kTiles),
        tile_(tile),
        last_(tiles - 1) {}

  // By one thread: tells the others the tile's own sum.
  XPOPS_DEVICE void publish(const State& own) {
    if (tile_ != last_) tiles_[tile_].publish(own);
  }

  // By all lanes, each of which gets what comes before the tile, whose own sum is `own`.
  template <class Op>
  XPOPS_DEVICE Before<State> find(const Op& op, const State& own) {
    const int group = tile_ / kTiles, super = group / kGroups, count = tile_ % kTiles, groups = group % kGroups;
    const bool publishes = lane() == 0 && tile_ != last_;
    State run[kEach], group_sum, super_sum;
    bool ready[kEach], has_group = lane() >= groups, has_super = super == 0, summed = false;
#pragma unroll
    for (int i = 0; i < kEach; ++i) ready[i] = i * kWarp + lane() >= count;
    Before<State> tiles;
    for (;;) {  // all that is missing at once: each takes the time of a trip to memory
      bool runs = true;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        if (!ready[i]) ready[i] = tiles_[group * kTiles + i * kWarp + lane()].read(run[i]);
        runs = runs && ready[i];
      }
      if (!has_group) has_group = groups_[super * kGroups + lane()].read(group_sum);
      if (!has_super) has_super = supers_[super - 1].read(super_sum);
      if (!summed && __all_sync(kFullMask, runs)) {
        summed = true;
        tiles = first<kEach>(op, run, count);
        if (publishes && count == kTiles - 1) groups_[group].publish(tiles.then(op, own));
      }
      if (__all_sync(kFullMask, runs && has_group && has_super)) break;
      Published<State>::pause();
    }
    Before<State> before;
    if (super > 0) before.append(op, super_sum);
    State group_sums[1] = {group_sum};
    const Before<State> earlier = first<1>(op, group_sums, groups);
    if (earlier.any) before.append(op, earlier.state);
    if (tiles.any) before.append(op, tiles.state);
    if (publishes && count == kTiles - 1 && groups == kGroups - 1) supers_[super].publish(before.then(op, own));
    return before;
  }

 private:
  // The first `count` of the states that the lanes hold, kCount rows of kWarp, from left to right.
  template <int kCount, class Op>
  XPOPS_DEVICE static Before<State> first(const Op& op, State (&states)[kCount], int count) {
    scan_lanes<kWarp>(op, states);
    Before<State> before;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int here = count - i * kWarp < kWarp ? count - i * kWarp : kWarp;
      const State sum = shuffle(states[i], here > 0 ? here - 1 : 0);
      if (here > 0) before.append(op, sum);
    }
    return before;
  }

  Published<State>*tiles_, *groups_, *supers_;
  int tile_, last_;
};

}  // namespace xpops
