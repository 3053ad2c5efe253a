// Softmax and its logarithm of float32 and narrower numbers, in float64, along the last axis.
#include <math.h>
#include <stdlib.h>

#include "exponential.h"

// The numbers of a chunk that is part of one line.
enum { PART = 128 };

// Of up to CHUNK lines next to each other, or of one line that is read in chunks: the largest numbers, how many there are,
// the sums of exp(x - top) of all others, and the reciprocals or logarithms of all sums.
typedef struct {
  double top[CHUNK], ties[CHUNK], rest[CHUNK], norm[CHUNK];
} State;

// Steps of chunks through lines, in bytes. If `lines` is 0, the chunks are parts of one line.
typedef struct {
  Py_ssize_t length, lines, stride[2], step[2];
} Walk;

INLINED void find_top_body(double* top, const float* x, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) top[i] = (double)x[i] > top[i] ? (double)x[i] : top[i];
}

INLINED void add_weights_body(float* out, double* rest, double* ties, const double* top, const float* x,
                              Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    const double below = (double)x[i] - top[i], weight = exp_of_negative(below);
    rest[i] += below == 0 ? 0.0 : weight;
    ties[i] += below == 0 ? 1.0 : 0.0;
    out[i] = (float)weight;
  }
}

INLINED void divide_body(float* out, const double* top, const double* norm, const float* x, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) out[i] = (float)(exp_of_negative((double)x[i] - top[i]) * norm[i]);
}

INLINED void scale_body(float* out, const double* norm, const float* weights, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) out[i] = (float)((double)weights[i] * norm[i]);
}

INLINED void subtract_body(float* out, const double* top, const double* norm, const float* x, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) out[i] = (float)(((double)x[i] - top[i]) - norm[i]);
}

FOR_FAST_PROCESSORS(find_top, (double* top, const float* x, Py_ssize_t count), (top, x, count))
FOR_FAST_PROCESSORS(add_weights,
                    (float* out, double* rest, double* ties, const double* top, const float* x, Py_ssize_t count),
                    (out, rest, ties, top, x, count))
FOR_FAST_PROCESSORS(scale, (float* out, const double* norm, const float* weights, Py_ssize_t count),
                    (out, norm, weights, count))
FOR_FAST_PROCESSORS(divide, (float* out, const double* top, const double* norm, const float* x, Py_ssize_t count),
                    (out, top, norm, x, count))
FOR_FAST_PROCESSORS(subtract, (float* out, const double* top, const double* norm, const float* x, Py_ssize_t count),
                    (out, top, norm, x, count))

// Reduce parts of a line to the first.
static void join_tops(double* x, Py_ssize_t count) {
  for (Py_ssize_t half = count / 2; count > 1; count -= half, half = count / 2) {
    for (Py_ssize_t i = 0; i < half; ++i) x[i] = x[count - half + i] > x[i] ? x[count - half + i] : x[i];
  }
}

static void join_sums(double* x, Py_ssize_t count) {
  for (Py_ssize_t half = count / 2; count > 1; count -= half, half = count / 2) {
    for (Py_ssize_t i = 0; i < half; ++i) x[i] += x[count - half + i];
  }
}

static void fill(double* x, double value, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) x[i] = value;
}

// If one number is the largest, the other weights are less than 1 and log1p of their sum is more accurate.
static double norm_of(double ties, double rest, int is_log) {
  return !is_log ? 1 / (ties + rest) : ties == 1 ? log1p(rest) : log(ties + rest);
}

static Py_ssize_t count_at(const Walk* walk, Py_ssize_t step) {
  if (walk->lines) return walk->lines;
  return walk->length - step * PART < PART ? walk->length - step * PART : PART;
}

