// Adds rows of float32 and narrower numbers to the rows of a result, in float64, each result rounded once.
#include "cpu.h"

INLINED void widen_body(double* totals, const float* x, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) totals[i] = (double)x[i];
}

INLINED void add_body(double* totals, const float* x, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) totals[i] += (double)x[i];
}

FOR_PROCESSORS(widen, (double* totals, const float* x, Py_ssize_t count), (totals, x, count))
FOR_PROCESSORS(add, (double* totals, const float* x, Py_ssize_t count), (totals, x, count))

// The axes of `loop` are the rows of the result, the rows that are added, and the columns.
static void add_to_row(const Loop* loop, int64_t target, const int64_t* places, Py_ssize_t rows) {
  double totals[CHUNK];
  float buffer[CHUNK];
  const Py_ssize_t columns = loop->shape[2], to = loop->strides[0][2], from = loop->strides[1][2];
  for (Py_ssize_t start = 0; start < columns; start += CHUNK) {
    const Py_ssize_t count = columns - start < CHUNK ? columns - start : CHUNK;
    char* const out = loop->data[0] + target * loop->strides[0][0] + start * to;
    widen(totals, load_floats(buffer, out, to, count, loop->form[0]), count);
    for (Py_ssize_t row = 0; row < rows; ++row) {
      const char* x = loop->data[1] + places[row] * loop->strides[1][1] + start * from;
      add(totals, load_floats(buffer, x, from, count, loop->form[1]), count);
    }
    store_doubles(out, to, totals, count, loop->form[0]);
  }
}

static void add_all(const Loop* loop, const int64_t* targets, const int64_t* places, Py_ssize_t count) {
  for (Py_ssize_t first = 0, end = 0; first < count; first = end) {
    while (end < count && targets[end] == targets[first]) ++end;
    add_to_row(loop, targets[first], places + first, end - first);
  }
}

PyObject* add_rows(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  Loop loop, indices;
  (void)module;
  if (count != 4) {
    return PyErr_Format(PyExc_TypeError, "add_rows: %zd arguments; accepted: targets, places, out and x", count);
  }
  if (begin_loop(&indices, given, 2, "q")) return NULL;
  if (begin_loop(&loop, given + 2, 2, "eHf")) {
    end_loop(&indices);
    return NULL;
  }
  const int fits = loop.ndim == 3 && loop.views[0].shape[1] == 1 && loop.views[1].shape[0] == 1 && indices.ndim == 1 &&
                   indices.views[0].shape[0] == indices.views[1].shape[0] &&
                   PyBuffer_IsContiguous(&indices.views[0], 'C') && PyBuffer_IsContiguous(&indices.views[1], 'C');
  if (!fits) {
    PyErr_SetString(PyExc_ValueError,
                    "add_rows: accepted: two lines of int64, out of shape (n, 1, m) and x of (1, k, m)");
  } else {
    RUN(size_of(&loop),
        add_all(&loop, (const int64_t*)indices.data[0], (const int64_t*)indices.data[1], indices.views[0].shape[0]));
  }
  end_loop(&loop);
  end_loop(&indices);
  return fits ? Py_NewRef(Py_None) : NULL;
}
