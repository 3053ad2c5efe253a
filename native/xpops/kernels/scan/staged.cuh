// Scans of few neighbouring columns, or of short rows (see scan.cuh): a tile is one run of the result's memory. It
// passes through shared memory, so that accesses are coalesced, and each thread scans some rows of one column.
#pragma once

#include <xpops/block/look_back.cuh>
#include <xpops/block/scan.cuh>
#include <xpops/kernels/scan/scan.cuh>

namespace xpops {

// Returns the prefix of a thread's rows: what earlier groups of this tile, and earlier tiles, hold of its column.
template <int kBlock, int kRadix, class Params, class Op, class State>
XPOPS_DEVICE Before<State> before_group(const Params& params, const Op& op, State total, uint32 groups, uint32 group,
                                        uint32 column, uint32 batch, int tile) {
  __shared__ State sums[kBlock];
  __shared__ State outer[kBlock];
  const uint32 columns = static_cast<uint32>(params.columns);
  sums[threadIdx.x] = total;
  __syncthreads();
#pragma unroll 1
  for (uint32 distance = 1; distance < groups; distance *= 2) {
    const bool has = group >= distance && group < groups;
    if (has) total = op.combine(sums[threadIdx.x - distance * columns], total);
    __syncthreads();
    if (has) sums[threadIdx.x] = total;
    __syncthreads();
  }
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

// The offset in the operand of element `i` of a tile whose first row, or batch if kRadix is 0, is `origin`.
template <int kRadix, class Params>
XPOPS_DEVICE int64 staged_offset(const Params& params, uint32 i, int64 origin) {
  const int64 across = params.grid[0].divmod(i) * params.in_column_step;
  if constexpr (kRadix > 0) {
    return across + (origin + i) * params.in_step;
  } else {
    const int64 along = params.grid[1].divmod(i) * params.in_step;
    return across + along + (origin + i) * params.in_strides[0];
  }
}

// The place of element `i` of a tile in shared memory.
template <bool kGaps, class Params>
XPOPS_DEVICE uint32 staged_place(const Params& params, uint32 i) {
  if constexpr (!kGaps) return i;
  uint32 group = i;
  params.grid[0].divmod(group), params.grid[1].divmod(group);
  return i + group * static_cast<uint32>(params.columns);
}

// A group of threads, one for each column, has kRows rows; groups of a tile follow each other. If kRadix is 0, a group
// has the rows of a whole batch, at most kRows, and batches are independent. kDense: the operand has the result's
// strides. kGaps: in shared memory, a row without data follows each group, so that an odd number of rows is between
// groups, and threads of a warp access different banks.
template <class Types, int kBlock, int kRows, int kRadix, bool kDense, bool kGaps, class Params>
XPOPS_DEVICE void scan_staged(const Params& params) {
  using In = typename Types::In;
  using Out = typename Types::Out;
  using State = typename Types::State;
  constexpr int kWidest = sizeof(In) > sizeof(Out) ? sizeof(In) : sizeof(Out);
  alignas(kMaxPackBytes) __shared__ char memory[kBlock * (kRows + kGaps) * kWidest];
  const typename Types::Op op(params.slots + 3);
  const uint32 columns = static_cast<uint32>(params.columns), groups = kBlock / columns;
  const uint32 rows = kRadix > 0 ? kRows : static_cast<uint32>(params.length), held = groups * rows * columns;
  uint32 tile = blockIdx.x;
  const uint32 batch = kRadix > 0 ? params.grid[1].divmod(tile) : 0;
  const ScanBatch<Types, Params> table(params, batch);
  const int64 first = static_cast<int64>(tile) * held;
  const int64 left = params.length * columns * (kRadix > 0 ? 1 : params.batches) - first;
  const uint32 count = left < held ? static_cast<uint32>(left) : held;

  const uint32 self = threadIdx.x, mine = count > self ? count - self : 0;
  In raw[kRows];
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    if (j * kBlock >= mine) continue;
    if constexpr (kDense) {
      raw[j] = (table.in + first + self)[j * kBlock];
    } else {
      const int64 origin = static_cast<int64>(tile) * groups * (kRadix > 0 ? rows : 1);
      raw[j] = table.in[staged_offset<kRadix>(params, j * kBlock + self, origin)];
    }
  }
  In* const given = reinterpret_cast<In*>(memory);
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    if (j * kBlock < mine) given[staged_place<kGaps>(params, j * kBlock + self)] = raw[j];
  }
  // Rows beyond the end hold zeros, which are not written: a user's functor may fail for arbitrary bits.
#pragma unroll 1
  for (uint32 i = count + self; i < held; i += kBlock) given[staged_place<kGaps>(params, i)] = In{};
  __syncthreads();

  uint32 group = self;
  const uint32 column = params.grid[0].divmod(group);
  const uint32 start = group < groups ? group * (rows + kGaps) * columns + column : 0;
  State items[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (kRadix == 0 && r >= rows) continue;
    items[r] = Types::lift(op, given[start + r * columns]);
    if (r > 0) items[r] = op.combine(items[r - 1], items[r]);
  }
  Before<State> before;
  if constexpr (kRadix > 0) {
    before = before_group<kBlock, kRadix>(params, op, items[kRows - 1], groups, group, column, batch,
                                          static_cast<int>(tile));
  } else {
    __syncthreads();
  }
  Out* const made = reinterpret_cast<Out*>(memory);
  if (group < groups) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r < rows) made[start + r * columns] = Types::value(op, before.then(op, items[r]));
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    const uint32 i = j * kBlock + self;
    if (j * kBlock < mine) table.out[first + i] = made[staged_place<kGaps>(params, i)];
  }
}

}  // namespace xpops
