// Loops over strided arrays.
#include <string.h>

#include "cpu.h"

// The form of a buffer's elements; 0 if it is none of `forms`. Unaligned arrays of NumPy begin with "=".
static Form form_of(const Py_buffer* view, const char* forms) {
  const char* format = view->format ? view->format : "B";
  if (*format == '=' || *format == '@') ++format;
  const Form form = *format == 'l' && view->itemsize == 8 ? 'q' : *format;
  return form && !format[1] && strchr(forms, form) ? form : 0;
}

// A Python float is an array with one number.
static int add_number(Loop* loop, PyObject* operand) {
  static Py_ssize_t ones[MOST_AXES];
  const int place = loop->operands++;
  if (!ones[0]) {
    for (int axis = MOST_AXES - 1; axis >= 0; --axis) ones[axis] = 1;
  }
  loop->numbers[place] = (float)PyFloat_AsDouble(operand);
  loop->views[place] = (Py_buffer){.shape = ones, .strides = ones, .ndim = loop->ndim};
  loop->form[place] = 'f';
  loop->data[place] = (char*)&loop->numbers[place];
  return 0;
}

static int add_operand(Loop* loop, PyObject* operand, const char* forms) {
  const int place = loop->operands;
  Py_buffer* view = &loop->views[place];
  if (place && PyFloat_CheckExact(operand)) return add_number(loop, operand);
  if (PyObject_GetBuffer(operand, view, place ? PyBUF_RECORDS_RO : PyBUF_RECORDS)) return -1;
  ++loop->operands;
  if (place == 0) loop->ndim = view->ndim;
  if (view->ndim != loop->ndim || view->ndim > MOST_AXES) {
    PyErr_Format(PyExc_ValueError, "operand %d has %d axes; accepted: %d", place, view->ndim, loop->ndim);
    return -1;
  }
  if (!(loop->form[place] = form_of(view, forms))) {
    PyErr_Format(PyExc_TypeError, "operand %d has elements of format %s; accepted: one of %s", place, view->format,
                 forms);
    return -1;
  }
  loop->data[place] = view->buf;
  return 0;
}

int begin_loop(Loop* loop, PyObject* const* operands, int count, const char* forms) {
  loop->operands = 0;
  for (int i = 0; i < count; ++i) {
    if (add_operand(loop, operands[i], forms)) goto failed;
  }
  for (int axis = 0; axis < loop->ndim; ++axis) {
    Py_ssize_t length = 1;
    for (int i = 0; i < count; ++i) {
      if (loop->views[i].shape[axis] != 1) length = loop->views[i].shape[axis];
    }
    loop->shape[axis] = length;
    for (int i = 0; i < count; ++i) {
      const Py_ssize_t own = loop->views[i].shape[axis];
      if (own != length && own != 1) {
        PyErr_Format(PyExc_ValueError, "operand %d has length %zd along axis %d; accepted: %zd", i, own, axis, length);
        goto failed;
      }
      loop->strides[i][axis] = own == 1 ? 0 : loop->views[i].strides[axis];
    }
  }
  return 0;
failed:
  end_loop(loop);
  return -1;
}

void end_loop(Loop* loop) {
  while (loop->operands) PyBuffer_Release(&loop->views[--loop->operands]);
}

// Remove axes of length 1, along which strides mean nothing.
static void drop_single_axes(Loop* loop) {
  int kept = 0;
  for (int axis = 0; axis < loop->ndim; ++axis) {
    if (loop->shape[axis] == 1) continue;
    loop->shape[kept] = loop->shape[axis];
    for (int i = 0; i < loop->operands; ++i) loop->strides[i][kept] = loop->strides[i][axis];
    ++kept;
  }
  loop->ndim = kept;
}

// Merge axes that every operand walks as one.
static void merge_axes(Loop* loop) {
  int last = 0;
  for (int axis = 1; axis < loop->ndim; ++axis) {
    int merges = 1;
    for (int i = 0; i < loop->operands; ++i) {
      merges &= loop->strides[i][last] == loop->strides[i][axis] * loop->shape[axis];
    }
    const Py_ssize_t length = merges ? loop->shape[last] * loop->shape[axis] : loop->shape[axis];
    last += !merges;
    loop->shape[last] = length;
    for (int i = 0; i < loop->operands; ++i) loop->strides[i][last] = loop->strides[i][axis];
  }
  if (loop->ndim) loop->ndim = last + 1;
}

void move_axis(Loop* loop, int from, int to) {
  Py_ssize_t* rows[MOST_OPERANDS + 1] = {loop->shape};
  for (int i = 0; i < loop->operands; ++i) rows[1 + i] = loop->strides[i];
  const int step = from < to ? 1 : -1;
  for (int i = 0; i <= loop->operands; ++i) {
    const Py_ssize_t moved = rows[i][from];
    for (int axis = from; axis != to; axis += step) rows[i][axis] = rows[i][axis + step];
    rows[i][to] = moved;
  }
}

void order_axes(Loop* loop, int operand) {
  const Py_ssize_t* strides = loop->strides[operand];
  drop_single_axes(loop);
  for (int axis = 1; axis < loop->ndim; ++axis) {
    int to = axis;
    while (to && distance(strides[to - 1]) < distance(strides[axis])) --to;
    move_axis(loop, axis, to);
  }
  merge_axes(loop);
}

Py_ssize_t size_of(const Loop* loop) {
  Py_ssize_t size = 1;
  for (int axis = 0; axis < loop->ndim; ++axis) size *= loop->shape[axis];
  return size;
}

int next_line(const Loop* loop, Py_ssize_t* index, char** data, int first, int end) {
  for (int axis = end - 1; axis >= first; --axis) {
    const int is_last = ++index[axis] == loop->shape[axis];
    const Py_ssize_t steps = is_last ? 1 - loop->shape[axis] : 1;
    for (int i = 0; i < loop->operands; ++i) data[i] += steps * loop->strides[i][axis];
    if (!is_last) return 1;
    index[axis] = 0;
  }
  return 0;
}
