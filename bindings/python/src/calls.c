/* bindings/python/src/calls.c - the collectives as methods of a communicator: allreduce(data, out=None, op="sum"),
 * allreduce_start, which returns a request, and allreduce_init, whose request starts any number of times.
 *
 * Each collective is a row: its arguments, what `data` and `out` hold, and the call of the C API. Without `out`, a
 * result like `data` is made (tutti/_arrays.py). */
#include "rows.h"

/* ---- calls of the C API ---- */

#define ON of->comm->comm
#define MAKE(self, row, form, args, count, names) py_call_make((py_comm *)self, NULL, row, form, args, count, names)

FORMS(allreduce, IN, OUT, of->count, of->type, of->op)
FORMS(reduce, IN, OUT, of->count, of->type, of->op, of->root)
FORMS(reduce_scatter, IN, OUT, of->count, of->type, of->op)
FORMS(reduce_scatterv, IN, OUT, of->list[0].counts, of->type, of->op)
FORMS(scan, IN, OUT, of->count, of->type, of->op)
FORMS(exscan, IN, OUT, of->count, of->type, of->op)
FORMS(broadcast, IN, OUT ? OUT : IN, of->count, of->type, of->root)
FORMS(gather, IN, OUT, of->count, of->type, of->root)
FORMS(gatherv, IN, of->count, OUT, OUT_LIST, of->type, of->root)
FORMS(scatter, IN, OUT, of->count, of->type, of->root)
FORMS(scatterv, IN, IN_LIST, OUT, of->count, of->type, of->root)
FORMS(allgather, IN, OUT, of->count, of->type)
FORMS(allgatherv, IN, OUT, OUT_LIST, of->type)
FORMS(all_to_all, IN, OUT, of->count, of->type)
FORMS(all_to_allv, IN, IN_LIST, OUT, OUT_LIST, of->type)

static tutti_status invoke_barrier(const py_call *of, tutti_request **made) {
  tutti_comm *comm = of->comm->comm;
  if (of->form == PY_BLOCKING)
    return tutti_barrier(comm);
  return of->form == PY_START ? tutti_barrier_start(comm, made) : tutti_barrier_init(comm, made);
}

/* ---- from a row to a result ---- */

static PyObject *run(py_call *of) {
  tutti_status status;
  const bool lone = !of->comm->of->threads; /* with a thread it is a request, too */
  of->comm->lone += lone;
  if (of->graph)
    of->graph->requests++;
  PY_COMM_CALL_BEGIN(of->comm);
  status = of->row->invoke(of, NULL);
  PY_COMM_CALL_END(of->comm);
  of->comm->lone -= lone;
  if (of->graph)
    of->graph->requests--;
  if (status == TUTTI_OK)
    py_view_store(&of->view[1]);
  py_call_end(of);
  if (status != TUTTI_OK) {
    Py_CLEAR(of->result);
    return py_fail(status);
  }
  if (!of->result)
    Py_RETURN_NONE;
  return of->result;
}

/* The request takes over what the call has. */
static PyObject *make_request(py_call *of) {
  py_request *made = py_request_new(of->comm, of->form == PY_INIT);
  tutti_status status;
  if (!made) {
    py_call_end(of);
    Py_CLEAR(of->result);
    return NULL;
  }
  made->in = of->view[0];
  made->out = of->view[1];
  made->words = of->words;
  made->result = of->result;
  if (of->graph) {
    Py_INCREF((PyObject *)of->graph);
    made->graph = (PyObject *)of->graph;
    of->graph->requests++;
  }
  PY_COMM_CALL_BEGIN(of->comm);
  status = of->row->invoke(of, &made->request);
  PY_COMM_CALL_END(of->comm);
  if (status == TUTTI_OK && py_request_begun(made) == 0)
    return (PyObject *)made;
  Py_DECREF((PyObject *)made);
  return py_fail(status);
}

PyObject *py_call_make(py_comm *comm, py_graph *graph, const py_row *row, py_form form, PyObject *const *args,
                       Py_ssize_t count, PyObject *names) {
  py_call of; /* views are long, and set where they are used */
  of.row = row;
  of.comm = comm;
  of.graph = graph;
  of.form = form;
  of.in = of.out = of.result = NULL;
  of.op = TUTTI_SUM;
  of.root = 0;
  of.list[0] = of.list[1] = (py_list){.count = NULL};
  of.words = NULL;
  of.count = 0;
  of.type = TUTTI_BYTE;
  py_view_clear(&of.view[0]);
  py_view_clear(&of.view[1]);
  if (!py_comm_ready(of.comm) || py_call_read(&of, args, count, names) != 0)
    return NULL;
  if (py_call_begin(&of) != 0) {
    py_call_end(&of);
    Py_CLEAR(of.result);
    return NULL;
  }
  return form == PY_BLOCKING ? run(&of) : make_request(&of);
}

