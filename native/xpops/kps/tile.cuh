// Which elements of a block's memory belong to a thread's registers.
#pragma once

#include <xpops/core/config.cuh>
#include <xpops/memory/pack.cuh>

namespace xpops {
namespace kps {
namespace details {

// The elements of one access where a thread moves runs of NX: as many as divide NX and have no more than 16 bytes.
template <typename T, int NX>
XPOPS_HOST_DEVICE constexpr int VectorSize() {
  constexpr int kBytes = static_cast<int>(sizeof(T));
  int size = 1;
  while ((kBytes & (kBytes - 1)) == 0 && NX % (2 * size) == 0 && 2 * size * kBytes <= kMaxPackBytes) size *= 2;
  return size;
}

// Calls visit(place, offset) for each of the NX x NY elements of a thread: its place among the registers, and how far
// it lies from the block's first. See ReadData for the parameters.
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
