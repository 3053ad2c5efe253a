// The compiled core of the steady state: its module, and what Python sets in it.
#include <stdint.h>

#include "known.h"
#include "sequence.h"

#include "../cpu/cpu.h"
#include "../dlpack/dlpack.h"

PyObject *launches, *writes, *shows, *adopters, *readers, *viewed, *record_type, *elementwise, *view_slowly, *shape_name;

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
    {"capsule", capsule, METH_VARARGS, "capsule(array, is_versioned, flags): DLPack's capsule of an array."},
    {"set_capsules", set_capsules, METH_VARARGS, "Set the functions that capsules need."},
    {"contents", contents, METH_O, "What an unversioned capsule says of its tensor, and the address."},
    {"set_exchange", set_exchange, METH_VARARGS, "Give the class of arrays DLPack's C exchange API."},
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
