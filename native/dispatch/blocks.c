// Device memory: an allocator takes freed blocks from its list, as `Pool.allocator` of the CUDA engine does.
#include "compiled.h"

// Memory that returns to a list of addresses when its last reference is dropped.
typedef struct {
  PyObject_HEAD PyObject *address, *freed;
} Block;

typedef struct {
  PyObject_HEAD PyObject* lists;  // stream -> list of the freed addresses
  PyObject* slow;                 // a function (stream) for all other allocations
} Allocator;

PyTypeObject *allocator_type, *block_type;

// Takes an address from the list of the legacy default stream, which is never in capture. NULL if it has none.
static PyObject* take(const Allocator* allocator, PyObject* stream, PyObject** freed) {
  const unsigned long long handle = PyLong_AsUnsignedLongLong(stream);
  if (handle) return NULL;
  *freed = PyDict_GetItemWithError(allocator->lists, stream);
  const Py_ssize_t count = *freed ? PyList_Size(*freed) : 0;
  if (count <= 0) return NULL;
  PyObject* address = Py_NewRef(PyList_GetItem(*freed, count - 1));
  if (PyList_SetSlice(*freed, count - 1, count, NULL)) Py_CLEAR(address);
  return address;
}

int allocate_block(PyObject* self, PyObject* stream, PyObject** address, PyObject** owner) {
  const Allocator* allocator = (Allocator*)self;
  PyObject* freed = NULL;
  *address = take(allocator, stream, &freed);
  if (*address) {
    Block* block = PyObject_New(Block, block_type);
    if (!block) {
      Py_CLEAR(*address);
      return -1;
    }
    block->address = Py_NewRef(*address), block->freed = Py_NewRef(freed);
    *owner = (PyObject*)block;
    return 0;
  }
  if (PyErr_Occurred()) return -1;
  return split_pair(PyObject_CallFunctionObjArgs(allocator->slow, stream, NULL), "an allocator", address, owner);
}

static PyObject* allocator_call(PyObject* self, PyObject* arguments, PyObject* named) {
  PyObject *address = NULL, *owner = NULL, *stream;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "O", &stream)) return NULL;
  if (Py_TYPE(stream) == draft_type) return draft_allocation(self, stream);
  if (allocate_block(self, stream, &address, &owner)) return NULL;
  PyObject* pair = PyTuple_Pack(2, address, owner);
  Py_DECREF(address);
  Py_DECREF(owner);
  return pair;
}

static void allocator_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(((Allocator*)self)->lists);
  Py_XDECREF(((Allocator*)self)->slow);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Allocator(lists, slow)
static PyObject* allocator_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject *lists, *slow;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "O!O", &PyDict_Type, &lists, &slow)) return NULL;
  Allocator* allocator = PyObject_New(Allocator, type);
  if (!allocator) return NULL;
  allocator->lists = Py_NewRef(lists), allocator->slow = Py_NewRef(slow);
  return (PyObject*)allocator;
}

static void block_free(PyObject* self) {
  Block* block = (Block*)self;
  PyTypeObject* type = Py_TYPE(self);
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  if (PyList_Append(block->freed, block->address)) PyErr_WriteUnraisable(block->freed);
  PyErr_Restore(kind, value, trace);
  Py_DECREF(block->freed);
  Py_DECREF(block->address);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyType_Slot block_slots[] = {
    {Py_tp_dealloc, block_free},
    {Py_tp_doc, "Device memory that returns to its list when its last reference is dropped."},
    {0, NULL},
};
PyType_Spec block_spec = {"xpops.core._compiled.Block", sizeof(Block), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, block_slots};

static PyType_Slot slots[] = {
    {Py_tp_new, allocator_new},
    {Py_tp_call, allocator_call},
    {Py_tp_dealloc, allocator_free},
    {Py_tp_doc, "A function (stream) that allocates device memory: returns its address and its owner."},
    {0, NULL},
};
PyType_Spec allocator_spec = {"xpops.core._compiled.Allocator", sizeof(Allocator), 0, Py_TPFLAGS_DEFAULT, slots};
