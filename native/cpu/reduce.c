// Sums and products of float32 and narrower numbers, or of functions of them, in float64.
#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu.h"

// A line along which elements are reduced has so many running totals. Sums of so many numbers are added up with their
// rounding errors; a product has one total, since numbers near its underflow take long. A line shorter than SHORT is no innermost loop if there is a longer one.
enum { LANES = 16, FLUSH = 1 << 12, SHORT = 16 };

// Reduces a part of a line to lanes, or combines elements with those of other lines.
typedef void (*Step)(double* totals, const float* x, Py_ssize_t count);

typedef struct {
  const char* name;
  int is_product;
  Step along, across;
} Reducer;

// The totals of up to CHUNK results.
typedef struct {
  const Reducer* reducer;
  // Numbers that went into each of `part` since the last flush.
  Py_ssize_t added;
  double part[CHUNK], total[CHUNK], error[CHUNK];
} State;

// The functions of a reducer that adds or multiplies terms.
#define REDUCER(name, op, term)                                                              \
  INLINED void name##_along_body(double* lanes, const float* x, Py_ssize_t count) {          \
    double totals[LANES];                                                                    \
    Py_ssize_t i = 0;                                                                        \
    memcpy(totals, lanes, sizeof totals);                                                    \
    for (; i + LANES <= count; i += LANES) {                                                 \
      for (int lane = 0; lane < LANES; ++lane) totals[lane] op term(x[i + lane]);            \
    }                                                                                        \
    for (int lane = 0; i < count; ++i, ++lane) totals[lane] op term(x[i]);                   \
    memcpy(lanes, totals, sizeof totals);                                                    \
  }                                                                                          \
  INLINED void name##_across_body(double* totals, const float* x, Py_ssize_t count) {        \
    for (Py_ssize_t i = 0; i < count; ++i) totals[i] op term(x[i]);                          \
  }                                                                                          \
  FOR_PROCESSORS(name##_along, (double* lanes, const float* x, Py_ssize_t count), (lanes, x, count)) \
  FOR_PROCESSORS(name##_across, (double* totals, const float* x, Py_ssize_t count), (totals, x, count))

INLINED double element(float x) { return (double)x; }
INLINED double square(float x) { return (double)x * (double)x; }
INLINED double size(float x) { return fabs((double)x); }
// By bits: compilers would branch.
INLINED double without_nan(float x, float neutral) {
  int32_t bits, others;
  memcpy(&bits, &x, sizeof bits);
  memcpy(&others, &neutral, sizeof others);
  const int32_t is_nan = (0x7f800000 - (bits & 0x7fffffff)) >> 31;
  bits = (bits & ~is_nan) | (others & is_nan);
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}
INLINED double or_zero(float x) { return without_nan(x, 0.0f); }
INLINED double or_one(float x) { return without_nan(x, 1.0f); }
REDUCER(sum, +=, element)
REDUCER(prod, *=, element)
REDUCER(nansum, +=, or_zero)
REDUCER(nanprod, *=, or_one)
REDUCER(sum_of_sizes, +=, size)
REDUCER(sum_of_squares, +=, square)

static const Reducer reducers[] = {
    {"sum", 0, sum_along, sum_across},
    {"prod", 1, prod_along, prod_across},
    {"nansum", 0, nansum_along, nansum_across},
    {"nanprod", 1, nanprod_along, nanprod_across},
    {"sum_of_sizes", 0, sum_of_sizes_along, sum_of_sizes_across},
    {"sum_of_squares", 0, sum_of_squares_along, sum_of_squares_across},
};

// A sum of -0.0 is 0.0, as NumPy's is.
static double identity_of(const State* state) { return state->reducer->is_product ? 1.0 : 0.0; }

static void reset(State* state, Py_ssize_t width, int parts_only) {
  const double identity = identity_of(state);
  for (Py_ssize_t i = 0; i < width; ++i) state->part[i] = identity;
  state->added = 0;
  if (parts_only) return;
  for (Py_ssize_t i = 0; i < width; ++i) state->total[i] = identity, state->error[i] = 0;
}

// Knuth's two-sum finds the rounding errors of sums.
static void flush(State* state, Py_ssize_t width) {
  for (Py_ssize_t i = 0; i < width; ++i) {
    const double total = state->total[i], part = state->part[i];
    const double found = state->reducer->is_product ? total * part : total + part, back = found - total;
    state->error[i] += (total - (found - back)) + (part - back);
    state->total[i] = found;
  }
  reset(state, width, 1);
}

// Reduces lanes to the first.
static void join_lanes(State* state) {
  double* lanes = state->part;
  for (int half = LANES / 2; half; half /= 2) {
    for (int i = 0; i < half; ++i)
      lanes[i] = state->reducer->is_product ? lanes[i] * lanes[i + half] : lanes[i] + lanes[i + half];
  }
  for (int i = 1; i < LANES; ++i) lanes[i] = identity_of(state);
}

// The results: totals with their errors, divided. A sum beyond float32 is infinite before it is divided.
static void finish(State* state, Py_ssize_t width, double divisor) {
  for (Py_ssize_t i = 0; i < width; ++i) {
    double total = state->total[i];
    const double error = state->error[i];
    if (!state->reducer->is_product && error != 0 && isfinite(error)) total += error;  // that of an infinite sum is NaN
    if (divisor != 1) total = fabs(total) > FLT_MAX ? total * INFINITY : total / divisor;
    state->total[i] = total;
  }
}

// Reduces a line along itself.
static void reduce_along(State* state, const char* x, Py_ssize_t stride, Py_ssize_t length, Form form) {
  float buffer[CHUNK];
  for (Py_ssize_t start = 0; start < length; start += CHUNK) {
    const Py_ssize_t count = length - start < CHUNK ? length - start : CHUNK;
    const float* chunk = load_floats(buffer, x + start * stride, stride, count, form);
    state->reducer->along(state->part, chunk, count);
    state->added += (count + LANES - 1) / LANES;
    if (state->added >= FLUSH && !state->reducer->is_product) {
      join_lanes(state);
      flush(state, 1);
    }
  }
}

// Combines the elements of a line with those of other lines.
static void reduce_across(State* state, const char* x, Py_ssize_t stride, Py_ssize_t count, Form form) {
  float buffer[CHUNK];
  const float* chunk = load_floats(buffer, x, stride, count, form);
  state->reducer->across(state->part, chunk, count);
  if (++state->added >= FLUSH && !state->reducer->is_product) flush(state, count);
}

// Moves kept axes before reduced ones, and an axis that makes a long innermost loop last. Returns the number of axes
// before the innermost that are kept.
static int arrange(Loop* loop) {
  order_axes(loop, 1);
  int inner = loop->ndim - 1, kept = 0;
  for (int axis = inner; axis >= 0 && loop->shape[inner] < SHORT; --axis) {
    if (loop->shape[axis] > loop->shape[inner]) inner = axis;
  }
  if (inner >= 0) move_axis(loop, inner, loop->ndim - 1);
  for (int axis = 0; axis < loop->ndim - 1; ++axis) {
    if (loop->strides[0][axis]) move_axis(loop, axis, kept++);
  }
  return kept;
}

// Reduces to at most CHUNK results next to each other at a time.
static void reduce_all(Loop* loop, State* state, double divisor) {
  const int kept = arrange(loop), inner = loop->ndim - 1;
  const Py_ssize_t length = inner < 0 ? 1 : loop->shape[inner], from = inner < 0 ? 0 : loop->strides[1][inner];
  const Py_ssize_t to = inner < 0 ? 0 : loop->strides[0][inner];
  for (Py_ssize_t start = 0; start < (to ? length : 1); start += CHUNK) {
    Py_ssize_t index[MOST_AXES] = {0};
    char* data[MOST_OPERANDS] = {loop->data[0] + start * to, loop->data[1] + start * from};
    const Py_ssize_t count = to && length - start < CHUNK ? length - start : CHUNK, width = to ? count : LANES;
    do {
      reset(state, width, 0);
      do {
        if (to) {
          reduce_across(state, data[1], from, count, loop->form[1]);
        } else {
          reduce_along(state, data[1], from, length, loop->form[1]);
        }
      } while (next_line(loop, index, data, kept, inner));
      if (!to) join_lanes(state);
      flush(state, to ? width : 1);
      finish(state, to ? width : 1, divisor);
      store_doubles(data[0], to, state->total, to ? width : 1, loop->form[0]);
    } while (next_line(loop, index, data, 0, kept));
  }
}

static const Reducer* reducer_of(PyObject* name) {
  for (size_t i = 0; PyUnicode_Check(name) && i < sizeof reducers / sizeof *reducers; ++i) {
    if (PyUnicode_CompareWithASCIIString(name, reducers[i].name) == 0) return &reducers[i];
  }
  PyErr_Format(PyExc_ValueError, "reduce: %R is no reduction; accepted: the names in native/cpu/reduce.c", name);
  return NULL;
}

PyObject* reduce(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  Loop loop;
  State state;
  (void)module;
  if (count != 4) return PyErr_Format(PyExc_TypeError, "reduce: %zd arguments; accepted: 4", count);
  if (!(state.reducer = reducer_of(given[0]))) return NULL;
  const double divisor = PyFloat_AsDouble(given[3]);
  if (PyErr_Occurred() || begin_loop(&loop, given + 1, 2, "eHfd")) return NULL;
  const Py_ssize_t size = size_of(&loop);
  if (!size || loop.form[1] == 'd') {
    end_loop(&loop);
    return PyErr_Format(PyExc_ValueError, "reduce: accepted: elements of float32 or narrower");
  }
  RUN(size, reduce_all(&loop, &state, divisor));
  end_loop(&loop);
  Py_RETURN_NONE;
}
