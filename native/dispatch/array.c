// The bare array: what `Tensor` of xpops/dispatch/tensor.py is without this core.
#include "compiled.h"

PyTypeObject* tensor_type;
PyObject* array_class;

PyObject* new_array(PyObject* layout, PyObject* data, PyObject* owner, int writable) {
  Array* array = (Array*)PyType_GenericAlloc((PyTypeObject*)array_class, 0);
  if (!array) return NULL;
  array->layout = Py_NewRef(layout), array->data = Py_NewRef(data), array->owner = Py_NewRef(owner);
  array->writable = (char)writable;
  return (PyObject*)array;
}

static int array_init(PyObject* self, PyObject* given, PyObject* named) {
  static char* names[] = {"layout", "data", "owner", "writable", NULL};
  PyObject *layout, *data, *owner;
  int writable = 1;
  if (!PyArg_ParseTupleAndKeywords(given, named, "OOO|p", names, &layout, &data, &owner, &writable)) return -1;
  Array* array = (Array*)self;
  PyObject* old[] = {array->layout, array->data, array->owner};
  array->layout = Py_NewRef(layout), array->data = Py_NewRef(data), array->owner = Py_NewRef(owner);
  array->writable = (char)writable;
  for (int i = 0; i < 3; ++i) Py_XDECREF(old[i]);
  return 0;
}

static int array_traverse(PyObject* self, visitproc visit, void* arg) {
  Array* array = (Array*)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(array->layout);
  Py_VISIT(array->data);
  Py_VISIT(array->owner);
  return 0;
}

static int array_clear(PyObject* self) {
  Array* array = (Array*)self;
  Py_CLEAR(array->layout);
  Py_CLEAR(array->data);
  Py_CLEAR(array->owner);
  return 0;
}

static void array_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (((Array*)self)->weak) PyObject_ClearWeakRefs(self);
  array_clear(self);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMemberDef members[] = {
    {"_layout", T_OBJECT_EX, offsetof(Array, layout), 0, NULL},
    {"_data", T_OBJECT_EX, offsetof(Array, data), 0, NULL},
    {"_owner", T_OBJECT_EX, offsetof(Array, owner), 0, NULL},
    {"_writable", T_BOOL, offsetof(Array, writable), 0, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Array, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_init, array_init},
    {Py_tp_traverse, array_traverse},
    {Py_tp_clear, array_clear},
    {Py_tp_dealloc, array_free},
    {Py_tp_members, members},
    {Py_tp_doc, "A layout, data and an owner."},
    {0, NULL},
};
PyType_Spec tensor_spec = {"xpops.core._compiled.Tensor", sizeof(Array), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
