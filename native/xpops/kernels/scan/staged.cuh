// Scans of few neighbouring columns, or of short rows (see scan.cuh): a tile is one run of the result's memory. It
// passes through shared memory, so that accesses are coalesced, and each thread scans some rows of one column.
#pragma once

#include <xpops/block/look_back.cuh>
#include <xpops/block/scan.cuh>
#include <xpops/kernels/scan/scan.cuh>

namespace xpops {

// Scans the totals of `count` neighbouring groups into `sums`, in shared memory. This thread belongs to group `place`.
template <class Op, class State>
XPOPS_DEVICE void scan_totals(const Op& op, State total, State* sums, uint32 count, uint32 place, uint32 columns) {
  sums[threadIdx.x] = total;
  __syncthreads();
#pragma unroll 1
  for (uint32 distance = 1; distance < count; distance *= 2) {
    const bool has = place >= distance && place < count;
    if (has) total = op.combine(sums[threadIdx.x - distance * columns], total);
    __syncthreads();
    if (has) sums[threadIdx.x] = total;
    __syncthreads();
  }
}

// Returns the prefix of a thread's rows: what earlier groups of this batch, which are all in this tile, hold of its column.
template <int kBlock, class Op, class State>
XPOPS_DEVICE Before<State> before_part(const Op& op, State total, uint32 parts, uint32 part, uint32 columns) {
  __shared__ State sums[kBlock];
  scan_totals(op, total, sums, parts, part, columns);
  Before<State> before;
  if (part > 0) before.append(op, sums[threadIdx.x - columns]);
  return before;
}

// Returns the prefix of a thread's rows: what earlier groups of this tile, and earlier tiles, hold of its column.
template <int kBlock, int kRadix, class Params, class Op, class State>
XPOPS_DEVICE Before<State> before_group(const Params& params, const Op& op, State total, uint32 groups, uint32 group,
                                        uint32 column, uint32 batch, int tile) {
  __shared__ State sums[kBlock];
  __shared__ State outer[kBlock];
  const uint32 columns = static_cast<uint32>(params.columns);
  scan_totals(op, total, sums, groups, group, columns);
  if (threadIdx.x < columns) {
    char* states = reinterpret_cast<char*>(params.slots[2]) + batch * params.states;
    LookBack<State, kRadix> look_back(states, static_cast<int>(params.tiles), params.columns, tile);
    outer[threadIdx.x] = look_back.by_thread(op, sums[(groups - 1) * columns + threadIdx.x], threadIdx.x).state;
  }
  __syncthreads();
  Before<State> before;
  if (tile > 0) before.append(op, outer[column]);
  if (group > 0 && group < groups) before.append(op, sums[threadIdx.x - columns]);
  return before;
}

// A tile as one run of memory, which is accessed in aligned packs, whatever its first element's address. In shared memory
// it begins `skew` elements after an aligned place, so that packs are aligned there, too. kGaps: as for scan_staged.
template <class T, int kBlock, int kElements, bool kGaps>
struct StagedRun {
  static constexpr int kPack = kMaxPackBytes / sizeof(T);
  static constexpr int kAccesses = (kElements + kPack - 1 + kBlock * kPack - 1) / (kBlock * kPack);
  using Access = Pack<T, kPack>;

  T* begin;
  T* staged;
  uint32 skew;
  // The elements of a group, and those between groups.
  uint32 group, gap;

  XPOPS_DEVICE StagedRun(T* first, char* memory, uint32 group, uint32 gap)
      : staged(reinterpret_cast<T*>(memory)),
        skew(static_cast<uint32>(reinterpret_cast<uint64>(first) % kMaxPackBytes / sizeof(T))),
        group(group),
        gap(gap) {
    begin = first - skew;
  }

  XPOPS_DEVICE static uint32 place(int access) { return (access * kBlock + threadIdx.x) * kPack; }
  XPOPS_DEVICE bool is_whole(uint32 place, uint32 count) const {
    return place >= skew && place + kPack <= skew + count;
  }

  // Calls `visit(i, staged)` with each element of an access that is one of the first `count` of the tile: its number in
  // the access and its place in shared memory.
  template <class Visit>
  XPOPS_DEVICE void each(uint32 place, uint32 count, Visit visit) const {
    uint32 element = place - skew, left = 0, gaps = 0;
    if constexpr (kGaps) {
      const uint32 groups = place < skew ? 0 : element / group;
      gaps = groups * gap, left = group - (place < skew ? 0 : element - groups * group);
    }
#pragma unroll
    for (int i = 0; i < kPack; ++i, ++element) {
      if (element >= count) continue;  // before the first element it is huge
      if (kGaps && left == 0) left = group, gaps += gap;
      if (kGaps) --left;
      visit(i, skew + element + gaps);
    }
  }

