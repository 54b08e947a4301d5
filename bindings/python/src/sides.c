/* bindings/python/src/sides.c - the buffers of a call: what is there on this rank, whether both sides agree about the
 * length and the type, and whether the blocks of lists lie inside. */
#include "call.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const side_names[] = {"data", "out"};

static bool has_side(const py_call *of, int side) {
  const py_row *row = of->row;
  bool is_root = of->comm->rank == of->root;
  if (row->none)
    return false;
  if (row->same)
    return side == (is_root ? 0 : 1);
  return !(side == 0 ? row->in_of_root : row->out_of_root) || is_root;
}

static py_share share_of(const py_call *of, int side) { return side == 0 ? of->row->in : of->row->out; }

/* So many blocks a side has that has one for each rank, or for each neighbor. */
static int64_t parts_of(const py_call *of, int side) {
  return !of->graph ? of->comm->size : side == 0 ? of->graph->out_count : of->graph->in_count;
}

static const char *parts_name(const py_call *of) { return of->graph ? "neighbors" : "ranks"; }

/* ---- lists ---- */

static int read_list(const py_call *of, PyObject *given, const char *what, int side, int64_t *words) {
  PyObject *fast = PySequence_List(given);
  Py_ssize_t count = fast ? PyList_Size(fast) : -1;
  if (count >= 0 && count != parts_of(of, side))
    PyErr_Format(PyExc_ValueError, "%s: %s of %s are %zd; there are %" PRId64 " %s", of->row->name, what,
                 side_names[side], count, parts_of(of, side), parts_name(of));
  for (Py_ssize_t n = 0; n < count && !PyErr_Occurred(); n++)
    words[n] = PyLong_AsLongLong(PyList_GetItem(fast, n));
  Py_XDECREF(fast);
  return PyErr_Occurred() ? -1 : 0;
}

/* Blocks one after the other where no offsets were passed. */
static int check_blocks(const py_call *of, int side) {
  const py_list *list = &of->list[side];
  int64_t all = of->view[side].count, packed = 0;
  for (int64_t r = 0; r < parts_of(of, side); r++) {
    int64_t count = list->counts[r], at = list->offsets ? list->offsets[r] : packed;
    if (count < 0 || at < 0 || count > all || at > all - count) {
      PyErr_Format(PyExc_ValueError,
                   "%s: block %" PRId64 " of %s is %" PRId64 " elements from %" PRId64 " on; there are %" PRId64,
                   of->row->name, r, side_names[side], count, at, all);
      return -1;
    }
    packed += count;
  }
  return 0;
}

static int begin_list(py_call *of, int side) {
  py_list *list = &of->list[side];
  if (!list->count) {
    PyErr_Format(PyExc_TypeError, "%s needs the counts of %s", of->row->name, side_names[side]);
    return -1;
  }
  int64_t most = 1 + (parts_of(of, 0) > parts_of(of, 1) ? parts_of(of, 0) : parts_of(of, 1));
  if (!of->words && !(of->words = calloc((size_t)most, 4 * sizeof *of->words))) {
    PyErr_NoMemory();
    return -1;
  }
  list->counts = of->words + 2 * side * most;
  if (read_list(of, list->count, "counts", side, list->counts) != 0)
    return -1;
  if (list->offset) {
    list->offsets = list->counts + most;
    if (read_list(of, list->offset, "offsets", side, list->offsets) != 0)
      return -1;
  }
  return check_blocks(of, side);
}

/* ---- what both sides say ---- */

#define UNKNOWN (-1) /* of a side that is not there, or has no blocks */

/* Elements behind the first axis: those of a block where there is none of them. */
static int64_t row_of(const py_view *view) {
  int64_t count = view->axes > 0 ? 1 : UNKNOWN;
  for (int axis = 1; axis < view->axes; axis++)
    count *= view->shape[axis];
  return count;
}

/* Elements of a block of that side. */
static int find_block(const py_call *of, int side, int64_t *block) {
  int64_t count = of->view[side].count, parts = parts_of(of, side);
  if (share_of(of, side) != PY_EACH) {
    *block = count;
    return 0;
  }
  *block = parts > 0 ? count / parts : row_of(&of->view[side]);
  if (parts > 0 ? count % parts == 0 : count == 0)
    return 0;
  PyErr_Format(PyExc_ValueError, "%s: %s has %" PRId64 " elements, which %" PRId64 " %s cannot share evenly",
               of->row->name, side_names[side], count, parts, parts_name(of));
  return -1;
}

