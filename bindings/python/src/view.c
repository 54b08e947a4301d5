/* bindings/python/src/view.c - a Python object as elements in memory: by the buffer protocol (numpy, array, bytearray,
 * memoryview) or by DLPack (torch and others); arrays of ml_dtypes' bfloat16, which have neither, by their bits.
 * Nothing is copied where elements lie one behind the other. */
#include "python.h"

#include <dlpack/dlpack.h>
#include <stdlib.h>
#include <string.h>

/* ---- element types ---- */

typedef struct code {
  const char *format; /* of the buffer protocol, in this machine's order */
  tutti_type type;
} code;

static const code codes[] = {
    {"f", TUTTI_FLOAT32},
    {"d", TUTTI_FLOAT64},
    {"e", TUTTI_FLOAT16},
    {"g", TUTTI_LONG_DOUBLE},
    {"Zf", TUTTI_COMPLEX64},
    {"Zd", TUTTI_COMPLEX128},
    {"Zg", TUTTI_LONG_DOUBLE_COMPLEX},
    {"?", TUTTI_BOOL},
    {"c", TUTTI_BYTE},
};

static bool is_integer(const char *format) { return format[0] && !format[1] && strchr("bhilqnBHILQN", format[0]); }

static int type_of_integer(char letter, int64_t bytes, tutti_type *type) {
  static const tutti_type with_sign[] = {TUTTI_INT8, TUTTI_INT16, TUTTI_INT32, TUTTI_INT64};
  static const tutti_type without[] = {TUTTI_UINT8, TUTTI_UINT16, TUTTI_UINT32, TUTTI_UINT64};
  int power = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : -1;
  if (power < 0)
    return -1;
  *type = letter >= 'a' ? with_sign[power] : without[power];
  return 0;
}

