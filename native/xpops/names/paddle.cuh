// The names that code written for Paddle's kernel primitives expects around them. A source that includes this header
// instead of Paddle's `kernel_primitives.h` says `kps::` and `phi::` as it did.
#pragma once

#include <xpops/kps.cuh>

namespace kps = xpops::kps;

namespace phi {

namespace kps = xpops::kps;

struct DDim {
  static constexpr int kMaxRank = xpops::kps::details::kMaxRank;
};

namespace dtype {

using xpops::bfloat16;
using xpops::complex;
using xpops::float16;
using xpops::kps::details::MPTypeTrait;

}  // namespace dtype

namespace backends {
namespace gpu {

using xpops::kps::details::CudaShuffleDownSync;

}  // namespace gpu
}  // namespace backends

}  // namespace phi

// Stops the kernel if the two are equal. The message is left out.
#define PADDLE_ENFORCE_NE(x, y, ...) \
  if ((x) == (y)) xpops::kps::details::Refuse()
