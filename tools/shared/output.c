/* tools/shared/output.c - what commands print and write: of a file, what is not there in the end is an error. */
#include "shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tutti_status put(const char *path, const char *text, size_t size) {
  bool to_stdout = strcmp(path, "-") == 0;
  FILE *file = to_stdout ? stdout : fopen(path, "w");
  if (!file)
    return tt_fail(TUTTI_ERR_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
  int error = fwrite(text, 1, size, file) == size && fflush(file) == 0 ? 0 : errno;
  if (!to_stdout && fclose(file) != 0 && !error)
    error = errno;
  return error ? tt_fail(TUTTI_ERR_SYSTEM, "cannot write all of '%s': %s", path, strerror(error)) : TUTTI_OK;
}

/* In memory first: what is refused leaves the file that is there as it is. */
tutti_status tool_write_file(const char *path, tutti_status (*write)(void *user, FILE *file), void *user) {
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  if (!memory)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to write '%s'", path);
  tutti_status status = write(user, memory);
  bool whole = !ferror(memory);
  whole = fclose(memory) == 0 && whole;
  if (status == TUTTI_OK)
    status = whole ? put(path, text, size) : tt_fail(TUTTI_ERR_MEMORY, "no memory to write '%s'", path);
  free(text);
  return status;
}

bool tool_has_colour(void) {
  const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
  return isatty(STDOUT_FILENO) && (!refused || !refused[0]) && (!terminal || strcmp(terminal, "dumb") != 0);
}

void tool_format_time(double time_ns, char text[static 32]) {
  static const char *const unit[] = {"ns", "us", "ms", "s"};
  size_t n = 0;
  for (; n + 1 < TT_COUNT(unit) && time_ns >= 999.5; n++)
    time_ns /= 1000;
  snprintf(text, 32, time_ns < 99.95 ? "%.3g %s" : "%.0f %s", time_ns, unit[n]);
}
