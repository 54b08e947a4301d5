/* bindings/python/src/arrays.c - numpy's arrays in memory that peers read where it lies: a handler as NEP 49 has it.
 *
 * numpy's headers would bind this module to one numpy; what it needs of them has not changed from 1.22 to 2: two
 * entries of the table that numpy exports, and this structure. numpy calls a handler with the GIL or without. */
#include "python.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_BYTES 65536 /* below, shared memory is not faster */

typedef struct numpy_handler {
  char name[127];
  uint8_t version;
  struct {
    void *user;
    void *(*malloc)(void *user, size_t bytes);
    void *(*calloc)(void *user, size_t count, size_t bytes);
    void *(*realloc)(void *user, void *memory, size_t bytes);
    void (*free)(void *user, void *memory, size_t bytes);
  } allocator;
} numpy_handler;

enum { NUMPY_SET_HANDLER = 304, NUMPY_GET_HANDLER = 305 }; /* of numpy's table */
typedef PyObject *(*numpy_set)(PyObject *handler);

static const char handler_name[] = "mem_handler"; /* as numpy calls such a capsule */

/* In front of each block, whose alignment it keeps. */
typedef union head {
  struct {
    size_t bytes;     /* of the block */
    void *whole;      /* what is freed */
    bool shared;      /* of tutti_alloc */
    union head *next; /* of blocks that are yet to be freed */
  } is;
  char line[64];
} head;

/* Of an array's handler. */
typedef struct blocks {
  numpy_handler handler; /* the first: numpy knows no more */
  py_context *context;
  head *old; /* that have grown: their arrays may show them until realloc has returned. The GIL guards it */
} blocks;

static void *with_head(void *memory, void *whole, size_t bytes, bool shared) {
  head *made = memory;
  made->is.bytes = bytes;
  made->is.whole = whole;
  made->is.shared = shared;
  return made + 1;
}

/* tutti may wait in both, so other threads have the GIL meanwhile. */
static void give_back(const blocks *of, head *list) {
  if (of->context->left)
    return;
  PY_CALL_BEGIN;
  for (head *next; list; list = next) {
    next = list->is.next;
    tutti_free(of->context->context, list->is.whole);
  }
  PY_CALL_END;
}

/* NULL where shared memory is exhausted, and in a fork, which has none of its own. */
static void *share(blocks *of, size_t bytes) {
  PyGILState_STATE gil = PyGILState_Ensure();
  head *old = of->old;
  void *made = NULL;
  tutti_status status;
  of->old = NULL;
  give_back(of, old);
  PY_CALL_BEGIN;
  status = tutti_alloc(of->context->context, bytes + sizeof(head), &made);
  PY_CALL_END;
  PyGILState_Release(gil);
  return status == TUTTI_OK ? with_head(made, made, bytes, true) : NULL;
}

/* Zeros of the system, whose pages nobody has touched. */
static void *make_own(size_t bytes) {
  char *made = calloc(1, bytes + sizeof(head) + 64);
  return made ? with_head(made + (64 - (uintptr_t)made % 64), made, bytes, false) : NULL;
}

static bool is_too_long(size_t bytes) { return bytes > PTRDIFF_MAX - sizeof(head) - 64; }

static void *array_malloc(void *user, size_t bytes) {
  if (is_too_long(bytes))
    return NULL;
  void *made = bytes >= LEAST_BYTES ? share(user, bytes) : NULL;
  return made ? made : make_own(bytes);
}

/* Shared memory may have been used before. */
static void *array_calloc(void *user, size_t count, size_t each) {
  size_t bytes = count * each;
  if ((each > 0 && count > SIZE_MAX / each) || is_too_long(bytes))
    return NULL;
  void *made = bytes >= LEAST_BYTES ? share(user, bytes) : NULL;
  return made ? memset(made, 0, bytes) : make_own(bytes);
}

static void array_free(void *user, void *memory, size_t bytes) {
  blocks *of = user;
  (void)bytes;
  if (!memory)
    return;
  head *block = (head *)memory - 1;
  if (!block->is.shared) {
    free(block->is.whole);
    return;
  }
  PyGILState_STATE gil = PyGILState_Ensure();
  block->is.next = of->old;
  of->old = NULL;
  give_back(of, block);
  PyGILState_Release(gil);
}

static void *array_realloc(void *user, void *memory, size_t bytes) {
  blocks *of = user;
  void *made = array_malloc(user, bytes);
  if (!made || !memory)
    return made;
  head *block = (head *)memory - 1;
  memcpy(made, memory, block->is.bytes < bytes ? block->is.bytes : bytes);
  if (!block->is.shared) {
    free(block->is.whole);
    return made;
  }
  PyGILState_STATE gil = PyGILState_Ensure();
  block->is.next = of->old;
  of->old = block;
  PyGILState_Release(gil);
  return made;
}

/* The last array that was made with it is gone, and nobody uses it for new ones. */
static void handler_end(PyObject *capsule) {
  blocks *of = PyCapsule_GetPointer(capsule, handler_name);
  give_back(of, of->old);
  of->context->parts--;
  Py_DECREF((PyObject *)of->context);
  free(of);
}

PyObject *py_arrays_handler(py_context *self, PyObject *unused) {
  (void)unused;
  if (!py_context_open(self))
    return NULL;
  blocks *of = calloc(1, sizeof *of);
  if (!of)
    return PyErr_NoMemory();
  PyOS_snprintf(of->handler.name, sizeof of->handler.name, "tutti");
  of->handler.version = 1;
  of->handler.allocator.user = of;
  of->handler.allocator.malloc = array_malloc;
  of->handler.allocator.calloc = array_calloc;
  of->handler.allocator.realloc = array_realloc;
  of->handler.allocator.free = array_free;
  of->context = self;
  PyObject *capsule = PyCapsule_New(of, handler_name, handler_end);
  if (!capsule) {
    free(of);
    return NULL;
  }
  Py_INCREF((PyObject *)self);
  self->parts++;
  return capsule;
}

PyObject *py_arrays_use(PyObject *unused, PyObject *args) {
  PyObject *api, *handler;
  (void)unused;
  if (!PyArg_ParseTuple(args, "OO:_use_handler", &api, &handler))
    return NULL;
  void **table = PyCapsule_GetPointer(api, NULL);
  if (!table)
    return NULL;
  numpy_set set;
  memcpy(&set, &table[NUMPY_SET_HANDLER], sizeof set);
  return set(handler == Py_None ? NULL : handler);
}
