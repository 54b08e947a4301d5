/* bindings/python/src/call.h - a call of a collective, from Python's arguments to one of the C API. */
#ifndef TUTTI_PYTHON_CALL_H
#define TUTTI_PYTHON_CALL_H

#include "python.h"

/* From some ranks, to some ranks. */
typedef struct py_graph {
  PyObject_HEAD py_part part;
  py_comm *comm;
  tutti_graph *graph; /* NULL: closed */
  int64_t in_count, out_count;
  int64_t requests; /* that use it, and blocking calls */
} py_graph;

typedef enum py_form { PY_BLOCKING, PY_START, PY_INIT } py_form;

/* What a buffer holds. */
typedef enum py_share {
  PY_ONE,   /* a block */
  PY_EACH,  /* a block for each rank, all of one length */
  PY_LISTED /* a block for each rank, of the lengths and at the places that arguments say */
} py_share;

typedef enum py_argument {
  PY_END, /* of a row's arguments */
  PY_IN,
  PY_OUT,
  PY_OP,
  PY_ROOT,
  PY_COUNTS, /* of the side that is listed */
  PY_OFFSETS,
  PY_IN_COUNTS,
  PY_IN_OFFSETS,
  PY_OUT_COUNTS,
  PY_OUT_OFFSETS
} py_argument;

typedef struct py_call py_call;

typedef struct py_row {
  const char *name;
  py_argument argument[8]; /* in order; none of the lists may be passed by a call that needs none */
  py_share in, out;
  bool in_of_root, out_of_root; /* only the root has it */
  bool none;                    /* it has no buffers */
  bool same;                    /* one argument is both: `in` of the root and `out` of the others */
  tutti_status (*invoke)(const py_call *of, tutti_request **made);
} py_row;

typedef struct py_list {
  PyObject *count, *offset; /* as passed; NULL: not */
  int64_t *counts, *offsets;
} py_list;

struct py_call {
  const py_row *row;
  py_comm *comm;
  py_graph *graph; /* of a call over edges; NULL: it is one of all ranks */
  py_form form;
  PyObject *in, *out; /* as passed; NULL: not, or None */
  PyObject *result;   /* a reference; NULL: none */
  tutti_op op;
  int64_t root;
  py_list list[2]; /* of in, out */
  int64_t *words;  /* memory of the lists */
  py_view view[2]; /* of in, out */
  int64_t count;   /* of elements in a block */
  tutti_type type;
};

/* calls.c: a call of a row, on a communicator or a graph of it. graph: NULL, or that. */
PyObject *py_call_make(py_comm *comm, py_graph *graph, const py_row *row, py_form form, PyObject *const *args,
                       Py_ssize_t count, PyObject *names);
/* arguments.c: -1: an exception is set. */
int py_call_read(py_call *of, PyObject *const *args, Py_ssize_t count, PyObject *names);
/* sides.c: both buffers, the lists, and what they say together. py_call_end follows in any case. */
int py_call_begin(py_call *of);
void py_call_end(py_call *of);

#endif
