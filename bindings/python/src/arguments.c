/* bindings/python/src/arguments.c - the arguments of a collective, by place or by name, as its row lists them. */
#include "call.h"

#include <inttypes.h>

static const char *const argument_names[] = {
    [PY_IN] = "data",
    [PY_OUT] = "out",
    [PY_OP] = "op",
    [PY_ROOT] = "root",
    [PY_COUNTS] = "counts",
    [PY_OFFSETS] = "offsets",
    [PY_IN_COUNTS] = "counts",
    [PY_IN_OFFSETS] = "offsets",
    [PY_OUT_COUNTS] = "out_counts",
    [PY_OUT_OFFSETS] = "out_offsets",
};

static int read_op(PyObject *value, tutti_op *op) {
  if (!PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "op is %R; it must be a string such as 'sum'", value);
    return -1;
  }
  for (int n = 0; n < TUTTI_OP_COUNT; n++)
    if (PyUnicode_CompareWithASCIIString(value, tutti_op_name((tutti_op)n)) == 0) {
      *op = (tutti_op)n;
      return 0;
    }
  PyErr_Format(PyExc_ValueError,
               "op is %R; there are sum, product, min, max, average, min-loc, max-loc, logical-and, logical-or, "
               "logical-xor, bit-and, bit-or and bit-xor",
               value);
  return -1;
}

static int read_root(const py_call *of, PyObject *value, int64_t *root) {
  *root = PyLong_AsLongLong(value);
  if (*root == -1 && PyErr_Occurred())
    return -1;
  if (*root >= 0 && *root < of->comm->size)
    return 0;
  PyErr_Format(PyExc_ValueError, "%s: root is %R; there are %" PRId64 " ranks, from 0", of->row->name, value,
               of->comm->size);
  return -1;
}

/* The side that counts and offsets without a name of their own belong to. */
static py_list *listed(py_call *of) { return &of->list[of->row->in == PY_LISTED ? 0 : 1]; }

static int take(py_call *of, py_argument argument, PyObject *value) {
  PyObject *given = value == Py_None ? NULL : value;
  switch (argument) {
  case PY_IN:
    of->in = given;
    return 0;
  case PY_OUT:
    of->out = given;
    return 0;
  case PY_OP:
    return read_op(value, &of->op);
  case PY_ROOT:
    return read_root(of, value, &of->root);
  case PY_COUNTS:
    listed(of)->count = given;
    return 0;
  case PY_OFFSETS:
    listed(of)->offset = given;
    return 0;
  case PY_IN_COUNTS:
    of->list[0].count = given;
    return 0;
  case PY_IN_OFFSETS:
    of->list[0].offset = given;
    return 0;
  case PY_OUT_COUNTS:
    of->list[1].count = given;
    return 0;
  case PY_OUT_OFFSETS:
    of->list[1].offset = given;
    return 0;
  case PY_END:
    break;
  }
  return 0;
}

static py_argument find_named(const py_row *row, PyObject *name) {
  int n = 0;
  while (row->argument[n] != PY_END && PyUnicode_CompareWithASCIIString(name, argument_names[row->argument[n]]) != 0)
    n++;
  return row->argument[n];
}

int py_call_read(py_call *of, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const py_row *row = of->row;
  for (Py_ssize_t n = 0; n < count; n++) {
    if (row->argument[n] == PY_END) {
      PyErr_Format(PyExc_TypeError, "%s takes %zd arguments; there are %zd", row->name, n, count);
      return -1;
    }
    if (take(of, row->argument[n], args[n]) != 0)
      return -1;
  }
  Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t n = 0; n < named; n++) {
    PyObject *name = PyTuple_GetItem(names, n);
    py_argument argument = find_named(row, name);
    if (argument == PY_END) {
      PyErr_Format(PyExc_TypeError, "%s has no argument %R", row->name, name);
      return -1;
    }
    if (take(of, argument, args[count + n]) != 0)
      return -1;
  }
  return 0;
}
