// DLPack's C exchange API of our arrays, for libraries that launch kernels of their own on them.
#include "dlpack.h"

// Functions of xpops/arrays/exchange.py: (device type, index, code, bits, lanes, shape), (array), (capsule), and
// (device type, index).
static PyObject *new_array_of, *copy, *take, *find_stream;

// Passes the pending exception on, and clears it.
static void report_error(void* context, void (*fail)(void* context, const char* kind, const char* message)) {
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  PyErr_NormalizeException(&kind, &value, &trace);
  PyObject* name = kind ? PyObject_GetAttrString(kind, "__name__") : NULL;
  PyObject* text = value ? PyObject_Str(value) : NULL;
  const char* called = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
  const char* said = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  PyErr_Clear();
  fail(context, called ? called : "RuntimeError", said ? said : "an array cannot be allocated");
  Py_XDECREF(text);
  Py_XDECREF(name);
  Py_XDECREF(trace);
  Py_XDECREF(value);
  Py_XDECREF(kind);
}

static PyObject* new_like(const Tensor* prototype) {
  if (prototype->ndim < 0) {
    return PyErr_Format(PyExc_BufferError, "DLPack's exchange: %d axes; accepted: 0 or more", (int)prototype->ndim);
  }
  PyObject* shape = PyTuple_New(prototype->ndim);
  for (int i = 0; shape && i < prototype->ndim; ++i) {
    PyObject* length = PyLong_FromLongLong(prototype->shape[i]);
    if (length) {
      PyTuple_SetItem(shape, i, length);
    } else {
      Py_CLEAR(shape);
    }
  }
  if (!shape) return NULL;
  return PyObject_CallFunction(new_array_of, "iiiiiN", (int)prototype->device.type, (int)prototype->device.index,
                               (int)prototype->dtype.code, (int)prototype->dtype.bits, (int)prototype->dtype.lanes,
                               shape);
}

static int allocate_like(Tensor* prototype, Versioned** made, void* context,
                         void (*fail)(void* context, const char* kind, const char* message)) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* array = new_like(prototype);
  *made = array ? new_versioned(array, 0) : NULL;
  Py_XDECREF(array);
  const int failed = !*made;
  if (failed) report_error(context, fail);
  PyGILState_Release(state);
  return failed ? -1 : 0;
}

// Whether an array is refused, with an exception set: consumers of this API do not look at flags.
static int is_refused(PyObject* array) {
  if (((Array*)array)->writable) return 0;
  PyErr_SetString(PyExc_BufferError, "DLPack's exchange: the array is read-only; accepted: a copy of it");
  return 1;
}

// Copies a reversed array, as `__dlpack__` does.
static int export_owned(void* object, Versioned** made) {
  Tensor tensor;
  PyObject *header, *copied = NULL;
  if (describe(object, &tensor, &header)) return -1;
  const int copies = is_reversed(header);
  Py_DECREF(header);
  if (is_refused(object) || (copies && !(copied = PyObject_CallFunctionObjArgs(copy, (PyObject*)object, NULL)))) {
    return -1;
  }
  *made = new_versioned(copied ? copied : object, copied ? IS_COPIED : 0);
  Py_XDECREF(copied);
  return *made ? 0 : -1;
}

static int import_owned(Versioned* managed, void** object) {
  PyObject* capsule = PyCapsule_New(managed, versioned_name, drop_capsule);
  if (!capsule) {
    if (managed->deleter) managed->deleter(managed);
    return -1;
  }
  *object = PyObject_CallFunctionObjArgs(take, capsule, NULL);
  Py_DECREF(capsule);
  return *object ? 0 : -1;
}

// A reversed array is refused: its copy would not outlive this call.
static int view(void* object, Tensor* found) {
  PyObject* header;
  if (describe(object, found, &header)) return -1;
  const int reversed = is_reversed(header);
  Py_DECREF(header);
  if (!reversed) return is_refused(object) ? -1 : 0;
  PyErr_SetString(PyExc_BufferError, "DLPack's exchange: the array has negative strides; accepted: a copy of it");
  return -1;
}

static int current_stream(int32_t type, int32_t index, void** stream) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* found = PyObject_CallFunction(find_stream, "ii", (int)type, (int)index);
  const unsigned long long handle = found ? PyLong_AsUnsignedLongLong(found) : 0;
  const int failed = !found || PyErr_Occurred();
  if (!failed) *stream = (void*)(uintptr_t)handle;
  Py_XDECREF(found);
  PyGILState_Release(state);
  return failed ? -1 : 0;
}

static Exchange ours = {{1, 3}, NULL, allocate_like, export_owned, import_owned, view, current_stream};

// set_exchange(new_array_of, copy, take, find_stream): gives the class of arrays the exchange API.
PyObject* set_exchange(PyObject* module, PyObject* arguments) {
  PyObject *given[4], **kept[4] = {&new_array_of, &copy, &take, &find_stream};
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OOOO", &given[0], &given[1], &given[2], &given[3])) return NULL;
  for (int i = 0; i < 4; ++i) {
    PyObject* old = *kept[i];
    *kept[i] = Py_NewRef(given[i]);
    Py_XDECREF(old);
  }
  PyObject* capsule = PyCapsule_New(&ours, "dlpack_exchange_api", NULL);
  if (!capsule) return NULL;
  const int failed = PyObject_SetAttrString((PyObject*)tensor_type, "__dlpack_c_exchange_api__", capsule);
  Py_DECREF(capsule);
  if (failed) return NULL;
  Py_RETURN_NONE;
}
