/* tools/regret/regret.c - goes through all tasks in an order of its own, so that what the budget is enough for is a
 * fair part; writes each as it is measured, and measures none again for which all choosers still say the same. */
#include "regret.h"
#include "chooser.h"
#include "race.h"
#include "report.h"

#include "call/call.h"
#include "tools/tune/task.h"
#include "topo/machine/machine.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct regret {
  const tune_options *options;
  tune_ranks *all;
  char machine[TT_MACHINE_TEXT];
  regret_chooser chooser[REGRET_CHOOSERS];
  int chooser_count;
  FILE *file;
  regret_result **result; /* what the file has of this machine, the newest of each task */
  int64_t result_count;
  int64_t until_ns;
};

_Static_assert(TUNE_NAMED + 4 <= REGRET_CHOOSERS,
               "all that can be named, the job, what is shipped, and two of lessons");

/* ---- what is known ---- */

/* -1: none of that task. */
static int64_t find(const regret *of, const tt_region *region) {
  int64_t n = of->result_count - 1;
  while (n >= 0 && !tt_region_same(&of->result[n]->region, region))
    n--;
  return n;
}

static void drop(regret *of, int64_t number) {
  free(of->result[number]);
  of->result[number] = of->result[--of->result_count];
}

/* In the place of an older one. */
static tutti_status keep_take(regret *of, regret_result *result) {
  int64_t older = find(of, &result->region);
  if (older >= 0)
    drop(of, older);
  regret_result **larger = realloc(of->result, (size_t)(of->result_count + 1) * sizeof *larger);
  if (!larger) {
    free(result);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " tasks", of->result_count + 1);
  }
  of->result = larger;
  of->result[of->result_count++] = result;
  return TUTTI_OK;
}

/* ---- files ---- */

/* The last line, which begins there, was cut off: whoever wrote it was killed, or the disk was full. Nothing else is
 * removed: the file may be one that this has not written. */
static bool drop_torn_line(FILE *file, off_t begin) {
  static const char first[] = "{\"machine\": ";
  char *line = NULL;
  size_t room = 0;
  ssize_t size = fseeko(file, begin, SEEK_SET) == 0 ? getline(&line, &room, file) : -1;
  bool torn = size > 0 && line[size - 1] != '\n' &&
              strncmp(line, first, (size_t)size < strlen(first) ? (size_t)size : strlen(first)) == 0;
  free(line);
  return torn && ftruncate(fileno(file), begin) == 0;
}

static tutti_status open_file(const char *path, regret *of) {
  of->file = fopen(path, "a+e");
  if (!of->file)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: cannot be opened: %s", path, strerror(errno));
  for (int64_t number = 1;; number++) {
    regret_result *next;
    off_t begin = ftello(of->file);
    tutti_status status = regret_result_read(of->file, path, number, &next);
    if (status == TUTTI_ERR_ARGUMENT && drop_torn_line(of->file, begin)) {
      tt_fail_clear();
      return TUTTI_OK;
    }
    if (status == TUTTI_OK && next && strcmp(next->machine, of->machine) != 0)
      free(next);
    else if (status == TUTTI_OK && next)
      status = keep_take(of, next);
    if (status != TUTTI_OK || !next)
      return status;
  }
}

static tutti_status open_chooser(regret *of, const char *kind, const char *file) {
  return regret_chooser_open(kind, file, &of->chooser[of->chooser_count++]);
}

/* Those that a job would find. */
static tutti_status open_lessons(regret *of) {
  static const char *const kinds[] = {"learned", "model"};
  char wisdom[TT_WISDOM_PATH], path[TT_WISDOM_PATH + 32], machine[TT_MACHINE_TEXT];
  if (tt_wisdom_find(tt_options_get()->choice.wisdom, false, wisdom, machine) != TUTTI_OK) {
    tt_fail_clear();
    return TUTTI_OK;
  }
  tt_lessons_path_of_all(wisdom, path);
  tutti_status status = TUTTI_OK;
  for (size_t n = 0; n < TT_COUNT(kinds) && status == TUTTI_OK && access(path, F_OK) == 0; n++)
    status = open_chooser(of, kinds[n], path);
  return status;
}

static tutti_status open_all(regret *of) {
  const tune_options *options = of->options;
  tutti_status status = tt_machine_fingerprint(of->machine);
  if (status == TUTTI_OK)
    status = open_chooser(of, "job", NULL);
  if (status == TUTTI_OK)
    status = open_chooser(of, "shipped", NULL);
  if (status == TUTTI_OK)
    status = open_lessons(of);
  for (int n = 0; n < options->named_count && status == TUTTI_OK; n++)
    status = open_chooser(of, options->named[n].kind, options->named[n].file);
  return status == TUTTI_OK ? open_file(options->regret, of) : status;
}

tutti_status regret_open(const tune_options *options, regret **made) {
  regret *of = calloc(1, sizeof *of);
  if (!of)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for tasks");
  of->options = options;
  tutti_status status = open_all(of);
  if (status == TUTTI_OK)
    *made = of;
  else
    regret_close(of);
  return status;
}

void regret_close(regret *of) {
  if (!of)
    return;
  for (int n = 0; n < of->chooser_count; n++)
    regret_chooser_close(&of->chooser[n]);
  while (of->result_count > 0)
    free(of->result[--of->result_count]);
  free(of->result);
  if (of->file)
    fclose(of->file);
  free(of);
}

/* ---- a task ---- */

