// Bessel functions. Those of the first and second kind are CUDA's, or the C library's.
#pragma once

#include "xpops/math/special/real.cuh"

namespace xpops {
namespace detail {

// sqrt(x) exp(-x) I(x) for x >= 8, as polynomials in 16 / x - 1; fitted at Chebyshev points.
XPOPS_DEVICE float i0_factor(float u) {
  return horner(u, 0.4021765f, 0.0033605557f, 0.00013621716f, 1.1112148e-05f, 1.4761157e-06f, 3.6266704e-07f,
                1.0867942e-07f);
}
XPOPS_DEVICE double i0_factor(double u) {
  return horner(u, 0.4021765094450081, 0.0033605519836678614, 0.0001362160743919305, 1.1143033790932038e-05,
                1.4838475658279249e-06, 2.9735985885673923e-07, 8.872219737904054e-08, 3.932584334552952e-08,
                2.1548377974791598e-08, 7.55469188124881e-09, -6.747657956107541e-09, -1.3408917540089745e-08,
                -5.4047715675798986e-09, 7.552583062123396e-09, 7.4304646503252865e-09, -3.505966530879349e-09,
                -5.953569438264673e-09, 1.5200816953924414e-09, 3.637954635900889e-09, -5.715843864202832e-10,
                -1.6189806836245337e-09, 1.527920269498204e-10, 4.5770876316430635e-10, -2.0260604287414417e-11,
                -6.067631570602082e-11);
}
XPOPS_DEVICE float i1_factor(float u) {
  return horner(u, 0.38939846f, -0.009749581f, -0.00021923713f, -1.5003965e-05f, -1.8256908e-06f, -4.2103503e-07f,
                -1.2273217e-07f);
}
XPOPS_DEVICE double i1_factor(double u) {
  return horner(u, 0.38939845902587233, -0.00974957719323576, -0.00021923576383388928, -1.503854719814553e-05,
                -1.8349101326980946e-06, -3.4838565069237384e-07, -1.0001288294864884e-07, -4.312811174972107e-08,
                -2.3373928208142642e-08, -8.436290430234552e-09, 6.734464815301609e-09, 1.407639550075496e-08,
                5.974437608040204e-09, -7.778592763970222e-09, -7.888351507861937e-09, 3.7219797447251093e-09,
                6.242741219786225e-09, -1.873645047006026e-09, -3.794670896208111e-09, 9.568523624899415e-10,
                1.6848984479703649e-09, -4.086984233469587e-10, -4.758818838703288e-10, 1.1618136302858023e-10,
                6.305965197149121e-11, -1.562659907195624e-11);
}

// sqrt(x) exp(x) K(x) for x >= 1, as polynomials in (x - 3) / (x + 1); fitted at Chebyshev points.
XPOPS_DEVICE float k0_factor(float u) {
  return horner(u, 1.2085586f, 0.051904142f, -0.009047816f, 0.0023443243f, -0.00057492295f, 0.00016294626f,
                -4.269773e-05f, 1.2648059e-05f, -4.492692e-06f, 1.4664662e-06f);
}
XPOPS_DEVICE double k0_factor(double u) {
  return horner(u, 1.2085585393824039, 0.051904142000699996, -0.009047854303700933, 0.002344354038358351,
                -0.0005746200406784092, 0.00016278282391422294, -4.352560927102483e-05, 1.3010580777517887e-05,
                -3.591154354231342e-06, 1.1249592907716705e-06, -3.100579548325663e-07, 1.0307888100235242e-07,
                -2.7206657746445664e-08, 1.0106487362350611e-08, -2.246246145073874e-09, 9.410401647338068e-10,
                -2.5631243709902137e-10, 2.52923623700049e-10, 8.382850821164158e-11, -5.341859910939586e-11,
                -4.42286551123062e-11, 2.534820467036602e-11, 1.4369720342283346e-11);
}
XPOPS_DEVICE float k1_factor(float u) {
  return horner(u, 1.3970089f, -0.17753775f, 0.04365063f, -0.012635092f, 0.003692653f, -0.0011286712f, 0.00034493773f,
                -0.00010387024f, 3.2042724e-05f, -1.4289522e-05f, 4.6186424e-06f);
}
XPOPS_DEVICE double k1_factor(double u) {
  return horner(u, 1.3970089271126294, -0.17753773382085045, 0.04365061563750178, -0.01263540807917401,
                0.00369284692879148, -0.0011269348877037742, 0.0003441268508157926, -0.00010771773965999391,
                3.355631079959308e-05, -1.0673202221576338e-05, 3.3583874400312454e-06, -1.0820017355717784e-06,
                3.415011215266923e-07, -1.1170712650407407e-07, 3.509484865154411e-08, -1.1523045628170145e-08,
                3.5451421637647005e-09, -1.4323916402083036e-09, 3.871398566902981e-10, -2.8827650543846152e-11,
                3.314891343861267e-11, -5.114219968446545e-11);
}

template <int kOrder, class T> XPOPS_DEVICE T i_factor(T u) {
  if constexpr (kOrder == 0) return i0_factor(u);
  else return i1_factor(u);
}
template <int kOrder, class T> XPOPS_DEVICE T k_factor(T u) {
  if constexpr (kOrder == 0) return k0_factor(u);
  else return k1_factor(u);
}

// The power series of I, for |x| <= 8, and the sum of its terms times psi(k + 1) + psi(k + 1 + kOrder) + 2 Euler.
template <int kOrder, class T> XPOPS_DEVICE T i_series(T x, T& weighted) {
  const T half = T(0.5) * x, square = half * half;
  T term = kOrder ? half : T(1), sum = term, weight = kOrder;
  weighted = term * weight;
  for (T k = 1; k < 60; k += 1) {
    term *= square / (k * (k + kOrder));
    weight += 1 / k + 1 / (k + kOrder);
    sum += term;
    weighted += term * weight;
    if (abs(term) <= kEpsilon<T> * T(0.25) * abs(sum)) break;
  }
  return sum;
}

// I(x), times exp(-|x|) if scaled.
template <int kOrder, class T> XPOPS_NOINLINE T bessel_i(T x, bool scaled) {
  const T size = abs(x);
  if (size <= 8) {
    T weighted;
    const T sum = i_series<kOrder>(x, weighted);
    return scaled ? sum * exp(-size) : sum;
  }
  if (isinf(x) && !scaled) return kOrder ? x : size;
  const T part = i_factor<kOrder>(16 / size - 1) / sqrt(size), root = exp(T(0.5) * size);
  const T value = scaled ? part : part * root * root;
  return kOrder && x < 0 ? -value : value;
}

// K(x), times exp(x) if scaled.
template <int kOrder, class T> XPOPS_NOINLINE T bessel_k(T x, bool scaled) {
  if (!(x > 0)) return x == 0 ? kInfinity<T> : kNan<T>;
  if (x <= 1) {
    T weighted;
    const T sum = i_series<kOrder>(x, weighted), part = (log(T(0.5) * x) + kEuler<T>)*sum - T(0.5) * weighted;
    const T value = kOrder ? 1 / x + part : -part;
    return scaled ? value * exp(x) : value;
  }
  if (isinf(x)) return 0;
  const T value = k_factor<kOrder>(fma(T(-4), 1 / (x + 1), T(1))) / sqrt(x);
  return scaled ? value : value * exp(-x);
}

}  // namespace detail

struct I0 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_i<0>(x, false); }
};
struct I0e {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_i<0>(x, true); }
};
struct I1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_i<1>(x, false); }
};
struct I1e {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_i<1>(x, true); }
};
struct K0 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_k<0>(x, false); }
};
struct K0e {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_k<0>(x, true); }
};
struct K1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_k<1>(x, false); }
};
struct K1e {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return detail::bessel_k<1>(x, true); }
};

struct J0 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return j0(x); }
};
struct J1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return j1(x); }
};
struct Y0 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return x < 0 ? detail::kNan<T> : y0(x); }
};
struct Y1 {
  template <class T> XPOPS_DEVICE T operator()(T x) const { return x < 0 ? detail::kNan<T> : y1(x); }
};

// The second kind of integer order, by the recurrence over the order, which is stable upwards.
struct Yn {
  template <class T> XPOPS_DEVICE T operator()(T n, T x) const {
    const T order = abs(trunc(n)), sign = n < 0 && detail::is_odd(order) ? T(-1) : T(1);
    if (!(x > 0) || !(order <= detail::kMostSteps<T>)) return x == 0 ? -sign * detail::kInfinity<T> : detail::kNan<T>;
    T last = y0(x), value = y1(x);
    if (order == 0) return last;
    for (T k = 1; k < order && !isinf(value); k += 1) {
      const T next = 2 * k / x * value - last;
      last = value;
      value = next;
    }
    return sign * value;
  }
};

}  // namespace xpops
