// The compiled core of the steady state: what the files share. It is optional; xpops/dispatch/steady.py does the same.
#ifndef XPOPS_DISPATCH_COMPILED_H
#define XPOPS_DISPATCH_COMPILED_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdint.h>
#include <structmember.h>

// The most operands of a call whose data pass without a tuple, on the C stack.
enum { MOST = 16 };

// What an operand is in a key, and its data. New references; both NULL with an exception set on failure.
typedef struct {
  PyObject* spec;
  PyObject* data;
} Operand;

// Reads by calling `read`. Returns 1, or -1 with an exception set.
int read_by(PyObject* read, PyObject* x, Operand* found);

// Reads a tensor through DLPack's C exchange API. Returns 1 if done, 0 if `read` must read it, -1 with an exception set.
int read_tensor(PyObject* tensor, PyObject* read, Operand* found);

// The address of a tensor's first element, as an integer.
PyObject* tensor_address(PyObject* tensor);

// The shape of an array.
enum { MAX_NDIM = 8 };
typedef struct {
  int ndim;
  int64_t lengths[MAX_NDIM];
} Shape;
// Reads a tensor's shape through the exchange API. Returns whether that was possible; never sets an exception.
int tensor_shape(PyObject* tensor, Shape* shape);
int same_shape(const Shape* one, const Shape* other);

// Registers a class of tensors that have the exchange API: (class, capsule, is_grad_enabled).
PyObject* add_tensors(PyObject* module, PyObject* arguments);
// Forgets all these classes: ().
PyObject* forget_tensors(PyObject* module, PyObject* nothing);

// Host memory: allocate(nbytes), borrow(address, nbytes, owner, read_only). `add_memory` adds their type, or returns -1.
PyObject* allocate(PyObject* module, PyObject* nbytes);
PyObject* borrow(PyObject* module, PyObject* arguments);
int add_memory(PyObject* module);

// poll(address, pending, nanoseconds): whether a word of host memory changes from `pending` within that time.
PyObject* poll(PyObject* module, PyObject* arguments);

// Transfer objects copy arrays to and from a GPU.
extern PyType_Spec transfer_spec;
extern PyTypeObject* transfer_type;

// Stream objects return the handle of the current stream of a GPU.
extern PyType_Spec stream_spec;
extern PyTypeObject* stream_type;
// Calls a function that returns the handle of a stream, such as a Stream object.
PyObject* stream_by(PyObject* get);

// Adopter objects are functions of a framework's array on a GPU: they return an array on its memory, whose owner is a
// Loan object.
extern PyType_Spec adopter_spec, loan_spec;
extern PyTypeObject *adopter_type, *loan_type;
PyObject* adopt(PyObject* adopter, PyObject* x, PyObject* data);

// Kernel objects launch a CUDA kernel through the driver's function pointer.
extern PyType_Spec kernel_spec;
extern PyTypeObject* kernel_type;
// Launches on `stream`: data of the results first, then values. Returns 0, or -1 with an exception set.
int launch_kernel(PyObject* kernel, PyObject* stream, PyObject* const* values, Py_ssize_t count);

// Sequence objects are the launches of a plan's kernel, which `make_sequence` finds by calling it with a draft.
extern PyType_Spec sequence_spec;
extern PyTypeObject* sequence_type;
PyObject* make_sequence(PyObject* module, PyObject* arguments);
int run_sequence(PyObject* sequence, PyObject* stream, PyObject* const* given, Py_ssize_t count);
// What a kernel, an allocator, a Lookup or a Zero notes in a draft, which they get in the place of a stream.
extern PyTypeObject* draft_type;
int draft_launch(PyObject* kernel, PyObject* arguments);
PyObject* draft_allocation(PyObject* allocator, PyObject* draft);
PyObject* draft_lookup(PyObject* lookup, PyObject* draft);

// Lookup objects are functions (stream) that return an address, Zero objects set device memory to zeros, Call objects
// call a function of Python.
extern PyType_Spec lookup_spec, zero_spec, call_spec;
extern PyTypeObject *lookup_type, *zero_type, *call_type;

// A device's context, and functions of the driver. The legacy default stream is that of the current context.
typedef struct {
  void* context;
  int (*get)(void** context);
  int (*push)(void* context);
  int (*pop)(void** context);
} Context;
Context context_of(unsigned long long context, unsigned long long get, unsigned long long push, unsigned long long pop);
// Makes the context current if another one is. Returns the driver's error; `entered` says whether to leave it.
int enter_context(const Context* context, int* entered);
void leave_context(const Context* context, int entered);

// Graph objects launch an executable CUDA graph: functions (stream).
extern PyType_Spec graph_spec;
extern PyTypeObject* graph_type;

// Takes the pair that `maker` returned apart, and drops it. Returns 0, or -1 with an exception set if it is no pair.
int split_pair(PyObject* pair, const char* maker, PyObject** first, PyObject** second);

// Allocator objects allocate device memory: its address, and the owner that gives it back. Returns 0 or -1.
extern PyType_Spec allocator_spec, block_spec;
extern PyTypeObject *allocator_type, *block_type;
int allocate_block(PyObject* allocator, PyObject* stream, PyObject** address, PyObject** owner);

// Launch objects are functions of the operands' data: they allocate the results, launch a kernel, and make arrays.
extern PyType_Spec launch_spec;
extern PyTypeObject* launch_type;
PyObject* run_launch(PyObject* launch, PyObject* values);
// Calls a kernel with the stream, the data of the results, and `values` from `first` on. Returns 0 or -1.
int call_kernel(PyObject* kernel, PyObject* stream, PyObject* const* made, Py_ssize_t results, PyObject* values,
                Py_ssize_t first);

// Write objects are functions of `out`, its data and the operands' data: they launch a kernel that writes `out`.
extern PyType_Spec write_spec;
extern PyTypeObject* write_type;
PyObject* run_write(PyObject* write, PyObject* values);

// Maker objects allocate tensors: the data, and the tensor. Returns 0, or -1 with an exception set.
extern PyType_Spec maker_spec;
extern PyTypeObject* maker_type;
int make_tensor(PyObject* maker, PyObject** data, PyObject** tensor);

// Arrays. `array_class` is the class of results, which inherits from `tensor_type`.
typedef struct {
  PyObject_HEAD PyObject *layout, *data, *owner, *weak;
  char writable;
} Array;
extern PyType_Spec tensor_spec;
extern PyTypeObject *tensor_type, *layout_type;
extern PyObject* array_class;
PyObject* new_array(PyObject* layout, PyObject* data, PyObject* owner, int writable);

// View objects are functions of a device array of one layout: they return a view of it.
extern PyType_Spec view_spec;
extern PyTypeObject* view_type;
PyObject* make_view(PyObject* view, PyObject* x);
PyObject* index_array(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* set_index(PyObject* module, PyObject* function);

#endif
