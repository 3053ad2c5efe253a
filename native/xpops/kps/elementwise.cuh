// Elementwise operations on registers. Every thread has NY x NX registers of each operand, at [ny * NX + nx]. Results
// are cast to OutT.
#pragma once

#include <xpops/core/cast.cuh>

namespace xpops {
namespace kps {

// out[i] = compute(in[i])
template <typename InT, typename OutT, int NX, int NY, class OpFunc>
XPOPS_DEVICE void ElementwiseUnary(OutT* out, const InT* in, OpFunc compute) {
#pragma unroll
  for (int i = 0; i < NX * NY; ++i) out[i] = cast<OutT>(compute(in[i]));
}

// out[i] = compute(in1[i], in2[i])
template <typename InT, typename OutT, int NX, int NY, class OpFunc>
XPOPS_DEVICE void ElementwiseBinary(OutT* out, const InT* in1, const InT* in2, OpFunc compute) {
#pragma unroll
  for (int i = 0; i < NX * NY; ++i) out[i] = cast<OutT>(compute(in1[i], in2[i]));
}

// out[i] = compute(in1[i], in2[i], in3[i])
template <typename InT, typename OutT, int NX, int NY, class OpFunc>
XPOPS_DEVICE void ElementwiseTernary(OutT* out, const InT* in1, const InT* in2, const InT* in3, OpFunc compute) {
#pragma unroll
  for (int i = 0; i < NX * NY; ++i) out[i] = cast<OutT>(compute(in1[i], in2[i], in3[i]));
}

// out[i] = compute(args), where args[j] = ins[j][i] for j < Arity.
template <typename InT, typename OutT, int NX, int NY, int Arity, class OpFunc>
XPOPS_DEVICE void ElementwiseAny(OutT* out, InT (*ins)[NX * NY], OpFunc compute) {
#pragma unroll
  for (int i = 0; i < NX * NY; ++i) {
    InT args[Arity];
#pragma unroll
    for (int j = 0; j < Arity; ++j) args[j] = ins[j][i];
    out[i] = cast<OutT>(compute(args));
  }
}

// in1 has one row for all rows of in2: out[ny * NX + nx] = compute(in1[nx], in2[ny * NX + nx])
template <typename InT, typename OutT, int NX, int NY, class OpFunc>
XPOPS_DEVICE void CycleBinary(OutT* out, const InT* in1, const InT* in2, OpFunc compute) {
#pragma unroll
  for (int i = 0; i < NX * NY; ++i) out[i] = cast<OutT>(compute(in1[i % NX], in2[i]));
}

// out[i] = compute()
template <typename InT, typename OutT, int NX, int NY, class OpFunc>
XPOPS_DEVICE void ElementwiseConstant(OutT* out, OpFunc compute) {
#pragma unroll
  for (int i = 0; i < NX * NY; ++i) out[i] = cast<OutT>(compute());
}

}  // namespace kps
}  // namespace xpops
