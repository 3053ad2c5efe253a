// Remembered calls: their operands are read, and the launch of a call is found by its key.
#include "known.h"

int read_by(PyObject* read, PyObject* x, Operand* found) {
  PyObject* pair = PyObject_CallFunctionObjArgs(read, x, NULL);
  return split_pair(pair, "Adapter.read", &found->spec, &found->data) ? -1 : 1;
}

// Reads one operand. Returns 1, or 0 if no reader knows its class, or -1 with an exception set.
static int read_operand(PyObject* x, Operand* found) {
  PyObject* type = (PyObject*)Py_TYPE(x);
  if (type == array_class) {
    const Array* array = (Array*)x;
    if (!array->layout || !array->data) {
      PyErr_SetString(PyExc_AttributeError, "an array without data");
      return -1;
    }
    found->spec = Py_NewRef(array->layout), found->data = Py_NewRef(array->data);
    return 1;
  }
  if (type == (PyObject*)&PyFloat_Type || type == (PyObject*)&PyLong_Type || type == (PyObject*)&PyBool_Type) {
    found->spec = Py_NewRef(type), found->data = Py_NewRef(x);
    return 1;
  }
  PyObject* read = PyDict_GetItemWithError(readers, type);
  if (!read) return PyErr_Occurred() ? -1 : 0;
  Py_INCREF(read);  // another thread may register an adapter, which clears the readers
  int done = read_tensor(x, read, found);
  if (!done) done = read_by(read, x, found);
  Py_DECREF(read);
  return done;
}

// Reads `first`, unless it is NULL, and `arguments`. The key begins with `way`; with `first`, values begin with itself.
// Returns 1, or 0 if a class is unknown, or -1. On 1, `key` and `values` are new tuples.
static int read_operands(PyObject* way, PyObject* first, PyObject* arguments, PyObject** key, PyObject** values) {
  const Py_ssize_t count = PyTuple_Size(arguments), before = first ? 1 : 0;
  if (count < 0) return -1;
  *key = PyTuple_New(1 + before + count);
  *values = PyTuple_New(2 * before + count);
  int done = *key && *values ? 1 : -1;
  if (done > 0) PyTuple_SetItem(*key, 0, Py_NewRef(way));
  if (done > 0 && first) PyTuple_SetItem(*values, 0, Py_NewRef(first));
  for (Py_ssize_t i = 0; done > 0 && i < before + count; ++i) {
    Operand found = {NULL, NULL};
    done = read_operand(i < before ? first : PyTuple_GetItem(arguments, i - before), &found);
    if (done > 0) {
      PyTuple_SetItem(*key, 1 + i, found.spec);
      PyTuple_SetItem(*values, before + i, found.data);
    }
  }
  if (done <= 0) {
    Py_CLEAR(*key);
    Py_CLEAR(*values);
  }
  return done;
}

// The result of a remembered call; None if no such call is remembered.
static PyObject* run_known(PyObject* way, PyObject* arguments) {
  PyObject *key, *values, *result = NULL;
  const int done = read_operands(way, NULL, arguments, &key, &values);
  if (done < 0) return NULL;
  if (!done) Py_RETURN_NONE;
  PyObject* launch = PyDict_GetItemWithError(launches, key);
  if (launch) {
    Py_INCREF(launch);  // the call may clear the table
    const int takes_arguments = (PyObject*)Py_TYPE(launch) == record_type;
    result = Py_TYPE(launch) == launch_type ? run_launch(launch, values)
                                            : PyObject_CallObject(launch, takes_arguments ? arguments : values);
    Py_DECREF(launch);
  } else if (!PyErr_Occurred()) {
    result = Py_NewRef(Py_None);
  }
  Py_DECREF(key);
  Py_DECREF(values);
  return result;
}

