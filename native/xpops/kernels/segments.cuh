// Scatter reductions in an order that is always the same. An index names the place (an element of the result) of each
// source. The sources are sorted by place; the sources of one place are then a segment of the sorted sources.
//
// target_keys     writes the sort key of every source: its place, or the number of places if the source is skipped.
// segment_bounds  finds where each segment begins and ends. If there are more places than sources, it does not run, and
//                 segment_reduce finds the segments itself (kHeads).
// segment_chunks  reduces every kChunk consecutive sources that have the same place to one state (a chunk), and then
//                 every kChunk chunks. So many threads share the work of a place with many sources.
// segment_reduce  reduces each segment, from its complete chunks and the sources before and after them.
#pragma once

#include <xpops/block/reduce.cuh>
#include <xpops/core/cast.cuh>
#include <xpops/index/coordinates.cuh>
#include <xpops/index/targets.cuh>
#include <xpops/math/reduction.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {

// The identity is -0.0, because x + -0.0 is x for every x. -0.0 + 0.0 is 0.0.
template <class T>
struct SegmentSum : Sum<T> {
  XPOPS_DEVICE static T identity() {
    if constexpr (is_floating_v<T>) return -T(0);
    else return T(0);
  }
};

template <int kRank, class Index_>
struct TargetKeysParams {
  using Index = Index_;
  static constexpr int kAxes = kRank;
  uint64 keys, index;
  uint64 size, targets;
  int64 step;
  TargetRange range;
  FastDivMod<Index> divisors[kRank > 1 ? kRank - 1 : 1];
  typename SignedOf<Index>::type strides[2][kRank];  // of the places, and of the index
};

template <class I, class Key, int kUnroll, int kThreads, class Params>
XPOPS_DEVICE void target_keys(const Params& params) {
  using Index = typename Params::Index;
  const I* index = reinterpret_cast<const I*>(params.index);
  Key* keys = reinterpret_cast<Key*>(params.keys);
  const uint64 base = static_cast<uint64>(blockIdx.x) * (kThreads * kUnroll) + threadIdx.x;
  I named[kUnroll];
  int64 first[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const uint64 i = base + u * kThreads;
    const Index linear = static_cast<Index>(i < params.size ? i : params.size - 1);
    const Coordinates<Params::kAxes, Index> at(params.divisors, linear);
    first[u] = at.offset(params.strides[0]);
    named[u] = index[at.offset(params.strides[1])];
  }
  uint64 wrong = 0;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const uint64 i = base + u * kThreads;
    if (i >= params.size) break;
    const int64 row = params.range.target(named[u], wrong);
    keys[i] = static_cast<Key>(row < 0 ? params.targets : static_cast<uint64>(first[u] + row * params.step));
  }
  params.range.tell(wrong);
}

struct SegmentBoundsParams {
  uint64 keys, bounds;
  uint64 size, targets;
};

// `bounds` has a pair for each place: its first position in the sorted keys, and the position after its last. All are 0
// before the kernel runs.
template <class Key, class Place, int kThreads>
XPOPS_DEVICE void segment_bounds(const SegmentBoundsParams& params) {
  const Key* keys = reinterpret_cast<const Key*>(params.keys);
  Place* bounds = reinterpret_cast<Place*>(params.bounds);
  const uint64 i = static_cast<uint64>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= params.size) return;
  const uint64 key = keys[i];
  if (key >= params.targets) return;
  if (i == 0 || keys[i - 1] != key) bounds[2 * key] = static_cast<Place>(i);
  if (i + 1 == params.size || keys[i + 1] != key) bounds[2 * key + 1] = static_cast<Place>(i + 1);
}

// Sources and places are rows of `packs` packs, in groups of rows, one group after the other.
template <class Index>
struct SegmentParams {
  uint64 out, keys, places, bounds, source, chunks[2];
  uint64 threads;  // number of threads that have work
  uint64 size, targets;
  FastDivMod<Index> packs, rows;  // packs in a row; rows in a group: targets, sources, or chunks
};

// Reduces the sources at the sorted positions [first, last), in this order. kLanes neighbouring lanes share the work.
// The first lane gets the result.
template <class Reducer, class T, class Place, int kPack, int kUnroll, int kLanes, int kChunk, int kLevels,
          class Params>
struct SegmentWalk {
  using State = typename Reducer::State;
  const Params& params;
  uint64 group, pack;
  State state[kPack];

