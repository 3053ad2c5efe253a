// The reduce family for short rows that lie one after the other in memory, wherever they begin: a block copies many rows
// to shared memory in whole words. Groups of threads reduce the rows there.
#pragma once

#include <xpops/block/reduce.cuh>
#include <xpops/kernels/reduce/reduce.cuh>
#include <xpops/memory/stage.cuh>

namespace xpops {

// kGroup threads share a row, and take every kGroup-th element. A block has `chunk` rows, a multiple of its groups, which
// take at most kBytes bytes. Rows may have elements between them, which are copied, too.
template <class Reducer, class Source, int kBlock, int kGroup, int kBytes, class Params>
struct TileReduction {
  using Index = typename Params::Index;
  using State = typename Reducer::State;
  using Compute = typename Source::Compute;
  using Element = typename Source::Element;
  using Word = Pack<unsigned char, kMaxPackBytes>;
  static constexpr int kFlight = 4;  // elements that a thread takes together

  struct Row {
    const Element* elements;
    int length;
    Pivot<Reducer, Compute> pivot;
  };

  template <int kCount>
  XPOPS_DEVICE static State take(const Row& row, int at, const State& state) {
    Compute x[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] = row.pivot.from(Source::computed(row.elements[at + i * kGroup]));
    return append_all<Reducer, 1>(state, x, at, kGroup);
  }

  XPOPS_DEVICE static State walk(const Row& row) {
    State state = Reducer::identity();
    int at = static_cast<int>(threadIdx.x) % kGroup;
#pragma unroll 1
    for (; at + (kFlight - 1) * kGroup < row.length; at += kFlight * kGroup) state = take<kFlight>(row, at, state);
    if (at + kGroup < row.length) {
      state = take<2>(row, at, state);
      at += 2 * kGroup;
    }
    return at < row.length ? take<1>(row, at, state) : state;
  }

  // Copies the rows, and returns where the first one is.
  XPOPS_DEVICE static const Element* fetch(const Params& params, unsigned char* tile, Index first, int count) {
    const int64 pitch = params.in_kept[0][Params::kKeptAxes - 1];
    const Element* from = reinterpret_cast<const Element*>(params.slots[0]) + static_cast<int64>(first) * pitch;
    const int skip = static_cast<int>(reinterpret_cast<uint64>(from) % kMaxPackBytes);
    const unsigned char* words = reinterpret_cast<const unsigned char*>(from) - skip;
    const int elements = (count - 1) * static_cast<int>(pitch) + static_cast<int>(params.length);
    const int bytes = skip + elements * static_cast<int>(sizeof(Element));
    for (int at = static_cast<int>(threadIdx.x) * kMaxPackBytes; at < bytes; at += kBlock * kMaxPackBytes) {
      copy_async(reinterpret_cast<Word*>(tile + at), words + at);
    }
    await_copies();
    __syncthreads();
    return reinterpret_cast<const Element*>(tile + skip);
  }

  XPOPS_DEVICE static void run(const Params& params) {
    constexpr int kGroups = kBlock / kGroup;
    alignas(kMaxPackBytes) __shared__ unsigned char tile[kBytes + 2 * kMaxPackBytes];
    const Index first = static_cast<Index>(blockIdx.x) * static_cast<Index>(params.chunk);
    const Index left = static_cast<Index>(params.outputs) - first;
    const int rows = static_cast<int>(params.chunk), pitch = static_cast<int>(params.in_kept[0][Params::kKeptAxes - 1]);
    const int count = left < static_cast<Index>(rows) ? static_cast<int>(left) : rows;
    const Element* const elements = fetch(params, tile, first, count);
#pragma unroll 1
    for (int number = static_cast<int>(threadIdx.x) / kGroup; number < rows; number += kGroups) {
      const bool any = number < count;
      State state = Reducer::identity();
      if (any) {
        Row row = {elements + number * pitch, static_cast<int>(params.length), {}};
        if constexpr (Reducer::kShifts) row.pivot.first = Source::computed(row.elements[0]);
        state = walk(row);
      }
      state = reduce_lanes<Reducer, kGroup>(state);
      if (any && threadIdx.x % kGroup == 0) {
        const KeptCoordinates<Params> at(params.kept, first + static_cast<Index>(number));
        write_result<Reducer, Source>(params, at.offset(params.out_kept), state);
      }
    }
  }
};

template <class Reducer, class Source, int kBlock, int kGroup, int kBytes, class Params>
XPOPS_DEVICE void reduce_tiles(const Params& params) {
  TileReduction<Reducer, Source, kBlock, kGroup, kBytes, Params>::run(params);
}

}  // namespace xpops
