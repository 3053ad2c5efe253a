// Arrays on a GPU's memory that a framework lends: what `_adopter` of xpops/dispatch/ownership.py returns without this.
#include "compiled.h"

// A function of a framework's array and its address.
typedef struct {
  PyObject_HEAD PyObject* layout;
  PyObject *ours, *theirs;     // functions that return our current stream, and the framework's
  PyObject *order, *give_back;  // (first stream, then), (owner, lender, our stream)
} Adopter;

// The owner of lent memory: `Borrowed` of xpops/dispatch/ownership.py.
typedef struct {
  PyObject_HEAD PyObject *owner, *lender, *adopter;
} Loan;

PyTypeObject *adopter_type, *loan_type;

static int is_finalizing(void) {
  PyObject* ask = PySys_GetObject("is_finalizing");
  PyObject* answer = ask ? PyObject_CallNoArgs(ask) : NULL;
  const int finalizing = answer != Py_False;
  Py_XDECREF(answer);
  return finalizing;
}

// Drops the owner. If our stream is not the lender's, that waits for ours.
static void end_loan(Loan* loan) {
  PyObject *owner = loan->owner, *kind, *value, *trace;
  if (!owner) return;
  loan->owner = NULL;
  PyErr_Fetch(&kind, &value, &trace);
  const Adopter* adopter = (Adopter*)loan->adopter;
  PyObject *stream = stream_by(adopter->ours), *done = NULL;
  const int same = stream ? PyObject_RichCompareBool(stream, loan->lender, Py_EQ) : -1;
  if (!same && !is_finalizing()) {
    done = PyObject_CallFunctionObjArgs(adopter->give_back, owner, loan->lender, stream, NULL);
  }
  if (PyErr_Occurred()) {
    PyObject *error, *told, *where;
    PyErr_Fetch(&error, &told, &where);  // to ask while no exception is set
    const int quiet = is_finalizing();   // names may be gone already
    PyErr_Restore(error, told, where);
    if (!quiet) PyErr_WriteUnraisable(owner);
  }
  PyErr_Restore(kind, value, trace);
  Py_XDECREF(done);
  Py_XDECREF(stream);
  Py_DECREF(owner);
}

static int loan_traverse(PyObject* self, visitproc visit, void* arg) {
  Loan* loan = (Loan*)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(loan->owner);
  return 0;
}

static int loan_clear(PyObject* self) {
  end_loan((Loan*)self);
  return 0;
}

static void loan_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  end_loan((Loan*)self);
  Py_XDECREF(((Loan*)self)->lender);
  Py_XDECREF(((Loan*)self)->adopter);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

// The loan of the memory of `x`.
static PyObject* new_loan(PyObject* adopter, PyObject* x, PyObject* lender) {
  Loan* loan = (Loan*)PyType_GenericAlloc(loan_type, 0);
  if (loan) loan->owner = Py_NewRef(x), loan->lender = Py_NewRef(lender), loan->adopter = Py_NewRef(adopter);
  return (PyObject*)loan;
}

PyObject* adopt(PyObject* self, PyObject* x, PyObject* data) {
  const Adopter* adopter = (Adopter*)self;
  PyObject *theirs = PyObject_CallNoArgs(adopter->theirs), *ours = theirs ? stream_by(adopter->ours) : NULL, *made = NULL;
  int done = ours ? PyObject_RichCompareBool(theirs, ours, Py_EQ) : -1;
  if (!done) {
    PyObject* nothing = PyObject_CallFunctionObjArgs(adopter->order, theirs, ours, NULL);
    done = nothing ? 1 : -1;
    Py_XDECREF(nothing);
  }
  PyObject* loan = done > 0 ? new_loan(self, x, theirs) : NULL;
  if (loan) made = new_array(adopter->layout, data, loan, 1);
  Py_XDECREF(loan);
  Py_XDECREF(ours);
  Py_XDECREF(theirs);
  return made;
}

static PyObject* adopter_call(PyObject* self, PyObject* arguments, PyObject* named) {
  PyObject *x, *data;
  (void)named;
  return PyArg_ParseTuple(arguments, "OO", &x, &data) ? adopt(self, x, data) : NULL;
}

// Adopter(layout, ours, theirs, order, give_back)
static PyObject* adopter_new(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject *layout, *ours, *theirs, *order, *give_back;
  (void)named;
  if (!PyArg_ParseTuple(arguments, "OOOOO", &layout, &ours, &theirs, &order, &give_back)) return NULL;
  Adopter* adopter = PyObject_New(Adopter, type);
  if (!adopter) return NULL;
  adopter->layout = Py_NewRef(layout), adopter->ours = Py_NewRef(ours), adopter->theirs = Py_NewRef(theirs);
  adopter->order = Py_NewRef(order), adopter->give_back = Py_NewRef(give_back);
  return (PyObject*)adopter;
}

static void adopter_free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Adopter* adopter = (Adopter*)self;
  Py_DECREF(adopter->layout);
  Py_DECREF(adopter->ours);
  Py_DECREF(adopter->theirs);
  Py_DECREF(adopter->order);
  Py_DECREF(adopter->give_back);
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyType_Slot loan_slots[] = {
    {Py_tp_traverse, loan_traverse},
    {Py_tp_clear, loan_clear},
    {Py_tp_dealloc, loan_free},
    {Py_tp_doc, "The owner of lent memory."},
    {0, NULL},
};
PyType_Spec loan_spec = {"xpops.core._compiled.Loan", sizeof(Loan), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, loan_slots};

static PyType_Slot slots[] = {
    {Py_tp_new, adopter_new},
    {Py_tp_call, adopter_call},
    {Py_tp_dealloc, adopter_free},
    {Py_tp_doc, "A function of a framework's array and its address: returns an array on its memory."},
    {0, NULL},
};
PyType_Spec adopter_spec = {"xpops.core._compiled.Adopter", sizeof(Adopter), 0, Py_TPFLAGS_DEFAULT, slots};
