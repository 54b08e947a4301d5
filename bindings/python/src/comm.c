/* bindings/python/src/comm.c - communicators. Closing one lets go of it in tutti, and what is called on it afterwards
 * is an error. */
#include "python.h"

#include <stddef.h>
#include <unistd.h>

static py_part *open_ones; /* of all contexts */

/* Those of a context, or of all: a new list. A fork has none of those that it was born with. */
static PyObject *list_open(const py_context *of) {
  PyObject *list = PyList_New(0);
  for (py_part *part = open_ones; list && part; part = part->next) {
    py_comm *comm = (py_comm *)((char *)part - offsetof(py_comm, part));
    if ((of && comm->of != of) || comm->of->process != getpid())
      continue;
    if (PyList_Append(list, (PyObject *)comm) != 0)
      Py_CLEAR(list);
  }
  return list;
}

/* A request holds its communicator: where the program has dropped both, they go when it is complete. */
static void sweep_all(const py_context *of) {
  PyObject *list = list_open(of);
  for (Py_ssize_t n = 0; list && n < PyList_Size(list); n++) {
    py_comm *comm = (py_comm *)PyList_GetItem(list, n);
    if (PySet_Size(comm->running) > 0)
      py_request_sweep(comm, false);
  }
  Py_XDECREF(list);
  PyErr_Clear();
}

/* Once in a process: all that are open then are left at its end. */
static int leave_at_exit(void) {
  static bool done;
  if (done)
    return 0;
  PyObject *add = py_helper("atexit", "register");
  PyObject *leave = add ? py_helper("tutti", "_leave") : NULL;
  PyObject *added = leave ? PyObject_CallFunctionObjArgs(add, leave, NULL) : NULL;
  done = added;
  Py_XDECREF(added);
  Py_XDECREF(leave);
  Py_XDECREF(add);
  return done ? 0 : -1;
}

PyObject *py_comm_new(py_context *of, tutti_comm *comm) {
  py_comm *self = (py_comm *)py_object_new(py_type.comm);
  if (self && (!(self->running = PySet_New(NULL)) || leave_at_exit() != 0)) {
    Py_DECREF((PyObject *)self);
    self = NULL;
  }
  if (!self) {
    PY_CALL_BEGIN;
    tutti_comm_destroy(comm);
    PY_CALL_END;
    return NULL;
  }
  Py_INCREF((PyObject *)of);
  self->of = of;
  of->parts++;
  self->comm = comm;
  self->rank = tutti_comm_rank(comm);
  self->size = tutti_comm_size(comm);
  py_part_add(&open_ones, &self->part);
  sweep_all(of);
  return (PyObject *)self;
}

tutti_comm *py_comm_open(const py_comm *self) {
  if (!self->comm)
    PyErr_SetString(PyExc_ValueError, "the communicator is closed");
  return self->comm;
}

tutti_comm *py_comm_ready(const py_comm *self) {
  if (self->lone == 0 || !py_asks)
    return py_comm_open(self);
  PyErr_SetString(PyExc_ValueError, "a handler of a signal cannot make a call on a communicator while a blocking one "
                                    "waits on it");
  return NULL;
}

void py_part_add(py_part **list, py_part *part) {
  part->next = *list;
  part->at = list;
  if (part->next)
    part->next->at = &part->next;
  *list = part;
}

void py_part_remove(py_part *part) {
  if (!part->at)
    return;
  *part->at = part->next;
  if (part->next)
    part->next->at = part->at;
  part->at = NULL;
}

static bool is_of_fork(const py_comm *self) { return self->of->process != getpid(); }

/* What is under way ends with an error, and lets go of its memory; then all else that leans on it. A fork has none of
 * that, and who has left frees nothing. */
static void close_comm(py_comm *self) {
  tutti_comm *comm = self->comm;
  if (!comm)
    return;
  self->comm = NULL; /* for other threads, from here on */
  py_part_remove(&self->part);
  if (is_of_fork(self) || self->of->left) {
    self->of->parts--;
    return;
  }
  py_request_sweep(self, true);
  if (PySet_Size(self->running) > 0) {
    PY_COMM_CALL_BEGIN(self);
    tutti_comm_abort(comm, "the communicator was closed");
    PY_COMM_CALL_END(self);
    py_request_end_all(self);
  }
  py_request_close_all(self);
  py_graph_close_all(self);
  PY_DESTROY_BEGIN(self->of);
  tutti_comm_destroy(comm);
  PY_DESTROY_END;
  self->of->parts--;
}