static void compute_lines(State* state, const Walk* walk, char* const* data, const Form* form, int is_log) {
  float buffer[CHUNK], result[CHUNK];
  const Py_ssize_t steps = walk->lines ? walk->length : (walk->length + PART - 1) / PART, width = count_at(walk, 0);
  const int kept = !is_log && form[0] == 'f';  // a float32 result holds the weights until their sum is known
  fill(state->top, -INFINITY, width), fill(state->ties, 0, width), fill(state->rest, 0, width);
  for (int pass = 0; pass < 3; ++pass) {
    for (Py_ssize_t step = 0; step < steps; ++step) {
      const Py_ssize_t count = count_at(walk, step);
      const int from = !(kept && pass == 2);
      char* const to = data[0] + step * walk->step[0];
      const float* x = load_floats(buffer, data[from] + step * walk->step[from], walk->stride[from], count, form[from]);
      if (pass == 0) {
        find_top(state->top, x, count);
      } else if (pass == 1) {
        add_weights(result, state->rest, state->ties, state->top, x, count);
      } else if (kept) {
        scale(result, state->norm, x, count);
      } else {
        (is_log ? subtract : divide)(result, state->top, state->norm, x, count);
      }
      if (pass == 2 || (kept && pass)) store_floats(to, walk->stride[0], result, count, form[0]);
    }
    if (pass == 0 && !walk->lines) {
      join_tops(state->top, width);
      fill(state->top, state->top[0], width);
    } else if (pass == 1 && !walk->lines) {
      join_sums(state->ties, width), join_sums(state->rest, width);
      fill(state->norm, norm_of(state->ties[0], state->rest[0], is_log), width);
    } else if (pass == 1) {
      for (Py_ssize_t i = 0; i < width; ++i) state->norm[i] = norm_of(state->ties[i], state->rest[i], is_log);
    }
  }
}

// The axis before `last` along which the operand has the smallest stride; `last` if it has the smallest of all.
static int innermost(const Loop* loop, int last) {
  int found = last;
  for (int axis = 0; axis < last; ++axis) {
    const Py_ssize_t stride = labs(loop->strides[1][axis]), least = labs(loop->strides[1][found]);
    if (loop->shape[axis] > 1 && (stride < least || loop->shape[found] == 1)) found = axis;
  }
  return found;
}

static void compute_all(Loop* loop, int is_log) {
  State state;
  Py_ssize_t index[MOST_AXES] = {0};
  char* data[MOST_OPERANDS] = {loop->data[0], loop->data[1]};
  const int last = loop->ndim - 1, inner = innermost(loop, last), across = inner != last;
  const Py_ssize_t lines = across ? loop->shape[inner] : 1;
  Walk walk = {.length = loop->shape[last]};
  for (int i = 0; i < 2; ++i) {
    walk.stride[i] = loop->strides[i][inner];
    walk.step[i] = loop->strides[i][last] * (across ? 1 : PART);
  }
  if (across) move_axis(loop, inner, last - 1);
  do {
    for (Py_ssize_t start = 0; start < lines; start += CHUNK) {
      char* const part[2] = {data[0] + start * walk.stride[0], data[1] + start * walk.stride[1]};
      walk.lines = !across ? 0 : lines - start < CHUNK ? lines - start : CHUNK;
      compute_lines(&state, &walk, part, loop->form, is_log);
    }
  } while (next_line(loop, index, data, 0, last - across));
}

PyObject* softmax(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  Loop loop;
  (void)module;
  if (count != 3) return PyErr_Format(PyExc_TypeError, "softmax: %zd arguments; accepted: is_log, out and x", count);
  const int is_log = PyObject_IsTrue(given[0]);
  if (is_log < 0 || begin_loop(&loop, given + 1, 2, "eHf")) return NULL;
  const Py_ssize_t size = size_of(&loop);
  if (!loop.ndim) {
    end_loop(&loop);
    return PyErr_Format(PyExc_ValueError, "softmax: accepted: operands of one axis or more");
  }
  if (size) RUN(size, compute_all(&loop, is_log));
  end_loop(&loop);
  Py_RETURN_NONE;
}