static int differ(const py_call *of, int64_t in) {
  PyErr_Format(PyExc_ValueError,
               "%s: data has %" PRId64 " elements and out %" PRId64 "; with %" PRId64 " %s out must have %" PRId64,
               of->row->name, of->view[0].count, of->view[1].count, parts_of(of, 1), parts_name(of),
               of->row->out == PY_EACH ? in * parts_of(of, 1) : in);
  return -1;
}

/* Where one side has a list for all ranks, it says how long this rank's block on the other side is. */
static int agree_with_list(const py_call *of) {
  int listed = of->row->in == PY_LISTED ? 0 : 1;
  bool both = of->row->in == PY_LISTED && of->row->out == PY_LISTED;
  if (both || of->graph || of->list[listed].counts[of->comm->rank] == of->view[1 - listed].count)
    return 0;
  PyErr_Format(PyExc_ValueError, "%s: %s has %" PRId64 " elements, and counts has %" PRId64 " for this rank",
               of->row->name, side_names[1 - listed], of->view[1 - listed].count,
               of->list[listed].counts[of->comm->rank]);
  return -1;
}

static int agree(py_call *of) {
  int64_t block[2] = {UNKNOWN, UNKNOWN};
  for (int side = 1; side >= 0; side--) {
    if (!has_side(of, side))
      continue;
    if (find_block(of, side, &block[side]) != 0)
      return -1;
    of->type = of->view[side].type;
    if (share_of(of, side) != PY_LISTED && block[side] != UNKNOWN)
      of->count = block[side];
  }
  if (!has_side(of, 0) || !has_side(of, 1))
    return 0;
  if (of->view[0].type != of->view[1].type) {
    PyErr_Format(PyExc_TypeError, "%s: data has elements of type %s, out of type %s", of->row->name,
                 tutti_type_name(of->view[0].type), tutti_type_name(of->view[1].type));
    return -1;
  }
  if (of->row->in == PY_LISTED || of->row->out == PY_LISTED)
    return agree_with_list(of);
  bool open = block[0] == UNKNOWN || block[1] == UNKNOWN;
  return open || block[0] == block[1] ? 0 : differ(of, block[0]);
}

/* ---- buffers ---- */

/* tutti._arrays.result(data, parts of data, parts of out, name): an array like `data`. -1: it is one. */
static PyObject *make_result(const py_call *of) {
  static PyObject *helper;
  if (!of->in || of->row->in == PY_LISTED || of->row->out == PY_LISTED) {
    PyErr_Format(PyExc_TypeError, "%s needs out on this rank", of->row->name);
    return NULL;
  }
  if (!helper && !(helper = py_helper("tutti._arrays", "result")))
    return NULL;
  return PyObject_CallFunction(helper, "OLLs", of->in, of->row->in == PY_EACH ? parts_of(of, 0) : (int64_t)-1,
                               of->row->out == PY_EACH ? parts_of(of, 1) : (int64_t)-1, of->row->name);
}

static int find_result(py_call *of) {
  PyObject *given = of->row->same ? of->in : of->out;
  if (given)
    Py_INCREF(given);
  of->result = given ? given : make_result(of);
  return of->result ? 0 : -1;
}

int py_call_begin(py_call *of) {
  if ((has_side(of, 0) || of->row->same) && !of->in) {
    PyErr_Format(PyExc_TypeError, "%s needs data on this rank", of->row->name);
    return -1;
  }
  if ((has_side(of, 1) || of->row->same) && find_result(of) != 0)
    return -1;
  if (has_side(of, 0) && py_view_begin(of->in, "data", false, &of->view[0]) != 0)
    return -1;
  if (has_side(of, 1) && py_view_begin(of->result, of->row->same ? "data" : "out", true, &of->view[1]) != 0)
    return -1;
  for (int side = 0; side < 2; side++)
    if (has_side(of, side) && share_of(of, side) == PY_LISTED && begin_list(of, side) != 0)
      return -1;
  return agree(of);
}

void py_call_end(py_call *of) {
  py_view_end(&of->view[0]);
  py_view_end(&of->view[1]);
  free(of->words);
  of->words = NULL;
}
