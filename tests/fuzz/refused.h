/* tests/fuzz/refused.h - a file of anybody that is refused: the error names it and, unless it is wrong as a whole, a
 * line. */
#ifndef TESTS_FUZZ_REFUSED_H
#define TESTS_FUZZ_REFUSED_H

#include "support/wisdom.h"

static int refused, left_alone; /* so many files; left alone: of another version */

static inline void check(bool holds, const char *what, const char *bytes, size_t size) {
  if (holds)
    return;
  fprintf(stderr, "%s: %s\n--- the text:\n%.*s\n---\n", what, tutti_last_error(), size < 8192 ? (int)size : 8192,
          bytes);
  abort();
}

/* A file at that path was not read. */
static inline void check_error(const char *path, tutti_status status, const char *bytes, size_t size) {
  static const char *const whole[] = {"it has ", "\"machine\": "}; /* no line is to blame */
  const char *text = tutti_last_error(), *reason = text + strlen(path) + 2;
  check(strncmp(text, path, strlen(path)) == 0 && strncmp(text + strlen(path), ": ", 2) == 0, "an error names the file",
        bytes, size);
  if (status == TUTTI_ERR_UNSUPPORTED) {
    check(strstr(reason, "another version") != NULL, "a file of another version says so", bytes, size);
    left_alone++;
    return;
  }
  bool names = strncmp(reason, "line ", 5) == 0 && atoi(reason + 5) >= 1;
  for (size_t n = 0; n < TT_COUNT(whole); n++)
    names = names || strncmp(reason, whole[n], strlen(whole[n])) == 0;
  check(status == TUTTI_ERR_ARGUMENT && names, "an error names the line", bytes, size);
  refused++;
}

#endif
