// Loops over arrays of the host that NumPy runs slowly: they convert halves, compute in float64 without arrays of it,
// sort, and draw random bits. Python's side is the modules of xpops/engine/cpu that import `compiled`.
#ifndef XPOPS_CPU_H
#define XPOPS_CPU_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

// The elements that loops convert at once: their buffers fit the L1 cache. The most operands and axes of a loop.
enum { CHUNK = 1024, MOST_OPERANDS = 4, MOST_AXES = 64 };

// Elements in memory: 'e' float16, 'H' the bits of bfloat16, 'f' float32, 'd' float64, 'i' int32, 'q' int64.
typedef char Form;

// A loop over operands of one shape; operand 0 is written. An operand does not advance along axes of stride 0.
typedef struct {
  int operands, ndim;
  Py_ssize_t shape[MOST_AXES];
  Form form[MOST_OPERANDS];
  char* data[MOST_OPERANDS];
  // In bytes.
  Py_ssize_t strides[MOST_OPERANDS][MOST_AXES];
  Py_buffer views[MOST_OPERANDS];
  float numbers[MOST_OPERANDS];
} Loop;

// The loop over `operands`: arrays, or after the first also Python floats. An axis of length 1 is broadcast, in operand
// 0, too, where the loop reduces it. Each form is one of `forms`. Returns 0, or -1 with an exception set. `end_loop`
// releases the memory.
int begin_loop(Loop* loop, PyObject* const* operands, int count, const char* forms);
void end_loop(Loop* loop);
Py_ssize_t size_of(const Loop* loop);
// Sort the axes by the size of an operand's strides, the smallest last. Merge axes that every operand walks as one.
void order_axes(Loop* loop, int operand);
// Move an axis; the others keep their order.
void move_axis(Loop* loop, int from, int to);
// Advance `data` along the axes from `first` to before `end`. Returns 0, and the first line's data, after the last line.
int next_line(const Loop* loop, Py_ssize_t* index, char** data, int first, int end);

// At most CHUNK elements, `stride` bytes apart, as floats: in `buffer`, or in place. Others are rounded to odd: to
// float32 towards zero, with the last bit set if inexact. That rounds on to 16 bits as the given number would.
const float* load_floats(float* buffer, const char* x, Py_ssize_t stride, Py_ssize_t count, Form form);
void store_floats(char* out, Py_ssize_t stride, const float* x, Py_ssize_t count, Form form);
void store_doubles(char* out, Py_ssize_t stride, const double* x, Py_ssize_t count, Form form);

// A static function `name` that runs `name##_body`, compiled for the processor at hand. Loops of all processors give the
// same bits: nothing is contracted.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define XPOPS_AVX2 1
#define FOR_PROCESSORS(name, parameters, arguments)                                               \
  __attribute__((target("avx2"))) static void name##_avx2 parameters { name##_body arguments; }   \
  static void name parameters {                                                                   \
    if (__builtin_cpu_supports("avx2")) {                                                         \
      name##_avx2 arguments;                                                                      \
    } else {                                                                                      \
      name##_body arguments;                                                                      \
    }                                                                                             \
  }
#else
#define FOR_PROCESSORS(name, parameters, arguments) \
  static void name parameters { name##_body arguments; }
#endif
#if defined(__GNUC__) || defined(__clang__)
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif

INLINED Py_ssize_t distance(Py_ssize_t stride) { return stride < 0 ? -stride : stride; }

// Run a statement, without the global lock if it takes long.
#define RUN(size, statement)                                       \
  do {                                                             \
    PyThreadState* const thread = (size) < 1 << 14 ? NULL : PyEval_SaveThread(); \
    statement;                                                     \
    if (thread) PyEval_RestoreThread(thread);                      \
  } while (0)

// The functions of the module; see their docstrings in native/dispatch/compiled.c.
PyObject* add_rows(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* compute(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* convert(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* first(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* fused(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* philox(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* reduce(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* scan(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* sort(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* softmax(PyObject* module, PyObject* const* given, Py_ssize_t count);

#endif
