// Exponential integrals, the dilogarithm and complete elliptic integrals.
#pragma once

#include "xpops/math/special/real.cuh"

namespace xpops {
namespace detail {

// x exp(x) exp1(x) for x >= 1/2, as a polynomial in (x - 3) / (x + 2); fitted at Chebyshev points.
XPOPS_DEVICE float e1_factor(float u) {
  return horner(u, 0.78625125f, 0.2416748f, -0.044758074f, 0.021869443f, -0.0080709f, 0.0042259353f, -0.0019190033f,
                0.0010821127f, -0.00055811176f, 0.0002217069f, -8.863832e-05f, 0.00023061565f, -0.0001625484f,
                -9.645053e-05f, 7.622755e-05f, 6.4179636e-05f, -4.2513693e-05f);
}
XPOPS_TABLE double kE1Table[] = {
    0.7862512207659554, 0.2416748051063699, -0.044758095602891346, 0.02186912819525672, -0.008070348098674095,
    0.00423019176103141, -0.0019244573143820253, 0.0010565990878340617, -0.0005314246134949434, 0.0003014292625254053,
    -0.00016069620580894245, 9.336765702577507e-05, -5.1679654896998764e-05, 3.0579462516186754e-05,
    -1.7429179809854647e-05, 1.0507591398533474e-05, -5.850865890726252e-06, 3.409715052700249e-06,
    -2.8096958201682094e-06, 2.140421172124333e-06, 8.034434449350491e-07, -1.3777165207670889e-06,
    -3.2285502831794033e-06, 3.425380180385709e-06, 3.9454962152695285e-06, -4.175735068339073e-06,
    -4.187264124849229e-06, 4.156803789627226e-06, 3.0358590583160703e-06, -2.8943251567049095e-06,
    -1.5464673221276809e-06, 1.4071744750709124e-06, 4.794762422140485e-07, -4.189530010700413e-07,
    -7.340658435034726e-08, 6.099018635586176e-08};
XPOPS_DEVICE double e1_factor(double u) { return horner(u, kE1Table); }

// The sum of x^k / (k k!) over k >= 1.
template <class T> XPOPS_DEVICE T exponential_series(T x) {
  T power = x, sum = x;
  for (T k = 2; k < 200; k += 1) {
    power *= x / k;
    const T part = power / k;
    sum += part;
    if (abs(part) <= kEpsilon<T> * abs(sum)) break;
  }
  return sum;
}

// The sum of x^(k - 1) / (k k!) over k >= 1, for x from 0 to 8. This and the next are minimax fits of the relative error
// (Remez), with errors below 2^-54 for double and 2^-27 for float.
XPOPS_DEVICE float expi_series(float x) {
  return horner(x, 1.0f, 0.24999993f, 0.05555642f, 0.010413031f, 0.0016745613f, 0.00022129554f, 3.6806196e-05f,
                -1.6514356e-06f, 2.1625217e-06f, -4.8389467e-07f, 1.0162931e-07f, -1.3210667e-08f, 1.2126958e-09f,
                -6.467449e-11f, 1.7674493e-12f);
}
XPOPS_TABLE double kExpiSeries[] = {
    1.0, 0.24999999999999883, 0.05555555555558425, 0.01041666666638923, 0.0016666666680809495, 0.00023148147708204972,
    2.834468031699436e-05, 3.100185088299882e-06, 3.0620673862322144e-07, 2.7545716882293115e-08,
    2.2847264707436346e-09, 1.704129115295547e-10, 1.3734124595006968e-11, 3.927606992063695e-13,
    1.5616512894591382e-13, -1.7689248264567395e-14, 3.3872899671425895e-15, -3.8490303556800776e-16,
    3.7423532126669535e-17, -2.573420923526994e-18, 1.2974926778426764e-19, -4.061847597394635e-21,
    6.724084744345361e-23};
XPOPS_DEVICE double expi_series(double x) { return horner(x, kExpiSeries); }

// x exp(-x) expi(x) for x >= 8, from 1 / x.
XPOPS_DEVICE float expi_factor(float inverse) {
  const float u = fma(16.0f, inverse, -1.0f);
  return horner(u, 1.072345f, 0.08517467f, 0.017463377f, 0.007245752f, 0.0031941184f, -0.0012875595f, -0.003637886f,
                -0.00062819524f, 0.0027092882f, 0.00066513574f, -0.0017793825f, -0.00030857403f, 0.00079298386f,
                6.2764666e-05f, -0.00016347603f);
}
XPOPS_TABLE double kExpiMiddle[] = {
    1.1097271325995877, 0.06184167427162567, 0.009779919925318924, 0.0014091092043280787, -0.0006786259283744278,
    -0.0003483177713846851, 9.32085248268818e-05, 4.586962857209964e-05, -2.375600205583558e-05,
    -1.1863794317360242e-06, 4.311897134452206e-06, -1.409602069920568e-06, -1.431814400434995e-07,
    3.024488192446245e-07, -1.2027016117841413e-07, 9.43232572781747e-09, 1.642303628154326e-08,
    -1.1431758263462941e-08, 3.0537997390362734e-09, 7.506397517442593e-10, -7.515871377716005e-10,
    1.4545669320021532e-10};
XPOPS_TABLE double kExpiFar[] = {
    1.0263545114390058, 0.027825946121226682, 0.0016027475231971237, 0.00014809035635638776, 1.968479720374043e-05,
    3.573461024321788e-06, 8.677374836938671e-07, 2.8397719358510925e-07, 1.2808747353405062e-07,
    7.521852737337015e-08, 4.310798898032197e-08, 4.743028108529197e-09, -3.441776792898471e-08,
    -4.0334984163679176e-08, -1.4762205368722752e-09, 2.953013341820152e-08, 1.1387085951387584e-08,
    -1.4289315016078764e-08, -7.579022796957195e-09, 5.072520885965973e-09, 2.5725393680745636e-09,
    -1.1981458290637847e-09, -3.824856153820292e-10, 1.3891556856144318e-10};
XPOPS_DEVICE double expi_factor(double inverse) {
  if (inverse < 0.05) return horner(fma(40.0, inverse, -1.0), kExpiFar);
  return horner(fma(80.0, inverse, -7.0) * (1 / 3.0), kExpiMiddle);
}

template <class T> XPOPS_NOINLINE T exponential_integral(T x) {
  if (x == 0) return kInfinity<T>;
  if (!(x > 0)) return kNan<T>;
  if (x <= T(0.5)) return -kEuler<T> - log(x) - exponential_series(-x);
  return exp(-x) / x * e1_factor(fma(T(-5), 1 / (x + 2), T(1)));
}

// The continued fraction of expn(n, x), for x > 1 or n >= 20. The number of terms is a bound of those that count, found
// by trials.
template <class T> XPOPS_DEVICE T expn_fraction(T n, T x) {
  constexpr bool kSingle = is_same_v<T, float>;
  const T some = kSingle ? 7 + 24 / x : 16 + 90 / x, most = kSingle ? T(20) : T(50);
  return upper_gamma_fraction(1 - n, x, floor(n >= 20 && some > most ? most : some)) * exp(-x);
}

// The power series of expn(n, x), for x <= 1 and n >= 2.
template <class T> XPOPS_DEVICE T expn_series(T n, T x) {
  T harmonic = 0, power = 1, sum = 1 / (1 - n);
  for (T m = 1; m < 200; m += 1) {
    power *= -x / m;
    harmonic += 1 / m;
    const bool is_logarithm = m == n - 1;
    const T part = is_logarithm ? -power * (harmonic - kEuler<T> - log(x)) : power / (m - n + 1);
    sum += part;
    if (m > n && abs(part) <= kEpsilon<T> * abs(sum)) break;
  }
  return -sum;
}

// -log(x) log(1 - x) + pi^2 / 6 - spence(1 - x) is spence(x). Near 1: a series in log(x) with Bernoulli numbers.
template <class T> XPOPS_DEVICE T spence_near(T x) {
  const T w = -log(x), s = w * w;
  return w + s * (T(-0.25) + w * horner(s, T(1 / 36.0), T(-1 / 3600.0), T(1 / 211680.0), T(-1 / 10886400.0),
                                        T(1 / 526901760.0), T(-4.0647616451442255e-11), T(8.9216910204564526e-13),
                                        T(-1.9939295860721076e-14), T(4.518980029619918e-16)));
}

}  // namespace detail

struct Exp1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::exponential_integral(x); }
};

