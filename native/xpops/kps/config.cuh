// Configurations that the host passes to kernels: the split of an array, fast division, and broadcasting.
#pragma once

#include <xpops/core/config.cuh>
#include <xpops/index/divmod.cuh>

namespace xpops {
namespace kps {

using IndexType = int64;

// For each axis: the number of parts (split_num), the elements of a part (deal_size), and the elements left over (rem).
struct DimConfig {
  int split_num_x, split_num_y, split_num_z;
  int deal_size_x, deal_size_y, deal_size_z;
  int rem_x = 0, rem_y = 0, rem_z = 0;

  XPOPS_HOST_DEVICE explicit DimConfig(int split_x, int split_y, int split_z, int size_x, int size_y, int size_z)
      : split_num_x(split_x),
        split_num_y(split_y),
        split_num_z(split_z),
        deal_size_x(size_x),
        deal_size_y(size_y),
        deal_size_z(size_z) {}

  XPOPS_HOST_DEVICE void SetRem(int rem_nx, int rem_ny, int rem_nz) {
    rem_x = rem_nx;
    rem_y = rem_ny;
    rem_z = rem_nz;
  }
};

namespace details {

// A BroadcastConfig has at most this many axes.
constexpr int kMaxRank = 9;

// VecSize values, aligned to their total size, which must be a power of two.
template <typename T, int VecSize>
struct alignas(sizeof(T) * VecSize) VectorType {
  T val[VecSize];
};

// Aborts the kernel, or the program on the host, before it writes out of bounds.
XPOPS_HOST_DEVICE void Refuse() {
#if defined(__CUDA_ARCH__)
  __trap();
#else
  __builtin_trap();
#endif
}

// Fast division by a constant divisor. It is exact for every 32-bit dividend and every divisor from 1 to 2^32 - 1.
// A divisor of 0, the length of an empty axis, is replaced by 1.
struct FastDivMod : xpops::FastDivMod<uint32> {
  using DivModT = VectorType<uint32, 2>;

  FastDivMod() = default;
  XPOPS_HOST_DEVICE FastDivMod(uint32 d) {
    divisor = d == 0 ? 1 : d;
    shift = 0;
    while ((static_cast<uint64>(1) << shift) < divisor) ++shift;
    const uint64 rest = (static_cast<uint64>(1) << shift) - divisor;  // below the divisor
    multiplier = static_cast<uint32>((rest << 32) / divisor + 1);
  }

  XPOPS_DEVICE uint32 Div(uint32 n) const { return div(n); }
  // val[0] is the quotient and val[1] the remainder.
  XPOPS_DEVICE DivModT Divmod(uint32 n) const {
    const uint32 remainder = divmod(n);
    return {{n, remainder}};
  }
};

// Maps the output's linear index to the offset of an element of a broadcast operand. Axes are innermost first: for a
// shape of [dim0, dim1] the dims are [dim1, dim0]. The host or the device constructs it; the device uses it.
struct BroadcastConfig {
  FastDivMod divmoders[kMaxRank];
  int64 strides[kMaxRank];  // of the operand, in elements; 0 where it is broadcast
  int rank = 0;

  BroadcastConfig() = default;

  // For a contiguous operand. The dims are pointers, arrays or std::vectors of dim_size integers.
#pragma nv_exec_check_disable
  template <class OutDims, class InDims>
  XPOPS_HOST_DEVICE BroadcastConfig(const OutDims& out_dims, const InDims& in_dims, int dim_size) {
    SetRank(dim_size);
    int64 stride = 1;
    for (int i = 0; i < dim_size; ++i) {
      SetAxis(i, out_dims[i], in_dims[i], stride);
      stride *= in_dims[i];
    }
  }

  // For an operand of any strides, also negative ones. The strides of axes of length 1 are ignored.
#pragma nv_exec_check_disable
  template <class OutDims, class InDims, class Strides>
  XPOPS_HOST_DEVICE BroadcastConfig(const OutDims& out_dims, const InDims& in_dims, const Strides& in_strides,
                                    int dim_size) {
    SetRank(dim_size);
    for (int i = 0; i < dim_size; ++i) SetAxis(i, out_dims[i], in_dims[i], in_strides[i]);
  }

  // The operand's offset for the output's linear index.
  XPOPS_DEVICE int64 operator()(uint32 index) const {
    int64 offset = 0;
#pragma unroll
    for (int i = 0; i < kMaxRank; ++i) {
      if (i >= rank) break;
      offset += divmoders[i].divmod(index) * strides[i];
    }
    return offset;
  }

  // Whether the innermost axis has at least `count` elements from the output's element `index` on.
  XPOPS_DEVICE bool HasRun(uint32 index, uint32 count) const {
    if (rank == 0) return false;
    const uint32 at = divmoders[0].divmod(index);
    return divmoders[0].divisor - at >= count;
  }

 private:
  XPOPS_HOST_DEVICE void SetRank(int dim_size) {
    if (dim_size < 0 || dim_size > kMaxRank) Refuse();
    rank = dim_size;
  }
  XPOPS_HOST_DEVICE void SetAxis(int i, int64 out_dim, int64 in_dim, int64 stride) {
    divmoders[i] = FastDivMod(static_cast<uint32>(out_dim));
    strides[i] = in_dim == 1 ? 0 : stride;
  }
};

}  // namespace details

using details::BroadcastConfig;
using details::FastDivMod;
// The offsets of the elements along the axes that a reduction reduces, for ReadDataReduce.
using IndexCalculator = BroadcastConfig;

}  // namespace kps
}  // namespace xpops
