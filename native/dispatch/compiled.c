// The compiled core of the steady state: reads operands, finds the launch of a call, allocates, launches.
#include <stdint.h>

#include "sequence.h"

#include "../cpu/cpu.h"

// What `configure` sets: tables of xpops/dispatch/steady.py, and the class of arrays.
static PyObject *launches, *writes, *shows, *adopters, *readers, *viewed, *record_type, *view_slowly, *elementwise;
static PyObject* shape_name;

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

// The module.

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
static PyObject* known(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  (void)module;
  if (count == 2) return run_known(given[0], given[1]);
  return PyErr_Format(PyExc_TypeError, "known: %zd arguments; accepted: 2", count);
}

// known_write(way, arguments, out)
static PyObject* known_write(PyObject* module, PyObject* const* given, Py_ssize_t count) {
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

static PyObject* unary(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  (void)module;
  return operate(given, count, 1);
}

static PyObject* binary(PyObject* module, PyObject* const* given, Py_ssize_t count) {
  (void)module;
  return operate(given, count, 2);
}

// spec_of(x): what an operand is in a key; None if its class is unknown, or it is like none of its class.
static PyObject* spec_of(PyObject* module, PyObject* x) {
  Operand found = {NULL, NULL};
  (void)module;
  const int done = read_operand(x, &found);
  if (done < 0) return NULL;
  if (!done) Py_RETURN_NONE;
  Py_XDECREF(found.data);
  return found.spec;
}

// known_array(x): `x` itself if it is an array, or an array on its memory; None if none like it was adopted.
static PyObject* known_array(PyObject* module, PyObject* x) {
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

static PyObject* way_of(PyObject* module, PyObject* const* given, Py_ssize_t count) {
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
static PyObject* known_view(PyObject* module, PyObject* const* given, Py_ssize_t count) {
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

static int repeats(const Repeated* known, PyObject* plan, PyObject* const* parameters, Py_ssize_t count) {
  if (known->plan != plan) return 0;
  for (Py_ssize_t i = 0; i < 2; ++i) {
    if (!is_same(known->parameters[i], i < count ? parameters[i] : NULL)) return 0;
  }
  return 1;
}

// Drops what was remembered, after the place has its new content: a destructor may use the place.
static void replace_repeated(Repeated* known, Repeated new) {
  const Repeated old = *known;
  *known = new;
  Py_XDECREF(old.way);
  Py_XDECREF(old.plan);
  Py_XDECREF(old.entry);
  Py_XDECREF(old.layout);
  Py_XDECREF((PyObject*)old.type);
  for (int i = 0; i < 2; ++i) Py_XDECREF(old.parameters[i]);
}

static void repeat(Repeated* known, PyObject* way, PyObject* entry, PyObject* x, PyObject* plan,
                   PyObject* const* parameters, Py_ssize_t count) {
  Repeated new = {Py_NewRef(way), Py_NewRef(plan), {NULL, NULL}, NULL, NULL, NULL, {0}};
  for (Py_ssize_t i = 0; i < count; ++i) new.parameters[i] = Py_NewRef(parameters[i]);
  if ((PyObject*)Py_TYPE(x) == array_class) {
    new.entry = Py_NewRef(entry), new.layout = Py_NewRef(((Array*)x)->layout);
  } else if (tensor_shape(x, &new.shape)) {
    new.entry = Py_NewRef(entry), new.type = (PyTypeObject*)Py_NewRef((PyObject*)Py_TYPE(x));
  }
  replace_repeated(known, new);
}

// Whether the newest entry is for arrays like `x`.
static int is_for(const Repeated* known, PyObject* x) {
  if (!known->entry) return 0;
  if (known->layout) return (PyObject*)Py_TYPE(x) == array_class && ((Array*)x)->layout == known->layout;
  Shape shape;
  return Py_TYPE(x) == known->type && tensor_shape(x, &shape) && same_shape(&shape, &known->shape);
}

PyObject* forget_views(PyObject* module, PyObject* nothing) {
  (void)module, (void)nothing;
  for (int i = 0; i < REPEATED; ++i) replace_repeated(&repeated[i], (Repeated){0});
  Py_RETURN_NONE;
}

// The remembered view of `x`; None if no such view is remembered.
static PyObject* view_by(PyObject* plan, PyObject* x, PyObject* const* parameters, Py_ssize_t count) {
  Repeated* known = repeated_of(plan, parameters, count);
  const int same = known && repeats(known, plan, parameters, count);
  if (same && is_for(known, x)) {
    PyObject* entry = Py_NewRef(known->entry);  // the call may replace it
    PyObject* result = make_shown(entry, x);
    Py_DECREF(entry);
    return result;
  }
  PyObject *every = NULL, *way = same ? Py_NewRef(known->way) : NULL;
  if (!same && (every = PyTuple_New(count))) {
    for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SetItem(every, i, Py_NewRef(parameters[i]));
    way = way_with(plan, every);
  }
  PyObject* entry = way ? find_shown(way, x) : NULL;
  PyObject* result = entry ? make_shown(entry, x) : way ? none_shown() : NULL;
  if (known && entry && result) repeat(known, way, entry, x, plan, parameters, count);  // they are hashable
  Py_XDECREF(entry);
  Py_XDECREF(way);
  Py_XDECREF(every);
  return result;
}

// view(plan, function, x, *parameters): see xpops/arrays/viewing.py, whose function takes what is not remembered.
static PyObject* view(PyObject* module, PyObject* const* given, Py_ssize_t count) {
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

static PyObject* keep(PyObject** place, PyObject* function) {
  PyObject* old = *place;
  *place = Py_NewRef(function);
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

// set_view(function): the function that `view` calls for what is not remembered.
static PyObject* set_view(PyObject* module, PyObject* function) {
  (void)module;
  return keep(&view_slowly, function);
}

// set_elementwise(function): the function that `unary` and `binary` call for what is not remembered.
static PyObject* set_elementwise(PyObject* module, PyObject* function) {
  (void)module;
  return keep(&elementwise, function);
}

// configure(launches, writes, shows, adopters, readers, viewed, array_class, layout_class, record_class)
static PyObject* configure(PyObject* module, PyObject* arguments) {
  PyObject *given[9], **kept[9] = {&launches, &writes, &shows, &adopters, &readers,
                                   &viewed, &array_class, (PyObject**)&layout_type, &record_type};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOOOOOOO", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5],
                        &given[6], &given[7], &given[8])) {
    return NULL;
  }
  if (!PyType_Check(given[6]) || !PyType_IsSubtype((PyTypeObject*)given[6], tensor_type)) {
    return PyErr_Format(PyExc_TypeError, "configure: %R; accepted: a subclass of Tensor", given[6]);
  }
  for (int i = 0; i < 9; ++i) {
    PyObject* old = *kept[i];
    *kept[i] = Py_NewRef(given[i]);
    Py_XDECREF(old);
  }
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"known", (PyCFunction)(void (*)(void))known, METH_FASTCALL, "The result of a remembered call, or None."},
    {"known_write", (PyCFunction)(void (*)(void))known_write, METH_FASTCALL, "Whether a remembered call wrote out."},
    {"spec_of", spec_of, METH_O, "What an operand is in a key, or None."},
    {"known_array", known_array, METH_O, "An array on the memory of one like those that were adopted, or None."},
    {"view", (PyCFunction)(void (*)(void))view, METH_FASTCALL, "The view of an array of any framework."},
    {"unary", (PyCFunction)(void (*)(void))unary, METH_FASTCALL, "unary(op, x, out): an operator of one operand."},
    {"binary", (PyCFunction)(void (*)(void))binary, METH_FASTCALL, "binary(op, x1, x2, out): that of two operands."},
    {"set_elementwise", set_elementwise, METH_O, "Set the function of operators' calls that are not remembered."},
    {"set_view", set_view, METH_O, "Set the function that makes views which are not remembered."},
    {"known_view", (PyCFunction)(void (*)(void))known_view, METH_FASTCALL, "A view like a remembered one, or None."},
    {"index", (PyCFunction)(void (*)(void))index_array, METH_FASTCALL, "A view of a device array, or None."},
    {"set_index", set_index, METH_O, "Set the function that plans the view of a key."},
    {"way_of", (PyCFunction)(void (*)(void))way_of, METH_FASTCALL, "A plan with its parameters and their types."},
    {"configure", configure, METH_VARARGS, "Set the tables and the classes."},
    {"allocate", allocate, METH_O, "Uninitialised memory of the host, aligned to 64 bytes."},
    {"sequence", make_sequence, METH_VARARGS, "The launches of a kernel as one function, if it is nothing else."},
    {"poll", poll, METH_VARARGS, "Whether a word of host memory changes from a value within some nanoseconds."},
    {"borrow", borrow, METH_VARARGS, "Memory of the host that another object keeps alive."},
    {"add_tensors", add_tensors, METH_VARARGS, "Read a class of tensors through DLPack's C exchange API."},
    {"add_rows", (PyCFunction)(void (*)(void))add_rows, METH_FASTCALL,
     "add_rows(targets, places, out, x): out[targets[i], 0] += x[0, places[i]] for targets in order, in float64."},
    {"compute", (PyCFunction)(void (*)(void))compute, METH_FASTCALL,
     "compute(name, out, *operands, *parameters): an elementwise function of float32 and narrower numbers."},
    {"convert", (PyCFunction)(void (*)(void))convert, METH_FASTCALL,
     "convert(out, x): convert between float16, bfloat16, float32 and float64, rounded once."},
    {"first", (PyCFunction)(void (*)(void))first, METH_FASTCALL,
     "first(keys, places): the indices of the first keys of each row, as a stable sort orders them."},
    {"fused", (PyCFunction)(void (*)(void))fused, METH_FASTCALL,
     "fused(out, x, y, z): x * y + z of float32, rounded once."},
    {"philox", (PyCFunction)(void (*)(void))philox, METH_FASTCALL,
     "philox(out, keys, branch, position): four random words for each counter from `position` on."},
    {"reduce", (PyCFunction)(void (*)(void))reduce, METH_FASTCALL,
     "reduce(name, out, x, divisor): a sum or product in float64 along the axes where `out` has length 1."},
    {"softmax", (PyCFunction)(void (*)(void))softmax, METH_FASTCALL,
     "softmax(is_log, out, x): softmax or its logarithm along the last axis."},
    {"scan", (PyCFunction)(void (*)(void))scan, METH_FASTCALL,
     "scan(out, x, axis, is_product): running sums or products in float64."},
    {"sort", (PyCFunction)(void (*)(void))sort, METH_FASTCALL,
     "sort(keys, first): sort rows of unsigned integers by their bits from `first` on; others keep their order."},
    {"forget_views", forget_views, METH_NOARGS, "Forget the views of call sites."},
    {"forget_tensors", forget_tensors, METH_NOARGS, "Forget the classes of `add_tensors`."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_compiled", "The compiled core of the steady state.", -1, methods, NULL, NULL, NULL, NULL};

static int add_type(PyObject* module, const char* name, PyType_Spec* spec, PyTypeObject** type) {
  *type = (PyTypeObject*)PyType_FromSpec(spec);
  return *type ? PyModule_AddObjectRef(module, name, (PyObject*)*type) : -1;
}

PyMODINIT_FUNC PyInit__compiled(void) {
  PyObject* module = PyModule_Create(&definition);
  if (!module) return NULL;
  shape_name = PyUnicode_InternFromString("shape");
  const int failed = !shape_name || add_type(module, "Launch", &launch_spec, &launch_type) ||
                     add_type(module, "Kernel", &kernel_spec, &kernel_type) ||
                     add_type(module, "Sequence", &sequence_spec, &sequence_type) ||
                     add_type(module, "Draft", &draft_spec, &draft_type) ||
                     add_type(module, "Place", &place_spec, &place_type) ||
                     add_type(module, "Hold", &hold_spec, &hold_type) ||
                     add_type(module, "Lookup", &lookup_spec, &lookup_type) ||
                     add_type(module, "Zero", &zero_spec, &zero_type) ||
                     add_type(module, "Call", &call_spec, &call_type) ||
                     add_type(module, "Graph", &graph_spec, &graph_type) ||
                     add_type(module, "Write", &write_spec, &write_type) ||
                     add_type(module, "Maker", &maker_spec, &maker_type) ||
                     add_type(module, "Tensor", &tensor_spec, &tensor_type) ||
                     add_type(module, "View", &view_spec, &view_type) ||
                     add_type(module, "Block", &block_spec, &block_type) ||
                     add_type(module, "Allocator", &allocator_spec, &allocator_type) ||
                     add_type(module, "Transfer", &transfer_spec, &transfer_type) ||
                     add_type(module, "Adopter", &adopter_spec, &adopter_type) ||
                     add_type(module, "Loan", &loan_spec, &loan_type) ||
                     add_type(module, "Stream", &stream_spec, &stream_type) || add_memory(module) ||
                     PyModule_AddStringConstant(module, "sources", XPOPS_SOURCES);
  if (failed) Py_CLEAR(module);
  return module;
}
