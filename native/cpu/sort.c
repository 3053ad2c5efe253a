// A stable radix sort of unsigned integers.
#include <string.h>

#include "cpu.h"

enum { DIGIT = 8, BUCKETS = 1 << DIGIT };

// Sorts by the bits from `first` on. `spare` has room for as many keys. A digit that all keys share takes no pass.
#define SORT(name, Key)                                                                          \
  static void name(Key* keys, Key* spare, Py_ssize_t count, int first) {                         \
    const int digits = (int)(8 * sizeof(Key) - (unsigned)first + DIGIT - 1) / DIGIT;             \
    Py_ssize_t places[sizeof(Key)][BUCKETS] = {{0}};                                             \
    Key *from = keys, *to = spare;                                                               \
    for (Py_ssize_t i = 0; i < count; ++i) {                                                     \
      const Key key = (Key)(keys[i] >> first);                                                   \
      for (int digit = 0; digit < digits; ++digit) ++places[digit][key >> DIGIT * digit & 255];  \
    }                                                                                            \
    for (int digit = 0; digit < digits; ++digit) {                                               \
      Py_ssize_t* const place = places[digit];                                                   \
      const int shift = first + DIGIT * digit;                                                   \
      if (place[keys[0] >> shift & 255] == count) continue;                                      \
      for (Py_ssize_t bucket = 0, start = 0; bucket < BUCKETS; ++bucket) {                       \
        const Py_ssize_t size = place[bucket];                                                   \
        place[bucket] = start;                                                                   \
        start += size;                                                                           \
      }                                                                                          \
      for (Py_ssize_t i = 0; i < count; ++i) to[place[from[i] >> shift & 255]++] = from[i];      \
      Key* const sorted = to;                                                                    \
      to = from;                                                                                 \
      from = sorted;                                                                             \
    }                                                                                            \
    if (from != keys) memcpy(keys, from, (size_t)count * sizeof(Key));                           \
  }
SORT(sort_8, uint8_t)
SORT(sort_16, uint16_t)
SORT(sort_32, uint32_t)
SORT(sort_64, uint64_t)

static void sort_rows(const Py_buffer* view, void* spare, Py_ssize_t length, int first) {
  for (Py_ssize_t start = 0; start < view->len; start += length * view->itemsize) {
    char* const row = (char*)view->buf + start;
    switch (view->itemsize) {
      case 1:
        sort_8((uint8_t*)row, spare, length, first);
        break;
      case 2:
        sort_16((uint16_t*)row, spare, length, first);
        break;
      case 4:
        sort_32((uint32_t*)row, spare, length, first);
        break;
      default:
        sort_64((uint64_t*)row, spare, length, first);
    }
  }
}

PyObject* sort(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  Py_buffer view;
  (void)module;
  if (count != 2) return PyErr_Format(PyExc_TypeError, "sort: %zd arguments; accepted: keys and a bit", count);
  const long first = PyLong_AsLong(given[1]);
  if (PyErr_Occurred() || PyObject_GetBuffer(given[0], &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)) return NULL;
  const Py_ssize_t length = view.ndim ? view.shape[view.ndim - 1] : 1;
  void* const spare = PyMem_Malloc((size_t)(length * view.itemsize) + 1);
  if (!spare) {
    PyBuffer_Release(&view);
    return PyErr_NoMemory();
  }
  if (view.len) RUN(view.len, sort_rows(&view, spare, length, (int)first));
  PyMem_Free(spare);
  PyBuffer_Release(&view);
  Py_RETURN_NONE;
}
