// Elementwise functions of float32 and narrower numbers: those of arithmetic.h, and others that are computed in float64
// and rounded to float32.
#include <math.h>

#include "arithmetic.h"
#include "exponential.h"

enum { MOST_PARAMETERS = 2 };

// The coefficients are those of `_SINGLE_TAIL` in xpops/ops/activation.py.
INLINED double share_above(double size) {
  const double a = 60.0 < size ? 60.0 : size, inverse = 1.0 / (a + 4.0), u = (a - 4.0) * inverse;
  double p = -0.00013419624381299562;
  p = p * u + 0.00017465943960907416;
  p = p * u + 0.0015684083337842902;
  p = p * u - 0.00351021102296497;
  p = p * u - 0.00752400438990217;
  p = p * u + 0.06040348948659986;
  p = p * u - 0.18652365630259662;
  p = p * u + 0.38713691651823146;
  p = p * u - 0.6078965798763342;
  p = p * u + 0.7552851352531066;
  return exp_of_negative(a * a * -0.5) * inverse * p;
}

// 1 / (1 + exp(-v)) for v of the sign of x.
INLINED double logistic(double x, double minus_size) {
  const double power = exp_of_negative(minus_size);
  return (x > 0 ? 1.0 : power) / (1.0 + power);
}

INLINED double ndtr(double x, double y, const double* parameters) {
  const double above = share_above(fabs(x));
  (void)y, (void)parameters;
  return x > 0 ? 1.0 - above : above;
}

INLINED double gelu(double x, double y, const double* parameters) { return x * ndtr(x, y, parameters); }

INLINED double gelu_tanh(double x, double y, const double* parameters) {
  const double size = fabs(x), a = 30.0 < size ? 30.0 : size;
  (void)y, (void)parameters;
  return x * logistic(x, (a * a * 0.07135481627260025 + 1.5957691216057308) * -a);
}

INLINED double leaky_relu(double x, double y, const double* slope) {
  (void)y;
  return x > 0 ? x : x * slope[0];
}

INLINED double logaddexp(double x, double y, const double* parameters) {
  const double size = fabs(x - y), difference = x == y ? 0.0 : size;  // infinities may be equal
  (void)parameters;
  return (x > y ? x : y) + log1p_of_unit(exp_of_negative(-difference));
}

INLINED double sigmoid(double x, double y, const double* parameters) {
  (void)y, (void)parameters;
  return logistic(x, -fabs(x));
}

INLINED double silu(double x, double y, const double* parameters) { return x * sigmoid(x, y, parameters); }

INLINED double softplus(double x, double y, const double* beta_and_threshold) {
  const double beta = beta_and_threshold[0], scaled = x * beta;
  const double tail = log1p_of_unit(exp_of_negative(-fabs(scaled)));
  (void)y;
  return scaled > beta_and_threshold[1] ? x : ((scaled > 0 ? scaled : 0.0) + tail) * (1.0 / beta);
}

#define FUNCTION(name)                                                                                              \
  INLINED void name##s_body(float* out, const float* const* given, Py_ssize_t count, const double* parameters) {    \
    const double fixed[MOST_PARAMETERS] = {parameters[0], parameters[1]};                                           \
    const float *x = given[0], *y = given[1];                                                                       \
    INDEPENDENT                                                                                                     \
    for (Py_ssize_t i = 0; i < count; ++i) out[i] = (float)name((double)x[i], (double)y[i], fixed);                 \
  }                                                                                                                 \
  FOR_FAST_PROCESSORS(name##s, (float* out, const float* const* given, Py_ssize_t count, const double* parameters), \
                      (out, given, count, parameters))
FUNCTION(gelu)
FUNCTION(gelu_tanh)
FUNCTION(leaky_relu)
FUNCTION(logaddexp)
FUNCTION(ndtr)
FUNCTION(sigmoid)
FUNCTION(silu)
FUNCTION(softplus)

