// Conversions between float16, bfloat16, float32 and float64, rounded once, to the nearest number or the even one.
#include <string.h>

#include "cpu.h"

#ifdef XPOPS_AVX2
#include <immintrin.h>
#endif

INLINED uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

INLINED float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// No float is subnormal on the way: a processor may be told to take those for zeros. A signalling NaN becomes quiet.
INLINED float float_of_half(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half & 0x7c00, fraction = half & 0x03ff;
  const uint32_t subnormal = bits_of((float)(int32_t)fraction * 0x1p-24f);
  const uint32_t normal = ((uint32_t)(half & 0x7fff) << 13) + 0x38000000;
  const uint32_t special = 0x7f800000 | (fraction << 13) | (fraction ? 0x00400000 : 0);
  return float_of((exponent == 0x7c00 ? special : exponent ? normal : subnormal) | sign);
}

INLINED uint16_t half_of_float(float x) {
  const uint32_t bits = bits_of(x), sign = (bits >> 16) & 0x8000, size = bits & 0x7fffffff;
  // The sum rounds to a multiple of 2^-24, of which the last bits are the subnormal half.
  const uint32_t subnormal = bits_of(float_of(size) + 0.5f) - 0x3f000000;
  const uint32_t normal = (size - 0x38000000 + 0xfff + ((size >> 13) & 1)) >> 13;
  const uint32_t special = size > 0x7f800000 ? 0x7e00 | ((size >> 13) & 0x3ff) : 0x7c00;
  const uint32_t found = size >= 0x477ff000 ? special : size < 0x38800000 ? subnormal : normal;
  return (uint16_t)(found | sign);
}

INLINED void halves_to_floats_by_bits_body(float* out, const uint16_t* x, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) out[i] = float_of_half(x[i]);
}

INLINED void floats_to_halves_by_bits_body(uint16_t* out, const float* x, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) out[i] = half_of_float(x[i]);
}

INLINED void brains_to_floats_body(float* out, const uint16_t* x, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) out[i] = float_of((uint32_t)x[i] << 16);
}

INLINED void floats_to_brains_body(uint16_t* out, const float* x, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    const uint32_t bits = bits_of(x[i]), rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    out[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16) | 0x40 : rounded);
  }
}

// The bits of numbers without signs are ordered as the numbers. NaN stays NaN: it has no bits that float32 adds.
INLINED void doubles_to_odd_body(float* out, const double* x, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    const float near = (float)x[i];
    const double wide = (double)near;
    uint64_t exact, back;
    memcpy(&exact, &x[i], sizeof exact);
    memcpy(&back, &wide, sizeof back);
    const uint64_t below = (exact << 1) - (back << 1), above = (back << 1) - (exact << 1);
    out[i] = float_of((bits_of(near) - (uint32_t)(below >> 63)) | (uint32_t)((below | above) >> 63));
  }
}

INLINED void integers_to_odd_body(float* out, const int32_t* x, Py_ssize_t count) {
  double exact[CHUNK];
  for (Py_ssize_t i = 0; i < count; ++i) exact[i] = (double)x[i];
  doubles_to_odd_body(out, exact, count);
}

// In integers beyond 2^53, bit 11 replaces the bits below it if one of them is set. Then a double holds them.
INLINED void long_integers_to_odd_body(float* out, const int64_t* x, Py_ssize_t count) {
  double exact[CHUNK];
  for (Py_ssize_t i = 0; i < count; ++i) {
    const int64_t top = x[i] >> 53, low = x[i] & 2047;
    exact[i] = (double)(top == 0 || top == -1 ? x[i] : (x[i] ^ low) | ((int64_t)(low != 0) << 11));
  }
  doubles_to_odd_body(out, exact, count);
}

#define CONVERSION(name, To, From) \
  FOR_PROCESSORS(name, (To * out, const From* x, Py_ssize_t count), (out, x, count))
CONVERSION(halves_to_floats_by_bits, float, uint16_t)
CONVERSION(floats_to_halves_by_bits, uint16_t, float)
CONVERSION(brains_to_floats, float, uint16_t)
CONVERSION(floats_to_brains, uint16_t, float)
CONVERSION(doubles_to_odd, float, double)
CONVERSION(integers_to_odd, float, int32_t)
CONVERSION(long_integers_to_odd, float, int64_t)

#ifdef XPOPS_AVX2
__attribute__((target("avx2,f16c"))) static void halves_to_floats_f16c(float* out, const uint16_t* x,
                                                                       Py_ssize_t count) {
  Py_ssize_t i = 0;
  for (; i + 8 <= count; i += 8) _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)(x + i))));
  for (; i < count; ++i) out[i] = float_of_half(x[i]);
}

__attribute__((target("avx2,f16c"))) static void floats_to_halves_f16c(uint16_t* out, const float* x,
                                                                       Py_ssize_t count) {
  Py_ssize_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm_storeu_si128((__m128i*)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  }
  for (; i < count; ++i) out[i] = half_of_float(x[i]);
}
#endif

static void halves_to_floats(float* out, const uint16_t* x, Py_ssize_t count) {
#ifdef XPOPS_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) return halves_to_floats_f16c(out, x, count);
#endif
  halves_to_floats_by_bits(out, x, count);
}

