// Calls and views that are remembered, and what finds them.
#ifndef XPOPS_DISPATCH_KNOWN_H
#define XPOPS_DISPATCH_KNOWN_H

#include <stdint.h>

#include "compiled.h"

// What `configure` sets, beside the classes of arrays and their layouts: tables of xpops/dispatch/steady.py, and the class
// of its records.
extern PyObject *launches, *writes, *shows, *adopters, *readers, *viewed, *record_type;
// What is called for what is not remembered.
extern PyObject *elementwise, *view_slowly;
extern PyObject* shape_name;  // "shape"

// Functions of the module.
PyObject* known(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* known_write(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* unary(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* binary(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* spec_of(PyObject* module, PyObject* x);
PyObject* known_array(PyObject* module, PyObject* x);
PyObject* way_of(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* view(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* known_view(PyObject* module, PyObject* const* given, Py_ssize_t count);
PyObject* forget_views(PyObject* module, PyObject* nothing);

#endif
