// Running sums and products of float32 and narrower numbers, in float64, each result rounded once.
#include "cpu.h"

// An axis shorter than SHORT is no innermost loop if there is a longer one.
enum { SHORT = 16 };

// Replace numbers by running totals, and return the last. Or add numbers to the totals of lines before.
typedef double (*Along)(double* out, const float* x, Py_ssize_t count, double total);
typedef void (*Across)(double* totals, const float* x, Py_ssize_t count);

#define SCANNER(name, op)                                                                         \
  static double name##_along(double* out, const float* x, Py_ssize_t count, double total) {       \
    for (Py_ssize_t i = 0; i < count; ++i) out[i] = total = total op (double)x[i];                \
    return total;                                                                                 \
  }                                                                                               \
  INLINED void name##_across_body(double* totals, const float* x, Py_ssize_t count) {             \
    for (Py_ssize_t i = 0; i < count; ++i) totals[i] = totals[i] op (double)x[i];                 \
  }                                                                                               \
  FOR_PROCESSORS(name##_across, (double* totals, const float* x, Py_ssize_t count), (totals, x, count))
SCANNER(sum, +)
SCANNER(product, *)

// Scan a line, the last axis, from its beginning.
static void scan_line(const Loop* loop, char* const* data, Along along, double total) {
  float buffer[CHUNK];
  double totals[CHUNK];
  const int axis = loop->ndim - 1;
  const Py_ssize_t length = loop->shape[axis], to = loop->strides[0][axis], from = loop->strides[1][axis];
  for (Py_ssize_t start = 0; start < length; start += CHUNK) {
    const Py_ssize_t count = length - start < CHUNK ? length - start : CHUNK;
    const float* x = load_floats(buffer, data[1] + start * from, from, count, loop->form[1]);
    total = along(totals, x, count, total);
    store_doubles(data[0] + start * to, to, totals, count, loop->form[0]);
  }
}

// Scan along the last axis but one, for a part of the last axis at a time.
static void scan_lines(const Loop* loop, char* const* data, Across across, double initial) {
  float buffer[CHUNK];
  double totals[CHUNK];
  const int axis = loop->ndim - 2, inner = loop->ndim - 1;
  const Py_ssize_t length = loop->shape[inner], to = loop->strides[0][inner], from = loop->strides[1][inner];
  for (Py_ssize_t start = 0; start < length; start += CHUNK) {
    const Py_ssize_t count = length - start < CHUNK ? length - start : CHUNK;
    for (Py_ssize_t i = 0; i < count; ++i) totals[i] = initial;
    for (Py_ssize_t row = 0; row < loop->shape[axis]; ++row) {
      const char* x = data[1] + row * loop->strides[1][axis] + start * from;
      across(totals, load_floats(buffer, x, from, count, loop->form[1]), count);
      store_doubles(data[0] + row * loop->strides[0][axis] + start * to, to, totals, count, loop->form[0]);
    }
  }
}

// The axis whose elements are scanned side by side; that of the scan if its elements are next to each other.
static int inner_axis(const Loop* loop, int scanned) {
  int nearest = scanned, longest = scanned;
  for (int axis = 0; axis < loop->ndim; ++axis) {
    if (loop->shape[axis] > loop->shape[longest]) longest = axis;
    if (loop->shape[axis] >= SHORT && distance(loop->strides[1][axis]) < distance(loop->strides[1][nearest]))
      nearest = axis;
  }
  return loop->shape[nearest] < SHORT ? longest : nearest;
}

static void scan_all(Loop* loop, int axis, int is_product) {
  Py_ssize_t index[MOST_AXES] = {0};
  char* data[MOST_OPERANDS] = {loop->data[0], loop->data[1]};
  const int last = loop->ndim - 1, inner = inner_axis(loop, axis);
  const double initial = is_product ? 1.0 : -0.0;  // a first -0.0 stays
  move_axis(loop, axis, last);
  if (inner != axis) move_axis(loop, inner > axis ? inner - 1 : inner, last);
  do {
    if (inner == axis) {
      scan_line(loop, data, is_product ? product_along : sum_along, initial);
    } else {
      scan_lines(loop, data, is_product ? product_across : sum_across, initial);
    }
  } while (next_line(loop, index, data, 0, inner == axis ? last : last - 1));
}

PyObject* scan(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  Loop loop;
  (void)module;
  if (count != 4)
    return PyErr_Format(PyExc_TypeError, "scan: %zd arguments; accepted: out, x, axis, is_product", count);
  const long axis = PyLong_AsLong(given[2]);
  const int is_product = PyObject_IsTrue(given[3]);
  if (PyErr_Occurred() || begin_loop(&loop, given, 2, "eHf")) return NULL;
  const int fits = 0 <= axis && axis < loop.ndim && loop.shape[axis] == loop.views[0].shape[axis];
  if (!fits) {
    PyErr_SetString(PyExc_ValueError, "scan: accepted: arrays of one shape, and one of their axes");
  } else if (size_of(&loop)) {
    RUN(size_of(&loop), scan_all(&loop, (int)axis, is_product));
  }
  end_loop(&loop);
  return fits ? Py_NewRef(Py_None) : NULL;
}
