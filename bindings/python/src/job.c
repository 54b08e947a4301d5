/* bindings/python/src/job.c - contexts and communicators. A communicator holds its context; closing one lets go of
 * it in tutti, and what is called on it afterwards is an error. */
#include "python.h"

#include <inttypes.h>
#include <math.h>

/* ---- contexts ---- */

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *named) {
  static char *names[] = {"timeout", "boot", NULL};
  double seconds = 0;
  PyObject *given = Py_None;
  py_boot boot;
  if (!PyArg_ParseTupleAndKeywords(args, named, "|dO:Context", names, &seconds, &given) ||
      (given != Py_None && py_boot_read(given, &boot) != 0))
    return NULL;
  if (!(seconds >= 0 && seconds < 9e9)) {
    PyErr_SetString(PyExc_ValueError, "timeout must be a number of seconds, 0 for the usual one");
    return NULL;
  }
  py_context *self = (py_context *)py_object_new((PyObject *)type);
  if (!self)
    return NULL;
  tutti_context_options options;
  tutti_context_options_init(&options);
  options.timeout_ns = (int64_t)llround(seconds * 1e9);
  options.boot = given != Py_None ? &boot.boot : NULL;
  tutti_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = tutti_context_create(&options, &self->context);
  Py_END_ALLOW_THREADS;
  if (status == TUTTI_OK)
    status = tutti_context_set_interrupted(self->context, py_interrupted, NULL);
  if (status == TUTTI_OK)
    return (PyObject *)self;
  py_fail(status);
  Py_DECREF((PyObject *)self);
  return NULL;
}

static tutti_context *context_open(const py_context *self) {
  if (!self->context)
    PyErr_SetString(PyExc_ValueError, "the context is closed");
  return self->context;
}

static void context_dealloc(PyObject *object) {
  py_context *self = (py_context *)object;
  tutti_context_destroy(self->context);
  py_object_free(object);
}

static PyObject *context_close(py_context *self, PyObject *unused) {
  (void)unused;
  if (self->parts > 0) {
    PyErr_Format(PyExc_ValueError, "the context has %" PRId64 " communicators and blocks of memory; close them first",
                 self->parts);
    return NULL;
  }
  tutti_context_destroy(self->context);
  self->context = NULL;
  Py_RETURN_NONE;
}

static PyObject *comm_new(py_context *of, tutti_comm *comm) {
  py_comm *self = (py_comm *)py_object_new(py_type.comm);
  if (self && !(self->running = PySet_New(NULL))) {
    Py_DECREF((PyObject *)self);
    self = NULL;
  }
  if (!self) {
    tutti_comm_destroy(comm);
    return NULL;
  }
  Py_INCREF((PyObject *)of);
  self->of = of;
  of->parts++;
  self->comm = comm;
  self->rank = tutti_comm_rank(comm);
  self->size = tutti_comm_size(comm);
  return (PyObject *)self;
}

static PyObject *context_comm(py_context *self, PyObject *unused) {
  (void)unused;
  tutti_comm *comm = NULL;
  tutti_status status;
  if (!context_open(self))
    return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = tutti_comm_create(self->context, &comm);
  Py_END_ALLOW_THREADS;
  return status == TUTTI_OK ? comm_new(self, comm) : py_fail(status);
}

/* ---- memory that peers read where it lies ---- */

static PyObject *context_alloc(py_context *self, PyObject *argument) {
  Py_ssize_t bytes = PyLong_AsSsize_t(argument);
  if ((bytes == -1 && PyErr_Occurred()) || !context_open(self))
    return NULL;
  if (bytes < 0)
    return PyErr_Format(PyExc_ValueError, "alloc: %zd bytes", bytes);
  py_memory *made = (py_memory *)py_object_new(py_type.memory);
  if (!made)
    return NULL;
  tutti_status status = tutti_alloc(self->context, (size_t)bytes, &made->data);
  if (status != TUTTI_OK) {
    Py_DECREF((PyObject *)made);
    return py_fail(status);
  }
  Py_INCREF((PyObject *)self);
  made->of = self;
  made->bytes = bytes;
  self->parts++;
  return (PyObject *)made;
}

