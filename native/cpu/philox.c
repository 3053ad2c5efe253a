// The words of Philox 4x32, as native/xpops/math/philox.cuh computes them.
#include "cpu.h"

// The counters of which a processor computes the words at once.
enum { LANES = 16, ROUNDS = 10 };

// Writes four words for each counter from `position` on.
INLINED void write_words_body(uint32_t* out, const uint64_t* keys, uint64_t branch, uint64_t position,
                              Py_ssize_t count) {
  for (Py_ssize_t start = 0; start < count; start += LANES) {
    uint32_t words[4][LANES];
    for (int i = 0; i < LANES; ++i) {
      const uint64_t place = position + (uint64_t)(start + i);
      words[0][i] = (uint32_t)place, words[1][i] = (uint32_t)(place >> 32);
      words[2][i] = (uint32_t)branch, words[3][i] = (uint32_t)(branch >> 32);
    }
    for (int round = 0; round < ROUNDS; ++round) {
      const uint32_t first = (uint32_t)keys[round], second = (uint32_t)(keys[round] >> 32);
      for (int i = 0; i < LANES; ++i) {
        const uint64_t left = (uint64_t)words[0][i] * 0xD2511F53u, right = (uint64_t)words[2][i] * 0xCD9E8D57u;
        words[0][i] = (uint32_t)(right >> 32) ^ words[1][i] ^ first;
        words[2][i] = (uint32_t)(left >> 32) ^ words[3][i] ^ second;
        words[1][i] = (uint32_t)right, words[3][i] = (uint32_t)left;
      }
    }
    for (int i = 0; i < LANES && start + i < count; ++i) {
      for (int word = 0; word < 4; ++word) out[(start + i) * 4 + word] = words[word][i];
    }
  }
}

FOR_PROCESSORS(write_words, (uint32_t* out, const uint64_t* keys, uint64_t branch, uint64_t position, Py_ssize_t count),
               (out, keys, branch, position, count))

PyObject* philox(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  Py_buffer out, keys;
  (void)module;
  if (count != 4) {
    return PyErr_Format(PyExc_TypeError, "philox: %zd arguments; accepted: out, keys, branch and position", count);
  }
  const uint64_t branch = PyLong_AsUnsignedLongLongMask(given[2]);
  const uint64_t position = PyLong_AsUnsignedLongLongMask(given[3]);
  if (PyErr_Occurred() || PyObject_GetBuffer(given[0], &out, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS)) return NULL;
  if (PyObject_GetBuffer(given[1], &keys, PyBUF_C_CONTIGUOUS)) {
    PyBuffer_Release(&out);
    return NULL;
  }
  const int fits = keys.len == ROUNDS * sizeof(uint64_t) && out.len % (4 * sizeof(uint32_t)) == 0;
  if (fits) {
    const Py_ssize_t counters = out.len / (Py_ssize_t)(4 * sizeof(uint32_t));
    RUN(out.len, write_words(out.buf, keys.buf, branch, position, counters));
  } else {
    PyErr_SetString(PyExc_ValueError,
                    "philox: accepted: rows of four words, and a key of 64 bits for each of 10 rounds");
  }
  PyBuffer_Release(&keys);
  PyBuffer_Release(&out);
  return fits ? Py_NewRef(Py_None) : NULL;
}
