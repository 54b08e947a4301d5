/* bindings/python/src/request.c - what is under way. A request holds its buffers until it is complete, also where the
 * program has let go of it: the communicator has a set of those that run. */
#include "call.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SWEEP_LEAST 64
#define MOMENT_NS 1000000

py_request *py_request_new(py_comm *comm, bool persistent) {
  py_request *made = (py_request *)py_object_new(py_type.request);
  if (!made)
    return NULL;
  Py_INCREF((PyObject *)comm);
  made->comm = comm;
  made->persistent = persistent;
  return made;
}

/* Where many run, those that are complete and that nobody has any more are looked for: whenever they have doubled. */
static int add_running(py_request *self) {
  py_comm *comm = self->comm;
  if (PySet_Add(comm->running, (PyObject *)self) != 0)
    return -1;
  if (PySet_Size(comm->running) > comm->sweep_at) {
    py_request_sweep(comm, false);
    Py_ssize_t left = PySet_Size(comm->running);
    comm->sweep_at = left < SWEEP_LEAST / 2 ? SWEEP_LEAST : 2 * left;
  }
  return 0;
}

int py_request_begun(py_request *self) {
  if (self->persistent) {
    py_part_add(&self->comm->requests, &self->part);
    return 0;
  }
  self->runs = true;
  return add_running(self);
}

static void let_go(py_request *self) {
  py_view_end(&self->in);
  py_view_end(&self->out);
  free(self->words);
  self->words = NULL;
}

static void keep_status(py_request *self, tutti_status status) {
  free(self->why);
  self->why = status != TUTTI_OK ? strdup(tutti_last_error()) : NULL;
  self->status = status;
}

/* It has come to its end. */
static void end(py_request *self, tutti_status status) {
  keep_status(self, status);
  self->runs = false;
  if (status == TUTTI_OK)
    py_view_store(&self->out);
  if (!self->persistent)
    let_go(self);
  Py_CLEAR(self->bell);
  PySet_Discard(self->comm->running, (PyObject *)self);
}

/* Of one that does not run. */
static PyObject *result_of(const py_request *self) {
  if (self->status != TUTTI_OK)
    return py_fail_with(self->status, self->why ? self->why : "there is no memory for the reason");
  PyObject *result = self->result ? self->result : Py_None;
  Py_INCREF(result);
  return result;
}

static void pass_a_moment(void) {
  Py_BEGIN_ALLOW_THREADS;
  nanosleep(&(struct timespec){.tv_nsec = MOMENT_NS}, NULL);
  Py_END_ALLOW_THREADS;
}

/* Threads are not there in a fork, where tutti refuses calls. */
static bool is_busy(const py_request *self) { return self->busy && self->comm->of->process == getpid(); }

static PyObject *request_wait(py_request *self, PyObject *unused) {
  (void)unused;
  tutti_status status;
  while (self->runs && is_busy(self)) { /* the other thread moves it on */
    if (py_asks) {
      PyErr_SetString(PyExc_ValueError,
                      "a handler of a signal cannot wait for a request while another wait for it goes on");
      return NULL;
    }
    pass_a_moment();
    if (PyErr_CheckSignals() != 0)
      return NULL;
  }
  if (!self->runs)
    return result_of(self);
  self->busy = true;
  self->comm->of->calls++;
  PY_CALL_BEGIN;
  status = tutti_wait(&self->request);
  PY_CALL_END;
  end(self, status);
  self->busy = false;
  py_call_is_over(self->comm->of);
  return result_of(self);
}

/* Moves it on, unless another thread does. The caller holds it. */
static void test(py_request *self) {
  int done = 0;
  tutti_status status;
  if (is_busy(self))
    return;
  self->busy = true;
  self->comm->of->calls++;
  PY_CALL_BEGIN;
  status = tutti_test(&self->request, &done);
  PY_CALL_END;
  if (status != TUTTI_OK || done)
    end(self, status);
  self->busy = false;
  py_call_is_over(self->comm->of);
}

