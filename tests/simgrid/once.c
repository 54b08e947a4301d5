/* tests/simgrid/once.c - SimGrid plays once a process: each play gets a process and a platform file of its own. */
#include "compare.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static double simgrids_ns(const played *of, const char *platform) {
  int ends[2];
  double time_ns = -1;
  fflush(NULL);
  if (pipe(ends) != 0)
    return time_ns;
  pid_t child = fork();
  if (child == 0) {
    alarm(of->seconds_most);
    time_ns = play(of, platform);
    _exit(write(ends[1], &time_ns, sizeof time_ns) == sizeof time_ns ? 0 : 1);
  }
  close(ends[1]);
  if (child < 0 || read(ends[0], &time_ns, sizeof time_ns) != sizeof time_ns)
    time_ns = -1;
  close(ends[0]);
  if (child > 0)
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
      ;
  return time_ns;
}

double play_once(const played *of) {
  char name[] = "/tmp/simgrid_compare_XXXXXX";
  int opened = mkstemp(name);
  FILE *file = opened < 0 ? NULL : fdopen(opened, "w");
  if (!file)
    return -1;
  platform_write_for(of, file);
  double time_ns = fclose(file) == 0 ? simgrids_ns(of, name) : -1;
  unlink(name);
  return time_ns;
}
