/* bindings/python/src/graph.c - graphs over a communicator, and the collectives along their edges. */
#include "rows.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- calls ---- */

#define ON of->graph->graph
#define MAKE make

FORMS(neighbor_allgather, IN, OUT, of->count, of->type)
FORMS(neighbor_allgatherv, IN, of->count, OUT, OUT_LIST, of->type)
FORMS(neighbor_all_to_all, IN, OUT, of->count, of->type)
FORMS(neighbor_all_to_allv, IN, IN_LIST, OUT, OUT_LIST, of->type)

static PyObject *make(PyObject *object, const py_row *row, py_form form, PyObject *const *args, Py_ssize_t count,
                      PyObject *names) {
  py_graph *self = (py_graph *)object;
  if (self->graph)
    return py_call_make(self->comm, self, row, form, args, count, names);
  PyErr_SetString(PyExc_ValueError, "the graph is closed");
  return NULL;
}

ROW(neighbor_allgather, ARGUMENTS(PY_IN, PY_OUT), .out = PY_EACH)
ROW(neighbor_allgatherv, ARGUMENTS(PY_IN, PY_OUT, PY_COUNTS, PY_OFFSETS), .out = PY_LISTED)
ROW(neighbor_all_to_all, ARGUMENTS(PY_IN, PY_OUT), .in = PY_EACH, .out = PY_EACH)
ROW(neighbor_all_to_allv, ARGUMENTS(PY_IN, PY_IN_COUNTS, PY_OUT, PY_OUT_COUNTS, PY_IN_OFFSETS, PY_OUT_OFFSETS),
    .in = PY_LISTED, .out = PY_LISTED)

/* ---- graphs ---- */

static int64_t *read_ranks(PyObject *given, int64_t *count) {
  PyObject *list = PySequence_List(given);
  int64_t *ranks = list ? calloc((size_t)PyList_Size(list) + 1, sizeof *ranks) : NULL;
  *count = list ? PyList_Size(list) : 0;
  for (Py_ssize_t n = 0; ranks && n < PyList_Size(list) && !PyErr_Occurred(); n++)
    ranks[n] = PyLong_AsLongLong(PyList_GetItem(list, n));
  if (list && !ranks)
    PyErr_NoMemory();
  Py_XDECREF(list);
  if (!PyErr_Occurred())
    return ranks;
  free(ranks);
  return NULL;
}

static py_graph *new_graph(py_comm *comm) {
  py_graph *made = (py_graph *)py_object_new(py_type.graph);
  if (!made)
    return NULL;
  Py_INCREF((PyObject *)comm);
  made->comm = comm;
  return made;
}

PyObject *py_graph_make(PyObject *object, PyObject *args) {
  py_comm *comm = (py_comm *)object;
  PyObject *from, *to;
  if (!PyArg_ParseTuple(args, "OO:graph", &from, &to) || !py_comm_ready(comm))
    return NULL;
  py_graph *made = new_graph(comm);
  int64_t *sources = made ? read_ranks(from, &made->in_count) : NULL;
  int64_t *destinations = sources ? read_ranks(to, &made->out_count) : NULL;
  tutti_status status = TUTTI_OK;
  if (destinations) {
    comm->lone++;
    PY_COMM_CALL_BEGIN(comm);
    status = tutti_graph_create(comm->comm, made->in_count, sources, made->out_count, destinations, &made->graph);
    PY_COMM_CALL_END(comm);
    comm->lone--;
  }
  free(sources);
  free(destinations);
  if (made && made->graph) {
    py_part_add(&comm->graphs, &made->part);
    return (PyObject *)made;
  }
  Py_XDECREF((PyObject *)made);
  return status == TUTTI_OK ? NULL : py_fail(status);
}

