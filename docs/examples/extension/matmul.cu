// The host's side: checks, the instance for the dtype of the tensors, the launch on torch's stream.
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/extension.h>

#include "matmul.cuh"

namespace {

template <class T>
xpops::Accessor32<T, 4> accessor(const torch::Tensor& x) {
  xpops::Accessor32<T, 4> made{static_cast<T*>(x.data_ptr()), {}, {}};
  int64_t reach = 0;
  for (int axis = 0; axis < 4; ++axis) {
    made.lengths[axis] = static_cast<int>(x.size(axis));
    made.steps[axis] = static_cast<int>(x.stride(axis));
    reach += (x.size(axis) - 1) * x.stride(axis);
  }
  TORCH_CHECK(reach < (1LL << 31), "matmul: an array must reach less than 2^31 elements");
  return made;
}

template <class T>
void launch(const torch::Tensor& x, const torch::Tensor& y, const torch::Tensor& out) {
  constexpr int kTile = example::kTile;
  const dim3 block(kTile, kTile);
  const dim3 grid((out.size(3) + kTile - 1) / kTile, (out.size(2) + kTile - 1) / kTile, out.size(0));
  if (out.numel() == 0) return;
  const auto stream = c10::cuda::getCurrentCUDAStream();
  example::product<T><<<grid, block, 0, stream>>>(accessor<T>(x), accessor<T>(y), accessor<T>(out));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

torch::Tensor matmul(const torch::Tensor& x, const torch::Tensor& y) {
  TORCH_CHECK(x.is_cuda() && y.device() == x.device(), "matmul: x and y must be on one GPU");
  TORCH_CHECK(x.dim() == 4 && y.dim() == 4, "matmul: x and y must have 4 axes");
  TORCH_CHECK(x.size(0) == y.size(0) && x.size(1) == y.size(1) && x.size(3) == y.size(2), "matmul: shapes do not fit");
  TORCH_CHECK(x.dtype() == y.dtype(), "matmul: x and y must have one dtype");
  const c10::cuda::CUDAGuard guard(x.device());
  const auto out = torch::empty({x.size(0), x.size(1), x.size(2), y.size(3)}, x.options());
  const auto dtype = x.scalar_type();
  TORCH_CHECK(dtype == torch::kFloat || dtype == torch::kDouble || dtype == torch::kHalf || dtype == torch::kBFloat16,
              "matmul: the dtype must be float32, float64, float16 or bfloat16");
  if (dtype == torch::kFloat) launch<float>(x, y, out);
  if (dtype == torch::kDouble) launch<double>(x, y, out);
  if (dtype == torch::kHalf) launch<xpops::float16>(x, y, out);
  if (dtype == torch::kBFloat16) launch<xpops::bfloat16>(x, y, out);
  return out;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, extension) {
  extension.def("matmul", &matmul, "The products of matrices in two tensors of 4 axes.");
}