/* ---- methods ---- */

ROW(allreduce, ARGUMENTS(PY_IN, PY_OUT, PY_OP))
ROW(reduce, ARGUMENTS(PY_IN, PY_OUT, PY_OP, PY_ROOT), .out_of_root = true)
ROW(reduce_scatter, ARGUMENTS(PY_IN, PY_OUT, PY_OP), .in = PY_EACH)
ROW(reduce_scatterv, ARGUMENTS(PY_IN, PY_OUT, PY_COUNTS, PY_OP), .in = PY_LISTED)
ROW(scan, ARGUMENTS(PY_IN, PY_OUT, PY_OP))
ROW(exscan, ARGUMENTS(PY_IN, PY_OUT, PY_OP))
ROW(broadcast, ARGUMENTS(PY_IN, PY_ROOT), .same = true)
ROW(gather, ARGUMENTS(PY_IN, PY_OUT, PY_ROOT), .out = PY_EACH, .out_of_root = true)
ROW(gatherv, ARGUMENTS(PY_IN, PY_OUT, PY_COUNTS, PY_OFFSETS, PY_ROOT), .out = PY_LISTED, .out_of_root = true)
ROW(scatter, ARGUMENTS(PY_IN, PY_OUT, PY_ROOT), .in = PY_EACH, .in_of_root = true)
ROW(scatterv, ARGUMENTS(PY_IN, PY_OUT, PY_COUNTS, PY_OFFSETS, PY_ROOT), .in = PY_LISTED, .in_of_root = true)
ROW(allgather, ARGUMENTS(PY_IN, PY_OUT), .out = PY_EACH)
ROW(allgatherv, ARGUMENTS(PY_IN, PY_OUT, PY_COUNTS, PY_OFFSETS), .out = PY_LISTED)
ROW(all_to_all, ARGUMENTS(PY_IN, PY_OUT), .in = PY_EACH, .out = PY_EACH)
ROW(all_to_allv, ARGUMENTS(PY_IN, PY_IN_COUNTS, PY_OUT, PY_OUT_COUNTS, PY_IN_OFFSETS, PY_OUT_OFFSETS), .in = PY_LISTED,
    .out = PY_LISTED)
ROW(barrier, .none = true)

