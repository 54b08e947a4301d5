/* base/log.c - one line to stderr at a time, "tutti[rank]: text", for levels up to TUTTI_LOG.
 *
 * A line is formatted first and handed over whole, so that lines of several ranks and threads do not mix. */
#include "base/base.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Atomic int64_t log_rank = -1;

void tt_log_rank(int64_t rank) {
  atomic_store_explicit(&log_rank, rank, memory_order_relaxed); /* a number for people: pairs with nothing */
}

static size_t write_prefix(char *line, size_t size) {
  int64_t rank = atomic_load_explicit(&log_rank, memory_order_relaxed);
  int length = rank < 0 ? snprintf(line, size, "tutti: ") : snprintf(line, size, "tutti[%" PRId64 "]: ", rank);
  assert(length > 0 && (size_t)length < size);
  return (size_t)length;
}

void tt_log(tt_log_level level, const char *format, ...) {
  assert((size_t)level <= TT_LOG_DEBUG);
  if ((int64_t)level > tt_options_get()->log)
    return;
  char line[1024];
  size_t room = sizeof line - 1; /* the last byte is kept for the newline */
  size_t prefix = write_prefix(line, room);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + prefix, room - prefix, format, arguments);
  va_end(arguments);
  strcat(line, "\n");
  fputs(line, stderr);
}