static PyObject *request_test(py_request *self, PyObject *unused) {
  (void)unused;
  Py_INCREF((PyObject *)self);
  if (self->runs)
    test(self);
  bool failed = !self->runs && self->status != TUTTI_OK;
  PyObject *result = failed ? result_of(self) : PyBool_FromLong(!self->runs);
  Py_DECREF((PyObject *)self);
  return result;
}

/* ---- await ---- */

/* Called by whoever moves the request on, without the GIL. Where the pipe is full, its reader looks at all requests. */
static void tell(void *user) {
  py_request *self = user;
  int fd = atomic_load_explicit(&self->fd, memory_order_relaxed);  /* the old or the new one: both are open */
  atomic_store_explicit(&self->ready, true, memory_order_release); /* pairs with request_watch */
  if (write(fd, &user, sizeof user) < 0)
    return;
}

static bool is_over(const py_request *self) {
  return !self->runs || atomic_load_explicit(&self->ready, memory_order_acquire);
}

/* Another loop is told, and has not ended. Other threads may run meanwhile, which fileno() of a bell lets. */
static bool tells_another(const py_request *self, PyObject *bell) {
  PyObject *told = self->bell;
  if (!told || told == bell)
    return false;
  Py_INCREF(told);
  int fd = PyObject_AsFileDescriptor(told);
  PyErr_Clear();
  Py_DECREF(told);
  return fd >= 0 || self->bell != told;
}

/* Whether there is something to wait for; then the pipe is told of its end. None: nothing can be said now. */
static PyObject *request_watch(py_request *self, PyObject *bell) {
  tutti_status status;
  if (is_over(self))
    Py_RETURN_FALSE;
  int fd = PyObject_AsFileDescriptor(bell);
  if (fd < 0)
    return NULL;
  bool elsewhere = tells_another(self, bell);
  if (is_over(self))
    Py_RETURN_FALSE;
  if (is_busy(self) || elsewhere)
    Py_RETURN_NONE;
  if (!self->comm->of->threads && self->comm->of->calls > 0) {
    PyErr_SetString(PyExc_ValueError, "a call of the context waits, beside which a request can be awaited only with a "
                                      "thread of tutti's: set TUTTI_PROGRESS=thread");
    return NULL;
  }
  status = tutti_context_progress(self->comm->of->context); /* one thread at a time: with the GIL */
  if (status != TUTTI_OK)
    return py_fail(status);
  self->comm->of->threads = true;
  PyObject *before = self->bell;
  Py_INCREF(bell);
  self->bell = bell;
  atomic_store_explicit(&self->fd, fd, memory_order_relaxed);
  self->busy = true;
  PY_CALL_BEGIN;
  status = tutti_request_notify(self->request, tell, self);
  PY_CALL_END;
  self->busy = false;
  Py_XDECREF(before);
  return status == TUTTI_OK ? PyBool_FromLong(1) : py_fail(status);
}

static PyObject *request_await(PyObject *self) {
  static PyObject *wait;
  if (!wait && !(wait = py_helper("tutti._async", "wait")))
    return NULL;
  return PyObject_CallFunctionObjArgs(wait, self, NULL);
}

/* ---- persistent ---- */

static PyObject *request_start(py_request *self, PyObject *unused) {
  (void)unused;
  tutti_status status;
  if (self->persistent && !self->request) {
    PyErr_SetString(PyExc_ValueError, "the communicator is closed");
    return NULL;
  }
  if (!self->persistent || self->runs) {
    PyErr_SetString(PyExc_ValueError, self->runs ? "the request is running" : "the request is not of an _init method");
    return NULL;
  }
  atomic_store_explicit(&self->ready, false, memory_order_relaxed); /* nobody is told between calls */
  py_view_load(&self->in);
  py_view_load(&self->out);
  keep_status(self, TUTTI_OK);
  self->runs = self->busy = true;
  PY_COMM_CALL_BEGIN(self->comm);
  status = tutti_request_start(self->request);
  PY_COMM_CALL_END(self->comm);
  self->busy = false;
  self->runs = status == TUTTI_OK;
  if (status != TUTTI_OK)
    return py_fail(status);
  if (add_running(self) != 0)
    return NULL;
  Py_INCREF((PyObject *)self);
  return (PyObject *)self;
}

