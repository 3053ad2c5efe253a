// Writes from registers to memory. The parameters are those of read.cuh, with src and dst exchanged.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/kps/tile.cuh>

namespace xpops {
namespace kps {

// Copies num elements. The calling thread copies them all.
template <typename T>
XPOPS_DEVICE void WriteData(T* dst, const T* __restrict__ src, int num) {
  for (int i = 0; i < num; ++i) dst[i] = src[i];
}
namespace details {
using kps::WriteData;
}

// Writes NX consecutive elements for each thread: dst[threadIdx.x * NX + i] = src[i]. NY is 1.
//   dst  the block's first element. If not IsBoundary, it must be aligned as ReadData's src
//   src  NX registers
//   num  the number of elements from dst on; only used if IsBoundary
template <typename T, int NX, int NY, bool IsBoundary = false>
XPOPS_DEVICE void WriteData(T* dst, const T* __restrict__ src, int num) {
  static_assert(NY == 1, "WriteData: NY must be 1");
  const int64 first = static_cast<int64>(threadIdx.x) * NX;
  constexpr int kVector = details::VectorSize<T, NX>();
  if constexpr (IsBoundary || kVector == 1) {
#pragma unroll
    for (int i = 0; i < NX; ++i) {
      if (!IsBoundary || first + i < num) dst[first + i] = src[i];
    }
  } else {
#pragma unroll
    for (int i = 0; i < NX; i += kVector) {
      Pack<T, kVector> pack;
#pragma unroll
      for (int j = 0; j < kVector; ++j) pack.elem[j] = src[i + j];
      pack.store(dst + first + i);
    }
  }
}

// Writes a tile for each thread: dst[threadIdx.x + nx * stride_nx + ny * stride_ny] = src[ny * NX + nx], cast to Ty.
// Sizes and strides are offsets in elements, as in ReadData.
template <typename Tx, typename Ty, int NX, int NY, bool IsBoundary = false>
XPOPS_DEVICE void WriteData(Ty* dst, const Tx* __restrict__ src, int size_nx, int size_ny, int stride_nx,
                            int stride_ny) {
  details::ForTile<NX, NY, IsBoundary>(size_nx, size_ny, stride_nx, stride_ny,
                                       [=](int place, int64 offset) { dst[offset] = cast<Ty>(src[place]); });
}

}  // namespace kps
}  // namespace xpops
