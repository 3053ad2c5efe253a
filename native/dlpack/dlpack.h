// DLPack 1.3, as its specification lays the structures out, and what describes our arrays by them.
#ifndef XPOPS_DLPACK_DLPACK_H
#define XPOPS_DLPACK_DLPACK_H

#include <stdint.h>

#include "../dispatch/compiled.h"

typedef struct {
  void* data;
  struct {
    int32_t type, index;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} Tensor;

typedef struct {
  uint32_t major, minor;
} Version;

// What an unversioned and a versioned capsule hold.
typedef struct Unversioned {
  Tensor tensor;
  void* context;
  void (*deleter)(struct Unversioned* self);
} Unversioned;

typedef struct Versioned {
  Version version;
  void* context;
  void (*deleter)(struct Versioned* self);
  uint64_t flags;
  Tensor tensor;
} Versioned;

enum { READ_ONLY = 1, IS_COPIED = 2 };

// The version of our capsules.
static const Version CAPSULES = {1, 1};

// The C exchange API. Functions return 0, or -1. Those of Python objects are called with Python's lock, and set an
// exception on failure.
typedef struct {
  Version version;
  void* previous;
  // Makes a new tensor like a prototype. Errors go to `fail`, since the caller may not hold Python's lock.
  int (*allocate)(Tensor* prototype, Versioned** made, void* context,
                  void (*fail)(void* context, const char* kind, const char* message));
  int (*export_owned)(void* object, Versioned** made);
  int (*import_owned)(Versioned* managed, void** object);  // takes `managed` in any case
  int (*view)(void* object, Tensor* found);                // valid while the object is
  int (*current_stream)(int32_t type, int32_t index, void** stream);
} Exchange;

// Describes an array. Its shape and strides are in `header`, a new reference. Returns 0, or -1 with an exception set.
int describe(PyObject* array, Tensor* tensor, PyObject** header);
// Whether a stride is negative.
int is_reversed(PyObject* header);
// A structure that keeps the memory of an array; NULL with an exception set on failure.
Versioned* new_versioned(PyObject* array, uint64_t flags);
// The destructor of capsules: nobody has consumed this one.
void drop_capsule(PyObject* capsule);
extern const char versioned_name[];

// Functions of the module.
PyObject* capsule(PyObject* module, PyObject* arguments);
PyObject* contents(PyObject* module, PyObject* given);
PyObject* set_capsules(PyObject* module, PyObject* arguments);
PyObject* set_exchange(PyObject* module, PyObject* arguments);

#endif
