/* bindings/python/src/module.c - the module tutti._tutti: its types, its errors, and what the interpreter has to do
 * while a call waits. */
#include "python.h"

#include <string.h>

py_types py_type;
static PyObject *errors[TUTTI_ERR_REFUSED + 1]; /* by status; the module holds them */

static const struct {
  const char *name, *about;
} error_names[] = {
    [TUTTI_ERR_ARGUMENT] =
        {"ArgumentError", "An argument is wrong; the text names it and its value.\n\n>>> comm.allreduce(numpy.ones(2), "
                          "op='bit-and')\nTraceback (most recent call last):\ntutti.ArgumentError: ...\n"},
    [TUTTI_ERR_MEMORY] = {"OutOfMemoryError",
                          "Memory, ordinary or shared, is exhausted.\n\n>>> tutti.empty(1 << 58)\nTraceback (most "
                          "recent call last):\ntutti.OutOfMemoryError: ...\n"},
    [TUTTI_ERR_SYSTEM] = {"SystemCallError",
                          "A system call failed.\n\n>>> issubclass(tutti.SystemCallError, OSError)\nTrue\n"},
    [TUTTI_ERR_MISMATCH] = {"MismatchError",
                            "Ranks called different things; the text says which rank called what.\n\n>>> "
                            "comm.split(0).allreduce(numpy.ones(1 + comm.rank))\nTraceback (most recent call "
                            "last):\ntutti.MismatchError: ...\n"},
    [TUTTI_ERR_PEER] =
        {"PeerError",
         "A rank died, or its connection is lost; the text names it.\n\n>>> try:\n...     comm.barrier()\n... except "
         "tutti.PeerError as lost:\n...     print('train on without it:', lost)\n"},
    [TUTTI_ERR_TIMEOUT] = {"TimeoutError", "A time limit passed; the text names the missing ranks.\n\n>>> try:\n...    "
                                           " alone = tutti.Context(timeout=60, boot=(0, 1, bytes))\n... except "
                                           "tutti.TimeoutError as late:\n...     print(late)\n"},
    [TUTTI_ERR_ABORTED] =
        {"AbortedError",
         "A rank gave up the communicator; the text says which, and why.\n\n>>> part = comm.split(0)\n>>> "
         "part.abort('enough')\n>>> part.barrier()\nTraceback (most recent call last):\ntutti.AbortedError: ...\n"},
    [TUTTI_ERR_UNSUPPORTED] = {"UnsupportedError",
                               "It is legal, but not available here.\n\n>>> comm.explain('neighbor_allgather', "
                               "8)\nTraceback (most recent call last):\ntutti.UnsupportedError: ...\n"},
    [TUTTI_ERR_PLAN] = {"PlanError",
                        "The parameters make no plan, or a plan failed its proof.\n\n>>> comm.set_params('allreduce', "
                        "'[core:spiral]')\nTraceback (most recent call last):\ntutti.PlanError: ...\n"},
    [TUTTI_ERR_REFUSED] = {"RefusedError", "A rank refused the call; the communicator still works.\n\n>>> "
                                           "issubclass(tutti.RefusedError, tutti.Error)\nTrue\n"},
};

/* ---- errors ---- */

PyObject *py_fail_with(tutti_status status, const char *text) {
  if (PyErr_Occurred())
    return NULL;
  PyObject *said = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"); /* it may end amid a letter */
  if (said)
    PyErr_SetObject(errors[status], said);
  Py_XDECREF(said);
  return NULL;
}

PyObject *py_fail(tutti_status status) { return py_fail_with(status, tutti_last_error()); }

/* Those that Python has an exception for are that, too: `except ValueError` catches an ArgumentError. */
static PyObject *base_of(int status, PyObject *general) {
  PyObject *builtin = status == TUTTI_ERR_ARGUMENT  ? PyExc_ValueError
                      : status == TUTTI_ERR_MEMORY  ? PyExc_MemoryError
                      : status == TUTTI_ERR_SYSTEM  ? PyExc_OSError
                      : status == TUTTI_ERR_TIMEOUT ? PyExc_TimeoutError
                                                    : NULL;
  return builtin ? PyTuple_Pack(2, general, builtin) : PyTuple_Pack(1, general);
}

