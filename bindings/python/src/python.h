/* bindings/python/src/python.h - the extension tutti._tutti: Python's objects over tutti's C API.
 *
 *     module.c    the module, its errors, and what is asked of the interpreter while a call waits
 *     view.c      a Python object as elements in memory: buffer protocol or DLPack
 *     context.c   contexts and memory; boot.c: ranks that find each other by a Python function
 *     arrays.c    arrays that numpy makes in such memory
 *     comm.c      communicators
 *     calls.c     the collectives: a row of a table each, in three forms; graph.c: those along the edges of a graph
 *     arguments.c, sides.c    what Python passes, and what both buffers say together
 *     request.c   what is under way
 *
 * Limited API of Python 3.11: one binary for that version and all later ones. */
#ifndef TUTTI_PYTHON_H
#define TUTTI_PYTHON_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <tutti/tutti.h>

/* ---- module.c ---- */

/* Sets the exception of a status, with the text of tutti_last_error; returns NULL. An exception that is set already
 * stays: Ctrl-C while the call waited. */
PyObject *py_fail(tutti_status status);
/* The same with another text. */
PyObject *py_fail_with(tutti_status status, const char *text);
/* This thread runs handlers of signals in the middle of a call that waits. */
extern _Thread_local bool py_asks;
/* What tutti asks while a call waits: handles signals as Python does; an exception gives up the call. Not while a call
 * of another user of the context waits (tutti_context_shared). */
int py_interrupted(void *unused);
/* Before it is asked in this process; a fork may have another one. -1: an exception is set. */
int py_find_main_thread(void);
/* Around calls of tutti that may wait: Python's other threads run meanwhile. */
extern _Thread_local bool py_waits; /* this thread is between the two */
#define PY_CALL_BEGIN                                                                                                  \
  Py_BEGIN_ALLOW_THREADS;                                                                                              \
  const bool py_waited = py_waits;                                                                                     \
  py_waits = true
#define PY_CALL_END                                                                                                    \
  py_waits = py_waited;                                                                                                \
  Py_END_ALLOW_THREADS
/* The same where the call uses a communicator, which stays open meanwhile. */
#define PY_COMM_CALL_BEGIN(comm)                                                                                       \
  (comm)->calls++;                                                                                                     \
  (comm)->of->calls++;                                                                                                 \
  PY_CALL_BEGIN
#define PY_COMM_CALL_END(comm)                                                                                         \
  PY_CALL_END;                                                                                                         \
  (comm)->calls--;                                                                                                     \
  py_call_is_over((comm)->of)
/* An object of a type of this module, all zeros; and its end, once it holds nothing any more. */
PyObject *py_object_new(PyObject *type);
void py_object_free(PyObject *self);
/* NAME of a module. A new reference. */
PyObject *py_helper(const char *module, const char *name);

/* ---- view.c ---- */

#define VIEW_AXES 32

/* Elements of an object. Where they are not one behind the other, `data` is memory of its own. */
typedef struct py_view {
  Py_buffer buffer;  /* obj NULL: not of the buffer protocol */
  PyObject *capsule; /* of DLPack; NULL: not of it */
  void *data;        /* NULL: there is no object */
  void *copy;        /* data, where that is its own memory */
  char *base;        /* of the object's first element */
  int64_t count;     /* of elements */
  int64_t bytes;     /* of one */
  tutti_type type;
  int axes;
  int64_t shape[VIEW_AXES], stride[VIEW_AXES]; /* stride: in bytes */
  bool writes;
} py_view;

/* name: of the argument, for errors. -1: an exception is set. */
void py_view_clear(py_view *view); /* there is none */
int py_view_begin(PyObject *object, const char *name, bool writes, py_view *view);
/* Brings what the object holds now to `data`, and what `data` holds to an object that is written; nothing to do where
 * they are the same. */
void py_view_load(const py_view *view);
void py_view_store(const py_view *view);
/* Lets go of the object. */
void py_view_end(py_view *view);

/* ---- boot.c ---- */

/* How ranks find each other, where a Python function says it. */
typedef struct py_boot {
  tutti_boot boot;
  PyObject *allgather; /* borrowed */
} py_boot;

/* given: (rank, size, allgather). It must stay where it is, and `given` live, while a context is created with it. -1:
 * an exception is set. */
int py_boot_read(PyObject *given, py_boot *boot);

/* ---- context.c, comm.c ---- */

typedef struct py_context {
  PyObject_HEAD tutti_context *context; /* NULL: closed */
  int64_t parts;                        /* communicators and memory of it that are open */
  int64_t calls;                        /* that threads are in, and may wait in */
  pid_t process;                        /* that has joined the job: its forks end without leaving it */
  bool threads;                         /* it has a thread of tutti's: any of the program's may call at any time */
  bool left;                            /* the program ends while a thread is in a call: nothing is freed any more */
  struct py_part *late;                 /* what has no reference any more, and ends with the last call */
} py_context;