static void close_graph(py_graph *self) {
  tutti_graph *graph = self->graph;
  if (!graph)
    return;
  py_part_remove(&self->part);
  self->graph = NULL;
  if (self->comm->of->left)
    return;
  PY_DESTROY_BEGIN(self->comm->of);
  tutti_graph_destroy(graph);
  PY_DESTROY_END;
}

void py_graph_close_all(py_comm *comm) {
  while (comm->graphs)
    close_graph((py_graph *)((char *)comm->graphs - offsetof(py_graph, part)));
}

static PyObject *graph_close(py_graph *self, PyObject *unused) {
  (void)unused;
  if (self->requests > 0)
    return PyErr_Format(PyExc_ValueError, "the graph has %" PRId64 " requests or calls; let go of them first",
                        self->requests);
  close_graph(self);
  Py_RETURN_NONE;
}

static void graph_dealloc(PyObject *object) {
  py_graph *self = (py_graph *)object;
  if (self->graph && py_ends_later(self->comm->of, object))
    return;
  close_graph(self);
  Py_XDECREF((PyObject *)self->comm);
  py_object_free(object);
}

static PyMethodDef methods[] = {
    ENTRIES("graph", neighbor_allgather, ", data, out=None",
            "Brings `data` to every destination.\n\ndata: any shape and type, of one length on all ranks with edges. "
            "Returns out, or a new array whose first axis is the sources': [n] comes from source n.",
            ">>> graph = comm.graph([1 - comm.rank], [1 - comm.rank])\n", "numpy.array([comm.rank])", "array([[1]])"),
    ENTRIES("graph", neighbor_allgatherv, ", data, out, counts, offsets=None",
            "Brings `data` to every destination, where lengths differ.\n\ncounts, offsets: for each source, how many "
            "elements come from it and where they begin in out; one behind the other without offsets. Returns out.",
            ">>> graph = comm.graph([1 - comm.rank], [1 - comm.rank])\n",
            "numpy.full(comm.rank + 1, 5), numpy.zeros(2 - comm.rank, int), [2 - comm.rank]", "array([5, 5])"),
    ENTRIES("graph", neighbor_all_to_all, ", data, out=None",
            "Brings data[n] to destination n.\n\ndata: its first axis is the destinations'. Returns out, or a new "
            "array whose first axis is the sources': [n] comes from source n.",
            ">>> graph = comm.graph([1 - comm.rank], [1 - comm.rank])\n", "numpy.array([[comm.rank, 7]])",
            "array([[1, 7]])"),
    ENTRIES("graph", neighbor_all_to_allv, ", data, counts, out, out_counts, offsets=None, out_offsets=None",
            "Brings each destination a part of `data`, where lengths differ.\n\ncounts, offsets: how many elements "
            "each destination gets and where they begin in data; out_counts, out_offsets: how many come from each "
            "source and where they begin in out; one behind the other without offsets. Returns out.",
            ">>> graph = comm.graph([1 - comm.rank], [1 - comm.rank])\n",
            "numpy.full(comm.rank + 1, 5), [comm.rank + 1], numpy.zeros(2 - comm.rank, int), [2 - comm.rank]",
            "array([5, 5])"),
    {"close", (PyCFunction)graph_close, METH_NOARGS,
     "close($self, /)\n--\n\nFrees the graph. Local. A ValueError where requests of it are there, or a thread is in a "
     "call along its edges.\n\n"
     ">>> comm.graph([], []).close()\n"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc, "From which ranks this one gets, and to which it gives, in the neighbor collectives. Comm.graph makes "
                "it.\n\n>>> other = 1 - comm.rank\n>>> graph = comm.graph([other, other], [other, other])\n"
                ">>> graph.neighbor_all_to_all(numpy.array([1, 2]))\narray([1, 2])\n"},
    {Py_tp_dealloc, (void *)graph_dealloc},
    {Py_tp_methods, methods},
    {0, NULL}};

PyType_Spec py_graph_spec = {"tutti.Graph", sizeof(py_graph), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             slots};