const PyMethodDef py_calls[] = {
    ENTRIES("comm", allreduce, ", data, out=None, op='sum'",
            "Combines `data` of all ranks; every rank gets the result.\n\ndata: any shape, of one length and type on "
            "all ranks, that `op` combines. out: as many elements of that type; data itself: in place. Returns out, or "
            "a new array like data.",
            "", "numpy.array([1, comm.rank])", "array([2, 1])"),
    ENTRIES("comm", reduce, ", data, out=None, op='sum', root=0",
            "Combines `data` of all ranks; the root gets the result, the others None.\n\ndata: any shape, of one "
            "length and type on all ranks, that `op` combines. out: on the root, as many elements of that type; data "
            "itself: in place.",
            "", "numpy.array([1, comm.rank])", "array([2, 1])"),
    ENTRIES("comm", reduce_scatter, ", data, out=None, op='sum'",
            "Combines `data` of all ranks and cuts the result; each rank gets its part.\n\ndata: its first axis is the "
            "ranks'; with `out`, any shape with as many elements for each rank. Returns out, or a new array like "
            "data[rank].",
            "", "numpy.array([[1, 2], [3, 4]])", "array([2, 4])"),
    ENTRIES(
        "comm", reduce_scatterv, ", data, out, counts, op='sum'",
        "Combines `data` of all ranks and cuts the result into parts of different lengths.\n\ncounts: a number of "
        "elements for each rank, the same list on all; data has their sum. out: counts[rank] elements. Returns out.",
        "", "numpy.array([1, 2, 3]), numpy.zeros([2, 1][comm.rank], int), [2, 1]", "array([2, 4])"),
    ENTRIES("comm", scan, ", data, out=None, op='sum'",
            "Combines `data` of the ranks up to this one.\n\ndata: any shape, of one length and type on all ranks, "
            "that `op` combines. Returns out, or a new array like data.",
            "", "numpy.array([comm.rank + 1])", "array([1])"),
    ENTRIES("comm", exscan, ", data, out=None, op='sum'",
            "Combines `data` of the ranks before this one.\n\ndata: any shape, of one length and type on all ranks, "
            "that `op` combines. Returns out, or a new array like data. Rank 0's keeps its content: pass out there.",
            "", "numpy.array([7]), out=numpy.array([0])", "array([0])"),
    ENTRIES("comm", broadcast, ", data, root=0",
            "Brings the root's buffer to those of all other ranks.\n\ndata: any shape and type, of one length on all "
            "ranks; it is written to on all but the root. Returns data.",
            "", "numpy.array([1, 2]) if comm.rank == 0 else numpy.zeros(2, int)", "array([1, 2])"),
    ENTRIES(
        "comm", gather, ", data, out=None, root=0",
        "Brings `data` of all ranks to the root; the others get None.\n\ndata: any shape and type, of one length on "
        "all ranks. out: on the root, with room for all. Returns out, or a new array whose first axis is the ranks'.",
        "", "numpy.array([5, comm.rank])", "array([[5, 0],\n       [5, 1]])"),
    ENTRIES("comm", gatherv, ", data, out, counts, offsets=None, root=0",
            "Brings `data` of all ranks to the root, where their lengths differ.\n\ncounts, offsets: for each rank, "
            "how many elements of it there are and where they begin in out; one behind the other without offsets. out "
            "is needed on the root. Returns out.",
            "", "numpy.full(comm.rank + 1, 5), numpy.zeros(3, int), [1, 2]", "array([5, 5, 5])"),
    ENTRIES("comm", scatter, ", data, out=None, root=0",
            "Brings each rank its part of the root's `data`.\n\ndata: on the root, its first axis is the ranks'. out: "
            "needed on all ranks but the root, where a new array like data[0] is made. Returns out.",
            ">>> data = numpy.array([[1, 2], [3, 4]]) if comm.rank == 0 else None\n", "data, numpy.zeros(2, int)",
            "array([1, 2])"),
    ENTRIES("comm", scatterv, ", data, out, counts, offsets=None, root=0",
            "Brings each rank its part of the root's `data`, where their lengths differ.\n\ncounts, offsets: for each "
            "rank, how many elements it gets and where they begin in data; one behind the other without offsets. out: "
            "counts[rank] elements. Returns out.",
            ">>> data = numpy.array([1, 2, 3]) if comm.rank == 0 else None\n",
            "data, numpy.zeros([2, 1][comm.rank], int), [2, 1]", "array([1, 2])"),
    ENTRIES("comm", allgather, ", data, out=None",
            "Brings `data` of all ranks to every rank.\n\ndata: any shape and type, of one length on all ranks. out: "
            "with room for all. Returns out, or a new array whose first axis is the ranks'.",
            "", "numpy.array([5, comm.rank])", "array([[5, 0],\n       [5, 1]])"),
    ENTRIES(
        "comm", allgatherv, ", data, out, counts, offsets=None",
        "Brings `data` of all ranks to every rank, where their lengths differ.\n\ncounts, offsets: for each rank, how "
        "many elements of it there are and where they begin in out; one behind the other without offsets. Returns out.",
        "", "numpy.full(comm.rank + 1, comm.rank), numpy.zeros(3, int), [1, 2]", "array([0, 1, 1])"),
    ENTRIES("comm", all_to_all, ", data, out=None",
            "Brings data[r] to rank r, where it is out[rank].\n\ndata: its first axis is the ranks'; with `out`, any "
            "shape with as many elements for each rank. Returns out, or a new array like data.",
            "", "numpy.array([10, 11]) + 10 * comm.rank", "array([10, 20])"),
    ENTRIES("comm", all_to_allv, ", data, counts, out, out_counts, offsets=None, out_offsets=None",
            "Brings each rank a part of `data`, where their lengths differ.\n\ncounts, offsets: how many elements each "
            "rank gets and where they begin in data; out_counts, out_offsets: how many come from each and where they "
            "begin in out; one behind the other without offsets. Returns out.",
            ">>> counts = [1, 2] if comm.rank == 0 else [1, 0]\n>>> back = [1, 1] if comm.rank == 0 else [2, 0]\n",
            "numpy.full(sum(counts), comm.rank), counts, numpy.zeros(sum(back), int), back", "array([0, 1])"),
    ENTRIES("comm", barrier, "", "Returns when every rank has called it.", "", "", ""),
    {NULL, NULL, 0, NULL}};
