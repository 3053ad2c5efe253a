// The names that kernels of PyTorch extensions use for arrays: `torch::PackedTensorAccessor32` and the like.
#pragma once

#include <xpops/index/accessor.cuh>

namespace at {

using xpops::DefaultPtrTraits;
using xpops::RestrictPtrTraits;
template <class T, int N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = xpops::Accessor32<T, N, Traits>;
template <class T, int N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = xpops::Accessor64<T, N, Traits>;

}  // namespace at

namespace torch {

using at::DefaultPtrTraits;
using at::PackedTensorAccessor32;
using at::PackedTensorAccessor64;
using at::RestrictPtrTraits;

}  // namespace torch
