/* tools/bench/outside.c - one job of a launcher of the user's: mpirun, srun, mpiexec, a script.
 *
 *     sh -c 'LAUNCH MORE "$@"' sh [env TUTTI_X=... | env YIELDS] WORKER ranks SETTINGS POINT...
 *
 * The shell reads the launcher's command line as the user's own would. The job is reached through it only: what rank 0
 * prints is read from a pipe (bench/report.h), all else is kept to be shown if it fails. */
#include "outside.h"
#include "launch.h"
#include "libraries.h"
#include "say.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SILENCE_NS (180 * INT64_C(1000000000)) /* a job says that it is alive after each set of batches */

/* ---- the command line ---- */

static bool is_own_variable(const char *variable) { return strncmp(variable, "TUTTI_", 6) == 0; }

/* Not every launcher hands the environment on to other machines. */
static void add_environment(tool_words *line) {
  bool any = false;
  for (char **variable = environ; *variable; variable++) {
    if (!is_own_variable(*variable))
      continue;
    if (!any)
      tool_words_add(line, "env");
    tool_words_add(line, *variable);
    any = true;
  }
}

/* A library that polls while it waits would take the cores from ranks that it waits for, for whole time slices. */
static void add_yielding(const bench_outside *outside, tool_words *line) {
  const char *yields = outside->group->launcher->kind->yields;
  const bench_map *map = outside->job->map;
  if (!yields || !map || !bench_map_is_crowded(map))
    return;
  tool_words_add(line, "env");
  tool_words_add(line, yields);
}

/* For people; of a long one the beginning. */
static void keep_command(bench_group *group, const char *launch, const char *more) {
  static const char rest[] = " ...";
  int length = snprintf(group->command, sizeof group->command, "%s%s%s", launch, more ? " " : "", more ? more : "");
  if (length >= (int)sizeof group->command)
    memcpy(group->command + sizeof group->command - sizeof rest, rest, sizeof rest);
}

static void add_shell(const bench_outside *outside, tool_words *line) {
  bench_group *group = outside->group;
  const char *launch = bench_libraries_launch(outside->job->options, group->launcher), *more = group->launcher->more;
  char *shell = NULL;
  if (asprintf(&shell, "%s%s%s \"$@\"", launch, more ? " " : "", more ? more : "") < 0) {
    line->failed = true;
    return;
  }
  keep_command(group, launch, more);
  tool_words_add(line, "sh");
  tool_words_add(line, "-c");
  tool_words_add(line, shell);
  tool_words_add(line, "sh");
  free(shell);
}

static int make_words(const bench_outside *outside, tool_words *line) {
  const bench_launcher *launcher = outside->group->launcher;
  char settings[128];
  add_shell(outside, line);
  if (!launcher->kind->worker)
    add_environment(line);
  add_yielding(outside, line);
  int result = bench_launch_add_worker(line, launcher);
  if (result != 0)
    return result;
  bench_task_print(&outside->task, settings, sizeof settings);
  tool_words_add(line, "ranks");
  tool_words_add(line, settings);
  for (int n = 0; n < outside->point_count; n++)
    tool_words_add(line, outside->point[n]);
  return line->failed ? bench_fail("no memory for a list of %d points", outside->point_count) : 0;
}

/* ---- what it says ---- */

typedef struct ear {
  bench_outside *outside;
  int pipe;
  char *text; /* not a whole line yet */
  size_t length, room;
  bench_flow *flow;    /* of each host, of the point that comes next */
  bench_levels levels; /* of that, too */
  bool counted, begun, ended;
} ear;

static int strange(const ear *of, const char *line) {
  return bench_fail("%s: its worker sent '%.200s'; does it have another version?", of->outside->group->launcher->name,
                    line);
}

static int hear_job(ear *of, const char *text) {
  bench_outside *outside = of->outside;
  if (of->begun || !bench_report_read_job(text, &outside->map, outside->version))
    return strange(of, text);
  of->begun = true;
  of->flow = calloc((size_t)outside->map.hosts, sizeof *of->flow);
  return of->flow ? 0 : bench_fail("no memory for %d machines", outside->map.hosts);
}

static int hear_point(ear *of, const char *text) {
  static bench_figures figures;
  bench_outside *outside = of->outside;
  int number;
  if (!bench_report_read_point(text, &number, &figures) || number < 0 || number >= outside->point_count)
    return strange(of, text);
  figures.flow = of->counted ? of->flow : NULL;
  figures.levels = of->levels;
  of->counted = false;
  of->levels.ranks = 0;
  if (figures.result == BENCH_FAILED)
    return bench_fail("%s: %s", outside->group->launcher->name, figures.text);
  outside->listener.point(outside->listener.user, number, &figures);
  return 0;
}

