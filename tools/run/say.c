/* tools/run/say.c - see say.h. */
#include "say.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where both outputs are one, a rank's line may be half out: the launcher's own lines do not stand in it. */
static bool is_in_line(const run_job *job) { return job->one_output && job->output[0].in_line != NULL; }

void run_say(run_job *job, const char *format, ...) {
  char *text = NULL, *all = NULL;
  va_list values;
  va_start(values, format);
  int made = vasprintf(&text, format, values);
  va_end(values);
  const char *before = job->said != NULL ? job->said : is_in_line(job) ? "\n" : "";
  if (made >= 0 && asprintf(&all, "%s%s", before, text) >= 0) {
    free(job->said);
    job->said = all;
  }
  free(made >= 0 ? text : NULL);
  run_say_more(job);
}

void run_say_more(run_job *job) {
  while (job->said != NULL && run_has_room(STDERR_FILENO)) {
    size_t length = strlen(job->said);
    ssize_t count = write(STDERR_FILENO, job->said, length < PIPE_BUF ? length : PIPE_BUF);
    if (count < 0 && (errno == EINTR || errno == EAGAIN))
      return;
    size_t done = count < 0 ? length : (size_t)count; /* nobody reads it */
    memmove(job->said, job->said + done, length - done + 1);
    if (done == length) {
      free(job->said);
      job->said = NULL;
    }
  }
}

void run_say_rest(run_job *job) {
  for (run_say_more(job); job->said != NULL; run_say_more(job))
    run_await_room(STDERR_FILENO);
}
