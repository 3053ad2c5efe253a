// A sequence: the launches of a plan's kernel, which the core makes without Python.
#include "sequence.h"

typedef struct {
  PyObject_HEAD PyObject* kernel;  // keeps what the plan keeps, such as tables in device memory
  Step* steps;
  Py_ssize_t count, given, places;
  char* are_arrays;
} Sequence;

PyTypeObject* sequence_type;

// Finds the address of a step that allocates, gives back or looks up. Returns 0, or -1 with an exception set.
static int find_address(const Step* step, PyObject* stream, uint64_t* address, PyObject** owner) {
  PyObject* found = NULL;
  if (step->kind == FREE) {
    Py_CLEAR(*owner);
    return 0;
  }
  if (step->kind == LOOK_UP) {
    found = look_up(step->object, stream);
  } else if (allocate_block(step->object, stream, &found, owner)) {
    found = NULL;
  }
  if (!found) return -1;
  *address = PyLong_AsUnsignedLongLong(found);
  Py_DECREF(found);
  return PyErr_Occurred() ? -1 : 0;
}

int run_sequence(PyObject* self, PyObject* stream, PyObject* const* given, Py_ssize_t count) {
  const Sequence* sequence = (Sequence*)self;
  uint64_t addresses[PLACES];
  PyObject* owners[PLACES] = {NULL};
  int failed = 0;
  if (count != sequence->given) {
    PyErr_Format(PyExc_TypeError, "a sequence: %zd values; accepted: %zd", count, sequence->given);
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!sequence->are_arrays[i]) continue;
    addresses[i] = PyLong_AsUnsignedLongLong(given[i]);
    if (PyErr_Occurred()) return -1;
  }
  const Places places = {addresses, given};
  for (Py_ssize_t i = 0; !failed && i < sequence->count; ++i) {
    const Step* step = &sequence->steps[i];
    failed = step->kind == LAUNCH ? launch_step(step->object, stream, step, places)
             : step->kind == ZERO ? zero_step(step->object, stream, step, places)
             : step->kind == CALL ? call_step(step->object, stream, step, places)
                                  : find_address(step, stream, &addresses[step->place], &owners[step->place]);
  }
  for (Py_ssize_t i = count; i < sequence->places; ++i) Py_XDECREF(owners[i]);
  return failed;
}

static PyObject* sequence_call(PyObject* self, PyObject* arguments, PyObject* named) {
  PyObject* given[PLACES];
  const Py_ssize_t count = PyTuple_Size(arguments) - 1;
  if (count < 0 || count > PLACES || (named && PyDict_Size(named))) {
    PyErr_SetString(PyExc_TypeError, "a sequence takes a stream and values");
    return NULL;
  }
  for (Py_ssize_t i = 0; i < count; ++i) given[i] = PyTuple_GetItem(arguments, i + 1);
  if (run_sequence(self, PyTuple_GetItem(arguments, 0), given, count)) return NULL;
  Py_RETURN_NONE;
}

static void sequence_free(PyObject* self) {
  Sequence* sequence = (Sequence*)self;
  PyTypeObject* type = Py_TYPE(self);
  free_steps(sequence->steps, sequence->count);
  PyMem_Free(sequence->are_arrays);
  Py_DECREF(sequence->kernel);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Calls a kernel with a draft. Returns 0, or -1 with an exception set.
static int write_draft(PyObject* kernel, const char* are_arrays, Py_ssize_t count, Draft* draft) {
  PyObject* arguments = PyTuple_New(1 + count);
  if (!arguments) return -1;
  PyTuple_SetItem(arguments, 0, Py_NewRef((PyObject*)draft));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* place = new_place((Value){are_arrays[i] ? ADDRESS : SCALAR, i, 0, NULL});
    if (!place) {
      Py_DECREF(arguments);
      return -1;
    }
    PyTuple_SetItem(arguments, 1 + i, place);
  }
  PyObject* nothing = PyObject_CallObject(kernel, arguments);
  Py_DECREF(arguments);
  Py_XDECREF(nothing);
  return nothing ? 0 : -1;
}

// Whether a draft is one launch or call, with all arguments in their order.
static int is_one_launch(const Draft* draft, Py_ssize_t count) {
  const Step* step = draft->steps;
  int same = draft->count == 1 && (step->kind == LAUNCH || step->kind == CALL) && step->count == count;
  for (Py_ssize_t i = 0; same && i < count; ++i) {
    const Value* value = &step->values[i];
    same = value->kind != WORD && value->place == i && !value->word;
  }
  return same;
}

static PyObject* new_sequence(PyObject* kernel, Draft* draft, char* are_arrays, Py_ssize_t count) {
  Sequence* sequence = PyObject_New(Sequence, sequence_type);
  if (!sequence) return NULL;
  sequence->kernel = Py_NewRef(kernel), sequence->are_arrays = are_arrays, sequence->given = count;
  sequence->steps = draft->steps, sequence->count = draft->count, sequence->places = draft->places;
  draft->steps = NULL, draft->count = 0;
  return (PyObject*)sequence;
}

// sequence(kernel, arrays): the sequence of the launches of a kernel, or the only launch. `arrays` says of each argument
// whether it is an address. The kernel itself if it is more than that.
PyObject* make_sequence(PyObject* module, PyObject* arguments) {
  PyObject *kernel, *arrays, *made = NULL;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO!", &kernel, &PyTuple_Type, &arrays)) return NULL;
  const Py_ssize_t count = PyTuple_Size(arrays);
  if (count > MOST || Py_TYPE(kernel) == kernel_type || Py_TYPE(kernel) == call_type) return Py_NewRef(kernel);
  Draft* draft = PyObject_New(Draft, draft_type);
  char* are_arrays = PyMem_Calloc((size_t)count + 1, 1);
  if (draft) draft->steps = NULL, draft->count = 0, draft->places = count;
  for (Py_ssize_t i = 0; are_arrays && i < count; ++i) are_arrays[i] = PyTuple_GetItem(arrays, i) == Py_True;
  if (!draft || !are_arrays) {
    PyErr_NoMemory();
  } else if (write_draft(kernel, are_arrays, count, draft)) {
    if (PyErr_ExceptionMatches(PyExc_Exception)) {
      PyErr_Clear();
      made = Py_NewRef(kernel);
    }
  } else if (is_one_launch(draft, count)) {
    made = Py_NewRef(draft->steps->object);
  } else {
    made = new_sequence(kernel, draft, are_arrays, count);
    if (made) are_arrays = NULL;
  }
  PyMem_Free(are_arrays);
  Py_XDECREF((PyObject*)draft);
  return made;
}

static PyType_Slot slots[] = {
    {Py_tp_call, sequence_call},
    {Py_tp_dealloc, sequence_free},
    {Py_tp_doc, "The launches of a plan's kernel: a function (stream, *values)."},
    {0, NULL},
};
PyType_Spec sequence_spec = {"xpops.core._compiled.Sequence", sizeof(Sequence), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
