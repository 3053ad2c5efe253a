// Remembered views of arrays and tensors, by their plan and parameters.
#include "known.h"

// The types of parameters, from the place `first` of a new tuple on; a tuple of types for a tuple.
static PyObject* kinds_of(PyObject* parameters, Py_ssize_t first) {
  const Py_ssize_t count = PyTuple_Size(parameters);
  PyObject* kinds = PyTuple_New(first + count);
  for (Py_ssize_t i = 0; kinds && i < count; ++i) {
    PyObject* each = PyTuple_GetItem(parameters, i);
    PyObject* kind = PyTuple_Check(each) ? kinds_of(each, 0) : Py_NewRef((PyObject*)Py_TYPE(each));
    if (kind) {
      PyTuple_SetItem(kinds, first + i, kind);
    } else {
      Py_CLEAR(kinds);
    }
  }
  return kinds;
}

// A plan with its parameters and their types, as `way_of` of xpops/dispatch/keys.py.
static PyObject* way_with(PyObject* plan, PyObject* parameters) {
  PyObject* way = kinds_of(parameters, 2);
  if (way) PyTuple_SetItem(way, 0, Py_NewRef(plan));
  if (way) PyTuple_SetItem(way, 1, Py_NewRef(parameters));
  return way;
}

PyObject* way_of(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  (void)module;
  if (count == 2 && PyTuple_Check(given[1])) return way_with(given[0], given[1]);
  return PyErr_Format(PyExc_TypeError, "way_of: accepted: a plan and a tuple of parameters");
}

// Calls the function of a remembered view: an entry of `shows`, a function and its arguments after `x`.
static PyObject* make_shown(PyObject* entry, PyObject* x) {
  PyObject* parts[4] = {NULL};
  const Py_ssize_t count = PyTuple_Size(entry);
  for (Py_ssize_t i = 0; i < count && i < 4; ++i) parts[i] = PyTuple_GetItem(entry, i);
  if (count > 1 && Py_TYPE(parts[1]) == view_type && (PyObject*)Py_TYPE(x) == array_class) return make_view(parts[1], x);
  return PyObject_CallFunctionObjArgs(parts[0], x, parts[1], parts[2], parts[3], NULL);
}

// The entry of the remembered view of `x`; NULL if no such view is remembered, perhaps with an exception set.
static PyObject* find_shown(PyObject* way, PyObject* x) {
  PyObject* type = (PyObject*)Py_TYPE(x);
  const int own = type == array_class;
  if (!own && PySet_Contains(viewed, type) <= 0) return NULL;
  PyObject* shape = own ? Py_XNewRef(((Array*)x)->layout) : PyObject_GetAttr(x, shape_name);
  PyObject* key = shape ? PyTuple_Pack(3, way, type, shape) : NULL;
  PyObject* entry = key ? Py_XNewRef(PyDict_GetItemWithError(shows, key)) : NULL;
  Py_XDECREF(key);
  Py_XDECREF(shape);
  return entry;
}

