/* tools/shared/arguments.c - what commands say to arguments that they do not understand. */
#include "shared.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

static void say(const char *command, const char *format, va_list arguments) {
  fprintf(stderr, "tutti %s: ", command);
  vfprintf(stderr, format, arguments);
}

int tool_fail(const char *command, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(command, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  return code;
}

int tool_misused(const char *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(command, format, arguments);
  va_end(arguments);
  fprintf(stderr, "; see `tutti %s --help`\n", command);
  return TOOL_MISUSED;
}

bool tool_read_number(const char *text, int64_t least, int64_t most, int64_t *number) {
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < least || value > most)
    return false;
  *number = value;
  return true;
}
