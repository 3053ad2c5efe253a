// Our arrays out: DLPack's structures that keep their memory, and capsules of them.
#include <stdlib.h>

#include "dlpack.h"

// What `pack_header` of xpops/dlpack/capsules.py packs for a layout.
typedef struct {
  int32_t type, index, ndim;
  uint8_t code, bits;
  uint16_t reversed;
  int64_t axes[];  // the shape, then the strides
} Header;

// A structure in a capsule, and what it keeps alive.
typedef struct {
  union {
    Unversioned unversioned;
    Versioned versioned;
  } managed;
  PyObject *data, *owner, *header;
} Export;

static const char unversioned_name[] = "dltensor";
const char versioned_name[] = "dltensor_versioned";
// Functions of a layout, and of an ndarray: its header, and its address.
static PyObject *pack_header, *address_of;

// The header of a layout, which keeps the first one for good: borrowed tensors point into it.
static PyObject* find_header(PyObject* layout) {
  PyObject* header = PyObject_GetAttrString(layout, "header");
  if (header) return header;
  PyErr_Clear();
  PyObject* packed = PyObject_CallFunctionObjArgs(pack_header, layout, NULL);
  if (!packed) return NULL;
  header = PyObject_GetAttrString(layout, "header");  // another thread may have kept one meanwhile
  if (!header) {
    PyErr_Clear();
    if (!PyObject_SetAttrString(layout, "header", packed)) header = Py_NewRef(packed);
  }
  Py_DECREF(packed);
  return header;
}

// The address of a GPU's memory is an integer. NumPy gives that of an ndarray fastest by its buffer, which the dtypes of
// ml_dtypes lack.
static int find_address(PyObject* data, void** address) {
  Py_buffer buffer;
  if (!PyLong_Check(data) && !PyObject_GetBuffer(data, &buffer, PyBUF_STRIDED_RO)) {
    *address = buffer.buf;
    PyBuffer_Release(&buffer);
    return 0;
  }
  PyErr_Clear();
  PyObject* found = PyLong_Check(data) ? Py_NewRef(data) : PyObject_CallFunctionObjArgs(address_of, data, NULL);
  if (!found) return -1;
  *address = (void*)(uintptr_t)PyLong_AsUnsignedLongLong(found);
  Py_DECREF(found);
  return PyErr_Occurred() ? -1 : 0;
}

int is_reversed(PyObject* header) { return ((Header*)PyBytes_AsString(header))->reversed; }

int describe(PyObject* array, Tensor* tensor, PyObject** header) {
  const Array* ours = (Array*)array;
  if (!PyObject_TypeCheck(array, tensor_type) || !ours->layout || !ours->data || !ours->owner) {
    PyErr_Format(PyExc_TypeError, "DLPack's exchange: %R; accepted: an array of xpops", (PyObject*)Py_TYPE(array));
    return -1;
  }
  PyObject* packed = find_header(ours->layout);
  if (!packed) return -1;
  Header* said = (Header*)PyBytes_AsString(packed);
  int is_empty = 0;
  for (int i = 0; i < said->ndim; ++i) is_empty |= !said->axes[i];
  *tensor = (Tensor){
      .device = {said->type, said->index},
      .ndim = said->ndim,
      .dtype = {said->code, said->bits, 1},
      .shape = said->axes,
      .strides = said->axes + said->ndim,
  };
  if (!is_empty && find_address(ours->data, &tensor->data)) {
    Py_DECREF(packed);
    return -1;
  }
  *header = packed;
  return 0;
}

// A consumer may call this without Python's lock, with an exception pending, or after the interpreter has ended.
static void release(Export* export) {
  PyObject *kind, *value, *trace;
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyErr_Fetch(&kind, &value, &trace);
  Py_DECREF(export->data);
  Py_DECREF(export->owner);
  Py_DECREF(export->header);
  PyErr_Restore(kind, value, trace);
  PyGILState_Release(state);
  free(export);
}

static void delete_unversioned(Unversioned* self) { release(self->context); }
static void delete_versioned(Versioned* self) { release(self->context); }

static Export* new_export(PyObject* array, Tensor* tensor) {
  Export* export = malloc(sizeof(Export));
  if (!export) {
    PyErr_NoMemory();
  } else if (describe(array, tensor, &export->header)) {
    free(export);
    export = NULL;
  } else {
    export->data = Py_NewRef(((Array*)array)->data), export->owner = Py_NewRef(((Array*)array)->owner);
  }
  return export;
}

Versioned* new_versioned(PyObject* array, uint64_t flags) {
  Tensor tensor;
  Export* export = new_export(array, &tensor);
  if (!export) return NULL;
  export->managed.versioned = (Versioned){CAPSULES, export, delete_versioned, flags, tensor};
  return &export->managed.versioned;
}

void drop_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, versioned_name)) {
    Versioned* managed = PyCapsule_GetPointer(capsule, versioned_name);
    if (managed->deleter) managed->deleter(managed);
  } else if (PyCapsule_IsValid(capsule, unversioned_name)) {
    Unversioned* managed = PyCapsule_GetPointer(capsule, unversioned_name);
    if (managed->deleter) managed->deleter(managed);
  }
}

// capsule(array, is_versioned, flags): a capsule that keeps the memory of an array; only a versioned one has flags.
PyObject* capsule(PyObject* module, PyObject* arguments) {
  PyObject *array, *made;
  int is_versioned;
  unsigned long long flags;
  Tensor tensor;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OpK", &array, &is_versioned, &flags)) return NULL;
  if (is_versioned) {
    Versioned* managed = new_versioned(array, flags);
    if (!managed) return NULL;
    made = PyCapsule_New(managed, versioned_name, drop_capsule);
    if (!made) delete_versioned(managed);
    return made;
  }
  Export* export = new_export(array, &tensor);
  if (!export) return NULL;
  export->managed.unversioned = (Unversioned){tensor, export, delete_unversioned};
  made = PyCapsule_New(&export->managed.unversioned, unversioned_name, drop_capsule);
  if (!made) release(export);
  return made;
}

// set_capsules(pack_header, address_of)
PyObject* set_capsules(PyObject* module, PyObject* arguments) {
  PyObject *pack, *find;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OO", &pack, &find)) return NULL;
  Py_XDECREF(pack_header);
  Py_XDECREF(address_of);
  pack_header = Py_NewRef(pack), address_of = Py_NewRef(find);
  Py_RETURN_NONE;
}
