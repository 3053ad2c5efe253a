// A maker of torch's tensors: what `TorchAdapter.allocator` of xpops/frameworks/torch.py returns.
#include "compiled.h"

typedef struct {
  PyObject_HEAD PyObject* make;
  PyObject* arguments;
  // A function that returns the index of the current GPU, which is where `make` allocates; None on the host.
  PyObject* current;
  // The index of the GPU of new tensors, and a function without arguments that makes one if another GPU is current.
  long index;
  PyObject* elsewhere;
} Maker;

PyTypeObject* maker_type;

static PyObject* new_tensor(const Maker* maker) {
  if (maker->current == Py_None) return PyObject_CallObject(maker->make, maker->arguments);
  PyObject* found = PyObject_CallNoArgs(maker->current);
  if (!found) return NULL;
  const long index = PyLong_AsLong(found);
  Py_DECREF(found);
  if (index == -1 && PyErr_Occurred()) return NULL;
  return index == maker->index ? PyObject_CallObject(maker->make, maker->arguments)
                               : PyObject_CallNoArgs(maker->elsewhere);
}

int make_tensor(PyObject* self, PyObject** data, PyObject** tensor) {
  const Maker* maker = (Maker*)self;
  *tensor = new_tensor(maker);
  if (!*tensor) return -1;
  *data = maker->current == Py_None ? Py_NewRef(*tensor) : tensor_address(*tensor);
  if (!*data) Py_CLEAR(*tensor);
  return *data ? 0 : -1;
}

static PyObject* maker_call(PyObject* self, PyObject* arguments, PyObject* named) {
  PyObject *data = NULL, *tensor = NULL;
  (void)arguments, (void)named;
  if (make_tensor(self, &data, &tensor)) return NULL;
  PyObject* pair = PyTuple_Pack(2, data, tensor);
  Py_DECREF(data);
  Py_DECREF(tensor);
  return pair;
}

static void maker_free(PyObject* self) {
  Maker* maker = (Maker*)self;
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(maker->make);
  Py_DECREF(maker->arguments);
  Py_DECREF(maker->current);
  Py_DECREF(maker->elsewhere);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Maker(make, arguments, current, index, elsewhere)
static PyObject* maker_new(PyTypeObject* type, PyObject* given, PyObject* named) {
  PyObject *make, *arguments, *current, *elsewhere;
  long index;
  (void)named;
  if (!PyArg_ParseTuple(given, "OO!OlO", &make, &PyTuple_Type, &arguments, &current, &index, &elsewhere)) return NULL;
  Maker* maker = PyObject_New(Maker, type);
  if (!maker) return NULL;
  maker->make = Py_NewRef(make), maker->arguments = Py_NewRef(arguments);
  maker->current = Py_NewRef(current), maker->index = index, maker->elsewhere = Py_NewRef(elsewhere);
  return (PyObject*)maker;
}

static PyType_Slot slots[] = {
    {Py_tp_new, maker_new},
    {Py_tp_call, maker_call},
    {Py_tp_dealloc, maker_free},
    {Py_tp_doc, "A function (stream) that returns the data of a new tensor, and the tensor."},
    {0, NULL},
};
PyType_Spec maker_spec = {"xpops.core._compiled.Maker", sizeof(Maker), 0, Py_TPFLAGS_DEFAULT, slots};
