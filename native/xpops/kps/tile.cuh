// How the elements of a block are distributed over the registers of its threads.
#pragma once

#include <xpops/core/config.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {
namespace kps {
namespace details {

// The elements of one vector access, if a thread moves runs of NX elements: the largest power of two that divides NX
// and has at most 16 bytes. It is 1 if the size of T is not a power of two.
template <typename T, int NX>
XPOPS_HOST_DEVICE constexpr int VectorSize() {
  constexpr int kBytes = static_cast<int>(sizeof(T));
  int size = 1;
  while ((kBytes & (kBytes - 1)) == 0 && NX % (2 * size) == 0 && 2 * size * kBytes <= kMaxPackBytes) size *= 2;
  return size;
}

// Calls visit(place, offset) for each of the NX x NY elements of a thread that is in bounds: the index of its register,
// and its offset from the block's first element. See ReadData for the parameters.
template <int NX, int NY, bool IsBoundary, class Visit>
XPOPS_DEVICE void ForTile(int size_nx, int size_ny, int stride_nx, int stride_ny, Visit visit) {
  const int64 first = threadIdx.x;
#pragma unroll
  for (int ny = 0; ny < NY; ++ny) {
    const int64 row = static_cast<int64>(ny) * stride_ny;
#pragma unroll
    for (int nx = 0; nx < NX; ++nx) {
      const int64 column = first + static_cast<int64>(nx) * stride_nx;
      if (!IsBoundary || (column < size_nx && row < size_ny)) visit(ny * NX + nx, column + row);
    }
  }
}

}  // namespace details
}  // namespace kps
}  // namespace xpops
