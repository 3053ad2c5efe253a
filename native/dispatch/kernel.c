// A CUDA kernel with its grid and parameters. A call writes the parameters that change, and launches.
#include <stdint.h>
#include <string.h>

#include "sequence.h"

// The driver's CUlaunchAttribute and CUlaunchConfig, and cuLaunchKernelEx.
typedef struct {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int flag;
  } value;
} LaunchAttribute;

typedef struct {
  unsigned blocks[3], threads[3], shared;
  void* stream;
  LaunchAttribute* attributes;
  unsigned count;
} LaunchConfig;

typedef int (*LaunchFunction)(const LaunchConfig*, void* function, void** parameters, void** extra);

// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: the launch may overlap the end of the kernel before it.
enum { OVERLAP = 6 };

enum { SLOT = 8, STACK = 4096 };

typedef struct {
  PyObject_HEAD LaunchFunction launch;
  void* function;
  unsigned blocks, threads, shared;
  int overlaps;
  // The form of each slot ('Q', 'q' or 'd'), and all parameters: the slots, then those that never change.
  char* forms;
  char* parameters;
  Py_ssize_t slots, size;
  // Called with (error, stream, address of the parameters' pointers) if a launch fails. It launches again, or raises.
  PyObject* failed;
  PyObject* name;
} Kernel;

PyTypeObject* kernel_type;

static int write_slot(const Kernel* kernel, char* to, char form, PyObject* value) {
  union {
    uint64_t natural;
    int64_t integer;
    double real;
  } slot;
  if (form == 'Q') {
    slot.natural = PyLong_AsUnsignedLongLong(value);
  } else if (form == 'q') {
    slot.integer = PyLong_AsLongLong(value);
  } else {
    slot.real = PyFloat_AsDouble(value);
  }
  memcpy(to, &slot, SLOT);
  if (!PyErr_Occurred()) return 0;
  if (PyErr_ExceptionMatches(PyExc_OverflowError)) {  // addresses and checked integers always fit
    PyErr_Format(PyExc_OverflowError, "%U: a Python integer is beyond the range of float64", kernel->name);
  }
  return -1;
}

// Launches with all parameters. Returns 0, or -1 with an exception set.
static int launch_with(const Kernel* kernel, PyObject* stream, char* parameters) {
  void* const handle = (void*)(uintptr_t)PyLong_AsUnsignedLongLong(stream);
  if (PyErr_Occurred()) return -1;
  void* pointers[1] = {parameters};
  LaunchAttribute overlap = {.id = OVERLAP, .value = {.flag = 1}};
  const LaunchConfig config = {{kernel->blocks, 1, 1}, {kernel->threads, 1, 1}, kernel->shared, handle,
                               &overlap, (unsigned)kernel->overlaps};
  int error;
  Py_BEGIN_ALLOW_THREADS;
  error = kernel->launch(&config, kernel->function, pointers, NULL);
  Py_END_ALLOW_THREADS;
  if (!error) return 0;
  PyObject* repaired = PyObject_CallFunction(kernel->failed, "iOK", error, stream,
                                             (unsigned long long)(uintptr_t)pointers);
  Py_XDECREF(repaired);
  return repaired ? 0 : -1;
}

int launch_kernel(PyObject* self, PyObject* stream, PyObject* const* values, Py_ssize_t count) {
  const Kernel* kernel = (Kernel*)self;
  if (count != kernel->slots) {
    PyErr_Format(PyExc_TypeError, "%U: %zd values for %zd slots", kernel->name, count, kernel->slots);
    return -1;
  }
  _Alignas(16) char parameters[STACK];
  memcpy(parameters, kernel->parameters, (size_t)kernel->size);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (write_slot(kernel, parameters + SLOT * i, kernel->forms[i], values[i])) return -1;
  }
  return launch_with(kernel, stream, parameters);
}

int launch_step(PyObject* self, PyObject* stream, const Step* step, Places places) {
  const Kernel* kernel = (Kernel*)self;
  _Alignas(16) char parameters[STACK];
  memcpy(parameters, kernel->parameters, (size_t)kernel->size);
  for (Py_ssize_t i = 0; i < step->count; ++i) {
    const Value* value = &step->values[i];
    char* to = parameters + SLOT * i;
    if (value->kind == SCALAR) {
      if (write_slot(kernel, to, kernel->forms[i], places.given[value->place])) return -1;
    } else {
      const uint64_t word = value->word + (value->kind == ADDRESS ? places.addresses[value->place] : 0);
      memcpy(to, &word, SLOT);
    }
  }
  return launch_with(kernel, stream, parameters);
}

