/* bindings/python/src/context.c - contexts, and memory of theirs. Communicators and memory hold their context. */
#include "python.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- contexts ---- */

static bool asks_for_thread(void) {
  const char *how = getenv("TUTTI_PROGRESS");
  return how && strcmp(how, "thread") == 0;
}

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
  py_context *self = py_find_main_thread() == 0 ? (py_context *)py_object_new((PyObject *)type) : NULL;
  if (!self)
    return NULL;
  self->process = getpid();
  self->threads = asks_for_thread();
  tutti_context_options options;
  tutti_context_options_init(&options);
  options.timeout_ns = (int64_t)llround(seconds * 1e9);
  options.boot = given != Py_None ? &boot.boot : NULL;
  tutti_status status;
  PY_CALL_BEGIN;
  status = tutti_context_create(&options, &self->context);
  if (status == TUTTI_OK)
    status = tutti_context_set_interrupted(self->context, py_interrupted, NULL);
  PY_CALL_END;
  if (status == TUTTI_OK)
    return (PyObject *)self;
  py_fail(status);
  Py_DECREF((PyObject *)self);
  return NULL;
}

static PyObject *context_shared(PyObject *type, PyObject *unused) {
  (void)unused;
  tutti_status status;
  py_context *self = py_find_main_thread() == 0 ? (py_context *)py_object_new(type) : NULL;
  if (!self)
    return NULL;
  self->process = getpid();
  self->threads = true;
  PY_CALL_BEGIN;
  status = tutti_context_shared(&self->context);
  if (status == TUTTI_OK && self->context)
    status = tutti_context_set_interrupted(self->context, py_interrupted, NULL);
  PY_CALL_END;
  if (status == TUTTI_OK && self->context)
    return (PyObject *)self;
  Py_DECREF((PyObject *)self);
  if (status != TUTTI_OK)
    return py_fail(status);
  Py_RETURN_NONE;
}

tutti_context *py_context_open(const py_context *self) {
  if (!self->context)
    PyErr_SetString(PyExc_ValueError, "the context is closed");
  return self->context;
}

static void leave(py_context *self) {
  tutti_context *context = self->context;
  self->context = NULL;
  if (self->process != getpid() || self->left)
    return;
  PY_CALL_BEGIN;
  tutti_context_destroy(context);
  PY_CALL_END;
}

static void context_dealloc(PyObject *object) {
  leave((py_context *)object);
  py_object_free(object);
}

static PyObject *context_close(py_context *self, PyObject *unused) {
  (void)unused;
  if (self->parts > 0) {
    PyErr_Format(PyExc_ValueError, "the context has %" PRId64 " communicators and blocks of memory; close them first",
                 self->parts);
    return NULL;
  }
  if (self->calls > 0) {
    PyErr_SetString(PyExc_ValueError, "a thread is in a call of the context");
    return NULL;
  }
  leave(self);
  Py_RETURN_NONE;
}

static PyObject *context_comm(py_context *self, PyObject *unused) {
  (void)unused;
  tutti_comm *comm = NULL;
  tutti_status status;
  if (!py_context_open(self))
    return NULL;
  if (py_asks && self->calls > 0) { /* another one of these may wait */
    PyErr_SetString(PyExc_ValueError, "a handler of a signal cannot make a communicator while a call waits");
    return NULL;
  }
  self->calls++;
  PY_CALL_BEGIN;
  status = tutti_comm_create(self->context, &comm);
  PY_CALL_END;
  py_call_is_over(self);
  return status == TUTTI_OK ? py_comm_new(self, comm) : py_fail(status);
}

/* ---- what ends later ---- */

typedef struct linked {
  PyObject_HEAD py_part part;
} linked;

bool py_ends_later(py_context *of, PyObject *object) {
  if (of->calls == 0 || of->threads || of->left || of->process != getpid())
    return false;
  py_part *part = (py_part *)((char *)object + offsetof(linked, part));
  py_part_remove(part);
  py_part_add(&of->late, part);
  return true;
}

void py_call_is_over(py_context *of) {
  of->calls--;
  while (of->late && of->calls == 0) {
    PyObject *object = (PyObject *)((char *)of->late - offsetof(linked, part));
    py_part_remove(of->late);
    destructor end = (destructor)PyType_GetSlot(Py_TYPE(object), Py_tp_dealloc);
    end(object);
  }
}

