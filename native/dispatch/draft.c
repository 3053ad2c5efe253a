// A draft: what a plan's kernel launches, noted by calling it with a `Draft` for the stream and a `Place` for each of its
// arguments. Kernels, allocators and look-ups note the call, and do nothing. Anything else refuses such arguments with
// a TypeError; then the kernel is no sequence of launches.
#include "sequence.h"

// What a kernel gets for an address or a scalar. An integer may be added to an address; nothing else may be done.
typedef struct {
  PyObject_HEAD Value value;
} Place;

// The owner of memory in a draft. When it is dropped, the sequence gives the memory back.
typedef struct {
  PyObject_HEAD Draft* draft;
  Py_ssize_t place;
} Hold;

PyTypeObject *draft_type, *place_type, *hold_type;

PyObject* new_place(Value value) {
  Place* place = PyObject_New(Place, place_type);
  if (place) place->value = value;
  return (PyObject*)place;
}

// Refuses an address plus something that is no integer, and anything plus a scalar.
static PyObject* place_add(PyObject* left, PyObject* right) {
  if (Py_TYPE(left) != place_type) {
    PyObject* other = left;
    left = right, right = other;
  }
  Value value = ((Place*)left)->value;
  if (value.kind != ADDRESS || !PyIndex_Check(right)) Py_RETURN_NOTIMPLEMENTED;
  PyObject* number = PyNumber_Index(right);
  if (!number) return NULL;
  value.word += (uint64_t)PyLong_AsLongLong(number);
  Py_DECREF(number);
  return PyErr_Occurred() ? NULL : new_place(value);
}

static PyObject* refuse(void) {
  PyErr_SetString(PyExc_TypeError, "a draft has no values");
  return NULL;
}

static int refuse_truth(PyObject* self) {
  (void)self;
  refuse();
  return -1;
}

static PyObject* refuse_comparison(PyObject* left, PyObject* right, int operation) {
  (void)left, (void)right, (void)operation;
  return refuse();
}

static void free_plain(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Adds a step with room for `count` values. NULL with an exception set on failure.
static Step* add_step(Draft* draft, int kind, PyObject* object, Py_ssize_t place, Py_ssize_t count) {
  Step* steps = PyMem_Realloc(draft->steps, sizeof(Step) * (size_t)(draft->count + 1));
  if (steps) draft->steps = steps;
  Value* values = PyMem_Calloc((size_t)count + 1, sizeof(Value));
  if (!steps || !values) {
    PyMem_Free(values);
    PyErr_NoMemory();
    return NULL;
  }
  Step* step = &steps[draft->count++];
  *step = (Step){kind, Py_XNewRef(object), place, count, values};
  return step;
}

// Notes a launch, a call of `Zero` or of `Call`. `arguments` begin with the draft.
int draft_launch(PyObject* self, PyObject* arguments) {
  Draft* draft = (Draft*)PyTuple_GetItem(arguments, 0);
  const Py_ssize_t count = PyTuple_Size(arguments) - 1;
  const int kind = Py_TYPE(self) == zero_type ? ZERO : Py_TYPE(self) == call_type ? CALL : LAUNCH;
  Step* step = add_step(draft, kind, self, 0, count);
  for (Py_ssize_t i = 0; step && i < count; ++i) {
    PyObject* each = PyTuple_GetItem(arguments, 1 + i);
    Value* value = &step->values[i];
    *value = Py_TYPE(each) == place_type ? ((Place*)each)->value : (Value){WORD, 0, 0, NULL};
    if (kind == CALL && value->kind == WORD) value->constant = Py_NewRef(each);
    if (kind == ZERO && check_zero_value(i, each, value)) return -1;
    if (kind == LAUNCH && check_kernel_value(self, i, each, value)) return -1;
  }
  return step ? 0 : -1;
}

// Notes that an address is looked up or allocated. Returns its place.
static PyObject* draft_address(PyObject* object, PyObject* self, int kind, Py_ssize_t* place) {
  Draft* draft = (Draft*)self;
  if (draft->places >= PLACES) return refuse();
  *place = draft->places++;
  return add_step(draft, kind, object, *place, 0) ? new_place((Value){ADDRESS, *place, 0, NULL}) : NULL;
}

PyObject* draft_lookup(PyObject* lookup, PyObject* draft) {
  Py_ssize_t place;
  return draft_address(lookup, draft, LOOK_UP, &place);
}

PyObject* draft_allocation(PyObject* allocator, PyObject* draft) {
  Py_ssize_t place;
  PyObject* address = draft_address(allocator, draft, ALLOCATE, &place);
  Hold* hold = address ? PyObject_New(Hold, hold_type) : NULL;
  if (hold) hold->draft = (Draft*)Py_NewRef(draft), hold->place = place;
  PyObject* pair = hold ? PyTuple_Pack(2, address, (PyObject*)hold) : NULL;
  Py_XDECREF(address);
  Py_XDECREF((PyObject*)hold);
  return pair;
}

static void hold_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Hold* hold = (Hold*)self;
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  if (!add_step(hold->draft, FREE, NULL, hold->place, 0)) PyErr_Clear();  // then the memory is kept until the end
  PyErr_Restore(kind, value, trace);
  Py_DECREF((PyObject*)hold->draft);
  PyObject_Free(self);
  Py_DECREF(type);
}

void free_steps(Step* steps, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    Py_XDECREF(steps[i].object);
    for (Py_ssize_t j = 0; j < steps[i].count; ++j) Py_XDECREF(steps[i].values[j].constant);
    PyMem_Free(steps[i].values);
  }
  PyMem_Free(steps);
}

static void draft_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  free_steps(((Draft*)self)->steps, ((Draft*)self)->count);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyType_Slot place_slots[] = {
    {Py_tp_dealloc, free_plain},
    {Py_nb_add, place_add},
    {Py_nb_bool, refuse_truth},
    {Py_tp_richcompare, refuse_comparison},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_doc, "An address or a scalar in a draft."},
    {0, NULL},
};
PyType_Spec place_spec = {"xpops.core._compiled.Place", sizeof(Place), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, place_slots};

static PyType_Slot hold_slots[] = {{Py_tp_dealloc, hold_free}, {Py_tp_doc, "The owner of memory in a draft."}, {0, NULL}};
PyType_Spec hold_spec = {"xpops.core._compiled.Hold", sizeof(Hold), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, hold_slots};

static PyType_Slot draft_slots[] = {
    {Py_tp_dealloc, draft_free},
    {Py_nb_bool, refuse_truth},
    {Py_tp_richcompare, refuse_comparison},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_tp_doc, "The stream of a draft."},
    {0, NULL},
};
PyType_Spec draft_spec = {"xpops.core._compiled.Draft", sizeof(Draft), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, draft_slots};
