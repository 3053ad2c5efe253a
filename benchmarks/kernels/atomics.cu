// Additions of halves that meet in few places: one by one, as pairs, and by FastAtomicAdd of the prelude. A thread takes
// every (gridDim.x * blockDim.x)-th element.
#include <cuda_fp16.h>

__device__ long long first() { return blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; }
__device__ long long step() { return gridDim.x * static_cast<long long>(blockDim.x); }

// Inner products, into out[0], by one addition for each product.
__global__ void dot(const half* x, const half* y, half* out, long long size) {
  for (long long i = first(); i < size; i += step()) atomicAdd(out, __hmul(x[i], y[i]));
}

// The sums of the products with even and with odd numbers.
__global__ void dot_pairs(const half2* x, const half2* y, half2* out, long long size) {
  for (long long i = first(); i < size; i += step()) atomicAdd(out, __hmul2(x[i], y[i]));
}

// out has two elements, so that the sum has a neighbour.
__global__ void dot_fast(const half* x, const half* y, half* out, long long size) {
  for (long long i = first(); i < size; i += step()) FastAtomicAdd(out, 0, 2, __hmul(x[i], y[i]));
}

__global__ void scatter(half* out, const long long* index, const half* source, long long size) {
  for (long long i = first(); i < size; i += step()) atomicAdd(out + index[i], source[i]);
}

__global__ void scatter_fast(half* out, const long long* index, const half* source, long long size, long long length) {
  for (long long i = first(); i < size; i += step()) FastAtomicAdd(out, index[i], length, source[i]);
}
