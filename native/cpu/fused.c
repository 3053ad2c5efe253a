// x * y + z of float32 numbers, rounded once.
#include <math.h>

#include "exponential.h"

INLINED void multiply_add_body(float* out, const float* x, const float* y, const float* z, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) out[i] = fmaf(x[i], y[i], z[i]);
}

FOR_FAST_PROCESSORS(multiply_add, (float* out, const float* x, const float* y, const float* z, Py_ssize_t count),
                    (out, x, y, z, count))

static void fuse_lines(const Loop* loop) {
  float buffers[MOST_OPERANDS][CHUNK];
  const float* chunks[MOST_OPERANDS];
  Py_ssize_t index[MOST_AXES] = {0};
  char* data[MOST_OPERANDS];
  const int inner = loop->ndim - 1;
  const Py_ssize_t length = inner < 0 ? 1 : loop->shape[inner];
  memcpy(data, loop->data, sizeof data);
  do {
    for (Py_ssize_t start = 0; start < length; start += CHUNK) {
      const Py_ssize_t count = length - start < CHUNK ? length - start : CHUNK;
      for (int i = 1; i < MOST_OPERANDS; ++i) {
        const Py_ssize_t stride = inner < 0 ? 0 : loop->strides[i][inner];
        chunks[i] = load_floats(buffers[i], data[i] + start * stride, stride, count, 'f');
      }
      const Py_ssize_t to = inner < 0 ? 0 : loop->strides[0][inner];
      multiply_add(buffers[0], chunks[1], chunks[2], chunks[3], count);
      store_floats(data[0] + start * to, to, buffers[0], count, 'f');
    }
  } while (next_line(loop, index, data, 0, inner));
}

PyObject* fused(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  Loop loop;
  (void)module;
  if (count != MOST_OPERANDS)
    return PyErr_Format(PyExc_TypeError, "fused: %zd arguments; accepted: out, x, y, z", count);
  if (begin_loop(&loop, given, MOST_OPERANDS, "f")) return NULL;
  const Py_ssize_t size = size_of(&loop);
  order_axes(&loop, 0);
  int longest = loop.ndim - 1;
  for (int axis = longest; axis >= 0; --axis) {
    if (loop.shape[axis] > loop.shape[longest]) longest = axis;
  }
  if (longest >= 0) move_axis(&loop, longest, loop.ndim - 1);
  if (size) RUN(size, fuse_lines(&loop));
  end_loop(&loop);
  Py_RETURN_NONE;
}