  // Moves the first `count` elements to shared memory, and fills the rest of the `held` ones with zeros: they are not
  // written, but a user's functor may fail for arbitrary bits.
  XPOPS_DEVICE void load(uint32 count, uint32 held) const {
    Access raw[kAccesses];
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      const uint32 at = place(a);
      if (is_whole(at, count)) {
        raw[a].load(begin + at);
      } else {
#pragma unroll
        for (int i = 0; i < kPack; ++i) raw[a].elem[i] = at + i - skew < count ? begin[at + i] : T{};
      }
    }
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      const uint32 at = place(a);
      if (!kGaps && is_whole(at, held)) {
        raw[a].stage(staged + at);
      } else {
        each(at, held, [&](int i, uint32 to) { staged[to] = raw[a].elem[i]; });
      }
    }
  }

  // Writes the first `count` elements from shared memory.
  XPOPS_DEVICE void store(uint32 count) const {
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      const uint32 at = place(a);
      Access made;
      if (!kGaps && is_whole(at, count)) {
        made.load(staged + at);
      } else {
        each(at, count, [&](int i, uint32 from) { made.elem[i] = staged[from]; });
      }
      if (is_whole(at, count)) {
        made.store(begin + at);
      } else {
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
          if (at + i - skew < count) begin[at + i] = made.elem[i];
        }
      }
    }
  }
};

// A group of threads, one for each column, has kRows rows; groups of a tile follow each other. If kRadix is 0, a tile has
// whole batches, which are independent: a group has the rows of a batch, at most kRows, and a thread takes kTurns groups,
// one after the other; or, if kShared, several groups share a batch. kGaps: in shared memory, a row without data
// follows each group, so that an odd number of rows is between groups, and threads of a warp access different banks. The
// operand has the strides of the result.
template <class Types, int kBlock, int kRows, int kTurns, int kRadix, bool kShared, bool kGaps, class Params>
XPOPS_DEVICE void scan_staged(const Params& params) {
  using In = typename Types::In;
  using Out = typename Types::Out;
  using State = typename Types::State;
  constexpr int kWidest = sizeof(In) > sizeof(Out) ? sizeof(In) : sizeof(Out), kElements = kBlock * kRows * kTurns;
  static_assert((kRadix == 0 && !kShared) || kTurns == 1, "the rows of a batch follow each other");
  alignas(kMaxPackBytes) __shared__ char memory[kBlock * (kRows + kGaps) * kTurns * kWidest + kMaxPackBytes];
  const typename Types::Op op(params.slots + 3);
  const uint32 columns = static_cast<uint32>(params.columns), length = static_cast<uint32>(params.length);
  const uint32 parts = kShared ? (length + kRows - 1) / kRows : 1, all = kBlock / columns, groups = all - all % parts;
  const uint32 rows = kRadix > 0 ? kRows : length, held = groups / parts * kTurns * rows * columns;
  uint32 tile = blockIdx.x;
  const uint32 batch = kRadix > 0 ? params.grid[1].divmod(tile) : 0;
  const ScanBatch<Types, Params> table(params, batch);
  const int64 first = static_cast<int64>(tile) * held;
  const int64 left = params.length * columns * (kRadix > 0 ? 1 : params.batches) - first;
  const uint32 count = left < held ? static_cast<uint32>(left) : held, gap = kGaps ? columns : 0;
  const StagedRun<Out, kBlock, kElements, kGaps> to(table.out + first, memory, rows * columns, gap);
  const StagedRun<In, kBlock, kElements, kGaps> from(const_cast<In*>(table.in) + first, memory, rows * columns, gap);
  from.load(count, held);
  const In* const given = from.staged + from.skew;
  __syncthreads();

  uint32 group = threadIdx.x;
  const uint32 column = params.grid[0].divmod(group), part = kShared ? group % parts : 0;
  // The first row of this group's first turn in shared memory, and how many rows the group has.
  const uint32 begin = kShared ? group / parts * length + part * kRows : group * (rows + kGaps);
  const uint32 own = kShared ? (part + 1 < parts ? kRows : length - part * kRows) : rows;
  const uint32 place = group < groups ? begin * columns + column : 0, turn = groups * (rows + kGaps) * columns;
  State items[kTurns][kRows];
#pragma unroll
  for (int t = 0; t < kTurns; ++t) {
    const In* const mine = given + (group < groups ? place + t * turn : 0);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (kRadix == 0 && r >= own) continue;
      items[t][r] = Types::lift(op, mine[r * columns]);
      if (r > 0) items[t][r] = op.combine(items[t][r - 1], items[t][r]);
    }
  }
  Before<State> before;
  if constexpr (kRadix > 0) {
    before = before_group<kBlock, kRadix>(params, op, items[0][kRows - 1], groups, group, column, batch,
                                          static_cast<int>(tile));
  } else if constexpr (kShared) {
    before = before_part<kBlock>(op, own == kRows ? items[0][kRows - 1] : items[0][0], parts, part, columns);
  } else {
    __syncthreads();
  }
  if (group < groups) {
#pragma unroll
    for (int t = 0; t < kTurns; ++t) {
      Out* const mine = to.staged + to.skew + place + t * turn;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (r < own) mine[r * columns] = Types::value(op, before.then(op, items[t][r]));
      }
    }
  }
  __syncthreads();
  to.store(count);
}

}  // namespace xpops
