// Views of device arrays: `Array.__getitem__` of xpops/arrays/array.py for keys of integers, slices, `...` and None.
#include <stdint.h>

#include "compiled.h"

enum { ALIGNMENTS = 5, LIMIT = 8192 };

// An axis that an integer of the key indexes: its length, and the bytes between its elements.
typedef struct {
  int64_t length, stride;
} Axis;

// A view of arrays of one layout. The integers of a key are its arguments: keys that differ in them share a view.
typedef struct {
  PyObject_HEAD PyObject* layouts;  // a tuple: the layout of the view by the exponent of its address' alignment
  int64_t offset;                   // bytes, if all integers are 0
  int writable;
  Py_ssize_t count;
  Axis* axes;
} View;

PyTypeObject* view_type;
static PyObject *plan_index, *known;  // (layout, *parts of a key; int for an integer) -> View

// Adds the place of an integer along an axis. Returns 0 if it is out of range.
static int add_place(const Axis* axis, PyObject* part, int64_t* offset) {
  int overflow;
  int64_t place = PyLong_AsLongLongAndOverflow(part, &overflow);
  if (overflow) return 0;
  if (place < 0) place += axis->length;
  if (place < 0 || place >= axis->length) return 0;
  *offset += place * axis->stride;
  return 1;
}

// The view of an array whose data is an address, `offset` bytes behind its first element.
static PyObject* shift_view(const View* view, const Array* x, int64_t offset) {
  const uint64_t address = PyLong_AsUnsignedLongLong(x->data) + (uint64_t)offset;
  if (PyErr_Occurred()) return NULL;
  int exponent = 0;
  while (exponent < ALIGNMENTS - 1 && !(address >> exponent & 1)) ++exponent;
  PyObject* data = offset ? PyLong_FromUnsignedLongLong(address) : Py_NewRef(x->data);
  if (!data) return NULL;
  PyObject* made = new_array(PyTuple_GetItem(view->layouts, exponent), data, x->owner, x->writable && view->writable);
  Py_DECREF(data);
  return made;
}

PyObject* make_view(PyObject* view, PyObject* x) { return shift_view((View*)view, (Array*)x, ((View*)view)->offset); }

static PyObject* view_call(PyObject* self, PyObject* arguments, PyObject* named) {
  PyObject* x;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "O!", array_class, &x)) return NULL;
  return make_view(self, x);
}

