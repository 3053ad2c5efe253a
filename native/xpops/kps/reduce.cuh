// Reductions over a thread's registers, a warp, and the axes of a block.
//
// A reducer is a functor of two values, associative and commutative up to rounding. The order of combination depends
// only on the block's shape.
#pragma once

#include <xpops/kps/warp.cuh>

namespace xpops {
namespace kps {
namespace details {

// kGlobalMode reduces over the threads of a block; kLocalMode reduces over the registers of each thread.
enum ReduceMode { kGlobalMode, kLocalMode };

// The index in shared memory of the thread whose threadIdx.y is greater by `index`.
XPOPS_DEVICE int SharedMemoryIndex(int index) {
  return static_cast<int>((threadIdx.y + index) * blockDim.x + threadIdx.x);
}

// Shared memory for one value of each thread. Every user must begin with a barrier, because earlier users may still
// read.
template <typename T>
XPOPS_DEVICE T* ReduceBuffer() {
  __shared__ T buffer[kMaxThreads];
  return buffer;
}

// Reduces the first `count` lanes of each group of lanes; the first lane of the group gets the result. `lane` is this
// thread's number in its group. No lane reads beyond the group, because the warp may have fewer than 32 lanes.
template <typename T, typename ReduceOp>
XPOPS_DEVICE T ReduceLanes(T val, ReduceOp reducer, unsigned mask, int lane, int count) {
  const int self = ThreadNumber() % kWarpSize;
  for (int reach = 1; reach < count; reach *= 2) {
    const bool inside = lane + reach < count;
    const T other = ShuffleSync(mask, val, self + (inside ? reach : 0));
    if (inside) val = reducer(val, other);
  }
  return val;
}

// Reduces the first `count` lanes of a warp of 32, in the same order. Its first lane gets the result.
template <typename T, typename ReduceOp>
XPOPS_DEVICE T ReduceFullWarp(T val, ReduceOp reducer, int lane, int count) {
#pragma unroll
  for (int reach = 1; reach < kWarpSize; reach *= 2) {
    if (reach >= count) break;
    const T other = shuffle_down(val, reach);
    if (lane + reach < count) val = reducer(val, other);
  }
  return val;
}

// Reduces a warp. Its first lane gets the result.
template <typename T, typename ReduceOp>
XPOPS_DEVICE T WarpReduce(T val, ReduceOp reducer) {
  return ReduceLanes(val, reducer, WarpMask(), ThreadNumber() % kWarpSize, WarpLanes());
}

// Reduces `length` threads whose numbers are `step` apart. This thread is number `at` of them. All get the result.
template <typename T, typename ReduceOp>
XPOPS_DEVICE T TreeReduce(T val, ReduceOp reducer, int at, int length, int step) {
  T* const buffer = ReduceBuffer<T>();
  const int self = ThreadNumber();
  __syncthreads();
  buffer[self] = val;
  for (int rest = length; rest > 1;) {
    const int half = (rest + 1) / 2;
    __syncthreads();
    if (at + half < rest) buffer[self] = val = reducer(val, buffer[self + half * step]);
    rest = half;
  }
  __syncthreads();
  return buffer[self - at * step];
}

// Reduces the threads that differ only in threadIdx.x. All get the result. Blocks may have any shape.
template <typename T, typename ReduceOp>
XPOPS_DEVICE T BlockXReduce(T val, ReduceOp reducer) {
  const int length = static_cast<int>(blockDim.x), at = static_cast<int>(threadIdx.x);
  if (length < kWarpSize && (length & (length - 1)) == 0) {  // no row spans two warps
    const unsigned mask = WarpMask();
    val = ReduceLanes(val, reducer, mask, at, length);
    return ShuffleSync(mask, val, 0, length);
  }
  if (length % kWarpSize != 0) return TreeReduce(val, reducer, at, length, 1);
  T* const buffer = ReduceBuffer<T>();
  const int warps = length / kWarpSize, lane = at % kWarpSize, self = ThreadNumber();
  val = ReduceFullWarp(val, reducer, lane, kWarpSize);
  if (warps == 1) return shuffle(val, 0);
  __syncthreads();
  if (lane == 0) buffer[self / kWarpSize] = val;
  __syncthreads();
  val = buffer[(self - at) / kWarpSize + (lane < warps ? lane : 0)];
  return shuffle(ReduceFullWarp(val, reducer, lane, warps), 0);
}

// Reduces the threads that differ only in threadIdx.y. All get the result. Blocks may have any shape.
template <typename T, typename ReduceOp>
XPOPS_DEVICE T BlockYReduce(T val, ReduceOp reducer) {
  return TreeReduce(val, reducer, static_cast<int>(threadIdx.y), static_cast<int>(blockDim.y),
                    static_cast<int>(blockDim.x));
}

}  // namespace details

// Reduces registers.
//   kLocalMode   over NX in each thread: out[ny] = reducer(out[ny], in[ny * NX + nx]) for nx = 0, 1, ...; out has NY
//                registers, which the caller has set, e.g. to the reducer's initial()
//   kGlobalMode  over threads, for each of the NY x NX registers out[i]: along threadIdx.x if reduce_last_dim, else
//                along threadIdx.y. All threads get the result; `in` is not read. All threads of the block must call
template <typename T, int NX, int NY, class ReduceFunctor, details::ReduceMode Mode>
XPOPS_DEVICE void Reduce(T* out, const T* in, ReduceFunctor reducer, bool reduce_last_dim) {
  if constexpr (Mode == details::kGlobalMode) {
#pragma unroll
    for (int i = 0; i < NX * NY; ++i) {
      if (reduce_last_dim) {
        out[i] = details::BlockXReduce<T, ReduceFunctor>(out[i], reducer);
      } else if (blockDim.y > 1) {
        out[i] = details::BlockYReduce<T, ReduceFunctor>(out[i], reducer);
      }
    }
  } else {
#pragma unroll
    for (int ny = 0; ny < NY; ++ny) {
#pragma unroll
      for (int nx = 0; nx < NX; ++nx) out[ny] = reducer(out[ny], in[ny * NX + nx]);
    }
  }
}

}  // namespace kps
}  // namespace xpops
