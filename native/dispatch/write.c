// A write: what `make_write` of xpops/dispatch/steady.py returns.
#include <stdint.h>

#include "compiled.h"

// The distances from `out` to an operand at which it may be written: `above` and more, `below` and less, 0 if `same`.
typedef struct {
  int is_array, same;
  int64_t above, below;
} Safe;

typedef struct {
  PyObject_HEAD PyObject* stream_of;
  PyObject* kernel;
  // Functions: the address of data that are no integers; whether `out` may be written, what to do after it was written.
  // The last two may be None.
  PyObject *address, *is_writable, *written;
  Py_ssize_t count;
  Safe* safe;
} Write;

PyTypeObject* write_type;

// The address of data. Returns 0, or -1 with an exception set.
static int address_of(const Write* write, PyObject* data, uint64_t* address) {
  if (PyObject_CheckBuffer(data)) {  // an ndarray, which tells its address in a microsecond by its attributes
    Py_buffer buffer;
    if (PyObject_GetBuffer(data, &buffer, PyBUF_STRIDES)) return -1;
    *address = (uint64_t)(uintptr_t)buffer.buf;
    PyBuffer_Release(&buffer);
    return 0;
  }
  PyObject* number = PyLong_CheckExact(data) ? Py_NewRef(data)
                                             : PyObject_CallFunctionObjArgs(write->address, data, NULL);
  if (!number) return -1;
  *address = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  return PyErr_Occurred() ? -1 : 0;
}

// Whether no operand of `values`, which begin with `out` and its data, is overwritten before it is read. Or -1.
static int is_apart(const Write* write, PyObject* values) {
  uint64_t start = 0, place = 0;
  if (address_of(write, PyTuple_GetItem(values, 1), &start)) return -1;
  for (Py_ssize_t i = 0; i < write->count; ++i) {
    const Safe* safe = &write->safe[i];
    if (!safe->is_array) continue;
    if (address_of(write, PyTuple_GetItem(values, 2 + i), &place)) return -1;
    const int64_t distance = (int64_t)(place - start);
    if (distance < safe->above && distance > safe->below && !(safe->same && !distance)) return 0;
  }
  return 1;
}

// Returns 1 if it wrote, 0 if it must not, or -1 with an exception set.
static int run(const Write* write, PyObject* values) {
  if (PyTuple_Size(values) != 2 + write->count) {
    PyErr_Format(PyExc_TypeError, "Write: %zd arguments; accepted: %zd", PyTuple_Size(values), 2 + write->count);
    return -1;
  }
  PyObject* out = PyTuple_GetItem(values, 0);
  int done = is_apart(write, values);
  if (done > 0 && (PyObject*)Py_TYPE(out) == array_class) {
    done = ((Array*)out)->writable;
  } else if (done > 0 && write->is_writable != Py_None) {
    PyObject* answer = PyObject_CallFunctionObjArgs(write->is_writable, out, NULL);
    done = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
  }
  if (done <= 0) return done;
  PyObject* stream = stream_by(write->stream_of);
  if (!stream || call_kernel(write->kernel, stream, NULL, 0, values, 1)) done = -1;
  Py_XDECREF(stream);
  if (done > 0 && write->written != Py_None) {
    PyObject* nothing = PyObject_CallFunctionObjArgs(write->written, out, NULL);
    if (!nothing) done = -1;
    Py_XDECREF(nothing);
  }
  return done;
}

PyObject* run_write(PyObject* self, PyObject* values) {
  const int done = run((Write*)self, values);
  return done < 0 ? NULL : PyBool_FromLong(done);
}

static PyObject* write_call(PyObject* self, PyObject* arguments, PyObject* named) {
  (void)named;
  return run_write(self, arguments);
}

static void write_free(PyObject* self) {
  Write* write = (Write*)self;
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(write->stream_of);
  Py_XDECREF(write->kernel);
  Py_XDECREF(write->address);
  Py_XDECREF(write->is_writable);
  Py_XDECREF(write->written);
  PyMem_Free(write->safe);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Write(stream_of, kernel, safe, address, is_writable, written): `safe` has (above, below, same) of each array, or None.
static PyObject* write_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject *stream_of, *kernel, *safe, *address, *is_writable, *written;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "OOO!OOO", &stream_of, &kernel, &PyTuple_Type, &safe, &address, &is_writable,
                        &written)) {
    return NULL;
  }
  Write* write = PyObject_New(Write, type);
  if (!write) return NULL;
  write->stream_of = Py_NewRef(stream_of), write->kernel = Py_NewRef(kernel), write->address = Py_NewRef(address);
  write->is_writable = Py_NewRef(is_writable), write->written = Py_NewRef(written);
  write->count = PyTuple_Size(safe);
  write->safe = PyMem_Calloc((size_t)write->count + 1, sizeof(Safe));
  if (!write->safe) {
    Py_DECREF(write);
    return PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; i < write->count; ++i) {
    PyObject* each = PyTuple_GetItem(safe, i);
    Safe* to = &write->safe[i];
    long long above, below;
    if (each == Py_None) continue;
    if (!PyArg_ParseTuple(each, "LLp", &above, &below, &to->same)) {
      Py_DECREF(write);
      return NULL;
    }
    to->is_array = 1, to->above = above, to->below = below;
  }
  return (PyObject*)write;
}

static PyType_Slot slots[] = {
    {Py_tp_new, write_new},
    {Py_tp_call, write_call},
    {Py_tp_dealloc, write_free},
    {Py_tp_doc, "A function of `out`, its data and the operands' data: launches a kernel if it may. Returns whether."},
    {0, NULL},
};
PyType_Spec write_spec = {"xpops.core._compiled.Write", sizeof(Write), 0, Py_TPFLAGS_DEFAULT, slots};
