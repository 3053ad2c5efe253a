// Copies between the host and a GPU, which wait: `Runtime.to_host` and `Runtime.from_host` of the CUDA engine.
#include <stdint.h>

#include "compiled.h"

// Functions of the driver. The driver calls their arguments' types by other names.
typedef struct {
  int (*push)(void* context);
  int (*pop)(void** context);
  int (*exchange)(int* mode);
  int (*to_host)(void* host, uint64_t device, size_t size, void* stream);
  int (*to_device)(uint64_t device, const void* host, size_t size, void* stream);
  int (*synchronize)(void* stream);
} Driver;

typedef struct {
  PyObject_HEAD Driver driver;
  void* context;
} Transfer;

PyTypeObject* transfer_type;

// Copies, and waits. No capture of another stream ends by that, since the mode of captures is relaxed meanwhile.
static int copy(const Transfer* transfer, const Py_buffer* host, uint64_t device, void* stream, int to_host) {
  const Driver* driver = &transfer->driver;
  const size_t size = (size_t)host->len;
  enum { RELAXED = 2 };
  int mode = RELAXED;
  void* context = NULL;
  int error = driver->push(transfer->context);
  if (error) return error;
  if (!(error = driver->exchange(&mode))) {
    error = to_host ? driver->to_host(host->buf, device, size, stream)
                    : driver->to_device(device, host->buf, size, stream);
    if (!error) error = driver->synchronize(stream);
    driver->exchange(&mode);
  }
  driver->pop(&context);
  return error;
}

// transfer(array, address, stream, to_host): copies all bytes of a C-contiguous array. Returns the driver's error, or 0.
static PyObject* transfer_call(PyObject* self, PyObject* arguments, PyObject* named) {
  PyObject* array;
  unsigned long long device, stream;
  int to_host, error;
  Py_buffer host;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "OKKp", &array, &device, &stream, &to_host)) return NULL;
  if (PyObject_GetBuffer(array, &host, to_host ? PyBUF_WRITABLE : PyBUF_SIMPLE)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  error = copy((Transfer*)self, &host, device, (void*)(uintptr_t)stream, to_host);
  Py_END_ALLOW_THREADS;
  PyBuffer_Release(&host);
  return PyLong_FromLong(error);
}

static void transfer_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Transfer(context, push, pop, exchange, to_host, to_device, synchronize): addresses.
static PyObject* transfer_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  unsigned long long given[7];
  (void)named;
  if (!PyArg_ParseTuple(arguments, "KKKKKKK", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5],
                        &given[6])) {
    return NULL;
  }
  Transfer* transfer = PyObject_New(Transfer, type);
  if (!transfer) return NULL;
  transfer->context = (void*)(uintptr_t)given[0];
  transfer->driver = (Driver){
      (int (*)(void*))(uintptr_t)given[1],
      (int (*)(void**))(uintptr_t)given[2],
      (int (*)(int*))(uintptr_t)given[3],
      (int (*)(void*, uint64_t, size_t, void*))(uintptr_t)given[4],
      (int (*)(uint64_t, const void*, size_t, void*))(uintptr_t)given[5],
      (int (*)(void*))(uintptr_t)given[6],
  };
  return (PyObject*)transfer;
}

static PyType_Slot slots[] = {
    {Py_tp_new, transfer_new},
    {Py_tp_call, transfer_call},
    {Py_tp_dealloc, transfer_free},
    {Py_tp_doc, "A function that copies an array to or from a GPU, and waits."},
    {0, NULL},
};
PyType_Spec transfer_spec = {"xpops.core._compiled.Transfer", sizeof(Transfer), 0, Py_TPFLAGS_DEFAULT, slots};
