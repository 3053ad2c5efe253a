// Softmax and log-softmax of rows that have fewer elements than a pack, or a few more. A block copies many contiguous
// rows to shared memory in packs. Its threads compute the rows there. Then the block copies the results back in packs.
#pragma once

#include <xpops/kernels/softmax/softmax.cuh>
#include <xpops/memory/stage.cuh>

namespace xpops {

// kPack elements move at once between global and shared memory. A thread holds kSteps single elements of a row.
template <class In, class Out, bool kLog, bool kColumns, bool kFull, bool kRagged, int kBlock, int kCount, int kCluster,
          int kPack, int kSteps, class Params>
struct TiledSoftmax : Softmax<In, Out, kLog, false, false, false, kBlock, kCount, 1, 1, kSteps, Params> {
  using Base = Softmax<In, Out, kLog, false, false, false, kBlock, kCount, 1, 1, kSteps, Params>;
  using typename Base::Batch, typename Base::Held, typename Base::Index, typename Base::Real;
  using T = typename In::T;
  using Fragment = typename In::template Fragment<kPack>;
  static_assert(!kColumns && kCluster == 1 && kBlock / kCount % kPack == 0, "a block's rows begin with a pack");
  static constexpr int kFit = kMaxPackBytes / static_cast<int>(sizeof(Out)), kWidth = kPack < kFit ? kPack : kFit;
  // Whether results overwrite the elements from which they were computed: they have the same width.
  static constexpr bool kKept = sizeof(Out) == sizeof(T);

  // The block's rows: `count` elements from `begin` on, `length` each.
  struct Tile {
    Index begin;
    int length, count;
    T* elements;
    Out* results;

    XPOPS_DEVICE explicit Tile(const Params& params) : length(static_cast<int>(params.row)) {
      const int whole = kBlock / kCount * length;
      begin = static_cast<Index>(blockIdx.x) * static_cast<Index>(whole);
      const Index left = params.each.size - begin;
      count = left < static_cast<Index>(whole) ? static_cast<int>(left) : whole;
      elements = static_cast<T*>(dynamic_shared<kMostShared>());
      results = reinterpret_cast<Out*>(elements + (kKept ? 0 : whole));
    }

    XPOPS_DEVICE void fetch(const Params& params) const {
#pragma unroll 4
      for (int at = static_cast<int>(threadIdx.x) * kPack; at < count; at += kBlock * kPack) {
        if (at + kPack <= count) {
          Fragment packed;
          In::load(params.each, begin + static_cast<Index>(at), packed);
          packed.settle();
          *reinterpret_cast<decltype(packed.pack)*>(elements + at) = packed.pack;
          continue;
        }
        for (int i = at; i < count; ++i) {
          typename In::template Fragment<1> one;
          In::load(params.each, begin + static_cast<Index>(i), one);
          elements[i] = one.pack.elem[0];
        }
      }
    }

    XPOPS_DEVICE void write(const Params& params) const {
      Out* to = reinterpret_cast<Out*>(params.each.slots[0]) + begin;
#pragma unroll 4
      for (int at = static_cast<int>(threadIdx.x) * kWidth; at < count; at += kBlock * kWidth) {
        if (at + kWidth <= count) {
          reinterpret_cast<const Pack<Out, kWidth>*>(results + at)->store(to + at);
          continue;
        }
        for (int i = at; i < count; ++i) to[i] = results[i];
      }
    }
  };

  XPOPS_DEVICE static void tiled(const Params& params) {
    const Tile tile(params);
    tile.fetch(params);
    __syncthreads();
    const int thread = static_cast<int>(threadIdx.x), first = thread % kCount;
    const int row = thread / kCount * tile.length;
    const int length = row < tile.count ? tile.length : 0;
    Batch batch;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int at = first + i * kCount;
      batch.x[i][0] = at < length ? Base::wide(tile.elements[row + at]) : -limits<Real>::infinity();
    }
    const Held held(batch);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int at = first + i * kCount;
      if (at < length) tile.results[row + at] = Base::result_of(held.batch.x[i][0], held.peaks.of[0], held.ending.of[0]);
    }
    __syncthreads();
    tile.write(params);
  }
};

}  // namespace xpops
