// Reads from memory to registers.
//
// IsBoundary: whether the block's tile may extend beyond its data. If so, every access is checked, and registers whose
// elements are out of bounds keep their values: set them with Init before. If not, whole tiles are read, sizes are
// ignored, and runs are read by vector accesses.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/kps/config.cuh>
#include <xpops/kps/tile.cuh>
#include <xpops/kps/tuple.cuh>

namespace xpops {
namespace kps {

namespace details {

// Calls take(i, element) for NX consecutive elements, by vector accesses. src must be aligned to them.
template <typename T, int NX, class Take>
XPOPS_DEVICE void ReadPacks(const T* __restrict__ src, Take take) {
  constexpr int kVector = VectorSize<T, NX>();
  Pack<T, kVector> packs[NX / kVector];
#pragma unroll
  for (int i = 0; i < NX / kVector; ++i) packs[i].load(src + i * kVector);
#pragma unroll
  for (int i = 0; i < NX; ++i) take(i, packs[i / kVector].elem[i % kVector]);
}

// Calls take(i, element) for each of the NX consecutive elements of a thread that is in bounds.
template <typename T, int NX, bool IsBoundary, class Take>
XPOPS_DEVICE void ReadRun(const T* __restrict__ src, int num, Take take) {
  const int64 first = static_cast<int64>(threadIdx.x) * NX;
  if constexpr (IsBoundary || VectorSize<T, NX>() == 1) {
#pragma unroll
    for (int i = 0; i < NX; ++i) {
      if (!IsBoundary || first + i < num) take(i, src[first + i]);
    }
  } else {
    ReadPacks<T, NX>(src + first, take);
  }
}

// Reads NX elements that are `stride` apart: by vector accesses if they are consecutive and aligned, and once if they are
// the same element.
template <typename T, int NX>
XPOPS_DEVICE void ReadRow(T* dst, const T* __restrict__ src, int64 stride) {
  constexpr int kVector = VectorSize<T, NX>();
  if (stride == 0) {
    const T value = *src;
#pragma unroll
    for (int i = 0; i < NX; ++i) dst[i] = value;
    return;
  }
  if constexpr (kVector > 1) {
    if (stride == 1 && reinterpret_cast<uint64>(src) % (kVector * sizeof(T)) == 0) {
      ReadPacks<T, NX>(src, [=](int i, T x) { dst[i] = x; });
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < NX; ++i) dst[i] = src[i * stride];
}

}  // namespace details

// Sets registers to one value.
//   dst        NX registers
//   init_data  the value
//   read_lens  not used: all NX are set
template <typename T, int NX>
XPOPS_DEVICE void Init(T* dst, T init_data) {
#pragma unroll
  for (int i = 0; i < NX; ++i) dst[i] = init_data;
}
template <typename T, int NX>
XPOPS_DEVICE void Init(T* dst, T init_data, int /*read_lens*/) {
  Init<T, NX>(dst, init_data);
}

// Sets element Index of NX tuples.
template <typename T, typename ArgsT, int Index, int NX>
XPOPS_DEVICE void Init(ArgsT* dst, T init_data, int /*read_lens*/) {
#pragma unroll
  for (int i = 0; i < NX; ++i) get<Index>(dst[i]) = init_data;
}

// Sets registers to the indices of the elements that ReadData reads: block_offset + threadIdx.x * NX + i. NY is 1.
template <typename T, int NX, int NY>
XPOPS_DEVICE void InitWithDataIndex(T* dst, int block_offset) {
  static_assert(NY == 1, "InitWithDataIndex: NY must be 1");
  const int first = block_offset + static_cast<int>(threadIdx.x) * NX;
#pragma unroll
  for (int i = 0; i < NX; ++i) dst[i] = cast<T>(first + i);
}

// Copies num elements. The calling thread copies them all.
template <typename T>
XPOPS_DEVICE void ReadData(T* dst, const T* __restrict__ src, int num) {
  for (int i = 0; i < num; ++i) dst[i] = src[i];
}
namespace details {
using kps::ReadData;
}

// Reads NX consecutive elements for each thread: dst[i] = src[threadIdx.x * NX + i]. NY is 1.
//   dst  NX registers
//   src  the block's first element. If not IsBoundary, it must be aligned to a vector access: the largest power of two
//        of elements that divides NX and has at most 16 bytes
//   num  the number of elements from src on; only used if IsBoundary
template <typename T, int NX, int NY, bool IsBoundary = false>
XPOPS_DEVICE void ReadData(T* dst, const T* __restrict__ src, int num) {
  static_assert(NY == 1, "ReadData: NY must be 1");
  details::ReadRun<T, NX, IsBoundary>(src, num, [=](int i, T x) { dst[i] = x; });
}

// The same into element Index of NX tuples (Tuple, std::tuple or cuda::std::tuple). read_lens is not used.
template <typename T, int NX, int NY, typename ArgsT, int Index, bool IsBoundary = false>
XPOPS_DEVICE void ReadData(ArgsT* dst, const T* __restrict__ src, int num, int /*read_lens*/) {
  static_assert(NY == 1, "ReadData: NY must be 1");
  details::ReadRun<T, NX, IsBoundary>(src, num, [=](int i, T x) { get<Index>(dst[i]) = x; });
}

// Reads a tile for each thread: dst[ny * NX + nx] = src[threadIdx.x + nx * stride_nx + ny * stride_ny], cast to Ty.
//   dst                   NY x NX registers
//   src                   the block's first element
//   size_nx, size_ny      if IsBoundary, an element is read if threadIdx.x + nx * stride_nx < size_nx and
//                         ny * stride_ny < size_ny. Both are offsets in elements: size_ny is not a number of rows
//   stride_nx, stride_ny  the distance between columns, and between rows, of the tile, in elements
template <typename Tx, typename Ty, int NX, int NY, bool IsBoundary = false>
XPOPS_DEVICE void ReadData(Ty* dst, const Tx* __restrict__ src, int size_nx, int size_ny, int stride_nx,
                           int stride_ny) {
  details::ForTile<NX, NY, IsBoundary>(size_nx, size_ny, stride_nx, stride_ny,
                                       [=](int place, int64 offset) { dst[place] = cast<Ty>(src[offset]); });
}

// Reads a broadcast operand for NX consecutive elements of the output: dst[i] is the operand's element for the output's
// element block_offset + threadIdx.x * NX + i. NY is 1.
//   dst               NX registers
//   src               the operand's first element, the same for all blocks
//   block_offset      the index of the block's first output element: blockIdx.x * blockDim.x * NX
//   config            maps the output's indices to the operand's offsets
//   total_num_output  the number of elements of the output; only used if IsBoundary
//   read_lens         not used
template <typename T, int NX, int NY, bool IsBoundary = false>
XPOPS_DEVICE void ReadDataBc(T* dst, const T* __restrict__ src, uint32 block_offset,
                             const details::BroadcastConfig& config, int total_num_output, int /*read_lens*/ = NX) {
  static_assert(NY == 1, "ReadDataBc: NY must be 1");
  const uint32 first = block_offset + threadIdx.x * NX, total = static_cast<uint32>(total_num_output);
  // One division for each axis instead of one for each element.
  if (NX > 1 && (!IsBoundary || first + NX <= total) && config.HasRun(first, NX)) {
    details::ReadRow<T, NX>(dst, src + config(first), config.strides[0]);
    return;
  }
#pragma unroll
  for (int nx = 0; nx < NX; ++nx) {
    const uint32 index = first + static_cast<uint32>(nx);
    if (!IsBoundary || index < total) dst[nx] = src[config(index)];
  }
}

// The same for a tile: dst[ny * NX + nx] is the operand's element for the output's element
// block_offset + threadIdx.x + nx * stride_nx + ny * stride_ny.
template <typename T, int NX, int NY, bool IsBoundary = false>
XPOPS_DEVICE void ReadDataBc(T* dst, const T* __restrict__ src, uint32 block_offset,
                             const details::BroadcastConfig& config, int total_num_output, int stride_nx,
                             int stride_ny) {
  const uint32 first = block_offset + threadIdx.x, total = static_cast<uint32>(total_num_output);
#pragma unroll
  for (int ny = 0; ny < NY; ++ny) {
#pragma unroll
    for (int nx = 0; nx < NX; ++nx) {
      const uint32 index = first + static_cast<uint32>(ny * stride_ny + nx * stride_nx);
      if (!IsBoundary || index < total) dst[ny * NX + nx] = src[config(index)];
    }
  }
}

// Reads a tile for a reduction: dst[ny * NX + nx] = func(src[index_cal(block_offset + row) + nx * stride_nx]), cast to
// Ty, where row = along + ny * stride_ny. If reduce_last_dim, `along` is threadIdx.x and `beside` is threadIdx.y; else
// the other way round. Rank, the number of axes, is not used.
//   dst                   NY x NX registers
//   src                   the operand's element from which this thread's offsets count
//   block_offset          the block's first index along the reduced axes
//   index_cal             index_cal(index along the reduced axes) is an offset in elements, e.g. a BroadcastConfig
//   size_nx               if IsBoundary and NX > 1, a column is read if beside + nx * stride_nx < size_nx
//   size_ny               if IsBoundary, a row is read if row < size_ny
//   stride_nx, stride_ny  the distance between columns, and between rows, of the tile
template <typename Tx, typename Ty, int NX, int NY, int Rank, typename IndexCal, typename Functor,
          bool IsBoundary = false>
XPOPS_DEVICE void ReadDataReduce(Ty* dst, const Tx* __restrict__ src, int block_offset, const IndexCal& index_cal,
                                 int size_nx, int size_ny, int stride_nx, int stride_ny, Functor func,
                                 bool reduce_last_dim) {
  const int along = static_cast<int>(reduce_last_dim ? threadIdx.x : threadIdx.y);
  const int beside = static_cast<int>(reduce_last_dim ? threadIdx.y : threadIdx.x);
#pragma unroll
  for (int ny = 0; ny < NY; ++ny) {
    const int row = along + ny * stride_ny;
    if (IsBoundary && row >= size_ny) break;
    const int64 index = static_cast<int64>(index_cal(block_offset + row));
#pragma unroll
    for (int nx = 0; nx < NX; ++nx) {
      const int column = nx * stride_nx;
      if (!IsBoundary || NX == 1 || beside + column < size_nx) dst[ny * NX + nx] = cast<Ty>(func(src[index + column]));
    }
  }
}

}  // namespace kps
}  // namespace xpops