  XPOPS_DEVICE SegmentWalk(const Params& params, uint64 group, uint64 pack) : params(params), group(group), pack(pack) {
#pragma unroll
    for (int i = 0; i < kPack; ++i) state[i] = Reducer::identity();
  }

  // Level 0 is the sources, level 1 their chunks, level 2 chunks of chunks.
  template <int kLevel>
  XPOPS_DEVICE void walk(uint64 first, uint64 last) {
    if constexpr (kLevel == kLevels) {
      run<kLevel>(first, last);
    } else {
      const uint64 from = (first + kChunk - 1) / kChunk, to = last / kChunk;
      const bool whole = from < to;
#pragma unroll 1
      for (bool after = false;; after = true) {  // a loop, so that the long code exists only once
        run<kLevel>(after ? to * kChunk : first, after || !whole ? last : from * kChunk);
        if (after || !whole) return;
        walk<kLevel + 1>(from, to);
      }
    }
  }

  template <int kLevel>
  XPOPS_DEVICE void run(uint64 first, uint64 last) {
    using Element = conditional_t<kLevel == 0, T, State>;
    constexpr int kWidth = kPack * sizeof(Element) > kMaxPackBytes ? kMaxPackBytes / sizeof(Element) : kPack;
    uint64 rows = params.size;
    if constexpr (kLevel > 0) {
#pragma unroll
      for (int level = 0; level < kLevel; ++level) rows /= kChunk;
    }
    const uint64 data = kLevel == 0 ? params.source : params.chunks[kLevel == 0 ? 0 : kLevel - 1];
    const Element* from = reinterpret_cast<const Element*>(data);
    const Place* places = reinterpret_cast<const Place*>(params.places);
    const uint64 row = static_cast<uint64>(params.packs.divisor) * kPack;
    from += group * rows * row + pack * kPack;
    uint64 base = first + (kLanes > 1 ? lane() % kLanes : 0);
#pragma unroll 1
    for (; base + (kUnroll - 1) * kLanes < last; base += kUnroll * kLanes) {
      step<Element, kWidth, kLevel, true>(from, places, row, base, last);
    }
    if (base < last) step<Element, kWidth, kLevel, false>(from, places, row, base, last);
  }

  // kWhole: all kUnroll rows exist. This is a separate version, because without checks between the loads all are in
  // flight at once.
  template <class Element, int kWidth, int kLevel, bool kWhole>
  XPOPS_DEVICE void step(const Element* from, const Place* places, uint64 row, uint64 base, uint64 last) {
    uint64 place[kUnroll];
    Pack<Element, kWidth> loaded[kUnroll][kPack / kWidth];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const uint64 i = kWhole || base + u * kLanes < last ? base + u * kLanes : base;
      place[u] = kLevel == 0 ? static_cast<uint64>(places[i]) : i;
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int w = 0; w < kPack / kWidth; ++w) loaded[u][w].load(from + place[u] * row + w * kWidth);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const bool there = kWhole || base + u * kLanes < last;
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        const State sum = Reducer::combine(state[i], cast<State>(loaded[u][i / kWidth].elem[i % kWidth]));
        state[i] = there ? sum : state[i];
      }
    }
  }

  XPOPS_DEVICE void join() {
#pragma unroll
    for (int i = 0; i < kPack; ++i) state[i] = reduce_lanes<Reducer, kLanes>(state[i]);
  }
};

// The work of a thread: kLanes neighbouring threads share one pack of one row of a group.
template <class Index, int kLanes, int kThreads>
struct SegmentThread {
  bool there;
  Index group, row, pack;

  XPOPS_DEVICE explicit SegmentThread(const SegmentParams<Index>& params) {
    const uint64 thread = static_cast<uint64>(blockIdx.x) * kThreads + threadIdx.x;
    there = thread < params.threads;
    group = static_cast<Index>((there ? thread : params.threads - 1) / kLanes);
    pack = params.packs.divmod(group);
    row = params.rows.divmod(group);
  }
  XPOPS_DEVICE bool writes() const { return there && (kLanes == 1 || lane() % kLanes == 0); }
};

// Computes the chunks of level kLevel + 1 from the level below, but only those whose sources all have the same place.
template <class Reducer, class T, class Key, class Place, int kPack, int kUnroll, int kLanes, int kChunk, int kLevel,
          int kThreads, class Index>
