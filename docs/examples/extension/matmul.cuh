// Products of (batch, head, rows, inner) and (batch, head, inner, columns) by tiles in shared memory. A block computes a
// tile of kTile x kTile elements for every head; the grid has the tiles of columns, the tiles of rows, and the batches.
#pragma once

#include <xpops/core/cast.cuh>
#include <xpops/index/accessor.cuh>

namespace example {

constexpr int kTile = 16;

// 16-bit floats are added up in float.
template <class T>
__global__ void product(const xpops::Accessor32<T, 4> x, const xpops::Accessor32<T, 4> y, xpops::Accessor32<T, 4> out) {
  using Sum = xpops::compute_t<T>;
  __shared__ Sum left[kTile][kTile], right[kTile][kTile];
  const int batch = blockIdx.z, across = threadIdx.x, down = threadIdx.y;
  const int row = blockIdx.y * kTile + down, column = blockIdx.x * kTile + across;
  const bool has_row = row < out.size(2), has_column = column < out.size(3);
  for (int head = 0; head < out.size(1); ++head) {
    Sum sum = 0;
    for (int begin = 0; begin < x.size(3); begin += kTile) {
      const bool has_left = has_row && begin + across < x.size(3), has_right = begin + down < x.size(3) && has_column;
      left[down][across] = has_left ? xpops::cast<Sum>(x[batch][head][row][begin + across]) : Sum(0);
      right[down][across] = has_right ? xpops::cast<Sum>(y[batch][head][begin + down][column]) : Sum(0);
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kTile; ++i) sum += left[down][i] * right[i][across];
      __syncthreads();
    }
    if (has_row && has_column) out[batch][head][row][column] = xpops::cast<T>(sum);
  }
}

}  // namespace example
