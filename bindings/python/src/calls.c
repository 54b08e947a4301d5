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
  Py_BEGIN_ALLOW_THREADS;
  status = of->row->invoke(of, NULL);
  Py_END_ALLOW_THREADS;
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
  Py_BEGIN_ALLOW_THREADS;
  status = of->row->invoke(of, &made->request);
  Py_END_ALLOW_THREADS;
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
  if (!py_comm_open(of.comm) || py_call_read(&of, args, count, names) != 0)
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
    ENTRIES(allreduce, ", data, out=None, op='sum'",
            "Combines `data` of all ranks; every rank gets the result. In place where out is data."),
    ENTRIES(reduce, ", data, out=None, op='sum', root=0",
            "Combines `data` of all ranks; the root gets the result, the others None."),
    ENTRIES(reduce_scatter, ", data, out=None, op='sum'",
            "Combines `data` of all ranks, whose first axis is the ranks'; each rank gets its part."),
    ENTRIES(reduce_scatterv, ", data, out, counts, op='sum'",
            "Combines `data` of all ranks; each rank gets its part, rank r's of counts[r] elements."),
    ENTRIES(scan, ", data, out=None, op='sum'", "Combines `data` of the ranks up to this one."),
    ENTRIES(exscan, ", data, out=None, op='sum'",
            "Combines `data` of the ranks before this one; rank 0's `out` keeps its content."),
    ENTRIES(broadcast, ", data, root=0", "Brings the root's buffer to those of all other ranks."),
    ENTRIES(gather, ", data, out=None, root=0",
            "Brings `data` of all ranks to the root, where the first axis of the result is the ranks'."),
    ENTRIES(gatherv, ", data, out, counts, offsets=None, root=0",
            "Brings `data` of all ranks to the root: counts[r] elements of rank r."),
    ENTRIES(scatter, ", data, out=None, root=0",
            "Brings each rank its part of the root's `data`, whose first axis is the ranks'."),
    ENTRIES(scatterv, ", data, out, counts, offsets=None, root=0",
            "Brings each rank its part of the root's `data`: counts[r] elements to rank r."),
    ENTRIES(allgather, ", data, out=None",
            "Brings `data` of all ranks to every rank; the first axis of the result is the ranks'."),
    ENTRIES(allgatherv, ", data, out, counts, offsets=None",
            "Brings `data` of all ranks to every rank: counts[r] elements of rank r."),
    ENTRIES(all_to_all, ", data, out=None",
            "Brings data[r] to rank r, as out[rank]: the first axis of both is the ranks'."),
    ENTRIES(all_to_allv, ", data, counts, out, out_counts, offsets=None, out_offsets=None",
            "Brings counts[r] elements to rank r, and out_counts[r] from it."),
    ENTRIES(barrier, "", "Returns when every rank has called it."),
    {NULL, NULL, 0, NULL}};