static int add_error(PyObject *module, int status, PyObject *general) {
  char full[64];
  PyObject *bases = base_of(status, general);
  PyOS_snprintf(full, sizeof full, "tutti.%s", error_names[status].name);
  errors[status] = bases ? PyErr_NewExceptionWithDoc(full, error_names[status].about, bases, NULL) : NULL;
  Py_XDECREF(bases);
  return errors[status] ? PyModule_AddObjectRef(module, error_names[status].name, errors[status]) : -1;
}

static int add_errors(PyObject *module) {
  PyObject *general = PyErr_NewExceptionWithDoc(
      "tutti.Error", "Whatever goes wrong in tutti.\n\n>>> issubclass(tutti.PeerError, tutti.Error)\nTrue\n", NULL,
      NULL);
  int failed = general ? PyModule_AddObjectRef(module, "Error", general) : -1;
  for (int status = TUTTI_ERR_ARGUMENT; status <= TUTTI_ERR_REFUSED && !failed; status++)
    failed = add_error(module, status, general);
  Py_XDECREF(general);
  return failed;
}

/* ---- while a call waits ---- */

_Thread_local bool py_waits, py_asks;

static unsigned long main_thread; /* Python's, which alone handles signals */

int py_find_main_thread(void) {
  PyObject *find = py_helper("threading", "main_thread");
  PyObject *thread = find ? PyObject_CallNoArgs(find) : NULL;
  PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
  if (ident)
    main_thread = PyLong_AsUnsignedLong(ident);
  Py_XDECREF(ident);
  Py_XDECREF(thread);
  Py_XDECREF(find);
  return PyErr_Occurred() ? -1 : 0;
}

/* Called without the GIL, by the thread that makes the call. The exception stays set until the call has come back. The
 * thread has the context where that makes a communicator, so no other one may wait for the context with the GIL: what
 * may do so in tutti is called without it. But MPI.Finalize of mpi4py, which is the main thread's, keeps the GIL. */
int py_interrupted(void *unused) {
  (void)unused;
  if (!py_waits || PyThread_get_thread_ident() != main_thread)
    return 0;
  PyGILState_STATE state = PyGILState_Ensure();
  bool asked = py_asks;
  py_asks = true;
  int stops = PyErr_CheckSignals();
  py_asks = asked;
  PyGILState_Release(state);
  return stops;
}

PyObject *py_helper(const char *module, const char *name) {
  PyObject *package = PyImport_ImportModule(module);
  PyObject *found = package ? PyObject_GetAttrString(package, name) : NULL;
  Py_XDECREF(package);
  return found;
}

/* ---- objects ---- */

PyObject *py_object_new(PyObject *type) {
  allocfunc alloc = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
  return alloc((PyTypeObject *)type, 0);
}

void py_object_free(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

/* ---- the module ---- */

static int add_type(PyObject *module, PyType_Spec *spec, const char *name, PyObject **type) {
  *type = PyType_FromSpec(spec);
  return *type ? PyModule_AddObjectRef(module, name, *type) : -1;
}

/* Another part of the process may have loaded another one before. */
static int check_version(void) {
  if (strcmp(tutti_version(), TUTTI_VERSION) == 0)
    return 0;
  PyErr_Format(
      PyExc_ImportError,
      "the package tutti is %s, but this process has libtutti.so.0 of %s; `python3 -m tutti mpirun` brings the "
      "package's own",
      TUTTI_VERSION, tutti_version());
  return -1;
}

static int fill(PyObject *module) {
  if (check_version() != 0)
    return -1;
  py_comm_prepare();
  if (add_errors(module) || add_type(module, &py_context_spec, "Context", &py_type.context) ||
      add_type(module, &py_comm_spec, "Comm", &py_type.comm) ||
      add_type(module, &py_graph_spec, "Graph", &py_type.graph) ||
      add_type(module, &py_memory_spec, "Memory", &py_type.memory) ||
      add_type(module, &py_request_spec, "Request", &py_type.request))
    return -1;
  return PyModule_AddStringConstant(module, "__version__", TUTTI_VERSION);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)fill}, {0, NULL}};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "tutti._tutti", .m_doc = "The C part of tutti.",
                                 .m_slots = slots};

PyMODINIT_FUNC PyInit__tutti(void) { return PyModuleDef_Init(&definition); }