#define ENTRY(name, count, parameters) {#name, count, parameters, name##s}
static const struct {
  const char* name;
  int operands, parameters;  // `operands` without the result
  Function compute;
} functions[] = {
    ENTRY(abs, 1, 0),        ENTRY(add, 2, 0),        ENTRY(ceil, 1, 0),       ENTRY(clip, 3, 0),
    ENTRY(copysign, 2, 0),   ENTRY(divide, 2, 0),     ENTRY(floor, 1, 0),      ENTRY(floor_divide, 2, 0),
    ENTRY(gelu, 1, 0),       ENTRY(gelu_tanh, 1, 0),  ENTRY(hypot, 2, 0),      ENTRY(leaky_relu, 1, 1),
    ENTRY(logaddexp, 2, 0),  ENTRY(maximum, 2, 0),    ENTRY(minimum, 2, 0),    ENTRY(multiply, 2, 0),
    ENTRY(ndtr, 1, 0),       ENTRY(negative, 1, 0),   ENTRY(nextafter, 2, 0),  ENTRY(reciprocal, 1, 0),
    ENTRY(relu, 1, 0),       ENTRY(remainder, 2, 0),  ENTRY(round, 1, 0),      ENTRY(sigmoid, 1, 0),
    ENTRY(sign, 1, 0),       ENTRY(silu, 1, 0),       ENTRY(softplus, 1, 2),   ENTRY(sqrt, 1, 0),
    ENTRY(square, 1, 0),     ENTRY(subtract, 2, 0),   ENTRY(trunc, 1, 0),
};

static void compute_lines(const Loop* loop, Function function, const double* parameters) {
  float buffers[MOST_OPERANDS][CHUNK];
  const float* chunks[MOST_OPERANDS];
  Py_ssize_t index[MOST_AXES] = {0};
  char* data[MOST_OPERANDS];
  const int inner = loop->ndim - 1, last = loop->operands - 1;
  const Py_ssize_t length = inner < 0 ? 1 : loop->shape[inner];
  memcpy(data, loop->data, sizeof data);
  do {
    for (Py_ssize_t start = 0; start < length; start += CHUNK) {
      const Py_ssize_t count = length - start < CHUNK ? length - start : CHUNK;
      for (int i = 1; i <= last; ++i) {
        const Py_ssize_t stride = inner < 0 ? 0 : loop->strides[i][inner];
        if (start && !stride) continue;  // the chunk before has the same number, at least as often
        chunks[i] = load_floats(buffers[i], data[i] + start * stride, stride, count, loop->form[i]);
      }
      for (int i = last + 1; i < MOST_OPERANDS; ++i) chunks[i] = chunks[last];  // which the function does not read
      const Py_ssize_t to = inner < 0 ? 0 : loop->strides[0][inner];
      char* const out = data[0] + start * to;
      const int in_place = loop->form[0] == 'f' && to == sizeof(float) && (uintptr_t)out % sizeof(float) == 0;
      function(in_place ? (float*)out : buffers[0], chunks + 1, count, parameters);
      if (!in_place) store_floats(out, to, buffers[0], count, loop->form[0]);
    }
  } while (next_line(loop, index, data, 0, inner));
}

PyObject* compute(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  Loop loop;
  double parameters[MOST_PARAMETERS] = {0};
  size_t found = 0;
  const size_t known = sizeof functions / sizeof *functions;
  (void)module;
  while (found < known && !(count && PyUnicode_Check(given[0]) &&
                            PyUnicode_CompareWithASCIIString(given[0], functions[found].name) == 0)) {
    ++found;
  }
  if (found == known || count != 2 + functions[found].operands + functions[found].parameters) {
    return PyErr_Format(PyExc_TypeError,
                        "compute: accepted: a name in native/cpu/elementwise.c, out, its operands "
                        "and its parameters");
  }
  const int operands = 1 + functions[found].operands;
  for (int i = 0; i < functions[found].parameters; ++i) parameters[i] = PyFloat_AsDouble(given[1 + operands + i]);
  if (PyErr_Occurred() || begin_loop(&loop, given + 1, operands, "eHf")) return NULL;
  const Py_ssize_t size = size_of(&loop);
  order_axes(&loop, 0);
  if (size) RUN(size, compute_lines(&loop, functions[found].compute, parameters));
  end_loop(&loop);
  Py_RETURN_NONE;
}
