/* tools/shared/output.c - files that commands write: what is not there in the end is an error. */
#include "shared.h"

#include <errno.h>
#include <string.h>

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
