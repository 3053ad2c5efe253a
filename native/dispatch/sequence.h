// Sequences of launches, and the drafts from which they are made.
#ifndef XPOPS_DISPATCH_SEQUENCE_H
#define XPOPS_DISPATCH_SEQUENCE_H

#include <stdint.h>

#include "compiled.h"

// The most places of a sequence: its arguments, then the addresses that its steps find.
enum { PLACES = 48 };

// A value that a step passes: a word that never changes, the address at a place plus a word, or the scalar at a place.
typedef struct {
  enum { WORD, ADDRESS, SCALAR } kind;
  Py_ssize_t place;
  uint64_t word;
  PyObject* constant;  // what never changes, if a function of Python takes it; or NULL
} Value;

// A step: a launch, memory set to zeros, a call of Python, or an address that is allocated, given back or looked up.
typedef struct {
  enum { LAUNCH, ZERO, CALL, ALLOCATE, FREE, LOOK_UP } kind;
  PyObject* object;
  Py_ssize_t place, count;
  Value* values;
} Step;

// What a plan's kernel gets for its stream.
typedef struct {
  PyObject_HEAD Step* steps;
  Py_ssize_t count, places;
} Draft;

extern PyTypeObject *place_type, *hold_type;
extern PyType_Spec draft_spec, place_spec, hold_spec;
PyObject* new_place(Value value);
void free_steps(Step* steps, Py_ssize_t count);

// The addresses at places, and the arguments themselves, for scalars.
typedef struct {
  const uint64_t* addresses;
  PyObject* const* given;
} Places;

// Checks whether a kernel, or a `Zero`, takes `given` as its value number `i`. The word of a constant goes to `value`.
int check_kernel_value(PyObject* kernel, Py_ssize_t i, PyObject* given, Value* value);
int check_zero_value(Py_ssize_t i, PyObject* given, Value* value);
// Run a step. Return 0, or -1 with an exception set.
int launch_step(PyObject* kernel, PyObject* stream, const Step* step, Places places);
int zero_step(PyObject* zero, PyObject* stream, const Step* step, Places places);
int call_step(PyObject* call, PyObject* stream, const Step* step, Places places);
// The address that a look-up finds.
PyObject* look_up(PyObject* lookup, PyObject* stream);

#endif