int check_kernel_value(PyObject* self, Py_ssize_t i, PyObject* given, Value* value) {
  const Kernel* kernel = (Kernel*)self;
  const int fits = i < kernel->slots && !(value->kind == ADDRESS && kernel->forms[i] == 'd');
  if (fits) return value->kind == WORD ? write_slot(kernel, (char*)&value->word, kernel->forms[i], given) : 0;
  PyErr_Format(PyExc_TypeError, "%U: a draft has other values", kernel->name);
  return -1;
}

static PyObject* kernel_call(PyObject* self, PyObject* arguments, PyObject* named) {
  PyObject* values[STACK / SLOT];
  const Py_ssize_t count = PyTuple_Size(arguments) - 1;
  if (count < 0 || count > STACK / SLOT || (named && PyDict_Size(named))) {
    PyErr_SetString(PyExc_TypeError, "a kernel takes a stream and values");
    return NULL;
  }
  if (Py_TYPE(PyTuple_GetItem(arguments, 0)) == draft_type) {
    if (count == ((Kernel*)self)->slots && !draft_launch(self, arguments)) Py_RETURN_NONE;
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "%U: %zd values", ((Kernel*)self)->name, count);
  }
  for (Py_ssize_t i = 0; i < count; ++i) values[i] = PyTuple_GetItem(arguments, i + 1);
  if (launch_kernel(self, PyTuple_GetItem(arguments, 0), values, count)) return NULL;
  Py_RETURN_NONE;
}

static void kernel_free(PyObject* self) {
  Kernel* kernel = (Kernel*)self;
  PyTypeObject* type = Py_TYPE(self);
  PyMem_Free(kernel->forms);
  PyMem_Free(kernel->parameters);
  Py_XDECREF(kernel->failed);
  Py_XDECREF(kernel->name);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Kernel(name, launch, function, blocks, threads, shared, overlaps, forms, tail, failed)
static PyObject* kernel_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject *name, *failed;
  (void)named;
  unsigned long long launch, function;
  unsigned blocks, threads, shared;
  int overlaps;
  const char *forms, *tail;
  Py_ssize_t slots, tail_size;
  if (!PyArg_ParseTuple(arguments, "UKKIIIps#y#O", &name, &launch, &function, &blocks, &threads, &shared, &overlaps,
                        &forms, &slots, &tail, &tail_size, &failed)) {
    return NULL;
  }
  const Py_ssize_t size = SLOT * slots + tail_size;
  if (size > STACK || strspn(forms, "Qqd") != (size_t)slots) {
    PyErr_Format(PyExc_ValueError, "%U: %zd bytes of parameters, slots %s; accepted: %d bytes, slots of Q, q and d",
                 name, size, forms, (int)STACK);
    return NULL;
  }
  Kernel* kernel = PyObject_New(Kernel, type);
  if (!kernel) return NULL;
  kernel->launch = (LaunchFunction)(uintptr_t)launch;
  kernel->function = (void*)(uintptr_t)function;
  kernel->blocks = blocks, kernel->threads = threads, kernel->shared = shared, kernel->overlaps = overlaps;
  kernel->slots = slots, kernel->size = size;
  kernel->failed = Py_NewRef(failed), kernel->name = Py_NewRef(name);
  kernel->forms = PyMem_Malloc((size_t)slots + 1);
  kernel->parameters = PyMem_Calloc((size_t)size + 1, 1);
  if (!kernel->forms || !kernel->parameters) {
    Py_DECREF(kernel);
    return PyErr_NoMemory();
  }
  memcpy(kernel->forms, forms, (size_t)slots + 1);
  memcpy(kernel->parameters + SLOT * slots, tail, (size_t)tail_size);
  return (PyObject*)kernel;
}

static PyType_Slot slots[] = {
    {Py_tp_new, kernel_new},
    {Py_tp_call, kernel_call},
    {Py_tp_dealloc, kernel_free},
    {Py_tp_doc, "A CUDA kernel with its grid and parameters: a function (stream, *slots)."},
    {0, NULL},
};
PyType_Spec kernel_spec = {"xpops.core._compiled.Kernel", sizeof(Kernel), 0, Py_TPFLAGS_DEFAULT, slots};
