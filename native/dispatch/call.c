// A function of Python as a step of sequences, such as a call of a library. It is not called for a draft.
#include "sequence.h"

typedef struct {
  PyObject_HEAD PyObject* function;  // a function (stream, *values), whose result does not matter
} Call;

PyTypeObject* call_type;

// A value as Python has it. A new reference; NULL with an exception set on failure.
static PyObject* value_of(const Value* value, Places places) {
  if (value->constant) return Py_NewRef(value->constant);
  if (value->kind == SCALAR) return Py_NewRef(places.given[value->place]);
  return PyLong_FromUnsignedLongLong(places.addresses[value->place] + value->word);
}

int call_step(PyObject* call, PyObject* stream, const Step* step, Places places) {
  PyObject* arguments = PyTuple_New(1 + step->count);
  if (!arguments) return -1;
  PyTuple_SetItem(arguments, 0, Py_NewRef(stream));
  for (Py_ssize_t i = 0; i < step->count; ++i) {
    PyObject* value = value_of(&step->values[i], places);
    if (!value) {
      Py_DECREF(arguments);
      return -1;
    }
    PyTuple_SetItem(arguments, 1 + i, value);
  }
  PyObject* nothing = PyObject_CallObject(((Call*)call)->function, arguments);
  Py_DECREF(arguments);
  Py_XDECREF(nothing);
  return nothing ? 0 : -1;
}

static PyObject* call_call(PyObject* self, PyObject* arguments, PyObject* named) {
  const int is_draft = PyTuple_Size(arguments) > 0 && Py_TYPE(PyTuple_GetItem(arguments, 0)) == draft_type;
  if (named && PyDict_Size(named)) return PyErr_Format(PyExc_TypeError, "a step of a sequence takes no names");
  if (!is_draft) return PyObject_CallObject(((Call*)self)->function, arguments);
  if (draft_launch(self, arguments)) return NULL;
  Py_RETURN_NONE;
}

static void call_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(((Call*)self)->function);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Call(function)
static PyObject* call_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject* function;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "O", &function)) return NULL;
  Call* call = PyObject_New(Call, type);
  if (call) call->function = Py_NewRef(function);
  return (PyObject*)call;
}

static PyType_Slot slots[] = {
    {Py_tp_new, call_new},
    {Py_tp_call, call_call},
    {Py_tp_dealloc, call_free},
    {Py_tp_doc, "A function (stream, *values) as a step of sequences."},
    {0, NULL},
};
PyType_Spec call_spec = {"xpops.core._compiled.Call", sizeof(Call), 0, Py_TPFLAGS_DEFAULT, slots};