static int memory_buffer(PyObject *object, Py_buffer *view, int flags) {
  py_memory *self = (py_memory *)object;
  return PyBuffer_FillInfo(view, object, self->data, self->bytes, 0, flags);
}

static void memory_dealloc(PyObject *object) {
  py_memory *self = (py_memory *)object;
  if (self->of) {
    tutti_free(self->of->context, self->data);
    self->of->parts--;
    Py_DECREF((PyObject *)self->of);
  }
  py_object_free(object);
}

static PyType_Slot memory_slots[] = {{Py_tp_doc, "Bytes that the ranks of a machine can read where they lie."},
                                     {Py_tp_dealloc, (void *)memory_dealloc},
                                     {Py_bf_getbuffer, (void *)memory_buffer},
                                     {0, NULL}};

PyType_Spec py_memory_spec = {"tutti.Memory", sizeof(py_memory), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, memory_slots};

/* ---- contexts, for Python ---- */

static PyObject *context_rank(py_context *self, void *unused) {
  (void)unused;
  return context_open(self) ? PyLong_FromLongLong(tutti_context_rank(self->context)) : NULL;
}

static PyObject *context_size(py_context *self, void *unused) {
  (void)unused;
  return context_open(self) ? PyLong_FromLongLong(tutti_context_size(self->context)) : NULL;
}

