// Elementwise functions of float32 that need no wider numbers, or only in between. Results are those of the
// rows' functions of NumPy; `hypot` may differ by a unit in the last place.
#ifndef XPOPS_ARITHMETIC_H
#define XPOPS_ARITHMETIC_H

#include <math.h>
#include <string.h>

#include "cpu.h"

// Computes a function of the arrays in `given`, and of parameters.
typedef void (*Function)(float* out, const float* const* given, Py_ssize_t count, const double* parameters);

INLINED int is_nan(float x) { return x != x; }
// Of equal zeros the second.
INLINED float larger(float x, float y) { return (x > y) | is_nan(x) ? x : y; }
INLINED float smaller(float x, float y) { return (x < y) | is_nan(x) ? x : y; }

// In this form the loop is vectorised; that of `larger` and `smaller` is not.
INLINED float clip_of(float x, float low, float high) {
  const float raised = x <= low ? low : x, found = raised >= high ? high : raised;
  return is_nan(low) | is_nan(high) ? low + high : found;
}

// No quotient of float32 numbers up to 2^28 is rounded to an integer in float64, unless it is that integer.
INLINED double floor_of_quotient(float x, float y) { return floor((double)x / (double)y); }

INLINED float hypot_of(float x, float y) {
  const double wide = x, high = y;
  return (fabsf(x) == INFINITY) | (fabsf(y) == INFINITY) ? INFINITY : (float)sqrt(wide * wide + high * high);
}

// The bits of numbers without signs are ordered as the numbers.
INLINED float nextafter_of(float x, float y) {
  const float start = x == 0 ? copysignf(x, y) : x;
  int32_t bits;
  float moved;
  memcpy(&bits, &start, sizeof bits);
  const int away = (y > x) ^ (bits < 0);
  bits += x == y ? 0 : away ? 1 : -1;
  memcpy(&moved, &bits, sizeof moved);
  return is_nan(x) | is_nan(y) ? x + y : moved;
}

INLINED float sign_of(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? 0.0f : x; }

// NaN if it needs more steps: the product of a quotient below 2^28 with `y` is exact in float64.
INLINED float remainder_of_near(float x, float y) {
  const double quotient = floor_of_quotient(x, y);
  return fabs(quotient) < 0x1p28 ? copysignf((float)((double)x - quotient * (double)y), y) : NAN;
}

static float remainder_of(float x, float y) {
  const float rest = fmodf(x, y);
  if (rest == 0) return copysignf(0.0f, y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}

// The result is one of the arrays, or apart from all.
#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#elif defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT
#endif

#define SINGLE(name, expression)                                                                                    \
  INLINED void name##s_body(float* out, const float* const* given, Py_ssize_t count, const double* parameters) {    \
    const float *xs = given[0], *ys = given[1], *zs = given[2];                                                     \
    (void)parameters;                                                                                               \
    INDEPENDENT                                                                                                     \
    for (Py_ssize_t i = 0; i < count; ++i) {                                                                        \
      const float x = xs[i], y = ys[i], z = zs[i];                                                                  \
      (void)y, (void)z;                                                                                             \
      out[i] = expression;                                                                                          \
    }                                                                                                               \
  }                                                                                                                 \
  FOR_PROCESSORS(name##s, (float* out, const float* const* given, Py_ssize_t count, const double* parameters),      \
                 (out, given, count, parameters))
SINGLE(abs, fabsf(x))
SINGLE(add, x + y)
SINGLE(ceil, ceilf(x))
SINGLE(clip, clip_of(x, y, z))
SINGLE(copysign, copysignf(x, y))
SINGLE(divide, x / y)
SINGLE(floor, floorf(x))
SINGLE(floor_divide, (float)floor_of_quotient(x, y))
SINGLE(hypot, hypot_of(x, y))
SINGLE(maximum, larger(x, y))
SINGLE(minimum, smaller(x, y))
SINGLE(multiply, x* y)
SINGLE(negative, -x)
SINGLE(nextafter, nextafter_of(x, y))
SINGLE(reciprocal, 1.0f / x)
SINGLE(relu, (x > 0) | is_nan(x) ? x : 0.0f)
SINGLE(near_remainder, remainder_of_near(x, y))
SINGLE(round, rintf(x))
SINGLE(sign, sign_of(x))
SINGLE(sqrt, sqrtf(x))
SINGLE(square, x* x)
SINGLE(subtract, x - y)
SINGLE(trunc, truncf(x))

static void remainders(float* out, const float* const* given, Py_ssize_t count, const double* parameters) {
  float found[CHUNK];  // `out` may be an operand
  near_remainders(found, given, count, parameters);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (is_nan(found[i])) found[i] = remainder_of(given[0][i], given[1][i]);
  }
  memcpy(out, found, (size_t)count * sizeof *out);
}

#endif
