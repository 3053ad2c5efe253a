// Reductions over a thread's registers, a warp, and the axes of a block.
//
// A reducer is a functor of two values: associative and commutative, but for rounding. Values are combined in an order
// that follows from the block's shape alone.
#pragma once

#include <xpops/kps/warp.cuh>

namespace xpops {
namespace kps {
namespace details {

// kGlobalMode: threads of a block are reduced, each to all; kLocalMode: the registers of a thread.
enum ReduceMode { kGlobalMode, kLocalMode };

// Where the value of the thread `index` rows below this one lies in shared memory.
XPOPS_DEVICE int SharedMemoryIndex(int index) {
  return static_cast<int>((threadIdx.y + index) * blockDim.x + threadIdx.x);
}

// One value for each thread; every user begins with a barrier.
template <typename T>
XPOPS_DEVICE T* ReduceBuffer() {
  __shared__ T buffer[kMaxThreads];
  return buffer;
}

// The first `count` lanes of each group of lanes, in the first of them; `lane` is this one's number in its group.
// No lane reads one that the warp may lack.
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

// The lanes of a warp, in its first lane.
template <typename T, typename ReduceOp>
XPOPS_DEVICE T WarpReduce(T val, ReduceOp reducer) {
  return ReduceLanes(val, reducer, WarpMask(), ThreadNumber() % kWarpSize, WarpLanes());
}

// Of the `length` threads that are `step` apart, among which this one is number `at`: in all of them.
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

// Of the threads that differ in threadIdx.x only, in all of them. Blocks may have any shape.
template <typename T, typename ReduceOp>
XPOPS_DEVICE T BlockXReduce(T val, ReduceOp reducer) {
  const int length = static_cast<int>(blockDim.x), at = static_cast<int>(threadIdx.x);
  const unsigned mask = WarpMask();
  if (kWarpSize % length == 0) {  // rows that lie in a warp
    val = ReduceLanes(val, reducer, mask, at, length);
    return ShuffleSync(mask, val, 0, length);
  }
  if (length % kWarpSize != 0) return TreeReduce(val, reducer, at, length, 1);
  T* const buffer = ReduceBuffer<T>();
  const int warps = length / kWarpSize, lane = at % kWarpSize, self = ThreadNumber();
  val = ReduceLanes(val, reducer, mask, lane, kWarpSize);
  __syncthreads();
  if (lane == 0) buffer[self / kWarpSize] = val;
  __syncthreads();
  val = buffer[(self - at) / kWarpSize + (lane < warps ? lane : 0)];
  return ShuffleSync(mask, ReduceLanes(val, reducer, mask, lane, warps), 0);
}

// Of the threads that differ in threadIdx.y only, in all of them. Blocks may have any shape.
template <typename T, typename ReduceOp>
XPOPS_DEVICE T BlockYReduce(T val, ReduceOp reducer) {
  return TreeReduce(val, reducer, static_cast<int>(threadIdx.y), static_cast<int>(blockDim.y),
                    static_cast<int>(blockDim.x));
}

}  // namespace details

// Reduces registers.
//   kLocalMode   along NX in each thread: out[ny] = reducer(out[ny], in[ny * NX + nx]) for nx = 0, 1, ...; out has NY
//                registers, which have been set before, as to the reducer's initial()
//   kGlobalMode  out[i] over threads, for each of NY x NX registers: along threadIdx.x if reduce_last_dim, else along
//                threadIdx.y. All threads get the result; `in` is not read. Every thread of the block comes along
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