XPOPS_DEVICE void segment_chunks(const SegmentParams<Index>& params) {
  using State = typename Reducer::State;
  using Params = SegmentParams<Index>;
  const Key* keys = reinterpret_cast<const Key*>(params.keys);
  const SegmentThread<Index, kLanes, kThreads> mine(params);
  constexpr uint64 kSpan = kLevel == 0 ? kChunk : static_cast<uint64>(kChunk) * kChunk;
  const uint64 row = mine.row, first = keys[row * kSpan], last = keys[(row + 1) * kSpan - 1];
  const bool whole = first == last && first < params.targets;
  SegmentWalk<Reducer, T, Place, kPack, kUnroll, kLanes, kChunk, 0, Params> walk(params, mine.group, mine.pack);
  if (whole) walk.template run<kLevel>(row * kChunk, (row + 1) * kChunk);
  walk.join();
  if (!whole || !mine.writes()) return;
  const uint64 chunk = static_cast<uint64>(mine.group) * params.rows.divisor + row;
  State* to = reinterpret_cast<State*>(params.chunks[kLevel]) + (chunk * params.packs.divisor + mine.pack) * kPack;
#pragma unroll
  for (int i = 0; i < kPack; ++i) to[i] = walk.state[i];
}

namespace detail {

// The mean. Integers are rounded down, as in torch.
template <class T>
XPOPS_DEVICE T mean_of(T sum, uint64 count) {
  if constexpr (is_floating_v<T>) {
    return sum / static_cast<T>(count);
  } else if constexpr (is_signed_v<T>) {
    const int64 wide = sum, by = static_cast<int64>(count), quotient = wide / by;
    return static_cast<T>(quotient - (wide % by < 0));
  } else {
    return static_cast<T>(static_cast<uint64>(sum) / count);
  }
}

}  // namespace detail

// The end of the segment that begins at `first`, by exponential search.
template <class Key>
XPOPS_DEVICE uint64 segment_end(const Key* keys, uint64 first, uint64 size) {
  const Key key = keys[first];
  uint64 known = first, step = 1;
  const auto goes_on = [&] { return known + step < size && keys[known + step] == key; };
  for (; goes_on(); step *= 2) known += step;
  for (step /= 2; step > 0; step /= 2) {
    if (goes_on()) known += step;
  }
  return known + 1;
}

// A segment: its target, and where it begins and ends.
struct Segment {
  uint64 target, first, last;

  // If kHeads, the segment that begins with the sorted source `row`, or an empty one. Else the segment of target `row`.
  template <class Key, class Place, bool kHeads, class Params>
  XPOPS_DEVICE static Segment at(const Params& params, uint64 row) {
    if constexpr (kHeads) {
      const Key* keys = reinterpret_cast<const Key*>(params.keys);
      const bool head = keys[row] < params.targets && (row == 0 || keys[row - 1] != keys[row]);
      return {keys[row], row, head ? segment_end(keys, row, params.size) : row};
    } else {
      const Place* bounds = reinterpret_cast<const Place*>(params.bounds) + 2 * row;
      return {row, static_cast<uint64>(bounds[0]), static_cast<uint64>(bounds[1])};
    }
  }
};

// kSelf: the old value at a place is included. kMean: the state is a sum, and the result a mean.
template <class Reducer, class T, class Key, class Place, int kPack, int kUnroll, int kLanes, int kChunk, int kLevels,
          bool kHeads, bool kSelf, bool kMean, int kThreads, class Index>
XPOPS_DEVICE void segment_reduce(const SegmentParams<Index>& params) {
  using State = typename Reducer::State;
  using Params = SegmentParams<Index>;
  const SegmentThread<Index, kLanes, kThreads> mine(params);
  const Segment segment = Segment::at<Key, Place, kHeads>(params, mine.row);
  SegmentWalk<Reducer, T, Place, kPack, kUnroll, kLanes, kChunk, kLevels, Params> walk(params, mine.group, mine.pack);
  walk.template walk<0>(segment.first, segment.last);
  walk.join();
  if (segment.first == segment.last || !mine.writes()) return;
  const uint64 row = static_cast<uint64>(mine.group) * params.targets + segment.target;
  T* out = reinterpret_cast<T*>(params.out) + (row * params.packs.divisor + mine.pack) * kPack;
  Pack<T, kPack> result;
  if (kSelf) result.load(out);
#pragma unroll
  for (int i = 0; i < kPack; ++i) {
    State state = walk.state[i];
    if (kSelf) state = Reducer::combine(cast<State>(result.elem[i]), state);
    if (kMean) state = detail::mean_of(state, segment.last - segment.first + kSelf);
    result.elem[i] = cast<T>(state);
  }
  result.store(out);
}

}  // namespace xpops
