// Kernels made of kernel primitives. A thread moves packs of 16 bytes, and issues its loads before it computes.
#include <xpops/kps.cuh>

namespace kps = xpops::kps;

// The elements of a pack, and the packs of a thread.
template <class T> constexpr int kPack = 16 / sizeof(T);
constexpr int kPacks = 2;

template <class T, bool kBoundary>
__device__ void add_tile(const T* x, const T* y, T* z, int count) {
  constexpr int kSize = kPack<T>;
  const int step = kSize * blockDim.x;
  T a[kPacks][kSize], b[kPacks][kSize];
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    kps::ReadData<T, kSize, 1, kBoundary>(a[i], x + i * step, count - i * step);
    kps::ReadData<T, kSize, 1, kBoundary>(b[i], y + i * step, count - i * step);
  }
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    kps::ElementwiseBinary<T, T, kSize, 1, kps::AddFunctor<T>>(a[i], a[i], b[i], kps::AddFunctor<T>());
    kps::WriteData<T, kSize, 1, kBoundary>(z + i * step, a[i], count - i * step);
  }
}

// z = x + y. A block computes kPacks packs for each thread.
template <class T>
__global__ void add(const T* x, const T* y, T* z, long long size) {
  const int tile = kPacks * kPack<T> * blockDim.x;
  const long long first = static_cast<long long>(tile) * blockIdx.x;
  if (first + tile <= size) {
    add_tile<T, false>(x + first, y + first, z + first, tile);
  } else {
    add_tile<T, true>(x + first, y + first, z + first, static_cast<int>(size - first));
  }
}

// z = x + y, where y is broadcast to the shape of x by the configuration.
template <class T, bool kBoundary>
__device__ void add_broadcast_tile(const T* x, const T* y, T* z, int first, int size,
                                   const kps::BroadcastConfig& config) {
  constexpr int kSize = kPack<T>;
  const int step = kSize * blockDim.x;
  T a[kPacks][kSize], b[kPacks][kSize];
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    const int at = first + i * step;
    kps::ReadData<T, kSize, 1, kBoundary>(a[i], x + at, size - at);
    kps::ReadDataBc<T, kSize, 1, kBoundary>(b[i], y, at, config, size);
  }
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    const int at = first + i * step;
    kps::ElementwiseBinary<T, T, kSize, 1, kps::AddFunctor<T>>(a[i], a[i], b[i], kps::AddFunctor<T>());
    kps::WriteData<T, kSize, 1, kBoundary>(z + at, a[i], size - at);
  }
}

template <class T>
__global__ void add_broadcast(const T* x, const T* y, T* z, int size,
                              const __grid_constant__ kps::BroadcastConfig config) {
  const int tile = kPacks * kPack<T> * blockDim.x, first = tile * blockIdx.x;
  if (first + tile <= size) {
    add_broadcast_tile<T, false>(x, y, z, first, size, config);
  } else {
    add_broadcast_tile<T, true>(x, y, z, first, size, config);
  }
}

// Converts for a sum, in which the sign of a NaN is of no matter.
template <class T> struct Widen {
  __device__ float operator()(T x) const { return xpops::widened(x); }
};

// Adds kRowPacks packs for each thread to a sum. They may end within the tile.
constexpr int kRowPacks = 4;
template <class T, bool kBoundary>
__device__ float sum_tile(const T* x, int count, float sum) {
  constexpr int kSize = kPack<T>;
  const int step = kSize * blockDim.x;
  T read[kRowPacks][kSize];
  float wide[kSize];
#pragma unroll
  for (int i = 0; i < kRowPacks; ++i) {
    if (kBoundary) kps::Init<T, kSize>(read[i], T());
    kps::ReadData<T, kSize, 1, kBoundary>(read[i], x + i * step, count - i * step);
  }
  using Add = kps::AddFunctor<float>;
#pragma unroll
  for (int i = 0; i < kRowPacks; ++i) {
    kps::ElementwiseUnary<T, float, kSize, 1, Widen<T>>(wide, read[i], Widen<T>());
    kps::Reduce<float, kSize, 1, Add, kps::details::kLocalMode>(&sum, wide, Add(), true);
  }
  return sum;
}

// y[row] = the sum of a row of x, by a block. Rows whose length is no multiple of a pack are not aligned to packs.
template <class T>
__global__ void sum_rows(const T* x, T* y, int columns) {
  x += static_cast<long long>(columns) * blockIdx.x;
  const int tile = kRowPacks * kPack<T> * blockDim.x;
  float sum = 0;
  int first = 0;
  if (columns % kPack<T> == 0) {
    for (; first + tile <= columns; first += tile) sum = sum_tile<T, false>(x + first, tile, sum);
  }
  for (; first < columns; first += tile) sum = sum_tile<T, true>(x + first, columns - first, sum);
  using Add = kps::AddFunctor<float>;
  kps::Reduce<float, 1, 1, Add, kps::details::kGlobalMode>(&sum, &sum, Add(), true);
  const T result = xpops::cast<T>(sum);
  kps::WriteData<T, 1, 1, true>(y + blockIdx.x, &result, 1);
}

// Inclusive sums along rows of at most 2 * blockDim.x elements. A block takes kRows rows.
constexpr int kRows = 4;
template <class T>
__global__ void scan_rows(const T* x, T* y, int rows, int columns) {
  const int first = kRows * blockIdx.x, threads = blockDim.x;
  const int below = (rows - first < kRows ? rows - first : kRows) * columns;
  x += static_cast<long long>(columns) * first;
  y += static_cast<long long>(columns) * first;
  float read[2 * kRows];
  T sums[2 * kRows];
  kps::Init<float, 2 * kRows>(read, 0.0f);
  kps::ReadData<T, float, 2, kRows, true>(read, x, columns, below, threads, columns);
  using Add = kps::AddFunctor<float>;
#pragma unroll
  for (int row = 0; row < kRows; ++row) kps::Cumsum<float, T, Add>(sums + 2 * row, read + 2 * row, Add());
  kps::WriteData<T, T, 2, kRows, true>(y, sums, columns, below, threads, columns);
}
