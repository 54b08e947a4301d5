/* tools/shared/output.c - what commands print and write: of a file, what is not there in the end is an error. */
#include "shared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

tutti_status tool_write_file(const char *path, tutti_status (*write)(void *user, FILE *file), void *user) {
  bool to_stdout = strcmp(path, "-") == 0;
  FILE *file = to_stdout ? stdout : fopen(path, "w");
  if (!file)
    return tt_fail(TUTTI_ERR_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
  tutti_status status = write(user, file);
  bool written = fflush(file) == 0 && !ferror(file);
  if (!to_stdout)
    written = fclose(file) == 0 && written;
  if (status == TUTTI_OK && !written)
    return tt_fail(TUTTI_ERR_SYSTEM, "cannot write all of '%s': %s", path, strerror(errno));
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