static void ask_all(const regret *of, const tt_region *region, regret_result *result) {
  *result = (regret_result){.region = *region, .choice_count = of->chooser_count};
  memcpy(result->machine, of->machine, sizeof of->machine);
  for (int n = 0; n < of->chooser_count; n++) {
    tt_choice said = regret_chooser_ask(&of->chooser[n], of->all->words, region);
    memcpy(result->choice[n].name, of->chooser[n].name, REGRET_NAME);
    snprintf(result->choice[n].params, TUNE_TEXT, "%s", said.text);
    result->choice[n].insists = tt_authority_insists(said.by);
  }
}

static bool same_choices(const regret_result *a, const regret_result *b) {
  bool same = a->choice_count == b->choice_count;
  for (int n = 0; n < a->choice_count && same; n++)
    same = strcmp(a->choice[n].name, b->choice[n].name) == 0 && strcmp(a->choice[n].params, b->choice[n].params) == 0;
  return same;
}

static void say_progress(const tt_region *region, int64_t number, int64_t count) {
  char text[96];
  regret_format_region(region, text);
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r\033[K%" PRId64 " of %" PRId64 ": %s\r", number, count, text);
}

/* *done: it was in time, and alone. */
static tutti_status measure(regret *of, regret_result *result, bool *done) {
  tt_task task = tune_task_on(of->all->words, result->region.collective, result->region.bytes);
  regret_outcome outcome;
  tutti_status status = regret_race(of->all, &task, of->until_ns, result, &outcome);
  if (status != TUTTI_OK || !outcome.done)
    return status;
  *done = !outcome.disturbed || of->options->busy;
  if (!*done)
    regret_print_disturbed(&result->region, outcome.others);
  return *done ? regret_result_write(of->file, of->options->regret, result) : TUTTI_OK;
}

/* What the file has of it, if all choosers still say the same; else no longer. */
static bool is_known(regret *of, const regret_result *asked) {
  int64_t number = find(of, &asked->region);
  bool known = number >= 0 && !of->options->again && same_choices(of->result[number], asked);
  if (number >= 0 && !known)
    drop(of, number);
  return known;
}

/* *done: it is known now. */
static tutti_status run_task(regret *of, const tt_region *region, bool *done) {
  regret_result *result = malloc(sizeof *result);
  if (!result)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a task");
  ask_all(of, region, result);
  bool known = is_known(of, result), measured = false;
  tutti_status status = TUTTI_OK;
  if (!known && tt_clock_ns() < of->until_ns)
    status = measure(of, result, &measured);
  if (status == TUTTI_OK && measured)
    status = keep_take(of, result);
  else
    free(result);
  *done = status == TUTTI_OK && (known || measured);
  if (*done)
    regret_print_row(of->result[find(of, region)]);
  return status;
}

/* ---- all of them ---- */

#define TASKS_MOST (TT_COLLECTIVE_COUNT * TUNE_SIZES)

/* Each once: some lengths become one where blocks would be empty. */
static int64_t list_tasks(const regret *of, tt_region task[static TASKS_MOST]) {
  const tune_options *options = of->options;
  int64_t count = 0;
  for (int c = 0; c < options->collective_count; c++)
    for (int s = 0; s < options->size_count; s++) {
      tt_collective collective = options->collective[c];
      int64_t bytes = tune_task_bytes(of->all->words, collective, options->size[s]), n = 0;
      tt_region region = tt_comm_region(of->all->words, collective, bytes);
      while (n < count && !tt_region_same(&task[n], &region))
        n++;
      task[n] = region;
      count += n == count;
    }
  return count;
}

static void print_missing(const tt_region *task, const bool *done, int64_t count) {
  int64_t missing = 0;
  char text[96];
  for (int64_t n = 0; n < count; n++)
    missing += !done[n];
  if (missing > 0)
    printf("\n  %" PRId64 " of %" PRId64
           " tasks are missing: the time was over, or other programs used the processors. Run "
           "it again to\n  go on, with --busy to keep what was disturbed:\n",
           missing, count);
  for (int64_t n = 0; n < count; n++)
    if (!done[n]) {
      regret_format_region(&task[n], text);
      printf("    %s\n", text);
    }
}

static tutti_status run_tasks(regret *of) {
  static tt_region task[TASKS_MOST];
  static bool done[TASKS_MOST];
  int64_t order[TASKS_MOST], count = list_tasks(of, task);
  tutti_status status = TUTTI_OK;
  tt_random random;
  tt_random_init(&random, 1);
  for (int64_t n = 0; n < count; n++) {
    order[n] = n;
    done[n] = false;
  }
  tt_random_shuffle(&random, order, count, sizeof *order);
  for (int64_t n = 0; n < count && status == TUTTI_OK; n++) {
    say_progress(&task[order[n]], n + 1, count);
    status = run_task(of, &task[order[n]], &done[order[n]]);
  }
  if (status == TUTTI_OK)
    print_missing(task, done, count);
  return status;
}

tutti_status regret_run(regret *of, tune_ranks *all) {
  tutti_status status = TUTTI_OK;
  of->all = all;
  of->until_ns = tt_clock_ns() + of->options->budget_ns;
  regret_print_head(of->chooser, of->chooser_count);
  for (int n = 0; n < of->options->rank_kinds && status == TUTTI_OK; n++) {
    status = tune_lead_group(all, of->options->ranks[n]);
    if (status == TUTTI_OK)
      status = tt_comm_place(all->words);
    if (status == TUTTI_OK)
      status = run_tasks(of);
    if (status == TUTTI_OK)
      status = tune_lead_leave(all);
  }
  if (status == TUTTI_OK)
    regret_print_summary(of->chooser, of->chooser_count, of->result, of->result_count);
  return status;
}
