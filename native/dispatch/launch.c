// A launch: what `make_launch_on` of xpops/dispatch/steady.py returns.
#include "compiled.h"

typedef struct {
  PyObject_HEAD PyObject* stream_of;
  PyObject* kernel;
  // A tuple of (make, finish): finish is a layout for an array of xpops, None for what `make` made, or a function.
  PyObject* makers;
} Launch;

PyTypeObject *launch_type, *layout_type;

int split_pair(PyObject* pair, const char* maker, PyObject** first, PyObject** second) {
  if (!pair) return -1;
  const int fits = PyTuple_Check(pair) && PyTuple_Size(pair) == 2;
  if (fits) {
    *first = Py_NewRef(PyTuple_GetItem(pair, 0)), *second = Py_NewRef(PyTuple_GetItem(pair, 1));
  } else {
    PyErr_Format(PyExc_TypeError, "%s returns a tuple of two", maker);
  }
  Py_DECREF(pair);
  return fits ? 0 : -1;
}

static int make_result(PyObject* make, PyObject* stream, PyObject** data, PyObject** made) {
  if (Py_TYPE(make) == allocator_type) return allocate_block(make, stream, data, made);
  if (Py_TYPE(make) == maker_type) return make_tensor(make, data, made);
  return split_pair(PyObject_CallFunctionObjArgs(make, stream, NULL), "a maker", data, made);
}

static PyObject* finish_result(PyObject* finish, PyObject* data, PyObject* made) {
  if (finish == Py_None) return Py_NewRef(made);
  if (Py_TYPE(finish) == layout_type) return new_array(finish, data, made, 1);
  return PyObject_CallFunctionObjArgs(finish, data, made, NULL);
}

int call_kernel(PyObject* kernel, PyObject* stream, PyObject* const* made, Py_ssize_t results, PyObject* values,
                Py_ssize_t first) {
  const Py_ssize_t before = results - first, count = before + PyTuple_Size(values);
  const int is_sequence = Py_TYPE(kernel) == sequence_type;
  if ((is_sequence || Py_TYPE(kernel) == kernel_type) && count <= MOST) {
    PyObject* data[MOST];
    for (Py_ssize_t i = 0; i < count; ++i) {
      data[i] = i < results ? made[i] : PyTuple_GetItem(values, i - before);
    }
    return is_sequence ? run_sequence(kernel, stream, data, count) : launch_kernel(kernel, stream, data, count);
  }
  PyObject* arguments = PyTuple_New(1 + count);
  if (!arguments) return -1;
  PyTuple_SetItem(arguments, 0, Py_NewRef(stream));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* each = i < results ? made[i] : PyTuple_GetItem(values, i - before);
    PyTuple_SetItem(arguments, 1 + i, Py_NewRef(each));
  }
  PyObject* nothing = PyObject_CallObject(kernel, arguments);
  Py_DECREF(arguments);
  Py_XDECREF(nothing);
  return nothing ? 0 : -1;
}

PyObject* run_launch(PyObject* self, PyObject* values) {
  Launch* launch = (Launch*)self;
  const Py_ssize_t count = PyTuple_Size(launch->makers);
  PyObject *data[MOST] = {NULL}, *made[MOST] = {NULL};
  PyObject *found = NULL, *results = NULL;
  PyObject* stream = stream_by(launch->stream_of);
  for (Py_ssize_t i = 0; stream && i < count; ++i) {
    if (make_result(PyTuple_GetItem(PyTuple_GetItem(launch->makers, i), 0), stream, &data[i], &made[i])) goto done;
  }
  if (!stream || call_kernel(launch->kernel, stream, data, count, values, 0)) goto done;
  if (count == 1) {
    found = finish_result(PyTuple_GetItem(PyTuple_GetItem(launch->makers, 0), 1), data[0], made[0]);
    goto done;
  }
  results = PyTuple_New(count);
  for (Py_ssize_t i = 0; results && i < count; ++i) {
    PyObject* each = finish_result(PyTuple_GetItem(PyTuple_GetItem(launch->makers, i), 1), data[i], made[i]);
    if (each) {
      PyTuple_SetItem(results, i, each);
    } else {
      Py_CLEAR(results);
    }
  }
  found = results;
done:
  for (Py_ssize_t i = 0; i < count; ++i) Py_XDECREF(data[i]), Py_XDECREF(made[i]);
  Py_XDECREF(stream);
  return found;
}

static PyObject* launch_call(PyObject* self, PyObject* arguments, PyObject* named) {
  (void)named;
  return run_launch(self, arguments);
}

static void launch_free(PyObject* self) {
  Launch* launch = (Launch*)self;
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(launch->stream_of);
  Py_XDECREF(launch->kernel);
  Py_XDECREF(launch->makers);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Launch(stream_of, kernel, makers)
static PyObject* launch_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject *stream_of, *kernel, *makers;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "OOO!", &stream_of, &kernel, &PyTuple_Type, &makers)) return NULL;
  if (PyTuple_Size(makers) > MOST) {
    return PyErr_Format(PyExc_ValueError, "Launch: %zd results; accepted: %d", PyTuple_Size(makers), (int)MOST);
  }
  Launch* launch = PyObject_New(Launch, type);
  if (!launch) return NULL;
  launch->stream_of = Py_NewRef(stream_of), launch->kernel = Py_NewRef(kernel), launch->makers = Py_NewRef(makers);
  return (PyObject*)launch;
}

static PyType_Slot slots[] = {
    {Py_tp_new, launch_new},
    {Py_tp_call, launch_call},
    {Py_tp_dealloc, launch_free},
    {Py_tp_doc,
     "A function of the operands' data: allocates the results, launches a kernel, and makes arrays of them."},
    {0, NULL},
};
PyType_Spec launch_spec = {"xpops.core._compiled.Launch", sizeof(Launch), 0, Py_TPFLAGS_DEFAULT, slots};
