/* tools/bench/say.c - errors, progress and comment lines. Colour is for terminals only. */
#include "say.h"

#include <stdarg.h>
#include <unistd.h>

static bool quiet;

void bench_be_quiet(void) { quiet = true; }

bool bench_is_quiet(void) { return quiet; }

static bool coloured(FILE *stream) { return isatty(fileno(stream)) != 0; }

void bench_paint(FILE *stream, const char *colour) {
  if (coloured(stream))
    fprintf(stream, "\033[%sm", colour);
}

void bench_unpaint(FILE *stream) {
  if (coloured(stream))
    fputs("\033[0m", stream);
}

void bench_progress_clear(void) {
  if (isatty(STDERR_FILENO))
    fputs("\r\033[K", stderr);
}

void bench_progress(const char *format, ...) {
  static int64_t last_ns;
  int64_t now_ns = tt_clock_ns();
  if (quiet || !isatty(STDERR_FILENO) || now_ns - last_ns < 100000000)
    return;
  va_list arguments;
  va_start(arguments, format);
  bench_progress_clear();
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  last_ns = now_ns;
}

int bench_fail(const char *format, ...) {
  va_list arguments;
  if (quiet)
    return -1;
  va_start(arguments, format);
  bench_progress_clear();
  bench_paint(stderr, BENCH_RED);
  fputs("tutti bench: ", stderr);
  vfprintf(stderr, format, arguments);
  bench_unpaint(stderr);
  fputc('\n', stderr);
  va_end(arguments);
  return -1;
}

void bench_print_remark(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  bench_progress_clear();
  fputs("# ", stdout);
  vprintf(format, arguments);
  putchar('\n');
  va_end(arguments);
}