/* Where tutti has no thread, two of the program's must not be in it at once. A handler of a signal is in the thread
 * that waits. */
static bool may_end_calls(const py_comm *self) {
  bool may = self->of->calls == 0 || self->of->threads || py_asks || is_of_fork(self);
  if (!may)
    PyErr_SetString(PyExc_ValueError, "another thread is in a call of the context, which this one may end only with "
                                      "a thread of tutti's: set TUTTI_PROGRESS=thread");
  return may;
}

/* A call that is no request's would go on in what is freed, and the end of a request that waits below a handler of a
 * signal would never come. */
static PyObject *comm_close(py_comm *self, PyObject *unused) {
  (void)unused;
  if (self->comm && !may_end_calls(self))
    return NULL;
  if (self->comm && !is_of_fork(self) && (py_asks || self->calls > 0)) {
    PyErr_SetString(PyExc_ValueError,
                    py_asks ? "a handler of a signal cannot close a communicator while a call waits; raise an exception"
                            : "a thread is in a call of the communicator; abort() ends that");
    return NULL;
  }
  close_comm(self);
  Py_RETURN_NONE;
}

static void comm_dealloc(PyObject *object) {
  py_comm *self = (py_comm *)object;
  PyObject *type, *value, *traceback;
  if (self->comm && py_ends_later(self->of, object))
    return;
  PyErr_Fetch(&type, &value, &traceback); /* of a call on it, which nothing else held */
  if (self->of)
    close_comm(self);
  PyErr_Restore(type, value, traceback);
  Py_XDECREF(self->running);
  Py_XDECREF((PyObject *)self->of);
  py_object_free(object);
}

static PyObject *comm_split(py_comm *self, PyObject *args, PyObject *named) {
  static char *names[] = {"color", "key", NULL};
  long long color, key = 0;
  tutti_comm *part = NULL;
  tutti_status status;
  if (!PyArg_ParseTupleAndKeywords(args, named, "L|L:split", names, &color, &key) || !py_comm_ready(self))
    return NULL;
  self->lone++;
  PY_COMM_CALL_BEGIN(self);
  status = tutti_comm_split(self->comm, color, key, &part);
  PY_COMM_CALL_END(self);
  self->lone--;
  if (status != TUTTI_OK)
    return py_fail(status);
  if (!part)
    Py_RETURN_NONE;
  return py_comm_new(self->of, part);
}

static PyObject *comm_from_mpi4py(PyObject *type, PyObject *comm) {
  (void)type;
  PyObject *join = py_helper("tutti._join", "from_mpi4py");
  PyObject *made = join ? PyObject_CallFunctionObjArgs(join, comm, NULL) : NULL;
  Py_XDECREF(join);
  return made;
}

static PyObject *comm_abort(py_comm *self, PyObject *args) {
  const char *reason;
  if (!PyArg_ParseTuple(args, "s:abort", &reason) || !py_comm_open(self) || !may_end_calls(self))
    return NULL;
  PY_COMM_CALL_BEGIN(self);
  tutti_comm_abort(self->comm, reason);
  PY_COMM_CALL_END(self);
  Py_RETURN_NONE;
}

/* The library's name of a collective, for a method's: all-to-all for all_to_all. */
static const char *name_of(const char *method, char name[static 64]) {
  size_t n = 0;
  for (; method[n] && n < 63; n++)
    name[n] = (char)(method[n] == '_' ? '-' : method[n]);
  name[n] = '\0';
  return name;
}

static PyObject *comm_set_params(py_comm *self, PyObject *args) {
  const char *collective, *text;
  char name[64];
  tutti_status status;
  if (!PyArg_ParseTuple(args, "sz:set_params", &collective, &text) || !py_comm_ready(self))
    return NULL;
  name_of(collective, name);
  PY_COMM_CALL_BEGIN(self);
  status = tutti_comm_set_params(self->comm, name, text);
  PY_COMM_CALL_END(self);
  if (status != TUTTI_OK)
    return py_fail(status);
  Py_RETURN_NONE;
}

