// Products of (batch, head, rows, inner) and (batch, head, inner, columns), in blocks of kTile x kTile threads. The grid
// has the tiles of columns, the tiles of rows, and the batches.
#include <xpops/names/torch.cuh>

constexpr int kTile = 16;

// A thread computes one element for each head, straight from global memory.
template <class T>
__global__ void product(const torch::PackedTensorAccessor32<T, 4, torch::RestrictPtrTraits> x,
                        const torch::PackedTensorAccessor32<T, 4, torch::RestrictPtrTraits> y,
                        torch::PackedTensorAccessor32<T, 4, torch::RestrictPtrTraits> out) {
  const int batch = blockIdx.z, row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  if (row >= out.size(2) || column >= out.size(3)) return;
  for (int head = 0; head < out.size(1); ++head) {
    T sum = 0;
    for (int i = 0; i < x.size(3); ++i) sum += x[batch][head][row][i] * y[batch][head][i][column];
    out[batch][head][row][column] = sum;
  }
}

// The same, but a block reads each element of its tiles once. Elements beyond the operands are zeros.
template <class T>
__global__ void product_by_tiles(const torch::PackedTensorAccessor32<T, 4, torch::RestrictPtrTraits> x,
                                 const torch::PackedTensorAccessor32<T, 4, torch::RestrictPtrTraits> y,
                                 torch::PackedTensorAccessor32<T, 4, torch::RestrictPtrTraits> out) {
  __shared__ T left[kTile][kTile], right[kTile][kTile];
  const int batch = blockIdx.z, row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  const bool inside = row < out.size(2) && column < out.size(3);
  for (int head = 0; head < out.size(1); ++head) {
    T sum = 0;
    for (int begin = 0; begin < x.size(3); begin += kTile) {
      const int across = begin + threadIdx.x, down = begin + threadIdx.y;
      const bool has_left = row < out.size(2) && across < x.size(3),
                 has_right = down < x.size(3) && column < out.size(3);
      left[threadIdx.y][threadIdx.x] = has_left ? x[batch][head][row][across] : T(0);
      right[threadIdx.y][threadIdx.x] = has_right ? y[batch][head][down][column] : T(0);
      __syncthreads();
#pragma unroll
      for (int i = 0; i < kTile; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
      __syncthreads();
    }
    if (inside) out[batch][head][row][column] = sum;
  }
}