// None if no view is remembered, as `find_shown` found. NULL if that was an error of another kind than these: a nested
// tensor has no shape, and symbolic sizes have no hash.
static PyObject* none_shown(void) {
  PyObject* error = PyErr_Occurred();
  if (error && (PyErr_GivenExceptionMatches(error, PyExc_RuntimeError) ||
                PyErr_GivenExceptionMatches(error, PyExc_TypeError))) {
    PyErr_Clear();
  }
  return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

// known_view(way, x): the view of `x` like a remembered one; None if no such view is remembered.
PyObject* known_view(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  (void)module;
  if (count != 2) return PyErr_Format(PyExc_TypeError, "known_view: %zd arguments; accepted: 2", count);
  PyObject* entry = find_shown(given[0], given[1]);
  PyObject* result = entry ? make_shown(entry, given[1]) : none_shown();
  Py_XDECREF(entry);
  return result;
}

// The way of a view whose plan and parameters are these objects: most programs repeat the same ones. Its newest entry
// of `shows`, and the layout of the array, or the class and the shape of the tensor, that it was for.
typedef struct {
  PyObject *way, *plan, *parameters[2], *entry, *layout;
  PyTypeObject* type;
  Shape shape;
} Repeated;

enum { REPEATED = 64 };

static Repeated repeated[REPEATED];

// A number for the object that a parameter is, or for those in it if it is a tuple.
static uintptr_t place_of(PyObject* parameter) {
  const Py_ssize_t count = PyTuple_CheckExact(parameter) ? PyTuple_Size(parameter) : 0;
  uintptr_t place = count ? (uintptr_t)count : (uintptr_t)parameter >> 4;
  for (Py_ssize_t i = 0; i < count; ++i) place = place * 31 + ((uintptr_t)PyTuple_GetItem(parameter, i) >> 4);
  return place;
}

// Whether two parameters are the same object, or tuples of the same objects: `(n, n)` is a new tuple in each call.
static int is_same(PyObject* one, PyObject* other) {
  if (one == other) return 1;
  if (!one || !other || !PyTuple_CheckExact(one) || !PyTuple_CheckExact(other)) return 0;
  const Py_ssize_t count = PyTuple_Size(one);
  int same = PyTuple_Size(other) == count;
  for (Py_ssize_t i = 0; same && i < count; ++i) same = PyTuple_GetItem(one, i) == PyTuple_GetItem(other, i);
  return same;
}

static Repeated* repeated_of(PyObject* plan, PyObject* const* parameters, Py_ssize_t count) {
  uintptr_t place = (uintptr_t)plan >> 4;
  if (count > 2) return NULL;
  for (Py_ssize_t i = 0; i < count; ++i) place = place * 31 + place_of(parameters[i]);
  return &repeated[place % REPEATED];
}

static int repeats(const Repeated* site, PyObject* plan, PyObject* const* parameters, Py_ssize_t count) {
  if (site->plan != plan) return 0;
  for (Py_ssize_t i = 0; i < 2; ++i) {
    if (!is_same(site->parameters[i], i < count ? parameters[i] : NULL)) return 0;
  }
  return 1;
}

// Drops what was remembered, after the place has its new content: a destructor may use the place.
static void replace_repeated(Repeated* site, Repeated new) {
  const Repeated old = *site;
  *site = new;
  Py_XDECREF(old.way);
  Py_XDECREF(old.plan);
  Py_XDECREF(old.entry);
  Py_XDECREF(old.layout);
  Py_XDECREF((PyObject*)old.type);
  for (int i = 0; i < 2; ++i) Py_XDECREF(old.parameters[i]);
}

static void repeat(Repeated* site, PyObject* way, PyObject* entry, PyObject* x, PyObject* plan,
                   PyObject* const* parameters, Py_ssize_t count) {
  Repeated new = {Py_NewRef(way), Py_NewRef(plan), {NULL, NULL}, NULL, NULL, NULL, {0}};
  for (Py_ssize_t i = 0; i < count; ++i) new.parameters[i] = Py_NewRef(parameters[i]);
  if ((PyObject*)Py_TYPE(x) == array_class) {
    new.entry = Py_NewRef(entry), new.layout = Py_NewRef(((Array*)x)->layout);
  } else if (tensor_shape(x, &new.shape)) {
    new.entry = Py_NewRef(entry), new.type = (PyTypeObject*)Py_NewRef((PyObject*)Py_TYPE(x));
  }
  replace_repeated(site, new);
}

// Whether the newest entry is for arrays like `x`.
static int is_for(const Repeated* site, PyObject* x) {
  if (!site->entry) return 0;
  if (site->layout) return (PyObject*)Py_TYPE(x) == array_class && ((Array*)x)->layout == site->layout;
  Shape shape;
  return Py_TYPE(x) == site->type && tensor_shape(x, &shape) && same_shape(&shape, &site->shape);
}

PyObject* forget_views(PyObject* module, PyObject* nothing) {
  (void)module, (void)nothing;
  for (int i = 0; i < REPEATED; ++i) replace_repeated(&repeated[i], (Repeated){0});
  Py_RETURN_NONE;
}

// The remembered view of `x`; None if no such view is remembered.
static PyObject* view_by(PyObject* plan, PyObject* x, PyObject* const* parameters, Py_ssize_t count) {
  Repeated* site = repeated_of(plan, parameters, count);
  const int same = site && repeats(site, plan, parameters, count);
  if (same && is_for(site, x)) {
    PyObject* entry = Py_NewRef(site->entry);  // the call may replace it
    PyObject* result = make_shown(entry, x);
    Py_DECREF(entry);
    return result;
  }
  PyObject *every = NULL, *way = same ? Py_NewRef(site->way) : NULL;
  if (!same && (every = PyTuple_New(count))) {
    for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SetItem(every, i, Py_NewRef(parameters[i]));
    way = way_with(plan, every);
  }
  PyObject* entry = way ? find_shown(way, x) : NULL;
  PyObject* result = entry ? make_shown(entry, x) : way ? none_shown() : NULL;
  if (site && entry && result) repeat(site, way, entry, x, plan, parameters, count);  // they are hashable
  Py_XDECREF(entry);
  Py_XDECREF(way);
  Py_XDECREF(every);
  return result;
}

// view(plan, function, x, *parameters): see xpops/arrays/viewing.py, whose function takes what is not remembered.
PyObject* view(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  (void)module;
  if (count < 3) return PyErr_Format(PyExc_TypeError, "view: %zd arguments; accepted: 3 or more", count);
  PyObject* result = view_by(given[0], given[2], given + 3, count - 3);
  if (!result) {  // a parameter cannot be hashed, or the view fails: the slow path says how
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
    PyErr_Clear();
  }
  if (result && result != Py_None) return result;
  Py_XDECREF(result);
  PyObject* arguments = PyTuple_New(count);
  for (Py_ssize_t i = 0; arguments && i < count; ++i) PyTuple_SetItem(arguments, i, Py_NewRef(given[i]));
  result = arguments ? PyObject_CallObject(view_slowly, arguments) : NULL;
  Py_XDECREF(arguments);
  return result;
}