static bool is_swapped(char order) {
  return order == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<') ||
         (order == '!' && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

static int find_type(const char *name, const char *format, int64_t bytes, tutti_type *type) {
  const char *bare = format && *format ? format : "B";
  if (is_swapped(*bare) && bytes > 1) {
    PyErr_Format(PyExc_TypeError, "%s has elements in the other byte order ('%s'); convert it first", name, format);
    return -1;
  }
  if (strchr("@=<>!", *bare))
    bare++;
  if (is_integer(bare) && type_of_integer(*bare, bytes, type) == 0)
    return 0;
  for (size_t n = 0; n < sizeof codes / sizeof *codes; n++)
    if (strcmp(codes[n].format, bare) == 0) {
      *type = codes[n].type;
      return 0;
    }
  PyErr_Format(PyExc_TypeError, "%s has elements of format '%s', which tutti does not know", name, format);
  return -1;
}

/* ---- where elements lie ---- */

static bool is_contiguous(const py_view *view) {
  int64_t bytes = view->bytes;
  for (int axis = view->axes - 1; axis >= 0; axis--) {
    if (view->shape[axis] != 1 && view->stride[axis] != bytes)
      return false;
    bytes *= view->shape[axis];
  }
  return true;
}

/* Between the object and memory where elements lie one behind the other; returns the place behind them. */
static char *move(const py_view *view, int axis, char *at, char *packed, bool to_object) {
  if (axis == view->axes) {
    memcpy(to_object ? at : packed, to_object ? packed : at, (size_t)view->bytes);
    return packed + view->bytes;
  }
  for (int64_t n = 0; n < view->shape[axis]; n++)
    packed = move(view, axis + 1, at + n * view->stride[axis], packed, to_object);
  return packed;
}

static int find_data(py_view *view) {
  view->count = 1;
  for (int axis = 0; axis < view->axes; axis++)
    view->count *= view->shape[axis];
  view->data = view->base;
  if (view->count == 0 || is_contiguous(view))
    return 0;
  view->data = view->copy = malloc((size_t)(view->count * view->bytes));
  if (!view->copy) {
    PyErr_NoMemory();
    return -1;
  }
  move(view, 0, view->base, view->copy, false); /* of an output too: what a call leaves alone stays */
  return 0;
}

/* ---- the buffer protocol ---- */

static int begin_buffer(PyObject *object, const char *name, py_view *view) {
  int flags = PyBUF_STRIDED_RO | PyBUF_FORMAT | (view->writes ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object, &view->buffer, flags) != 0) {
    if (!view->writes)
      return -1;
    PyErr_Clear(); /* is it that it cannot be written to? */
    if (PyObject_GetBuffer(object, &view->buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0)
      return -1;
    PyErr_Format(PyExc_ValueError, "%s is read-only; tutti would write to it", name);
    return -1;
  }
  const Py_buffer *buffer = &view->buffer;
  if (buffer->ndim > VIEW_AXES) {
    PyErr_Format(PyExc_ValueError, "%s has %d axes; tutti takes at most %d", name, buffer->ndim, VIEW_AXES);
    return -1;
  }
  view->base = buffer->buf;
  view->bytes = buffer->itemsize;
  view->axes = buffer->ndim;
  for (int axis = 0; axis < buffer->ndim; axis++) {
    view->shape[axis] = buffer->shape[axis];
    view->stride[axis] = buffer->strides[axis];
  }
  return find_type(name, buffer->format, buffer->itemsize, &view->type);
}

/* ---- elements that the buffer protocol has no letter for ---- */

/* Whether it is an array of ml_dtypes' bfloat16, or another that calls its elements so. */
static bool is_bfloat16(PyObject *object) {
  PyObject *dtype = PyObject_GetAttrString(object, "dtype");
  PyObject *name = dtype ? PyObject_GetAttrString(dtype, "name") : NULL;
  bool is = name && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
  Py_XDECREF(name);
  Py_XDECREF(dtype);
  PyErr_Clear();
  return is;
}

/* The same memory as 16-bit integers, which every array can show. */
static int begin_bfloat16(PyObject *object, const char *name, py_view *view) {
  PyObject *bits = PyObject_CallMethod(object, "view", "s", "uint16");
  if (!bits)
    return -1;
  int failed = begin_buffer(bits, name, view);
  Py_DECREF(bits);
  view->type = TUTTI_BFLOAT16;
  return failed;
}

static int begin_array(PyObject *object, const char *name, py_view *view) {
  if (begin_buffer(object, name, view) == 0)
    return 0;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  bool other = is_bfloat16(object);
  if (!other) {
    PyErr_Restore(type, value, traceback);
    return -1;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  if (view->buffer.obj)
    PyBuffer_Release(&view->buffer);
  return begin_bfloat16(object, name, view);
}

/* ---- DLPack ---- */

static int type_of_dlpack(const char *name, DLDataType of, tutti_type *type) {
  if (of.lanes == 1 && of.code == kDLFloat && of.bits == 16)
    *type = TUTTI_FLOAT16;
  else if (of.lanes == 1 && of.code == kDLFloat && (of.bits == 32 || of.bits == 64))
    *type = of.bits == 32 ? TUTTI_FLOAT32 : TUTTI_FLOAT64;
  else if (of.lanes == 1 && of.code == kDLBfloat && of.bits == 16)
    *type = TUTTI_BFLOAT16;
  else if (of.lanes == 1 && of.code == kDLComplex && (of.bits == 64 || of.bits == 128))
    *type = of.bits == 64 ? TUTTI_COMPLEX64 : TUTTI_COMPLEX128;
  else if (of.lanes == 1 && of.code == 6 && of.bits == 8) /* kDLBool, newer than this header */
    *type = TUTTI_BOOL;
  else if (of.lanes != 1 || (of.code != kDLInt && of.code != kDLUInt) ||
           type_of_integer(of.code == kDLInt ? 'b' : 'B', of.bits / 8, type) != 0) {
    PyErr_Format(PyExc_TypeError, "%s has elements of DLPack type %d with %d bits, which tutti does not know", name,
                 of.code, of.bits);
    return -1;
  }
  return 0;
}

/* Torch negates some tensors when they are read, and shows DLPack the elements as they lie there. -1: an exception is
 * set. */
static int refuse_negated(PyObject *object, const char *name) {
  if (!PyObject_HasAttrString(object, "is_neg"))
    return 0;
  PyObject *said = PyObject_CallMethod(object, "is_neg", NULL);
  if (said == Py_True)
    PyErr_Format(PyExc_ValueError, "%s is a tensor that torch negates when it is read; pass its resolve_neg()", name);
  Py_XDECREF(said);
  return PyErr_Occurred() ? -1 : 0;
}

static int begin_dlpack(PyObject *object, const char *name, py_view *view) {
  if (refuse_negated(object, name) != 0)
    return -1;
  view->capsule = PyObject_CallMethod(object, "__dlpack__", NULL);
  if (!view->capsule)
    return -1;
  DLManagedTensor *managed = PyCapsule_GetPointer(view->capsule, "dltensor");
  if (!managed || PyCapsule_SetName(view->capsule, "used_dltensor") != 0) {
    Py_CLEAR(view->capsule);
    return -1;
  }
  const DLTensor *of = &managed->dl_tensor;
  if (of->device.device_type != kDLCPU) {
    PyErr_Format(PyExc_TypeError, "%s is on a device (DLPack %d), not in the processor's memory", name,
                 of->device.device_type);
    return -1;
  }
  if (of->ndim > VIEW_AXES) {
    PyErr_Format(PyExc_ValueError, "%s has %d axes; tutti takes at most %d", name, of->ndim, VIEW_AXES);
    return -1;
  }
  view->base = (char *)of->data + of->byte_offset;
  view->bytes = of->dtype.bits / 8;
  view->axes = of->ndim;
  int64_t packed = view->bytes;
  for (int axis = of->ndim - 1; axis >= 0; axis--) {
    view->shape[axis] = of->shape[axis];
    view->stride[axis] = of->strides ? of->strides[axis] * view->bytes : packed;
    packed *= of->shape[axis];
  }
  return type_of_dlpack(name, of->dtype, &view->type);
}

/* ---- both ---- */

void py_view_clear(py_view *view) {
  view->buffer.obj = NULL;
  view->capsule = NULL;
  view->data = view->copy = NULL;
  view->count = 0;
}

int py_view_begin(PyObject *object, const char *name, bool writes, py_view *view) {
  py_view_clear(view);
  view->writes = writes;
  int failed;
  if (PyObject_CheckBuffer(object))
    failed = begin_array(object, name, view);
  else if (PyObject_HasAttrString(object, "__dlpack__"))
    failed = begin_dlpack(object, name, view);
  else if (is_bfloat16(object))
    failed = begin_bfloat16(object, name, view);
  else {
    PyErr_Format(PyExc_TypeError, "%s is a %R; it must have the buffer protocol or DLPack", name, Py_TYPE(object));
    return -1;
  }
  if (failed == 0)
    failed = find_data(view);
  if (failed != 0)
    py_view_end(view);
  return failed;
}

void py_view_load(const py_view *view) {
  if (view->copy)
    move(view, 0, view->base, view->copy, false);
}

void py_view_store(const py_view *view) {
  if (view->copy && view->writes)
    move(view, 0, view->base, view->copy, true);
}

void py_view_end(py_view *view) {
  free(view->copy);
  if (view->buffer.obj)
    PyBuffer_Release(&view->buffer);
  if (view->capsule) {
    DLManagedTensor *managed = PyCapsule_GetPointer(view->capsule, "used_dltensor");
    if (managed && managed->deleter)
      managed->deleter(managed);
    Py_CLEAR(view->capsule);
  }
  view->data = view->copy = NULL;
}
