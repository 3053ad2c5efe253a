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
  static constexpr int kWords = (sizeof(State) + 3) / 4;

 public:
  XPOPS_DEVICE void publish(const State& state) {
    Words from;
    from.state = state;
#pragma unroll
    for (int i = 0; i < kWords; ++i) *at(i) = uint64(1) << 32 | from.words[i];
  }

  // What was there at some time. Whoever looks at it waits for the trip to memory.
  class Seen {
   public:
    XPOPS_DEVICE bool is_ready() const {
      uint64 ready = uint64(1) << 32;
#pragma unroll
      for (int i = 0; i < kWords; ++i) ready &= words_[i];
      return ready != 0;
    }

    XPOPS_DEVICE State state() const {
      Words to;
#pragma unroll
      for (int i = 0; i < kWords; ++i) to.words[i] = static_cast<uint32>(words_[i]);
      return to.state;
    }

   private:
    friend class Published;
    uint64 words_[kWords];
  };

  XPOPS_DEVICE Seen see() const {
    Seen seen;
#pragma unroll
    for (int i = 0; i < kWords; ++i) seen.words_[i] = *at(i);
    return seen;
  }

  // Whether the state is there; then it is in `to`.
  XPOPS_DEVICE bool read(State& to) const {
    const Seen seen = see();
    to = seen.state();
    return seen.is_ready();
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

// The same for a single scan, where a whole block looks back: it reads many states at once, so groups of tiles are
// larger. Every warp has rows of kWarp tiles of the group, and the last one has the groups, too. They begin to read, do
// something else, end reading, and meet at a barrier; behind it, every thread knows what comes before the tile.
template <class State, int kWarps>
class RowLookBack {
 public:
  static constexpr int kRows = 8, kTiles = kRows * kWarp, kGroups = kWarp;

  // What the warps tell each other, in shared memory.
  struct Found {
    State rows[kRows];
    State groups, super;
  };

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

  XPOPS_DEVICE void begin() {
#pragma unroll
    for (int i = 0; i < kEach; ++i) seen_[i] = tile_of(i)->see();
    if (warp() == kWarps - 1) {
      seen_group_ = group_of()->see();
      seen_super_ = super_of()->see();
    }
  }

  // `own` is the tile's own sum.
  template <class Op>
  XPOPS_DEVICE void end(const Op& op, const State& own, Found& found) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (row(i) * kWarp < in_group()) sum(op, seen_[i], tile_of(i), in_group() - row(i) * kWarp, found.rows[row(i)]);
    }
    if (closes_group()) {  // at once: others may wait for it while this block waits for the groups before
      __syncthreads();
      if (threadIdx.x == 0) groups_[group()].publish(tiles(op, found).then(op, own));
    }
    if (warp() == kWarps - 1) {
      if (in_super() > 0) sum(op, seen_group_, group_of(), in_super(), found.groups);
      if (super() > 0) sum(op, seen_super_, super_of(), 1, found.super);
    }
  }

  // Behind a barrier: what comes before the tile.
  template <class Op>
  XPOPS_DEVICE Before<State> before(const Op& op, const State& own, const Found& found) {
    Before<State> before;
    if (super() > 0) before.append(op, found.super);
    if (in_super() > 0) before.append(op, found.groups);
    const Before<State> group = tiles(op, found);
    if (group.any) before.append(op, group.state);
    if (closes_group() && in_super() == kGroups - 1 && threadIdx.x == 0) {
      supers_[super()].publish(before.then(op, own));
    }
    return before;
  }

 private:
  static constexpr int kEach = (kRows + kWarps - 1) / kWarps;
  using Seen = typename Published<State>::Seen;

  XPOPS_DEVICE int group() const { return tile_ / kTiles; }
  XPOPS_DEVICE int super() const { return group() / kGroups; }
  XPOPS_DEVICE int in_group() const { return tile_ % kTiles; }
  XPOPS_DEVICE int in_super() const { return group() % kGroups; }
  XPOPS_DEVICE bool closes_group() const { return in_group() == kTiles - 1 && tile_ != last_; }
  XPOPS_DEVICE static int row(int i) { return i * kWarps + warp(); }

  // What this lane reads; where there is nothing to read, the tile's own place, so that there is no branch.
  XPOPS_DEVICE const Published<State>* tile_of(int i) const {
    const int at = row(i) * kWarp + lane();
    return tiles_ + (at < in_group() ? tile_ - in_group() + at : tile_);
  }
  XPOPS_DEVICE const Published<State>* group_of() const {
    return lane() < in_super() ? groups_ + super() * kGroups + lane() : tiles_ + tile_;
  }
  XPOPS_DEVICE const Published<State>* super_of() const { return super() > 0 ? supers_ + super() - 1 : tiles_ + tile_; }

  // The states that the first `count` lanes read, from left to right.
  template <class Op>
  XPOPS_DEVICE static void sum(const Op& op, Seen& seen, const Published<State>* from, int count, State& to) {
    while (!__all_sync(kFullMask, lane() >= count || seen.is_ready())) {
      Published<State>::pause();
      if (!seen.is_ready()) seen = from->see();
    }
    State states[1] = {seen.state()};
    scan_lanes<kWarp>(op, states);
    if (lane() == (count < kWarp ? count : kWarp) - 1) to = states[0];
  }

  template <class Op>
  XPOPS_DEVICE Before<State> tiles(const Op& op, const Found& found) const {
    Before<State> sum;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (i * kWarp < in_group()) sum.append(op, found.rows[i]);
    }
    return sum;
  }

  Published<State>*tiles_, *groups_, *supers_;
  int tile_, last_;
  Seen seen_[kEach], seen_group_, seen_super_;
};

}  // namespace xpops