static PyObject *comm_explain(py_comm *self, PyObject *args, PyObject *named) {
  static char *names[] = {"collective", "nbytes", "root", "commutes", NULL};
  const char *collective, *params, *authority;
  char name[64];
  long long bytes = 0, root = 0;
  int commutes = 1;
  tutti_status status;
  if (!PyArg_ParseTupleAndKeywords(args, named, "s|LLp:explain", names, &collective, &bytes, &root, &commutes) ||
      !py_comm_open(self))
    return NULL;
  name_of(collective, name);
  PY_COMM_CALL_BEGIN(self);
  status = tutti_comm_explain(self->comm, name, bytes, root, commutes, &params, &authority);
  PY_COMM_CALL_END(self);
  if (status != TUTTI_OK)
    return py_fail(status);
  PyObject *make = py_helper("tutti._decisions", "of_comm");
  PyObject *said =
      make ? PyObject_CallFunction(make, "LsLLss", self->size, name, bytes, root, params, authority) : NULL;
  Py_XDECREF(make);
  return said;
}

static PyObject *comm_rank(py_comm *self, void *unused) {
  (void)unused;
  return PyLong_FromLongLong(self->rank);
}

static PyObject *comm_size(py_comm *self, void *unused) {
  (void)unused;
  return PyLong_FromLongLong(self->size);
}

static PyObject *comm_context(py_comm *self, void *unused) {
  (void)unused;
  Py_INCREF((PyObject *)self->of);
  return (PyObject *)self->of;
}

/* The text of what ran last: which one, closure says. */
static PyObject *comm_last(py_comm *self, void *closure) {
  if (!py_comm_open(self))
    return NULL;
  const char *text, which = *(const char *)closure;
  PY_COMM_CALL_BEGIN(self);
  text = which == 'p'   ? tutti_comm_last_params(self->comm)
         : which == 'a' ? tutti_comm_last_authority(self->comm)
                        : tutti_comm_last_media(self->comm);
  PY_COMM_CALL_END(self);
  return PyUnicode_FromString(text);
}

/* At the end of the program, where threads may still be in calls that nobody waits for: then nothing is freed. */
static PyObject *comm_leave(py_comm *self, PyObject *unused) {
  (void)unused;
  if (self->of->calls == 0)
    close_comm(self);
  else
    self->of->left = true;
  Py_RETURN_NONE;
}

static PyObject *comm_open(PyObject *type, PyObject *unused) {
  (void)type;
  (void)unused;
  return list_open(NULL);
}

static PyObject *comm_under_way(py_comm *self, void *unused) {
  (void)unused;
  if (self->of->calls == 0)
    py_request_sweep(self, true);
  return PyLong_FromSsize_t(PySet_Size(self->running));
}