// True if a remembered call wrote `out`.
static PyObject* run_known_write(PyObject* way, PyObject* arguments, PyObject* out) {
  PyObject *key, *values, *result = NULL;
  const int done = read_operands(way, out, arguments, &key, &values);
  if (done < 0) return NULL;
  if (!done) Py_RETURN_FALSE;
  PyObject* write = PyDict_GetItemWithError(writes, key);
  if (write) {
    Py_INCREF(write);
    result = Py_TYPE(write) == write_type ? run_write(write, values) : PyObject_CallObject(write, values);
    Py_DECREF(write);
  } else if (!PyErr_Occurred()) {
    result = Py_NewRef(Py_False);
  }
  Py_DECREF(key);
  Py_DECREF(values);
  return result;
}

// known(way, arguments)
PyObject* known(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  (void)module;
  if (count == 2) return run_known(given[0], given[1]);
  return PyErr_Format(PyExc_TypeError, "known: %zd arguments; accepted: 2", count);
}

// known_write(way, arguments, out)
PyObject* known_write(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  (void)module;
  if (count == 3) return run_known_write(given[0], given[1], given[2]);
  return PyErr_Format(PyExc_TypeError, "known_write: %zd arguments; accepted: 3", count);
}

// An operator of `arity` operands, which `given` has after it, then perhaps `out`: `elementwise` of
// xpops/dispatch/__init__.py, which takes what is not remembered.
static PyObject* operate(PyObject* const* given, Py_ssize_t count, Py_ssize_t arity) {
  if (count != 1 + arity && count != 2 + arity) {
    return PyErr_Format(PyExc_TypeError, "an operator of %zd operands: %zd arguments", arity, count);
  }
  PyObject *out = count == 2 + arity ? given[1 + arity] : Py_None, *result = NULL, *arguments = PyTuple_New(arity);
  if (!arguments) return NULL;
  for (Py_ssize_t i = 0; i < arity; ++i) PyTuple_SetItem(arguments, i, Py_NewRef(given[1 + i]));
  PyObject* found = out == Py_None ? run_known(given[0], arguments) : run_known_write(given[0], arguments, out);
  if (found == Py_None || found == Py_False) {
    result = PyObject_CallFunctionObjArgs(elementwise, given[0], arguments, out, NULL);
  } else if (found) {
    result = Py_NewRef(out == Py_None ? found : out);
  }
  Py_XDECREF(found);
  Py_DECREF(arguments);
  return result;
}

PyObject* unary(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  (void)module;
  return operate(given, count, 1);
}

PyObject* binary(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  (void)module;
  return operate(given, count, 2);
}

// spec_of(x): what an operand is in a key; None if its class is unknown, or it is like none of its class.
PyObject* spec_of(PyObject* module, PyObject* x) {
  Operand found = {NULL, NULL};
  (void)module;
  const int done = read_operand(x, &found);
  if (done < 0) return NULL;
  if (!done) Py_RETURN_NONE;
  Py_XDECREF(found.data);
  return found.spec;
}

// known_array(x): `x` itself if it is an array, or an array on its memory; None if none like it was adopted.
PyObject* known_array(PyObject* module, PyObject* x) {
  Operand found = {NULL, NULL};
  PyObject* made = NULL;
  (void)module;
  if ((PyObject*)Py_TYPE(x) == array_class) return Py_NewRef(x);
  const int done = read_operand(x, &found);
  if (done < 0) return NULL;
  PyObject* adopter = done ? PyDict_GetItemWithError(adopters, found.spec) : NULL;
  if (adopter) {
    Py_INCREF(adopter);  // the call may clear the table
    made = Py_TYPE(adopter) == adopter_type ? adopt(adopter, x, found.data)
                                            : PyObject_CallFunctionObjArgs(adopter, x, found.data, NULL);
    Py_DECREF(adopter);
  } else if (!PyErr_Occurred()) {
    made = Py_NewRef(Py_None);
  }
  Py_XDECREF(found.spec);
  Py_XDECREF(found.data);
  return made;
}
