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

// The elements of a tile in shared memory. A run of memory is accessed in aligned packs, whatever its first element's
// address; in shared memory it begins `skew` elements after an aligned place, so that packs are aligned there, too. If
// kPadded, a unit follows every 128 bytes, so that threads whose elements are an even distance apart access different
// banks.
template <class T, int kBlock, int kElements, bool kPadded>
class StagedTile {
  static constexpr int kItem = sizeof(T), kPack = kMaxPackBytes / kItem, kLine = 128;
  static constexpr int kUnit = !kPadded ? kMaxPackBytes : kItem < 4 ? 4 : kItem;
  static constexpr int kAccesses = (kElements + kPack - 1 + kBlock * kPack - 1) / (kBlock * kPack);
  // Elements that a thread loads at a time if they are not one run: all at once, if registers hold them.
  static constexpr int kUnroll = kElements < 32 * kBlock ? kElements / kBlock : 32;
  using Access = Pack<T, kPack>;
  using Unit = typename Word<kUnit>::type;
  union Units {
    typename Access::Bits bits;
    Unit units[kMaxPackBytes / kUnit];
    XPOPS_DEVICE Units() {}
  };

 public:
  static constexpr int kBytes = kElements * kItem + kMaxPackBytes + (kPadded ? kElements * kItem / kLine + 1 : 0) * kUnit;

  // `run`: the address of the tile's first element, if the tile is one run of memory.
  XPOPS_DEVICE StagedTile(char* memory, const T* run = nullptr)
      : memory_(memory), skew_(static_cast<uint32>(reinterpret_cast<uint64>(run) % kMaxPackBytes / kItem)) {}

  // The element `beyond` places after `element`.
  XPOPS_DEVICE T& at(uint32 element, uint32 beyond) const {
    if constexpr (kPadded) return *reinterpret_cast<T*>(place((skew_ + element + beyond) * kItem));
    else return reinterpret_cast<T*>(place((skew_ + element) * kItem))[beyond];
  }

  // Moves the first `count` elements of the run to shared memory, and fills the rest of the `held` ones with zeros: they
  // are not written, but a user's functor may fail for arbitrary bits.
  XPOPS_DEVICE void load(const T* run, uint32 count, uint32 held) const {
    const T* const begin = run - skew_;
    Access raw[kAccesses];
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      const uint32 at = first(a);
      if (is_whole(at, count)) {
        raw[a].load(begin + at);
      } else {
#pragma unroll
        for (int i = 0; i < kPack; ++i) raw[a].elem[i] = at + i - skew_ < count ? begin[at + i] : T{};
      }
    }
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      if (first(a) >= skew_ + held) continue;
      Unit* const to = reinterpret_cast<Unit*>(place(first(a) * kItem));
      Units parts;
      parts.bits = raw[a].bits[0];
#pragma unroll
      for (int i = 0; i < kMaxPackBytes / kUnit; ++i) to[i] = parts.units[i];
    }
  }

  // Moves the first `count` elements to shared memory, one by one, and fills likewise; `at(e)` is the address of element e.
  template <class At>
  XPOPS_DEVICE void load_each(uint32 count, uint32 held, At at) const {
#pragma unroll 1
    for (uint32 begin = threadIdx.x; begin < held; begin += kUnroll * kBlock) {
      T raw[kUnroll];
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) raw[i] = begin + i * kBlock < count ? *at(begin + i * kBlock) : T{};
#pragma unroll
      for (int i = 0; i < kUnroll; ++i) {
        if (begin + i * kBlock < held) this->at(begin, i * kBlock) = raw[i];
      }
    }
  }

  // Writes the first `count` elements from shared memory to the run.
  XPOPS_DEVICE void store(T* run, uint32 count) const {
    T* const begin = run - skew_;
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      const uint32 at = first(a);
      if (at >= skew_ + count) continue;
      const Unit* const from = reinterpret_cast<const Unit*>(place(at * kItem));
      Units parts;
      Access made;
#pragma unroll
      for (int i = 0; i < kMaxPackBytes / kUnit; ++i) parts.units[i] = from[i];
      made.bits[0] = parts.bits;
      if (is_whole(at, count)) {
        made.store(begin + at);
      } else {
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
          if (at + i - skew_ < count) begin[at + i] = made.elem[i];  // before the first element the number is huge
        }
      }
    }
  }

 private:
  XPOPS_DEVICE static uint32 first(int access) { return (access * kBlock + threadIdx.x) * kPack; }
  XPOPS_DEVICE bool is_whole(uint32 at, uint32 count) const { return at >= skew_ && at + kPack <= skew_ + count; }
  XPOPS_DEVICE char* place(uint32 byte) const { return memory_ + byte + (kPadded ? byte / kLine * kUnit : 0); }

  char* memory_;
  uint32 skew_;
};

