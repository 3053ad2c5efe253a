// Two functions of a stream that sequences know: one that returns an address, and one that sets memory to zeros.
#include "sequence.h"

typedef struct {
  PyObject_HEAD PyObject* find;  // a function (stream)
  PyObject* found;               // what it returned for the legacy default stream, which is never in capture; or NULL
} Lookup;

typedef struct {
  PyObject_HEAD Context context;
  int (*set)(uint64_t address, unsigned char byte, size_t size, void* stream);  // of the driver
  PyObject* failed;  // a function (error), which raises
} Zero;

PyTypeObject *lookup_type, *zero_type;

PyObject* look_up(PyObject* self, PyObject* stream) {
  Lookup* lookup = (Lookup*)self;
  const int is_default = !PyObject_IsTrue(stream);
  if (is_default && lookup->found) return Py_NewRef(lookup->found);
  PyObject* found = PyObject_CallFunctionObjArgs(lookup->find, stream, NULL);
  if (found && is_default && !lookup->found) lookup->found = Py_NewRef(found);
  return found;
}

static PyObject* lookup_call(PyObject* self, PyObject* arguments, PyObject* named) {
  PyObject* stream;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "O", &stream)) return NULL;
  return Py_TYPE(stream) == draft_type ? draft_lookup(self, stream) : look_up(self, stream);
}

static void lookup_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(((Lookup*)self)->find);
  Py_XDECREF(((Lookup*)self)->found);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Lookup(find): of the legacy default stream the address never changes.
static PyObject* lookup_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject* find;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "O", &find)) return NULL;
  Lookup* lookup = PyObject_New(Lookup, type);
  if (lookup) lookup->find = Py_NewRef(find), lookup->found = NULL;
  return (PyObject*)lookup;
}

static int run_zero(const Zero* zero, PyObject* stream, uint64_t address, uint64_t size) {
  void* const handle = (void*)(uintptr_t)PyLong_AsUnsignedLongLong(stream);
  if (PyErr_Occurred()) return -1;
  int error, entered;
  Py_BEGIN_ALLOW_THREADS;
  if (!(error = enter_context(&zero->context, &entered))) {
    error = zero->set(address, 0, (size_t)size, handle);
    leave_context(&zero->context, entered);
  }
  Py_END_ALLOW_THREADS;
  if (!error) return 0;
  PyObject* nothing = PyObject_CallFunction(zero->failed, "i", error);
  Py_XDECREF(nothing);
  return nothing ? 0 : -1;
}

int zero_step(PyObject* zero, PyObject* stream, const Step* step, Places places) {
  const Value* address = &step->values[0];
  return run_zero((Zero*)zero, stream, places.addresses[address->place] + address->word, step->values[1].word);
}

int check_zero_value(Py_ssize_t i, PyObject* given, Value* value) {
  if (i == 0 && value->kind == ADDRESS) return 0;
  if (i == 1 && value->kind == WORD) {
    value->word = PyLong_AsUnsignedLongLong(given);
  } else {
    PyErr_SetString(PyExc_TypeError, "zero: accepted: an address and a number of bytes");
  }
  return PyErr_Occurred() ? -1 : 0;
}

static PyObject* zero_call(PyObject* self, PyObject* arguments, PyObject* named) {
  PyObject* stream;
  unsigned long long address, size;
  (void)named;
  if (PyTuple_Size(arguments) == 3 && Py_TYPE(PyTuple_GetItem(arguments, 0)) == draft_type) {
    if (draft_launch(self, arguments)) return NULL;
    Py_RETURN_NONE;
  }
  if (!PyArg_ParseTuple(arguments, "OKK", &stream, &address, &size) ||
      run_zero((Zero*)self, stream, address, size)) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static void zero_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(((Zero*)self)->failed);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Zero(failed, context, get, push, pop, set): addresses after the first.
static PyObject* zero_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject* failed;
  unsigned long long context, get, push, pop, set;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "OKKKKK", &failed, &context, &get, &push, &pop, &set)) return NULL;
  Zero* zero = PyObject_New(Zero, type);
  if (!zero) return NULL;
  zero->failed = Py_NewRef(failed), zero->context = context_of(context, get, push, pop);
  zero->set = (int (*)(uint64_t, unsigned char, size_t, void*))(uintptr_t)set;
  return (PyObject*)zero;
}

static PyType_Slot lookup_slots[] = {
    {Py_tp_new, lookup_new},
    {Py_tp_call, lookup_call},
    {Py_tp_dealloc, lookup_free},
    {Py_tp_doc, "A function (stream) that returns an address."},
    {0, NULL},
};
PyType_Spec lookup_spec = {"xpops.core._compiled.Lookup", sizeof(Lookup), 0, Py_TPFLAGS_DEFAULT, lookup_slots};

static PyType_Slot zero_slots[] = {
    {Py_tp_new, zero_new},
    {Py_tp_call, zero_call},
    {Py_tp_dealloc, zero_free},
    {Py_tp_doc, "A function (stream, address, bytes) that sets device memory to zeros."},
    {0, NULL},
};
PyType_Spec zero_spec = {"xpops.core._compiled.Zero", sizeof(Zero), 0, Py_TPFLAGS_DEFAULT, zero_slots};