struct Expi {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if (x < 0) return -detail::exponential_integral(-x);
    if (x == 0 || isinf(x)) return x == 0 ? -detail::kInfinity<T> : x;
    if (x <= 8) return fma(x, detail::expi_series(x), detail::kEuler<T> + log(x));
    const T root = exp(T(0.5) * x), inverse = 1 / x;
    return root * inverse * detail::expi_factor(inverse) * root;
  }
};

struct Expn {
  template <class T> XPOPS_DEVICE T operator()(T order, T x) const {
    const T n = trunc(order);
    if (!(n >= 0 && x >= 0)) return detail::kNan<T>;
    if (x == 0) return n < 2 ? detail::kInfinity<T> : 1 / (n - 1);
    if (isinf(x)) return 0;
    if (n == 0) return exp(-x) / x;
    if (n == 1) return detail::exponential_integral(x);
    return x <= 1 && n < 20 ? detail::expn_series(n, x) : detail::expn_fraction(n, x);
  }
};

// The integral of log(t) / (1 - t) from 1 to x, which is the dilogarithm of 1 - x.
struct Spence {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    constexpr T kLimit = T(1.64493406684822643647);  // pi^2 / 6
    if (!(x >= 0)) return detail::kNan<T>;
    const bool far = x > 2;
    const T y = far ? 1 / x : x;
    const T near = y >= T(0.5) ? detail::spence_near(y)
                   : y == 0    ? kLimit
                               : kLimit - log(y) * log1p(-y) - detail::spence_near(1 - y);
    const T logarithm = log(x);
    return far ? -near - T(0.5) * logarithm * logarithm : near;
  }
};

// The complete elliptic integral of the first kind of 1 - p, by the arithmetic-geometric mean of 1 and sqrt(p).
struct Ellipkm1 {
  template <class T> XPOPS_DEVICE T operator()(T p) const {
    if (!(p > 0)) return p == 0 ? detail::kInfinity<T> : detail::kNan<T>;
    if (isinf(p)) return 0;
    T a = 1, b = sqrt(p);
    for (int i = 0; i < 30 && abs(a - b) > 2 * detail::kEpsilon<T> * a; ++i) {
      const T mean = T(0.5) * (a + b);
      b = sqrt(a * b);
      a = mean;
    }
    return detail::kPi<T> / (a + b);
  }
};

struct Ellipk {
  template <class T> XPOPS_DEVICE T operator()(T m) const { return Ellipkm1()(1 - m); }
};

}  // namespace xpops
