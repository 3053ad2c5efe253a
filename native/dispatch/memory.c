// Memory of the host with Python's buffer protocol: new and aligned, or somebody's.
#include <stdint.h>
#include <stdlib.h>

#include "compiled.h"

enum { ALIGNMENT = 64 };

typedef struct {
  PyObject_HEAD void* start;
  Py_ssize_t size;
  // The object that keeps the memory alive; NULL if it is ours to free.
  PyObject* owner;
  int read_only;
} Memory;

static PyTypeObject* memory_type;

static int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  Memory* memory = (Memory*)self;
  return PyBuffer_FillInfo(view, self, memory->start, memory->size, memory->read_only, flags);
}

static void memory_free(PyObject* self) {
  Memory* memory = (Memory*)self;
  PyTypeObject* type = Py_TYPE(self);
  if (!memory->owner) free(memory->start);
  Py_XDECREF(memory->owner);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject* new_memory(void* start, Py_ssize_t size, PyObject* owner, int read_only) {
  Memory* memory = PyObject_New(Memory, memory_type);
  if (!memory) return NULL;
  memory->start = start, memory->size = size, memory->owner = owner, memory->read_only = read_only;
  return (PyObject*)memory;
}

// allocate(nbytes): uninitialised memory, aligned to 64 bytes.
PyObject* allocate(PyObject* module, PyObject* nbytes) {
  (void)module;
  const Py_ssize_t size = PyLong_AsSsize_t(nbytes);
  if (size < 0) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  if (size > INTPTR_MAX - ALIGNMENT) return PyErr_NoMemory();
  void* const start = aligned_alloc(ALIGNMENT, (size_t)(size / ALIGNMENT + 1) * ALIGNMENT);
  if (!start) return PyErr_NoMemory();
  PyObject* made = new_memory(start, size, NULL, 0);
  if (!made) free(start);
  return made;
}

// borrow(address, nbytes, owner, read_only): memory that `owner` keeps alive. Of memory that somebody else owns it keeps
// the owner, so that views of views are no chain, which would be freed by recursion.
PyObject* borrow(PyObject* module, PyObject* arguments) {
  unsigned long long address;
  Py_ssize_t size;
  PyObject* owner;
  int read_only;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "KnOp", &address, &size, &owner, &read_only)) return NULL;
  if (Py_TYPE(owner) == memory_type && ((Memory*)owner)->owner) owner = ((Memory*)owner)->owner;
  PyObject* made = new_memory((void*)(uintptr_t)address, size, Py_NewRef(owner), read_only);
  if (!made) Py_DECREF(owner);
  return made;
}

static PyType_Slot slots[] = {
    {Py_bf_getbuffer, get_buffer},
    {Py_tp_dealloc, memory_free},
    {Py_tp_doc, "Memory of the host."},
    {0, NULL},
};
static PyType_Spec spec = {"xpops.core._compiled.Memory", sizeof(Memory), 0, Py_TPFLAGS_DEFAULT, slots};

int add_memory(PyObject* module) {
  memory_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return memory_type ? PyModule_AddObjectRef(module, "Memory", (PyObject*)memory_type) : -1;
}
