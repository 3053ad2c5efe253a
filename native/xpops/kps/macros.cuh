// Macros for kernels that use the primitive API. kps.cuh includes them; the other headers of this folder do not use
// them.
#pragma once

#ifndef HOSTDEVICE
#define HOSTDEVICE __host__ __device__
#endif

#define _ptr_
#define __simd__

#define THREAD_ID_X threadIdx.x
#define THREAD_ID_Y threadIdx.y
#define THREAD_ID_Z threadIdx.z

#define BLOCK_NUM_X blockDim.x
#define BLOCK_NUM_Y blockDim.y
#define BLOCK_NUM_Z blockDim.z

#define BLOCK_ID_X blockIdx.x
#define BLOCK_ID_Y blockIdx.y
#define BLOCK_ID_Z blockIdx.z

#define GRID_NUM_X gridDim.x
#define GRID_NUM_Y gridDim.y
#define GRID_NUM_Z gridDim.z

#define VecSizeL 4
#define VecSizeM 2
#define VecSizeS 1

#define FULL_WARP_MASK 0xffffffff
// Sets `mask` to the lanes of the whole warp for which the predicate holds.
#define CREATE_SHFL_MASK(mask, predicate) mask = __ballot_sync(FULL_WARP_MASK, (predicate))
