// A wait for a word of host memory that a kernel writes: the host sees it before the kernel ends.
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "compiled.h"

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

PyObject* poll(PyObject* module, PyObject* arguments) {
  enum { READS = 64 };  // between two looks at the clock
  unsigned long long address, pending, nanoseconds;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "KKK", &address, &pending, &nanoseconds)) return NULL;
  const _Atomic uint64_t* word = (const _Atomic uint64_t*)(uintptr_t)address;
  int arrived = 0;
  Py_BEGIN_ALLOW_THREADS;
  const uint64_t end = now() + nanoseconds;
  do {
    for (int i = 0; i < READS && !arrived; ++i) {
      arrived = atomic_load_explicit(word, memory_order_acquire) != pending;
    }
  } while (!arrived && now() < end);
  Py_END_ALLOW_THREADS;
  return PyBool_FromLong(arrived);
}