// A group of threads, one for each column, has kLeast to kRows rows; groups of a tile follow each other. If kRadix is 0, a
// tile has whole batches, which are independent: a group has the rows of a batch, and a thread takes kTurns groups, one
// after the other; or, if kShared, several groups share a batch. The result of a tile is one run of memory. If kRun, so is
// the operand; else its batches, rows and columns are any 32-bit strides apart.
template <class Types, int kBlock, int kLeast, int kRows, int kTurns, int kRadix, bool kShared, bool kPadded, bool kRun,
          class Params>
XPOPS_DEVICE void scan_staged(const Params& params) {
  using In = typename Types::In;
  using Out = typename Types::Out;
  using State = typename Types::State;
  using From = StagedTile<In, kBlock, kBlock * kRows * kTurns, kPadded>;
  using To = StagedTile<Out, kBlock, kBlock * kRows * kTurns, kPadded>;
  static_assert((kRadix == 0 && !kShared) || kTurns == 1, "the rows of a batch follow each other");
  alignas(kMaxPackBytes) __shared__ char memory[From::kBytes > To::kBytes ? From::kBytes : To::kBytes];
  const typename Types::Op op(params.slots + 3);
  const uint32 columns = static_cast<uint32>(params.columns), length = static_cast<uint32>(params.length);
  const uint32 parts = kShared ? (length + kRows - 1) / kRows : 1, all = kBlock / columns, groups = all - all % parts;
  const uint32 rows = kRadix > 0 ? kRows : length, batches = groups / parts * kTurns;
  const uint32 held = batches * rows * columns;
  uint32 tile = blockIdx.x;
  const uint32 batch = kRadix > 0 ? params.grid[1].divmod(tile) : 0;
  const ScanBatch<Types, Params> table(params, batch);
  const int64 first = static_cast<int64>(tile) * held;
  const int64 left = params.length * columns * (kRadix > 0 ? 1 : params.batches) - first;
  const uint32 count = left < held ? static_cast<uint32>(left) : held;
  const From from(memory, kRun ? table.in + first : nullptr);
  const To to(memory, table.out + first);
  if constexpr (kRun) {
    from.load(table.in + first, count, held);
  } else {
    const int64 step = kRadix > 0 ? params.in_step * groups * kRows : params.in_strides[0] * batches;
    const In* const begin = table.in + step * tile;
    from.load_each(count, held, [&](uint32 element) {
      uint32 row = element, batch = 0;
      if constexpr (kRadix == 0) batch = element, row = params.grid[1].divmod(batch);
      const uint32 column = params.grid[0].divmod(row);
      return begin + static_cast<int32>(batch * static_cast<uint32>(params.in_strides[0]) +
                                        row * static_cast<uint32>(params.in_step) +
                                        column * static_cast<uint32>(params.in_column_step));
    });
  }
  __syncthreads();

  uint32 group = threadIdx.x;
  const uint32 column = params.grid[0].divmod(group), part = kShared ? group % parts : 0;
  // The first row of this group's first turn in the tile, and how many rows the group has.
  const uint32 begin = kShared ? group / parts * length + part * kRows : group * rows;
  const uint32 own = kShared ? (part + 1 < parts ? kRows : length - part * kRows) : rows;
  const uint32 place = group < groups ? begin * columns + column : 0, turn = groups * rows * columns;
  State items[kTurns][kRows];
#pragma unroll
  for (int t = 0; t < kTurns; ++t) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r >= kLeast && r >= own) continue;
      items[t][r] = Types::lift(op, from.at(place + t * turn, r * columns));
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
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (r < kLeast || r < own) to.at(place + t * turn, r * columns) = Types::value(op, before.then(op, items[t][r]));
      }
    }
  }
  __syncthreads();
  to.store(table.out + first, count);
}

}  // namespace xpops
