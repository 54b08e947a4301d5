/* base/status.c - names of statuses, and the text of the last error of each thread.
 *
 * The function that decides an error records the text with tt_fail; everyone above it passes the status on. The text
 * belongs to the thread, so that two contexts in two threads never mix theirs. */
#include "base/base.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_error[1024];

static const char *const names[] = {
    [TUTTI_OK] = "TUTTI_OK",
    [TUTTI_ERR_ARGUMENT] = "TUTTI_ERR_ARGUMENT",
    [TUTTI_ERR_MEMORY] = "TUTTI_ERR_MEMORY",
    [TUTTI_ERR_SYSTEM] = "TUTTI_ERR_SYSTEM",
    [TUTTI_ERR_MISMATCH] = "TUTTI_ERR_MISMATCH",
    [TUTTI_ERR_PEER] = "TUTTI_ERR_PEER",
    [TUTTI_ERR_TIMEOUT] = "TUTTI_ERR_TIMEOUT",
    [TUTTI_ERR_ABORTED] = "TUTTI_ERR_ABORTED",
    [TUTTI_ERR_UNSUPPORTED] = "TUTTI_ERR_UNSUPPORTED",
    [TUTTI_ERR_PLAN] = "TUTTI_ERR_PLAN",
    [TUTTI_ERR_REFUSED] = "TUTTI_ERR_REFUSED",
};

const char *tutti_status_name(tutti_status status) {
  size_t index = (size_t)status;
  return index < TT_COUNT(names) ? names[index] : "TUTTI_ERR_UNKNOWN";
}

const char *tutti_last_error(void) { return last_error; }

tutti_status tt_fail(tutti_status status, const char *format, ...) {
  assert(status != TUTTI_OK);
  char text[sizeof last_error]; /* apart, since an argument may be tutti_last_error() itself */
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  memcpy(last_error, text, sizeof text);
  return status;
}

void tt_fail_clear(void) { last_error[0] = '\0'; }
