// Macros, fixed-width integers, and how kernels begin. NVRTC has no standard headers, so this header includes none for the device.
// XPOPS_ON_GPU is 1 if the compiler has device intrinsics and PTX. Code that needs them is inside `#if XPOPS_ON_GPU`;
// code for some architectures only is inside `#if __CUDA_ARCH__ >= ...`, or `#if XPOPS_PTX_SM80` for PTX of sm_80.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define XPOPS_ON_GPU 1
#define XPOPS_DEVICE __device__ __forceinline__
#define XPOPS_NOINLINE __device__ __noinline__
#define XPOPS_HOST_DEVICE __host__ __device__ __forceinline__
// A table of constants, which instructions read as operands: double immediates take two instructions more each.
#define XPOPS_TABLE static __constant__
#else  // a host compiler, which the tests use to run device math without a GPU
#define XPOPS_ON_GPU 0
#define XPOPS_DEVICE inline
#define XPOPS_NOINLINE inline
#define XPOPS_HOST_DEVICE inline
#define XPOPS_TABLE static constexpr
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define XPOPS_PTX_SM80 1
#else
#define XPOPS_PTX_SM80 0
#endif

namespace xpops {

using int8 = signed char;
using int16 = short;
using int32 = int;
using int64 = long long;
using uint8 = unsigned char;
using uint16 = unsigned short;
using uint32 = unsigned int;
using uint64 = unsigned long long;

// Waits until the kernels before this one on its stream have ended, and their writes are visible. Every kernel that may be
// launched before then calls this first, in all threads, and touches no memory before.
XPOPS_DEVICE void await_kernels() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace xpops