/* ---- memory that peers read where it lies ---- */

static PyObject *context_alloc(py_context *self, PyObject *argument) {
  Py_ssize_t bytes = PyLong_AsSsize_t(argument);
  tutti_status status;
  if ((bytes == -1 && PyErr_Occurred()) || !py_context_open(self))
    return NULL;
  if (bytes < 0)
    return PyErr_Format(PyExc_ValueError, "alloc: %zd bytes", bytes);
  py_memory *made = (py_memory *)py_object_new(py_type.memory);
  if (!made)
    return NULL;
  Py_INCREF((PyObject *)self);
  made->of = self;
  made->bytes = bytes;
  self->parts++;
  PY_CALL_BEGIN;
  status = tutti_alloc(self->context, (size_t)bytes, &made->data);
  PY_CALL_END;
  if (status == TUTTI_OK)
    return (PyObject *)made;
  Py_DECREF((PyObject *)made);
  return py_fail(status);
}

static int memory_buffer(PyObject *object, Py_buffer *view, int flags) {
  py_memory *self = (py_memory *)object;
  return PyBuffer_FillInfo(view, object, self->data, self->bytes, 0, flags);
}

static void memory_dealloc(PyObject *object) {
  py_memory *self = (py_memory *)object;
  if (self->of && !self->of->left) {
    PY_CALL_BEGIN;
    tutti_free(self->of->context, self->data);
    PY_CALL_END;
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
  return py_context_open(self) ? PyLong_FromLongLong(tutti_context_rank(self->context)) : NULL;
}

static PyObject *context_size(py_context *self, void *unused) {
  (void)unused;
  return py_context_open(self) ? PyLong_FromLongLong(tutti_context_size(self->context)) : NULL;
}

static PyMethodDef context_methods[] = {
    {"comm", (PyCFunction)context_comm, METH_NOARGS,
     "comm($self, /)\n--\n\nMakes a communicator of all ranks. Collective.\n\n"
     ">>> comm.context.comm().size\n2\n"},
    {"_shared", (PyCFunction)context_shared, METH_CLASS | METH_NOARGS,
     "The context that this process has for all, as under `tutti mpirun`; None: there is none."},
    {"alloc", (PyCFunction)context_alloc, METH_O,
     "alloc($self, bytes, /)\n--\n\nMemory that the ranks of this machine can read where it lies: a writable buffer. "
     "tutti.empty makes arrays of it.\n\n>>> memoryview(comm.context.alloc(64)).nbytes\n64\n"},
    {"_handler", (PyCFunction)py_arrays_handler, METH_NOARGS, "A handler of memory for numpy, a capsule."},
    {"_use_handler", (PyCFunction)py_arrays_use, METH_STATIC | METH_VARARGS,
     "_use_handler(api, handler, /)\n--\n\nMakes numpy, whose table `api` is, use it from now on; None: its own. "
     "Returns "
     "the one before."},
    {"close", (PyCFunction)context_close, METH_NOARGS,
     "close($self, /)\n--\n\nLeaves the job. A ValueError where communicators or memory of it are open.\n\n"
     ">>> alone = tutti.Context(boot=(0, 1, bytes))\n>>> alone.close()\n"},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef context_members[] = {
    {"rank", (getter)context_rank, NULL, "This rank, from 0.\n\n>>> comm.context.rank\n0\n", NULL},
    {"size", (getter)context_size, NULL, "The number of ranks.\n\n>>> comm.context.size\n2\n", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot context_slots[] = {
    {Py_tp_doc, "Context(timeout=0, boot=None)\n--\n\nThis process's part of a job. timeout: seconds, of its creation. "
                "boot: (rank, size, allgather), where allgather(bytes) returns the bytes of all ranks, one behind the "
                "other; None: the launcher's. A TimeoutError names ranks that do not come.\n\n"
                ">>> tutti.Context(boot=(0, 1, bytes)).comm().allreduce(numpy.array([3]))\narray([3])\n"},
    {Py_tp_new, (void *)context_new},
    {Py_tp_dealloc, (void *)context_dealloc},
    {Py_tp_methods, context_methods},
    {Py_tp_getset, context_members},
    {0, NULL}};

PyType_Spec py_context_spec = {"tutti.Context", sizeof(py_context), 0, Py_TPFLAGS_DEFAULT, context_slots};