static PyMethodDef comm_methods[] = {
    {"split", (PyCFunction)(void (*)(void))comm_split, METH_VARARGS | METH_KEYWORDS,
     "split($self, color, key=0)\n--\n\nMakes a communicator of the ranks with equal color, ordered by key. "
     "Collective; None where color is negative.\n\n>>> comm.split(0, key=-comm.rank).rank\n1\n"},
    {"from_mpi4py", comm_from_mpi4py, METH_CLASS | METH_O,
     "from_mpi4py($type, comm, /)\n--\n\nMakes a communicator of the ranks of one of mpi4py, in its order. Collective; "
     "a TypeError where it is no communicator of one group.\n\n>>> from mpi4py import MPI  # doctest: +SKIP\n"
     ">>> tutti.Comm.from_mpi4py(MPI.COMM_WORLD).size  # doctest: +SKIP\n2\n"},
    {"graph", py_graph_make, METH_VARARGS,
     "graph($self, sources, destinations, /)\n--\n\nMakes a graph: edges from these ranks to this one, and from it to "
     "those. Collective; an ArgumentError on all ranks where an edge has one end only.\n\n"
     ">>> ring = comm.graph([(comm.rank - 1) % comm.size], [(comm.rank + 1) % comm.size])\n"
     ">>> ring.neighbor_allgather(numpy.array([comm.rank]))\narray([[1]])\n"},
    {"abort", (PyCFunction)comm_abort, METH_VARARGS,
     "abort($self, reason, /)\n--\n\nGives the communicator up: what runs on it ends with an AbortedError on all "
     "ranks. A ValueError where another thread is in a call and tutti has no thread (TUTTI_PROGRESS=thread).\n\n"
     ">>> part = comm.split(0)\n>>> part.abort('enough')\n>>> part.barrier()\n"
     "Traceback (most recent call last):\ntutti.AbortedError: ...\n"},
    {"set_params", (PyCFunction)comm_set_params, METH_VARARGS,
     "set_params($self, collective, text, /)\n--\n\nSets the parameters of later calls of a collective (docs/plan.md), "
     "the same on all ranks; None: the usual ones. A PlanError says what is wrong with the text.\n\n"
     ">>> part = comm.split(0)\n>>> part.set_params('allreduce', 'recursive-doubling')\n"
     ">>> part.explain('allreduce', 8).authority\n'tutti_comm_set_params'\n"},
    {"_open", comm_open, METH_CLASS | METH_NOARGS, "A list of those that are open in this process."},
    {"_leave", (PyCFunction)comm_leave, METH_NOARGS, "Closes it, unless a thread is in a call of its context."},
    {"explain", (PyCFunction)(void (*)(void))comm_explain, METH_VARARGS | METH_KEYWORDS,
     "explain($self, collective, nbytes=0, root=0, commutes=True)\n--\n\nWhich parameters a call would run with, and "
     "who decides that: an Explanation. nbytes: of the whole vector, as in data.nbytes. commutes: whether the operator "
     "does. Local.\n\n>>> comm.explain('allreduce', 8).authority.split(':')[0]\n'profile default.json'\n"},
    {"close", (PyCFunction)comm_close, METH_NOARGS,
     "close($self, /)\n--\n\nFrees the communicator. Local. What is under way ends with an AbortedError, here and on "
     "the other ranks; a ValueError where a thread is in a call that is no request's, or in any and tutti has no "
     "thread.\n\n>>> comm.split(0).close()\n"},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef comm_members[] = {
    {"rank", (getter)comm_rank, NULL, "This rank, from 0.\n\n>>> comm.rank\n0\n", NULL},
    {"size", (getter)comm_size, NULL, "The number of ranks.\n\n>>> comm.size\n2\n", NULL},
    {"context", (getter)comm_context, NULL, "The Context whose it is.\n\n>>> comm.context.size\n2\n", NULL},
    {"_under_way", (getter)comm_under_way, NULL, "How many requests are not complete.", NULL},
    {"last_params", (getter)comm_last, NULL,
     "The parameters that the last call ran with.\n\n>>> sums = comm.allreduce(numpy.ones(1))\n>>> comm.last_params == "
     "comm.explain('allreduce', 8).params\nTrue\n",
     "p"},
    {"last_authority", (getter)comm_last, NULL,
     "Who has decided that.\n\n>>> comm.barrier()\n>>> comm.last_authority.split(':')[0]\n'profile default.json'\n",
     "a"},
    {"last_media", (getter)comm_last, NULL,
     "How the last call's data went (docs/plan.md).\n\n>>> sums = comm.allreduce(numpy.ones(1))\n>>> "
     "comm.last_media\n'cell'\n",
     "m"},
    {NULL, NULL, NULL, NULL, NULL}};

/* The collectives, from the table of calls.c, and the others. */
static PyMethodDef all_methods[96];

void py_comm_prepare(void) {
  size_t count = 0;
  const PyMethodDef *const lists[] = {comm_methods, py_calls};
  for (size_t n = 0; n < 2; n++)
    for (const PyMethodDef *method = lists[n]; method->ml_name; method++)
      all_methods[count++] = *method;
}

static PyType_Slot comm_slots[] = {
    {Py_tp_doc,
     "An ordered group of ranks that call the same collectives in the same order. tutti.world(), Comm.split and "
     "Comm.from_mpi4py make one.\n\nArrays are numpy's, torch's on the processor, and all that has the buffer protocol "
     "or DLPack. Their elements are integers of 8 to 64 bits, float16, bfloat16, float32, float64, long double, "
     "complex of these, and bool. Each call raises a TypeError or ValueError for what Python sees, and a tutti.Error "
     "for what the library does; the other ranks then wait for the right call.\n\n"
     ">>> comm.allreduce(numpy.ones((2, 2)), op='max')\narray([[1., 1.],\n       [1., 1.]])\n"},
    {Py_tp_dealloc, (void *)comm_dealloc},
    {Py_tp_methods, all_methods},
    {Py_tp_getset, comm_members},
    {0, NULL}};

PyType_Spec py_comm_spec = {"tutti.Comm", sizeof(py_comm), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            comm_slots};
