/* bindings/python/src/boot.c - ranks that find each other by a Python function: an allgather of bytes, which mpi4py, a
 * store of torch or the program has. tutti calls it a few times while a context is created, and never afterwards. */
#include "python.h"

#include <inttypes.h>
#include <string.h>

/* The bytes of all ranks, in rank order, from what the function has returned. */
static int take_all(const tutti_boot *boot, PyObject *returned, void *all, size_t bytes) {
  Py_buffer got;
  if (!returned || PyObject_GetBuffer(returned, &got, PyBUF_SIMPLE) != 0)
    return -1;
  bool fits = (size_t)got.len == (size_t)boot->rank_count * bytes;
  if (fits)
    memcpy(all, got.buf, (size_t)got.len);
  else
    PyErr_Format(PyExc_ValueError,
                 "allgather returned %zd bytes for %zu of this rank; with %" PRId64 " ranks it must be %zu", got.len,
                 bytes, boot->rank_count, (size_t)boot->rank_count * bytes);
  PyBuffer_Release(&got);
  return fits ? 0 : -1;
}

/* Called without the GIL, by the thread that creates the context. An exception stays set until it comes back. */
static tutti_status allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                              size_t missing_size) {
  const py_boot *self = user;
  (void)timeout_ns;
  if (missing && missing_size > 0)
    *missing = '\0';
  bool waits = py_waits;
  py_waits = false; /* what the function calls of MPI's or others' looks at signals itself */
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *returned =
      PyErr_Occurred() ? NULL : PyObject_CallFunction(self->allgather, "y#", (const char *)mine, (Py_ssize_t)bytes);
  int failed = take_all(&self->boot, returned, all, bytes);
  Py_XDECREF(returned);
  PyGILState_Release(state);
  py_waits = waits;
  return failed ? TUTTI_ERR_SYSTEM : TUTTI_OK;
}

int py_boot_read(PyObject *given, py_boot *boot) {
  long long rank, size;
  if (!PyTuple_Check(given)) {
    PyErr_Format(PyExc_TypeError, "boot is %R; it must be a tuple (rank, size, allgather)", given);
    return -1;
  }
  if (!PyArg_ParseTuple(given, "LLO:boot", &rank, &size, &boot->allgather))
    return -1;
  boot->boot =
      (tutti_boot){.size = sizeof boot->boot, .rank = rank, .rank_count = size, .user = boot, .allgather = allgather};
  if (PyCallable_Check(boot->allgather))
    return 0;
  PyErr_Format(PyExc_TypeError, "boot: allgather is %R; it must be a function of bytes", boot->allgather);
  return -1;
}
