// The gamma function and functions that consist of it.
#pragma once

#include "xpops/math/special/logarithm.cuh"

namespace xpops {
namespace detail {

// The sign of gamma(x); NaN at its poles.
template <class T> XPOPS_DEVICE T gamma_sign(T x) {
  if (x == 0) return copysign(T(1), x);
  if (x > 0 || isnan(x)) return x > 0 ? T(1) : x;
  return is_whole(x) ? kNan<T> : is_odd(floor(x)) ? T(-1) : T(1);
}

// log(|beta(a, b)|). The gamma functions of large numbers nearly cancel, so their logarithms are not subtracted.
template <class T> XPOPS_NOINLINE T log_beta(T first, T second) {
  const T a = first < second ? first : second, b = first < second ? second : first, sum = a + b;
  if (a <= 0 && is_whole(a)) return is_whole(b) && 1 - sum > 0 && b > 0 ? log_beta(1 - sum, b) : kInfinity<T>;
  if (!(b >= kStirling<T>) || !(sum >= kStirling<T>)) return lgamma(a) + (lgamma(b) - lgamma(sum));
  const T correction = stirling(b) - stirling(sum);
  if (a >= kStirling<T>) {
    const T ratio = a / b;
    return stirling(a) + correction - T(0.5) * log(b) + T(0.918938533204672741780) - (a - T(0.5)) * log1p(1 / ratio) -
           b * log1p(ratio);
  }
  return lgamma(a) + correction - (sum - T(0.5)) * log1p(a / b) - a * (log(b) - 1);
}

// beta(a, b) with its sign.
template <class T> XPOPS_NOINLINE T beta(T a, T b) {
  const T sum = a + b;
  constexpr T kSmall = is_same_v<T, float> ? T(16) : T(80);
  if (abs(a) < kSmall && abs(b) < kSmall && !(is_whole(sum) && sum <= 0)) return tgamma(a) / tgamma(sum) * tgamma(b);
  if (is_whole(sum) && sum <= 0) return 0;
  return gamma_sign(a) * gamma_sign(b) * gamma_sign(sum) * exp(log_beta(a, b));
}

// gamma(z + f) / gamma(z) for z >= kStirling and f from 0 to 1.
template <class T> XPOPS_DEVICE T gamma_step(T z, T f) {
  const T sum = z + f, u = f * reciprocal(z), near = 1 + u;
  const T power = fma(sum - T(0.5), logarithm(near, u - (near - 1)), f * (logarithm(z) - 1));
  return exp(power + (stirling(sum) - stirling(z)));
}

// gamma(z + m) / gamma(z) for |m| < 20 and a z below 60 that is not tiny, so that no product is infinite or subnormal. The
// recurrence takes z to kStirling, and z + m to the same plus the fraction of m. Integers are added to m, which is exact, so
// that factors near 0 are not rounded twice.
template <class T> XPOPS_DEVICE T rising_few(T z, T m) {
  const T whole = floor(m), f = m - whole, first = whole < 0 ? m : f;
  T product = 1;
#pragma unroll 1
  for (T i = 0; i < abs(whole); i += 1) product *= z + (first + i);
  T over = whole < 0 ? T(1) : product, under = whole < 0 ? product : T(1), i = 0;
#pragma unroll 1
  for (; z + i < kStirling<T>; i += 1) {
    over *= z + i;
    under *= z + (f + i);
  }
  return under == 0 ? kInfinity<T> : gamma_step(z + i, f) * (over / under);
}

// gamma(z + m) / gamma(z).
template <class T> XPOPS_NOINLINE T rising(T z, T m) {
  if (z > kEpsilon<T> && z < 60 && abs(m) < 20) return rising_few(z, m);
  T product = 1;
  for (int i = 0; i < 1000 && m >= 1 && z + m != 1; ++i, m -= 1) {
    product *= z + m - 1;
    if (!isfinite(product) || product == 0) return product;
  }
  for (int i = 0; i < 1000 && m <= -1 && z + m != 0; ++i, m += 1) {
    product /= z + m;
    if (!isfinite(product) || product == 0) return product;
  }
  if (m == 0) return product;
  const T sum = z + m;
  if (sum <= 0 && is_whole(sum) && z != sum) return kInfinity<T>;
  if (z <= 0 && is_whole(z)) return 0;
  if (z >= kStirling<T> && sum >= kStirling<T>) {
    return product * exp(stirling(sum) - stirling(z) + (sum - T(0.5)) * log1p(m / z) + m * (log(z) - 1));
  }
  if (abs(z) < 30 && abs(sum) < 30) return product * (tgamma(sum) / tgamma(z));
  return product * exp(lgamma(sum) - lgamma(z)) * gamma_sign(sum) * gamma_sign(z);
}

// gamma(x) for x from 1 to 2, as a polynomial in 2 x - 3: a minimax fit (Remez) with an error of 2^-55.
XPOPS_TABLE double kGammaTable[] = {
    0.886226925452758, 0.01616919872444236, 0.10370336342207079, -0.013411850570584489, 0.009040334940469668,
    -0.0024225953846596735, 0.000915785994323135, -0.0002968901183025016, 0.00010092817270691938,
    -3.363760417152828e-05, 1.1252352203274141e-05, -3.7549103014371264e-06, 1.253142385028805e-06,
    -4.1800682103056823e-07, 1.3876860351843502e-07, -4.615527463117055e-08, 1.6124305211982393e-08,
    -5.46237833743117e-09, 1.2685494860758344e-09, -3.8398418427640316e-10, 3.6162491981095344e-10,
    -1.2796454475748654e-10};

// gamma(x) for |x| < 33 that is no pole, by the recurrence from 1 to 2. The factors are exact, and the rounding errors of their
// product are added up. CUDA's tgamma(double) takes twice the time, since a warp computes both of its paths.
struct GammaFew {
  double start, product, rest;  // gamma(x) is start (product + rest), or start / (product + rest) for x < 1
  bool below;

