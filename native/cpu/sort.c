// A stable radix sort of unsigned integers, and the first elements of rows in that order.
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

// From MANY pairs on, a radix sort is faster than insertions. If FEW or more are wanted, there is room for at least ROOM
// others: a radix sort of few pairs takes as long as one of hundreds.
enum { FEW = 16, MANY = 48, ROOM = 128 };

// Sort pairs of a key, in the high bits, and an index, of which those of equal keys are in order.
static void sort_pairs(uint64_t* pairs, uint64_t* spare, Py_ssize_t count) {
  if (count >= MANY) {
    sort_64(pairs, spare, count, 32);
    return;
  }
  for (Py_ssize_t i = 1; i < count; ++i) {
    const uint64_t pair = pairs[i];
    Py_ssize_t place = i;
    for (; place && pairs[place - 1] > pair; --place) pairs[place] = pairs[place - 1];
    pairs[place] = pair;
  }
}

static Py_ssize_t room_of(Py_ssize_t wanted) {
  return wanted < FEW ? 2 * wanted : wanted < ROOM ? wanted + ROOM : 2 * wanted;
}

// Keeps the first `wanted` pairs so far, and as many as there is room for that came after them and may be among the first.
#define FIRST(name, Key)                                                                                      \
  static void name(const Key* keys, Py_ssize_t length, uint64_t* pairs, uint64_t* spare, Py_ssize_t wanted) { \
    const Py_ssize_t room = room_of(wanted);                                                                  \
    Py_ssize_t kept = wanted;                                                                                 \
    for (Py_ssize_t i = 0; i < wanted; ++i) pairs[i] = (uint64_t)keys[i] << 32 | (uint64_t)i;                 \
    sort_pairs(pairs, spare, wanted);                                                                         \
    for (Py_ssize_t i = wanted; i < length; ++i) {                                                            \
      if (keys[i] >= pairs[wanted - 1] >> 32) continue;                                                       \
      pairs[kept++] = (uint64_t)keys[i] << 32 | (uint64_t)i;                                                  \
      if (kept < room) continue;                                                                              \
      sort_pairs(pairs, spare, kept);                                                                         \
      kept = wanted;                                                                                          \
    }                                                                                                         \
    sort_pairs(pairs, spare, kept);                                                                           \
  }
FIRST(first_8, uint8_t)
FIRST(first_16, uint16_t)
FIRST(first_32, uint32_t)

static void first_of_rows(const Py_buffer* keys, const Py_buffer* places, uint64_t* pairs, Py_ssize_t length) {
  const Py_ssize_t wanted = places->shape[places->ndim - 1];
  int64_t* found = places->buf;
  for (Py_ssize_t start = 0; start < keys->len; start += length * keys->itemsize, found += wanted) {
    const void* row = (const char*)keys->buf + start;
    uint64_t* const spare = pairs + room_of(wanted);
    switch (keys->itemsize) {
      case 1:
        first_8(row, length, pairs, spare, wanted);
        break;
      case 2:
        first_16(row, length, pairs, spare, wanted);
        break;
      default:
        first_32(row, length, pairs, spare, wanted);
    }
    for (Py_ssize_t i = 0; i < wanted; ++i) found[i] = (int64_t)(pairs[i] & 0xffffffffu);
  }
}

PyObject* first(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  Py_buffer keys, places;
  (void)module;
  if (count != 2) return PyErr_Format(PyExc_TypeError, "first: %zd arguments; accepted: keys and places", count);
  if (PyObject_GetBuffer(given[0], &keys, PyBUF_C_CONTIGUOUS)) return NULL;
  if (PyObject_GetBuffer(given[1], &places, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)) {
    PyBuffer_Release(&keys);
    return NULL;
  }
  const Py_ssize_t length = keys.ndim ? keys.shape[keys.ndim - 1] : 0;
  const Py_ssize_t wanted = places.ndim ? places.shape[places.ndim - 1] : 0;
  const int fits = keys.itemsize <= 4 && places.itemsize == 8 && 0 < wanted && wanted <= length && length < 1LL << 32 &&
                   keys.len / keys.itemsize / length == places.len / places.itemsize / wanted;
  uint64_t* const pairs = fits ? PyMem_Malloc(2 * (size_t)room_of(wanted) * sizeof *pairs) : NULL;
  if (pairs) {
    RUN(keys.len, first_of_rows(&keys, &places, pairs, length));
    PyMem_Free(pairs);
  } else if (fits) {
    PyErr_NoMemory();
  } else {
    PyErr_SetString(PyExc_ValueError, "first: accepted: rows of up to 32 bits, and as many rows of 1 to all indices");
  }
  PyBuffer_Release(&keys);
  PyBuffer_Release(&places);
  return pairs ? Py_NewRef(Py_None) : NULL;
}