/* NULL, with an exception, where it is closed. */
tutti_context *py_context_open(const py_context *self);

/* Of tutti_alloc. */
typedef struct py_memory {
  PyObject_HEAD py_context *of;
  void *data;
  Py_ssize_t bytes;
} py_memory;

/* Something of a communicator that must end before it: a link in its list. Communicators, graphs and requests have it
 * in front. */
typedef struct py_part {
  struct py_part *next, **at; /* at NULL: it is in no list */
} py_part;

/* For what begins so and has no reference any more. True: it ends later, since a thread is in a call, beside which
 * nothing else may be in tutti: the garbage collector runs in any thread. */
bool py_ends_later(py_context *of, PyObject *object);
/* A thread has come back from a call. */
void py_call_is_over(py_context *of);
/* Around calls of tutti that end something, and never wait: Python's other threads run meanwhile only where they may be
 * in tutti, too. */
#define PY_DESTROY_BEGIN(of) PyThreadState *const py_others = (of)->threads ? PyEval_SaveThread() : NULL
#define PY_DESTROY_END                                                                                                 \
  do {                                                                                                                 \
    if (py_others)                                                                                                     \
      PyEval_RestoreThread(py_others);                                                                                 \
  } while (0)

typedef struct py_comm {
  PyObject_HEAD py_part part; /* of the open ones */
  py_context *of;
  tutti_comm *comm; /* NULL: closed */
  int64_t rank, size;
  int64_t calls;       /* that threads are in, but for those of requests */
  int64_t lone;        /* of these, what is no request of tutti's either: nothing may begin in the middle of it */
  py_part *requests;   /* persistent ones that are there */
  py_part *graphs;     /* that are open */
  PyObject *running;   /* a set of requests, which hold what they use until they are complete */
  Py_ssize_t sweep_at; /* with so many, complete ones are looked for */
} py_comm;

extern PyType_Spec py_context_spec, py_comm_spec, py_memory_spec;
extern PyType_Spec py_graph_spec; /* graph.c */
PyObject *py_graph_make(PyObject *comm, PyObject *args);
void py_graph_close_all(py_comm *comm);
PyObject *py_comm_new(py_context *of, tutti_comm *comm); /* takes comm in any case */
void py_comm_prepare(void);                              /* before its type is made */
void py_part_add(py_part **list, py_part *part);
void py_part_remove(py_part *part);
/* NULL, with an exception, where it is closed. */
tutti_comm *py_comm_open(const py_comm *self);
/* The same, and where a handler of a signal asks in the middle of a call that nothing may begin in. */
tutti_comm *py_comm_ready(const py_comm *self);

/* ---- arrays.c: methods of a context ---- */

PyObject *py_arrays_handler(py_context *self, PyObject *unused);
PyObject *py_arrays_use(PyObject *unused, PyObject *args);

/* ---- calls.c ---- */

extern const PyMethodDef py_calls[]; /* the methods of a communicator; ends with an empty one */

/* ---- request.c ---- */

typedef struct py_request {
  PyObject_HEAD py_part part;
  py_comm *comm;
  PyObject *graph;        /* of a call along edges; NULL: of all ranks */
  tutti_request *request; /* NULL: complete, and not persistent */
  PyObject *result;       /* what wait() returns */
  py_view in, out;
  int64_t *words; /* memory of its lists */
  bool persistent, runs;
  bool busy;           /* a thread is in a call of tutti with it; no other one may be */
  tutti_status status; /* of the last call that has come to its end */
  char *why;           /* the text of its error; NULL: none */
  PyObject *bell;      /* whose descriptor is told when it is complete, and stays open until then; NULL: none */
  _Atomic int fd;      /* that descriptor */
  _Atomic bool ready;  /* it is: set before the descriptor is told, by any thread */
} py_request;

extern PyType_Spec py_request_spec;
/* A new one, empty. */
py_request *py_request_new(py_comm *comm, bool persistent);
/* It has been made in tutti; if it is not persistent it runs. -1: an exception is set. */
int py_request_begun(py_request *self);
/* Lets go of requests that have become complete and that the program has dropped; all: of those that it has, too. */
void py_request_sweep(py_comm *comm, bool all);
/* Returns when none runs any more, which the communicator has been given up for. */
void py_request_end_all(py_comm *comm);
/* The persistent ones end; they must not run. */
void py_request_close_all(py_comm *comm);

typedef struct py_types {
  PyObject *context, *comm, *graph, *memory, *request;
} py_types;
extern py_types py_type;

#endif