static void floats_to_halves(uint16_t* out, const float* x, Py_ssize_t count) {
#ifdef XPOPS_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) return floats_to_halves_f16c(out, x, count);
#endif
  floats_to_halves_by_bits(out, x, count);
}

static size_t itemsize(Form form) { return strchr("dq", form) ? 8 : strchr("fi", form) ? 4 : 2; }

// Whether elements can be read in place, as one array of their type.
static int is_plain(const char* x, Py_ssize_t stride, size_t size) {
  return stride == (Py_ssize_t)size && (uintptr_t)x % size == 0;
}

// Copy elements that are not next to each other, or not aligned.
static void copy_strided(char* out, Py_ssize_t to, const char* x, Py_ssize_t from, Py_ssize_t count, size_t size) {
  switch (size) {
    case 2:
      for (Py_ssize_t i = 0; i < count; ++i) memcpy(out + i * to, x + i * from, 2);
      return;
    case 4:
      for (Py_ssize_t i = 0; i < count; ++i) memcpy(out + i * to, x + i * from, 4);
      return;
    default:
      for (Py_ssize_t i = 0; i < count; ++i) memcpy(out + i * to, x + i * from, 8);
  }
}

const float* load_floats(float* buffer, const char* x, Py_ssize_t stride, Py_ssize_t count, Form form) {
  double raw[CHUNK];
  const size_t size = itemsize(form);
  if (!stride && count > 1) {
    const float number = *load_floats(buffer, x, 0, 1, form);
    for (Py_ssize_t i = 0; i < count; ++i) buffer[i] = number;
    return buffer;
  }
  if (!is_plain(x, stride, size)) {
    copy_strided((char*)raw, (Py_ssize_t)size, x, stride, count, size);
    x = (const char*)raw;
  }
  switch (form) {
    case 'e':
      halves_to_floats(buffer, (const uint16_t*)x, count);
      return buffer;
    case 'H':
      brains_to_floats(buffer, (const uint16_t*)x, count);
      return buffer;
    case 'd':
      doubles_to_odd(buffer, (const double*)x, count);
      return buffer;
    case 'i':
      integers_to_odd(buffer, (const int32_t*)x, count);
      return buffer;
    case 'q':
      long_integers_to_odd(buffer, (const int64_t*)x, count);
      return buffer;
    default:
      return x == (const char*)raw ? memcpy(buffer, raw, (size_t)count * size) : (const void*)x;
  }
}

void store_floats(char* out, Py_ssize_t stride, const float* x, Py_ssize_t count, Form form) {
  double raw[CHUNK];
  const size_t size = itemsize(form);
  const int plain = is_plain(out, stride, size);
  void* const to = plain ? (void*)out : raw;
  switch (form) {
    case 'e':
      floats_to_halves(to, x, count);
      break;
    case 'H':
      floats_to_brains(to, x, count);
      break;
    case 'd':
      for (Py_ssize_t i = 0; i < count; ++i) ((double*)to)[i] = (double)x[i];
      break;
    default:
      memcpy(to, x, (size_t)count * size);
  }
  if (!plain) copy_strided(out, stride, to, (Py_ssize_t)size, count, size);
}

void store_doubles(char* out, Py_ssize_t stride, const double* x, Py_ssize_t count, Form form) {
  float narrow[CHUNK];
  if (form == 'd') {
    copy_strided(out, stride, (const char*)x, sizeof *x, count, sizeof *x);
    return;
  }
  if (form == 'f') {
    for (Py_ssize_t i = 0; i < count; ++i) narrow[i] = (float)x[i];
  } else {
    doubles_to_odd(narrow, x, count);
  }
  store_floats(out, stride, narrow, count, form);
}

static void convert_lines(const Loop* loop) {
  float buffer[CHUNK];
  Py_ssize_t index[MOST_AXES] = {0};
  char* data[MOST_OPERANDS] = {loop->data[0], loop->data[1]};
  const int inner = loop->ndim - 1;
  const Py_ssize_t length = inner < 0 ? 1 : loop->shape[inner];
  const Py_ssize_t to = inner < 0 ? 0 : loop->strides[0][inner], from = inner < 0 ? 0 : loop->strides[1][inner];
  do {
    for (Py_ssize_t start = 0; start < length; start += CHUNK) {
      const Py_ssize_t count = length - start < CHUNK ? length - start : CHUNK;
      const float* x = load_floats(buffer, data[1] + start * from, from, count, loop->form[1]);
      store_floats(data[0] + start * to, to, x, count, loop->form[0]);
    }
  } while (next_line(loop, index, data, 0, inner));
}

PyObject* convert(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  Loop loop;
  (void)module;
  if (count != 2) return PyErr_Format(PyExc_TypeError, "convert: %zd arguments; accepted: out and x", count);
  if (begin_loop(&loop, given, 2, "eHfdiq")) return NULL;
  if (!strchr("eHfd", loop.form[0]) || (strchr("diq", loop.form[1]) && !strchr("eH", loop.form[0]))) {
    end_loop(&loop);
    return PyErr_Format(PyExc_TypeError,
                        "convert: float64 or integers to a wide dtype; accepted: float16 and bfloat16");
  }
  const Py_ssize_t size = size_of(&loop);
  order_axes(&loop, 0);
  if (size) RUN(size, convert_lines(&loop));
  end_loop(&loop);
  Py_RETURN_NONE;
}