  XPOPS_DEVICE explicit GammaFew(double x) : product(1), rest(0) {
    const double steps = floor(x) - 1, first = x - steps, least = steps < 0 ? x : first;
    below = steps < 0;
    start = horner(fma(2.0, first, -3.0), kGammaTable);
#pragma unroll 1
    for (double i = 0; i < abs(steps); i += 1) {
      const double factor = least + i, next = mul_rn(product, factor);
      rest = fma(rest, factor, fma(product, factor, -next));
      product = next;
    }
  }
  XPOPS_DEVICE double value() const { return below ? start / (product + rest) : fma(start, product, start * rest); }
  XPOPS_DEVICE double inverse() const { return (below ? product + rest : 1 / (product + rest)) / start; }
};

// Whether gamma(x) is computed by GammaFew.
XPOPS_DEVICE bool has_few(float) { return false; }
XPOPS_DEVICE bool has_few(double x) { return abs(x) < 33 && !(x <= 0 && is_whole(x)); }

}  // namespace detail

struct Gamma {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    return detail::has_few(x) ? static_cast<T>(detail::GammaFew(x).value()) : tgamma(x);
  }
};

struct Gammaln {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return isinf(x) ? x : lgamma(x); }
};

struct Gammasgn {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::gamma_sign(x); }
};

struct Loggamma {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return x < 0 ? detail::kNan<T> : lgamma(x); }
};

// 1 / gamma(x). For results that are subnormal, ten steps of the recurrence are taken after the division.
struct Rgamma {
  template <class T> XPOPS_DEVICE T operator()(T x) const {
    if (x <= 0 && detail::is_whole(x)) return x == 0 ? x : T(0);
    if (detail::has_few(x)) return static_cast<T>(detail::GammaFew(x).inverse());
    T y = x, product = 1;
    if (x > T(is_same_v<T, float> ? 30 : 160) && x < 200) {
      for (int i = 0; i < 10; ++i) product *= (y -= 1);
    }
    return 1 / tgamma(y) / product;
  }
};

struct Multigammaln {
  template <class T> XPOPS_DEVICE T operator()(T a, T d) const {
    if (!(a > T(0.5) * (d - 1)) || d > detail::kMostSteps<T>) return detail::kNan<T>;
    T sum = T(0.25) * d * (d - 1) * T(1.14472988584940017414);  // log(pi)
    for (T i = 0; i < d; i += 1) sum += lgamma(a - T(0.5) * i);
    return sum;
  }
};

struct Betaln {
  template <class T> XPOPS_DEVICE T operator()(T a, T b) const { return detail::log_beta(a, b); }
};

struct Poch {
  template <class T> XPOPS_DEVICE T operator()(T z, T m) const { return detail::rising(z, m); }
};

// The binomial coefficient. For small integers k it is a product, which is exact if the result is.
struct Binom {
  template <class T> XPOPS_DEVICE T operator()(T n, T k) const {
    if (isnan(n) || (n < 0 && detail::is_whole(n))) return detail::kNan<T>;
    if (detail::is_whole(k)) {
      const T places = detail::is_whole(n) && 2 * k > n && n >= 0 ? n - k : k;
      if (places < 0) return 0;
      if (places < 40) {
        T numerator = 1, denominator = 1;
        for (T i = 1; i <= places; i += 1) {
          numerator *= i + n - places;
          denominator *= i;
          if (abs(numerator) > T(is_same_v<T, float> ? 1e20 : 1e50)) {
            numerator /= denominator;
            denominator = 1;
          }
        }
        return numerator / denominator;
      }
    }
    const T rest = 1 + n - k;
    return rest <= 0 && detail::is_whole(rest) ? T(0) : 1 / ((n + 1) * detail::beta(rest, 1 + k));
  }
};

}  // namespace xpops
