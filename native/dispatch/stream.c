// The current stream of a GPU: the function that `current` of xpops/engine/cuda/runtime/streams.py returns.
#include "compiled.h"

typedef struct {
  PyObject_HEAD PyObject* get;  // a function that returns the handle that xpops.stream has set, or None
  PyObject* index;              // of the GPU
  PyObject* names;              // the module's variables: framework_stream and framework_captures
} Stream;

PyTypeObject* stream_type;
static PyObject *framework_stream, *framework_captures;

// Calls the function that a variable of the module holds.
static PyObject* call_named(PyObject* names, PyObject* name, PyObject* argument) {
  PyObject* function = PyDict_GetItemWithError(names, name);
  if (!function) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_NameError, "%U", name);
  Py_INCREF(function);  // the call may replace it
  PyObject* found = PyObject_CallFunctionObjArgs(function, argument, NULL);
  Py_DECREF(function);
  return found;
}

static PyObject* current_stream(PyObject* self) {
  const Stream* stream = (Stream*)self;
  PyObject* handle = PyObject_CallNoArgs(stream->get);
  if (!handle || handle != Py_None) return handle;
  Py_DECREF(handle);
  handle = call_named(stream->names, framework_stream, stream->index);
  const int is_default = handle ? PyObject_Not(handle) : 1;
  if (is_default) return handle;  // also if it is NULL
  PyObject* captures = call_named(stream->names, framework_captures, NULL);
  const int joins = captures ? PyObject_IsTrue(captures) : -1;
  Py_XDECREF(captures);
  if (joins > 0) return handle;
  Py_DECREF(handle);
  return joins < 0 ? NULL : PyLong_FromLong(0);
}

PyObject* stream_by(PyObject* get) {
  return Py_TYPE(get) == stream_type ? current_stream(get) : PyObject_CallNoArgs(get);
}

static PyObject* stream_call(PyObject* self, PyObject* arguments, PyObject* named) {
  (void)arguments, (void)named;
  return current_stream(self);
}

static void stream_free(PyObject* self) {
  Stream* stream = (Stream*)self;
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(stream->get);
  Py_DECREF(stream->index);
  Py_DECREF(stream->names);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Stream(get, index, names)
static PyObject* stream_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject *get, *index, *names;
  (void)named;
  if (!framework_stream) framework_stream = PyUnicode_InternFromString("framework_stream");
  if (!framework_captures) framework_captures = PyUnicode_InternFromString("framework_captures");
  if (!framework_stream || !framework_captures) return NULL;
  if (!PyArg_ParseTuple(arguments, "OOO!", &get, &index, &PyDict_Type, &names)) return NULL;
  Stream* stream = PyObject_New(Stream, type);
  if (!stream) return NULL;
  stream->get = Py_NewRef(get), stream->index = Py_NewRef(index), stream->names = Py_NewRef(names);
  return (PyObject*)stream;
}

static PyType_Slot slots[] = {
    {Py_tp_new, stream_new},
    {Py_tp_call, stream_call},
    {Py_tp_dealloc, stream_free},
    {Py_tp_doc, "A function that returns the handle of the current stream of a GPU."},
    {0, NULL},
};
PyType_Spec stream_spec = {"xpops.core._compiled.Stream", sizeof(Stream), 0, Py_TPFLAGS_DEFAULT, slots};
