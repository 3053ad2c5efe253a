// The error function and the standard normal distribution.
#pragma once

#include "xpops/math/special/normal_tail.cuh"
#include "xpops/math/special/logarithm.cuh"

namespace xpops {
namespace detail {

// exp(x^2) erfc(x) (x + 2) for x >= 0, as a polynomial in (x - 2) / (x + 2); fitted at Chebyshev points.
XPOPS_DEVICE float erfcx_factor(float u) {
  return horner(u, 1.0215827f, -0.6871607f, 0.27947205f, -0.036442768f, -0.021510232f, 0.00648371f, 0.0030880955f,
                -0.0008540403f, -0.0006562003f, 6.590308e-05f, 0.00013537561f, 2.654791e-06f, -1.7017739e-05f);
}
XPOPS_TABLE double kErfcxTable[] = {
    1.021582705242023, -0.6871606844138105, 0.279472092556055, -0.03644223150688499, -0.021510661889510823,
    0.006479185067973027, 0.00309061206011449, -0.0008372960665929736, -0.000663073521942559, 3.4371475189097876e-05,
    0.0001444709148578759, 3.4148673061471404e-05, -2.1697221524962893e-05, -1.612008098205629e-05,
    -1.1217406848646906e-06, 3.6416156768059642e-06, 1.9923000522047793e-06, 6.117439291349419e-09,
    -5.546401571454193e-07, -3.2982326222369267e-07, -2.3317217186392174e-08, 1.1520293394351249e-07,
    7.464141286976263e-08, -1.2707729339010278e-08, -2.8488123024334326e-08, -2.4569072700373133e-09,
    5.289888326367067e-09, 6.777739109261737e-10, -4.1136501817004843e-10};
XPOPS_DEVICE double erfcx_factor(double u) { return horner(u, kErfcxTable); }

template <class T> XPOPS_NOINLINE T erfcx(T x) {
  const T inverse = 1 / (abs(x) + 2), right = inverse * erfcx_factor(fma(T(-4), inverse, T(1)));
  if (!(x < 0)) return right;
  const T square = mul_rn(x, x), power = exp(square);
  return isinf(power) ? power : 2 * fma(power, fma(x, x, -square), power) - right;
}

// erfinv(x) / x as a polynomial in -log(1 - x^2) - kMiddleLog, if 1 - x^2 is at least kCentral. Minimax fits of the
// relative error (Remez), with errors of 2^-27 and 2^-55.
template <class T> inline constexpr T kCentral = T(0x1p-9);
template <class T> inline constexpr T kMiddleLog = T(3.12);
XPOPS_DEVICE float erfinv_factor(float u) {
  return horner(u, 1.6524537f, 0.24021846f, -0.0060225916f, -0.00074442715f, 0.00018714627f, -1.38495125e-05f,
                -1.4068614e-06f, 4.2728328e-07f, -2.4000723e-08f, -4.6711377e-09f, 6.377245e-10f);
}
XPOPS_TABLE double kErfinvTable[] = {
    1.6524536210219076, 0.24021846348820203, -0.006022532305943877, -0.0007444406855222951, 0.00018708075720403917,
    -1.3841336790875269e-05, -1.3803112487412318e-06, 4.246379174471392e-07, -2.888412952479577e-08,
    -4.165297166206299e-09, 1.0541748633403657e-09, -5.335855542248957e-11, -1.314815808890552e-11,
    2.6359061367071466e-12, -7.814203885968468e-14, -4.051270057508388e-14, 6.596668907048842e-15,
    -3.169011482585324e-17, -1.314360354861041e-16, 1.5689647988599242e-17, 1.1776465642809208e-18,
    -3.594494010235615e-19, -1.3131679248442265e-21, 3.414431863032258e-21};
XPOPS_DEVICE double erfinv_factor(double u) { return horner(u, kErfinvTable); }

// erfinv(x) / x from 1 - x^2.
template <class T> XPOPS_DEVICE T erfinv_central(T share) { return erfinv_factor(-logarithm(share) - kMiddleLog<T>); }

// The normal number that the probability p < 0.08 is above: Algorithm AS 241, PPND16 (M. J. Wichura, Applied Statistics 37,
// 1988). Few of many random numbers are in the tails, so this is a call.
template <class T> XPOPS_NOINLINE T normal_tail(T p) {
  if (p == 0) return kInfinity<T>;
  const T r = sqrt(-log(p));
  if (r <= 5) {
    const T s = r - T(1.6);
    return horner(s, T(1.42343711074968357734e0), T(4.63033784615654529590e0), T(5.76949722146069140550e0),
                  T(3.64784832476320460504e0), T(1.27045825245236838258e0), T(2.41780725177450611770e-1),
                  T(2.27238449892691845833e-2), T(7.74545014278341407640e-4)) /
           horner(s, T(1), T(2.05319162663775882187e0), T(1.67638483018380384940e0), T(6.89767334985100004550e-1),
                  T(1.48103976427480074590e-1), T(1.51986665636164571966e-2), T(5.47593808499534494600e-4),
                  T(1.05075007164441684324e-9));
  }
  const T s = r - 5;
  return horner(s, T(6.65790464350110377720e0), T(5.46378491116411436990e0), T(1.78482653991729133580e0),
                T(2.96560571828504891230e-1), T(2.65321895265761230930e-2), T(1.24266094738807843860e-3),
                T(2.71155556874348757815e-5), T(2.01033439929228813265e-7)) /
         horner(s, T(1), T(5.99832206555887937690e-1), T(1.36929880922735805310e-1), T(1.48753612908506148525e-2),
                T(7.86869131145613259100e-4), T(1.84631831751005468180e-5), T(1.42151175831644588870e-7),
                T(2.04426310338993978564e-15));
}

template <class T> XPOPS_DEVICE T normal_quantile(T p) {
  const T q = p - T(0.5), share = 4 * p * (1 - p);
  if (share >= kCentral<T>) return T(2.82842712474619009760) * q * erfinv_central(share);
  if (!(p >= 0 && p <= 1)) return kNan<T>;
  return q < 0 ? -normal_tail(p) : normal_tail(1 - p);
}

}  // namespace detail

struct Erf {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return erf(x); }
};

struct Erfc {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return erfc(x); }
};

struct Erfcx {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::erfcx(x); }
};

struct Erfinv {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    const T size = abs(x), share = fma(-x, x, T(1));
    if (share >= detail::kCentral<T>) return x * detail::erfinv_central(share);
    if (!(size <= 1)) return detail::kNan<T>;
    return copysign(detail::normal_tail(T(0.5) * (1 - size)) * detail::kHalfRoot<T>, x);
  }
};

// P(Z < x) for a standard normal Z.
struct Ndtr {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    const T above = detail::scaled_tail(x);
    return x > 0 ? fma(above, -kUnscale<T>, T(1)) : above * kUnscale<T>;
  }
};

struct Ndtri {
  template <class T> XPOPS_DEVICE T operator()(T p) const { return detail::normal_quantile(p); }
};

struct LogNdtr {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if (x < -1) return log(T(0.5) * detail::erfcx(-x * detail::kHalfRoot<T>)) - T(0.5) * x * x;
    const T above = detail::scaled_tail(x) * kUnscale<T>;
    return x > 0 ? log1p(-above) : log(above);
  }
};

}  // namespace xpops
