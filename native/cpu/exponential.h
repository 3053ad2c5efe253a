// Exponentials and logarithms in float64, for results in float32: 2^-32 is the largest relative error. Loops with them
// are vectorised: they have no branches and call nothing. Products and sums are contracted where the processor can.
#ifndef XPOPS_EXPONENTIAL_H
#define XPOPS_EXPONENTIAL_H

#include <string.h>

#include "cpu.h"

#if defined(__clang__)
#pragma STDC FP_CONTRACT ON
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=fast")
#endif

// As FOR_PROCESSORS, for loops that are bound by arithmetic.
#ifdef XPOPS_AVX2
#define FOR_FAST_PROCESSORS(name, parameters, arguments)                                                       \
  __attribute__((target("avx512f,avx512dq,fma"))) static void name##_avx512 parameters { name##_body arguments; } \
  __attribute__((target("avx2,fma"))) static void name##_avx2 parameters { name##_body arguments; }            \
  static void name parameters {                                                                                \
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {                             \
      name##_avx512 arguments;                                                                                 \
    } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {                              \
      name##_avx2 arguments;                                                                                   \
    } else {                                                                                                   \
      name##_body arguments;                                                                                   \
    }                                                                                                          \
  }
#else
#define FOR_FAST_PROCESSORS FOR_PROCESSORS
#endif

// exp(x) for x <= 0, or NaN; 0 below -708. x is n log(2) + r: Taylor's polynomial gives exp(r), bits of a double 2^n.
INLINED double exp_of_negative(double x) {
  const double shifted = x * 0x1.71547652b82fep+0 + 0x1.8p+52, n = shifted - 0x1.8p+52;
  const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  double p = 1.0 / 40320, scale;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  uint64_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023) << 52;
  memcpy(&scale, &bits, sizeof scale);
  return x < -708.0 ? 0.0 : p * scale;
}

// log(1 + x) for x from 0 to 1, or NaN: 2 artanh(x / (2 + x)) by its series.
INLINED double log1p_of_unit(double x) {
  const double s = x / (2.0 + x), z = s * s;
  double p = 1.0 / 21;
  p = p * z + 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return (s + s) * (p * z + 1.0);
}

#endif
