// An executable CUDA graph, which is launched in its device's context.
#include "compiled.h"

typedef struct {
  PyObject_HEAD Context context;
  int (*launch)(void* graph, void* stream);  // of the driver
  void* graph;
  PyObject* failed;  // a function (error), which raises
} Graph;

PyTypeObject* graph_type;

Context context_of(unsigned long long context, unsigned long long get, unsigned long long push, unsigned long long pop) {
  return (Context){(void*)(uintptr_t)context, (int (*)(void**))(uintptr_t)get, (int (*)(void*))(uintptr_t)push,
                   (int (*)(void**))(uintptr_t)pop};
}

int enter_context(const Context* context, int* entered) {
  void* current = NULL;
  *entered = context->get(&current) || current != context->context;
  return *entered ? context->push(context->context) : 0;
}

void leave_context(const Context* context, int entered) {
  void* popped = NULL;
  if (entered) context->pop(&popped);
}

static PyObject* graph_call(PyObject* self, PyObject* arguments, PyObject* named) {
  const Graph* graph = (Graph*)self;
  unsigned long long stream;
  int error, entered;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "K", &stream)) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  if (!(error = enter_context(&graph->context, &entered))) {
    error = graph->launch(graph->graph, (void*)(uintptr_t)stream);
    leave_context(&graph->context, entered);
  }
  Py_END_ALLOW_THREADS;
  if (error) return PyObject_CallFunction(graph->failed, "i", error);
  Py_RETURN_NONE;
}

static void graph_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(((Graph*)self)->failed);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Graph(failed, graph, context, get, push, pop, launch): addresses after the first.
static PyObject* graph_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject* failed;
  unsigned long long handle, context, get, push, pop, launch;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "OKKKKKK", &failed, &handle, &context, &get, &push, &pop, &launch)) return NULL;
  Graph* graph = PyObject_New(Graph, type);
  if (!graph) return NULL;
  graph->failed = Py_NewRef(failed), graph->graph = (void*)(uintptr_t)handle;
  graph->context = context_of(context, get, push, pop);
  graph->launch = (int (*)(void*, void*))(uintptr_t)launch;
  return (PyObject*)graph;
}

static PyType_Slot slots[] = {
    {Py_tp_new, graph_new},
    {Py_tp_call, graph_call},
    {Py_tp_dealloc, graph_free},
    {Py_tp_doc, "A function (stream) that launches an executable CUDA graph."},
    {0, NULL},
};
PyType_Spec graph_spec = {"xpops.core._compiled.Graph", sizeof(Graph), 0, Py_TPFLAGS_DEFAULT, slots};
