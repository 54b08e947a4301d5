/* bindings/python/src/rows.h - what calls.c and graph.c write once for each collective: its call of the C API, its row,
 * and its methods in three forms. Who includes this defines ON, what a call is made on, and MAKE, which makes it. */
#ifndef TUTTI_PYTHON_ROWS_H
#define TUTTI_PYTHON_ROWS_H

#include "call.h"

#define IN of->view[0].data
#define OUT of->view[1].data
#define IN_LIST of->list[0].counts, of->list[0].offsets
#define OUT_LIST of->list[1].counts, of->list[1].offsets

/* tutti_NAME(...), and its _start and _init. */
#define FORMS(name, ...)                                                                                               \
  static tutti_status invoke_##name(const py_call *of, tutti_request **made) {                                         \
    if (of->form == PY_BLOCKING)                                                                                       \
      return tutti_##name(__VA_ARGS__, ON);                                                                            \
    return of->form == PY_START ? tutti_##name##_start(__VA_ARGS__, ON, made)                                          \
                                : tutti_##name##_init(__VA_ARGS__, ON, made);                                          \
  }

#define METHOD(name, suffix, form)                                                                                     \
  static PyObject *name##suffix(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {            \
    return MAKE(self, &row_##name, form, args, count, names);                                                          \
  }
#define ROW(name, ...)                                                                                                 \
  static const py_row row_##name = {#name, .invoke = invoke_##name, __VA_ARGS__};                                      \
  METHOD(name, , PY_BLOCKING)                                                                                          \
  METHOD(name, _start, PY_START)                                                                                       \
  METHOD(name, _init, PY_INIT)
#define ARGUMENTS(...) .argument = {__VA_ARGS__}

#define ENTRY(name, suffix, arguments, text)                                                                           \
  {#name #suffix, (PyCFunction)(void (*)(void))name##suffix, METH_FASTCALL | METH_KEYWORDS,                            \
   #name #suffix "($self" arguments ")\n--\n\n" text}
/* about: what it does, with the shapes and types of its arguments. The rest is an example: object.name(call) gives
 * `gives` after the lines of `setup`, as rank 0 of two sees it; a test runs it in all three forms. */
#define ENTRIES(object, name, arguments, about, setup, call, gives)                                                    \
  ENTRY(name, , arguments,                                                                                             \
        about "\n\nAs rank 0 of two sees it:\n\n" setup ">>> " object "." #name "(" call ")\n" gives),                 \
      ENTRY(name, _start, arguments,                                                                                   \
            "Starts a call of " #name                                                                                  \
            ", with its arguments, and returns the Request, whose wait() returns the result. "                         \
            "The buffers are the call's until then.\n\nAs rank 0 of two sees it:\n\n" setup ">>> " object "." #name    \
            "_start(" call ").wait()\n" gives),                                                                        \
      ENTRY(name, _init, arguments,                                                                                    \
            "Makes a Request of " #name ", with its arguments, that start() starts any number of times. Each time it " \
            "takes what the buffers then hold.\n\nAs rank 0 of two sees it:\n\n" setup ">>> again = " object "." #name \
            "_init(" call ")\n>>> again.start().wait()\n" gives)

#endif