static PyMethodDef context_methods[] = {
    {"comm", (PyCFunction)context_comm, METH_NOARGS, "comm()\n--\n\nMakes a communicator of all ranks. Collective."},
    {"alloc", (PyCFunction)context_alloc, METH_O,
     "alloc(bytes)\n--\n\nMemory that the ranks of this machine can read where it lies: a writable buffer."},
    {"close", (PyCFunction)context_close, METH_NOARGS,
     "close()\n--\n\nLeaves the job. Its communicators must have been closed."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef context_members[] = {{"rank", (getter)context_rank, NULL, "This rank, from 0.", NULL},
                                        {"size", (getter)context_size, NULL, "The number of ranks.", NULL},
                                        {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot context_slots[] = {
    {Py_tp_doc, "Context(timeout=0, boot=None)\n--\n\nThis process's part of a job. timeout: seconds, of its creation. "
                "boot: (rank, size, allgather), where allgather(bytes) returns the bytes of all ranks, one behind the "
                "other; None: the launcher's."},
    {Py_tp_new, (void *)context_new},
    {Py_tp_dealloc, (void *)context_dealloc},
    {Py_tp_methods, context_methods},
    {Py_tp_getset, context_members},
    {0, NULL}};

PyType_Spec py_context_spec = {"tutti.Context", sizeof(py_context), 0, Py_TPFLAGS_DEFAULT, context_slots};

/* ---- communicators ---- */

tutti_comm *py_comm_open(const py_comm *self) {
  if (!self->comm)
    PyErr_SetString(PyExc_ValueError, "the communicator is closed");
  return self->comm;
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

/* What is under way ends with an error, and lets go of its memory; then all else that leans on it. */
static void close_comm(py_comm *self) {
  if (!self->comm)
    return;
  py_request_sweep(self);
  if (PySet_Size(self->running) > 0) {
    tutti_comm_abort(self->comm, "the communicator was closed");
    py_request_sweep(self);
  }
  py_request_close_all(self);
  py_graph_close_all(self);
  tutti_comm_destroy(self->comm);
  self->comm = NULL;
  self->of->parts--;
}

static PyObject *comm_close(py_comm *self, PyObject *unused) {
  (void)unused;
  close_comm(self);
  Py_RETURN_NONE;
}

static void comm_dealloc(PyObject *object) {
  py_comm *self = (py_comm *)object;
  if (self->of)
    close_comm(self);
  Py_XDECREF(self->running);
  Py_XDECREF((PyObject *)self->of);
  py_object_free(object);
}

static PyObject *comm_split(py_comm *self, PyObject *args, PyObject *named) {
  static char *names[] = {"color", "key", NULL};
  long long color, key = 0;
  tutti_comm *part = NULL;
  tutti_status status;
  if (!PyArg_ParseTupleAndKeywords(args, named, "L|L:split", names, &color, &key) || !py_comm_open(self))
    return NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = tutti_comm_split(self->comm, color, key, &part);
  Py_END_ALLOW_THREADS;
  if (status != TUTTI_OK)
    return py_fail(status);
  if (!part)
    Py_RETURN_NONE;
  return comm_new(self->of, part);
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
  if (!PyArg_ParseTuple(args, "s:abort", &reason) || !py_comm_open(self))
    return NULL;
  tutti_comm_abort(self->comm, reason);
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
  if (!PyArg_ParseTuple(args, "sz:set_params", &collective, &text) || !py_comm_open(self))
    return NULL;
  tutti_status status = tutti_comm_set_params(self->comm, name_of(collective, name), text);
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
  if (!PyArg_ParseTupleAndKeywords(args, named, "s|LLp:explain", names, &collective, &bytes, &root, &commutes) ||
      !py_comm_open(self))
    return NULL;
  name_of(collective, name);
  tutti_status status = tutti_comm_explain(self->comm, name, bytes, root, commutes, &params, &authority);
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
  switch (*(const char *)closure) {
  case 'p':
    return PyUnicode_FromString(tutti_comm_last_params(self->comm));
  case 'a':
    return PyUnicode_FromString(tutti_comm_last_authority(self->comm));
  default:
    return PyUnicode_FromString(tutti_comm_last_media(self->comm));
  }
}

static PyMethodDef comm_methods[] = {
    {"split", (PyCFunction)(void (*)(void))comm_split, METH_VARARGS | METH_KEYWORDS,
     "split(color, key=0)\n--\n\nMakes a communicator of the ranks with equal color, ordered by key. Collective; None "
     "where color is negative."},
    {"from_mpi4py", comm_from_mpi4py, METH_CLASS | METH_O,
     "from_mpi4py(comm)\n--\n\nMakes a communicator of the ranks of one of mpi4py, in its order. Collective."},
    {"graph", py_graph_make, METH_VARARGS,
     "graph(sources, destinations)\n--\n\nMakes a graph: edges from these ranks to this one, and from it. Collective."},
    {"abort", (PyCFunction)comm_abort, METH_VARARGS,
     "abort(reason)\n--\n\nGives the communicator up: what runs on it ends with an AbortedError on all ranks."},
    {"set_params", (PyCFunction)comm_set_params, METH_VARARGS,
     "set_params(collective, text)\n--\n\nSets the parameters of later calls of a collective; None: the usual ones."},
    {"explain", (PyCFunction)(void (*)(void))comm_explain, METH_VARARGS | METH_KEYWORDS,
     "explain(collective, nbytes=0, root=0, commutes=True)\n--\n\nWhich parameters a call would run with, and who "
     "decides that. nbytes: of the whole vector."},
    {"close", (PyCFunction)comm_close, METH_NOARGS, "close()\n--\n\nFrees the communicator. Local."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef comm_members[] = {
    {"rank", (getter)comm_rank, NULL, "This rank, from 0.", NULL},
    {"size", (getter)comm_size, NULL, "The number of ranks.", NULL},
    {"context", (getter)comm_context, NULL, "Whose it is.", NULL},
    {"last_params", (getter)comm_last, NULL, "The parameters that the last call ran with.", "p"},
    {"last_authority", (getter)comm_last, NULL, "Who has decided that.", "a"},
    {"last_media", (getter)comm_last, NULL, "How the last call's data went.", "m"},
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
    {Py_tp_doc, "An ordered group of ranks that call the same collectives in the same order."},
    {Py_tp_dealloc, (void *)comm_dealloc},
    {Py_tp_methods, all_methods},
    {Py_tp_getset, comm_members},
    {0, NULL}};

PyType_Spec py_comm_spec = {"tutti.Comm", sizeof(py_comm), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            comm_slots};
