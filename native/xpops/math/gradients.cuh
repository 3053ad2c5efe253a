// Cotangents of activation functions: products of a cotangent g and the slope at x.
#pragma once

#include "xpops/math/special/normal_tail.cuh"

namespace xpops {
namespace detail {

// The slope of Gelu at -a is exp(-a * a / 2) (kRoot + kRootLow - a) times a factor without a zero, and 1 minus that at a.
template <class T> inline constexpr T kRoot = is_same_v<T, float> ? T(0x1.80ead2p-1) : T(0.7517915246935645);
template <class T>
inline constexpr T kRootLow = is_same_v<T, float> ? T(-1.211444945855772e-08) : T(-1.4956759177009883e-17);

// The factor as a polynomial in u = (a - kMiddle) / (a + kMiddle). The error is below 2^-26 for float and 2^-54 for
// double, for a up to 15 and 40.
XPOPS_DEVICE float slope_factor(float u) {
  return horner(u, 0.478297681f, -0.119975425f, 0.0535961203f, -0.0140747931f, 0.000203896168f, 0.00109506212f,
                -9.30480965e-05f, -0.000129522799f, 2.41950215e-06f, 1.76230769e-05f, 3.8730609e-06f);
}
XPOPS_TABLE double kSlopeTable[] = {
    0.4563345077967707,     -0.09620246730848729,   0.06097488289577319,    -0.03248194057403172,
    0.013967464174692362,   -0.004458709970383934,  0.0008121531770027795,  6.469430970046008e-05,
    -8.496073493622692e-05, 1.2600382420915543e-05, 6.607434783078269e-06,  -2.3320678657215055e-06,
    -5.763666114566037e-07, 3.412281970822532e-07,  6.934237965435783e-08,  -4.968705967895362e-08,
    -1.201244768879607e-08, 7.142381739423004e-09,  2.450946264001718e-09,  -8.840370902941537e-10,
    -4.3454451382385917e-10, 6.405857378945013e-11, 4.251942071065755e-11};
XPOPS_DEVICE double slope_factor(double u) { return horner(u, kSlopeTable); }

}  // namespace detail

struct GeluBackward {
  template <class T> XPOPS_DEVICE T operator()(T g, T x) const {
    using detail::kFar, detail::kMiddle, detail::kRoot, detail::kRootLow;
    const T a = abs(x) > kFar<T> ? kFar<T> : abs(x), half = T(-0.5) * a, square = mul_rn(half, a);
    const T power = scaled_exp(square, fma(half, a, -square)), inverse = reciprocal(a + kMiddle<T>);
    const T factor = detail::slope_factor(fma(-2 * kMiddle<T>, inverse, T(1)));
    const T slope = power * ((kRoot<T> - a) + kRootLow<T>) * factor * kUnscale<T>;
    return g * (x > 0 ? 1 - slope : slope);
  }
};

template <class Out> struct NarrowGeluBackward {
  template <class G, class X> XPOPS_DEVICE Out operator()(G g, X stored) const {
    using detail::kFar, detail::kRoot, detail::kRootLow;
    const float x = widened(stored), a = abs(x) > kFar<float> ? kFar<float> : abs(x);
    const float power = detail::narrow_exp2<Out>(a * a * (-0.5f * detail::kLog2e));
    const float factor = horner(fma(-5.0f, fast_reciprocal(a + 2.5f), 1.0f), 0.489658183f, -0.128994945f, 0.0447593059f,
                                -0.00449953618f, -0.00269388576f, 0.000432125268f, 0.000292203757f);
    const float slope = power * ((kRoot<float> - a) + kRootLow<float>) * factor;
    return narrowed<Out>(widened(g) * (x > 0 ? 1.0f - slope : slope));
  }
};

}  // namespace xpops