/* Two references to what nobody else has: the set's and the list's. */
void py_request_sweep(py_comm *comm, bool all) {
  PyObject *list = PySequence_List(comm->running);
  for (Py_ssize_t n = 0; list && n < PyList_Size(list); n++) {
    PyObject *request = PyList_GetItem(list, n);
    if (all || Py_REFCNT(request) == 2)
      test((py_request *)request);
  }
  Py_XDECREF(list);
  PyErr_Clear();
}

void py_request_end_all(py_comm *comm) {
  py_request_sweep(comm, true);
  while (PySet_Size(comm->running) > 0) { /* other threads wait for those */
    pass_a_moment();
    py_request_sweep(comm, true);
  }
}

/* A persistent one: tutti has it no longer. */
static void close_request(py_request *self) {
  tutti_request *request = self->request;
  py_part_remove(&self->part);
  self->request = NULL;
  if (self->comm->of->left)
    return;
  PY_DESTROY_BEGIN(self->comm->of);
  tutti_request_destroy(request);
  PY_DESTROY_END;
}

void py_request_close_all(py_comm *comm) {
  while (comm->requests)
    close_request((py_request *)((char *)comm->requests - offsetof(py_request, part)));
}

static void request_dealloc(PyObject *object) {
  py_request *self = (py_request *)object;
  const bool open = self->persistent && self->request;
  if (open && py_ends_later(self->comm->of, object))
    return;
  if (open)
    close_request(self);
  if (self->graph) {
    ((py_graph *)self->graph)->requests--;
    Py_DECREF(self->graph);
  }
  let_go(self);
  free(self->why);
  Py_XDECREF(self->result);
  Py_XDECREF((PyObject *)self->comm);
  py_object_free(object);
}

static PyMethodDef methods[] = {
    {"wait", (PyCFunction)request_wait, METH_NOARGS,
     "wait($self, /)\n--\n\nWaits until the call is complete; returns its result, or raises its error. Other threads "
     "of Python run meanwhile, and Ctrl-C ends the wait.\n\n"
     ">>> comm.allreduce_start(numpy.array([1, 2])).wait()\narray([2, 4])\n"},
    {"test", (PyCFunction)request_test, METH_NOARGS,
     "test($self, /)\n--\n\nWhether the call is complete. Moves it on, and raises its error.\n\n"
     ">>> request = comm.barrier_start()\n>>> while not request.test():\n...     pass\n"},
    {"start", (PyCFunction)request_start, METH_NOARGS,
     "start($self, /)\n--\n\nStarts a request of an _init method; returns it. A ValueError where it runs, or is of no "
     "_init method.\n\n>>> total = numpy.zeros(1, int)\n>>> again = comm.allreduce_init(numpy.array([comm.rank]), "
     "total)\n"
     ">>> for step in range(3):\n...     sums = again.start().wait()\n>>> total\narray([1])\n"},
    {"_watch", (PyCFunction)request_watch, METH_O,
     "_watch($self, bell, /)\n--\n\nHas the request's id() written to the pipe of `bell` when the call is complete. "
     "False: it is; None: another thread is in a call with it, or another loop is told."},
    {"__class_getitem__", Py_GenericAlias, METH_CLASS | METH_O, "Request[type of its result], for annotations."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "A call that is under way, or one that can be started again and again. It can be awaited. Its buffers are kept "
     "until it is complete, also where the program has dropped it.\n\n"
     ">>> import asyncio\n>>> async def total():\n...     return await comm.allreduce_start(numpy.array([1]))\n"
     ">>> asyncio.run(total())\narray([2])\n"},
    {Py_tp_dealloc, (void *)request_dealloc},
    {Py_tp_methods, methods},
    {Py_am_await, (void *)request_await},
    {0, NULL}};

PyType_Spec py_request_spec = {"tutti.Request", sizeof(py_request), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