static int hear(ear *of, char *line) {
  bench_map *map = &of->outside->map;
  char *word = strstr(line, BENCH_MARK);
  if (!word)
    return 0;
  word += strlen(BENCH_MARK);
  char *rest = word + strcspn(word, " ");
  if (strncmp(word, "job ", 4) == 0)
    return hear_job(of, rest);
  if (!of->begun)
    return strange(of, word);
  if (strncmp(word, "machine ", 8) == 0)
    return bench_report_read_machine(rest, map) ? 0 : strange(of, word);
  if (strncmp(word, "ranks ", 6) == 0)
    return bench_report_read_ranks(rest, map) ? 0 : strange(of, word);
  if (strncmp(word, "nics ", 5) == 0)
    return (of->counted = bench_report_read_flow(rest, map, of->flow)) ? 0 : strange(of, word);
  if (strncmp(word, "levels ", 7) == 0)
    return bench_report_read_levels(rest, &of->levels) ? 0 : strange(of, word);
  if (strncmp(word, "level ", 6) == 0)
    return bench_report_read_level(rest, &of->levels) ? 0 : strange(of, word);
  if (strncmp(word, "point ", 6) == 0)
    return hear_point(of, rest);
  of->ended = of->ended || strncmp(word, "end", 3) == 0;
  return 0;
}

static int hear_lines(ear *of) {
  char *line = of->text, *end;
  int result = 0;
  for (; result == 0 && (end = memchr(line, '\n', of->length - (size_t)(line - of->text))) != NULL; line = end + 1) {
    *end = '\0';
    result = hear(of, line);
  }
  of->length -= (size_t)(line - of->text);
  memmove(of->text, line, of->length);
  return result;
}

static int make_room(ear *of) {
  if (of->length < of->room)
    return 0;
  char *text = realloc(of->text, of->room + 65536);
  if (!text)
    return bench_fail("no memory for the output of %s", of->outside->group->launcher->name);
  of->text = text;
  of->room += 65536;
  return 0;
}

static int is_over(bench_group *group) {
  char ending[64];
  bench_fail("%s: its job ended before everything was measured: %s (%s)", group->launcher->name, group->command,
             bench_launch_ending(group, ending));
  bench_launch_show_output(group);
  fprintf(stderr, "this command shows whether the launcher works: %s hostname\n", group->command);
  return -1;
}

/* Reads what is there. */
static int listen_once(ear *of) {
  bench_group *group = of->outside->group;
  if (make_room(of) != 0)
    return -1;
  ssize_t got = read(of->pipe, of->text + of->length, of->room - of->length);
  if (got < 0)
    return errno == EINTR ? 0 : bench_fail("%s: its output: %s", group->launcher->name, strerror(errno));
  if (got == 0)
    return is_over(group);
  of->length += (size_t)got;
  return hear_lines(of);
}

static int is_silent(const bench_group *group) {
  bench_fail("%s: its job printed nothing for %d s: %s", group->launcher->name, (int)(SILENCE_NS / 1000000000),
             group->command);
  return bench_launch_show_output(group);
}

/* Until it has said "end". What it says goes before what signals tell: it may have ended since. */
static int listen_all(ear *of) {
  bench_job *job = of->outside->job;
  int64_t heard_ns = tt_clock_ns();
  int result = 0;
  while (result == 0 && !of->ended) {
    struct pollfd events[2] = {{.fd = of->pipe, .events = POLLIN}, {.fd = job->signals, .events = POLLIN}};
    int64_t left_ns = heard_ns + SILENCE_NS - tt_clock_ns();
    if (left_ns <= 0)
      return is_silent(of->outside->group);
    if (poll(events, 2, (int)(left_ns / 1000000) + 1) < 0)
      continue;
    if (events[0].revents != 0) {
      heard_ns = tt_clock_ns();
      result = listen_once(of);
    } else if (events[1].revents != 0) {
      result = bench_signals_read(job);
    }
  }
  return result;
}

/* ---- the job ---- */

static int run(bench_outside *outside, char *const *argument) {
  bench_group *group = outside->group;
  ear of = {.outside = outside};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return bench_fail("pipe: %s", strerror(errno));
  of.pipe = ends[0];
  int result = bench_launch_start(outside->job, group, argument, ends[1]);
  close(ends[1]);
  if (result == 0)
    result = listen_all(&of);
  if (!bench_launch_end(group, result == 0) && result == 0)
    group->stuck_count++;
  close(ends[0]);
  close(group->output);
  group->output = 0;
  free(of.text);
  free(of.flow);
  return result;
}

int bench_outside_run(bench_outside *outside) {
  tool_words line = {.count = 0};
  int result = make_words(outside, &line);
  if (result == 0)
    result = run(outside, line.word);
  tool_words_finish(&line);
  return result;
}