// What a part of a key is in the key of `known`. None without an exception if only the slow path takes it.
static PyObject* pattern_of(PyObject* part) {
  if (part == Py_None || part == Py_Ellipsis) return Py_NewRef(part);
  if (PyLong_CheckExact(part)) return Py_NewRef((PyObject*)&PyLong_Type);
  if (!PySlice_Check(part)) return NULL;
  Py_ssize_t bounds[3];
  if (!PySlice_Unpack(part, &bounds[0], &bounds[1], &bounds[2])) {
    return PyBytes_FromStringAndSize((const char*)bounds, sizeof bounds);
  }
  if (PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
  return NULL;
}

static PyObject* part_of(PyObject* key, Py_ssize_t i) {
  return PyTuple_CheckExact(key) ? PyTuple_GetItem(key, i) : key;
}

// The key of `known`.
static PyObject* pattern_with(PyObject* layout, PyObject* key, Py_ssize_t count) {
  PyObject* pattern = PyTuple_New(1 + count);
  if (pattern) PyTuple_SetItem(pattern, 0, Py_NewRef(layout));
  for (Py_ssize_t i = 0; pattern && i < count; ++i) {
    PyObject* each = pattern_of(part_of(key, i));
    if (each) {
      PyTuple_SetItem(pattern, 1 + i, each);
    } else {
      Py_CLEAR(pattern);
    }
  }
  return pattern;
}

// The view of such a key, which is planned if it is new. NULL without an exception if only the slow path takes it.
static PyObject* find_view(PyObject* layout, PyObject* key, PyObject* pattern) {
  PyObject* view = PyDict_GetItemWithError(known, pattern);
  if (view || PyErr_Occurred()) return Py_XNewRef(view);
  view = PyObject_CallFunctionObjArgs(plan_index, layout, key, NULL);
  if (!view || Py_TYPE(view) != view_type) {  // an error, which the slow path describes
    if (!view && PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
    Py_XDECREF(view);
    return NULL;
  }
  if (PyDict_Size(known) >= LIMIT) PyDict_Clear(known);
  if (PyDict_SetItem(known, pattern, view)) Py_CLEAR(view);
  return view;
}

// index(x, key): the view of a device array. None if the slow path must make it, or say what is wrong.
PyObject* index_array(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  (void)module;
  if (count != 2) return PyErr_Format(PyExc_TypeError, "index: %zd arguments; accepted: 2", count);
  PyObject *key = given[1], *made = NULL;
  const Array* x = (Array*)given[0];
  if (!plan_index || (PyObject*)Py_TYPE(given[0]) != array_class || !x->data || !PyLong_CheckExact(x->data)) {
    Py_RETURN_NONE;
  }
  const Py_ssize_t parts = PyTuple_CheckExact(key) ? PyTuple_Size(key) : 1;
  PyObject* pattern = pattern_with(x->layout, key, parts);
  PyObject* found = pattern ? find_view(x->layout, key, pattern) : NULL;
  Py_XDECREF(pattern);
  if (found) {
    const View* view = (View*)found;
    int64_t offset = view->offset;
    Py_ssize_t number = 0;
    int fits = 1;
    for (Py_ssize_t i = 0; fits && i < parts; ++i) {
      PyObject* part = part_of(key, i);
      if (PyLong_CheckExact(part)) fits = number < view->count && add_place(&view->axes[number++], part, &offset);
    }
    if (fits) made = shift_view(view, x, offset);
    Py_DECREF(found);
  }
  if (made || PyErr_Occurred()) return made;
  Py_RETURN_NONE;
}

// set_index(function): the function (layout, key) that plans the `View` of a key.
PyObject* set_index(PyObject* module, PyObject* function) {
  (void)module;
  PyObject* old = plan_index;
  if (!known && !(known = PyDict_New())) return NULL;
  plan_index = Py_NewRef(function);
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

static void view_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(((View*)self)->layouts);
  PyMem_Free(((View*)self)->axes);
  PyObject_Free(self);
  Py_DECREF(type);
}

// View(layouts, offset, axes, writable): `axes` has (length, stride) of each integer.
static PyObject* view_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject *layouts, *axes;
  long long offset;
  int writable;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "O!LO!p", &PyTuple_Type, &layouts, &offset, &PyTuple_Type, &axes, &writable)) {
    return NULL;
  }
  if (PyTuple_Size(layouts) != ALIGNMENTS) return PyErr_Format(PyExc_ValueError, "View: %d layouts", (int)ALIGNMENTS);
  View* view = PyObject_New(View, type);
  if (!view) return NULL;
  view->layouts = Py_NewRef(layouts), view->offset = offset, view->writable = writable;
  view->count = PyTuple_Size(axes);
  view->axes = PyMem_Calloc((size_t)view->count + 1, sizeof(Axis));
  int done = view->axes ? 1 : (PyErr_NoMemory(), 0);
  for (Py_ssize_t i = 0; done && i < view->count; ++i) {
    long long length, stride;
    done = PyArg_ParseTuple(PyTuple_GetItem(axes, i), "LL", &length, &stride);
    if (done) view->axes[i] = (Axis){length, stride};
  }
  if (!done) Py_CLEAR(view);
  return (PyObject*)view;
}

static PyType_Slot slots[] = {
    {Py_tp_new, view_new},
    {Py_tp_call, view_call},
    {Py_tp_dealloc, view_free},
    {Py_tp_doc, "A function of a device array that returns a view of it."},
    {0, NULL},
};
PyType_Spec view_spec = {"xpops.core._compiled.View", sizeof(View), 0, Py_TPFLAGS_DEFAULT, slots};
