/* tests/mpi/conform/conform.c - every collective of MPI against results that are computed here. Needs no tutti: the
 * same program runs on the MPI alone, and on the interposer.
 *
 *     conform [--cases N] [--from N] [--seed N] [--passes N] [--plain 1] [--trace 1]
 *
 * Without options it draws cases, some hundreds of milliseconds of them. --passes N: every combination, N times with
 * other types. --from N --cases M: those numbers, as a failure printed them. --plain 1: an MPI alone runs, leave out
 * what it is known to do wrong. Cases come in groups: their calls are outstanding at once, twice, and are completed in
 * one of several ways. Ends with one line, and with 1 if anything was wrong. */
#include "call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_MOST = 5, WRONG_MOST = 10 };

typedef struct suite_options {
  uint64_t cases, from, seed, passes, plain, trace;
  bool chosen; /* from */
} suite_options;

/* ---- a group ---- */

typedef enum completion { WAIT_BACKWARDS, WAIT_ALL, WAIT_ANY, WAIT_SOME, TEST_EACH, TEST_ALL, COMPLETIONS } completion;

static void test_until_done(MPI_Request *request) {
  for (int done = false; !done;)
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

static void complete(MPI_Request *requests, int count, completion how) {
  int index = 0, done = false, finished = 0, indices[GROUP_MOST];
  switch (how) {
  case WAIT_BACKWARDS:
    for (int k = count; k-- > 0;)
      MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    break;
  case WAIT_ALL:
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    break;
  case WAIT_ANY:
    while (index != MPI_UNDEFINED)
      MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
    break;
  case WAIT_SOME:
    while (finished != MPI_UNDEFINED)
      MPI_Waitsome(count, requests, &finished, indices, MPI_STATUSES_IGNORE);
    break;
  case TEST_EACH:
    for (int k = 0; k < count; k++)
      test_until_done(&requests[k]);
    break;
  default:
    while (!done)
      MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
  }
}

/* Non-blocking calls begin, then persistent ones together, with blocking ones between. */
static void run_round(call *calls, int count, int round, completion how) {
  MPI_Request requests[GROUP_MOST], persistent[GROUP_MOST];
  int persistent_count = 0;
  for (int k = 0; k < count; k++) {
    call *of = &calls[k];
    call_fill(of, round);
    if (of->of.mode != PERSISTENT || round == 0)
      call_invoke(of);
    else if (of->of.collective == BARRIER)
      of->ticket = comms_enter((suite_comm *)of->of.comm);
    if (of->of.mode == PERSISTENT)
      persistent[persistent_count++] = of->request;
  }
  MPI_Startall(persistent_count, persistent);
  for (int k = 0; k < count; k++)
    requests[k] = calls[k].request;
  complete(requests, count, how);
  for (int k = 0; k < count; k++)
    calls[k].request = requests[k];
}

static void trace(const test_case *of, const suite_options *options) {
  char text[400];
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!options->trace || rank != 0)
    return;
  case_print(of, text, sizeof text);
  printf("%s\n", text);
  fflush(stdout);
}

static int run_group(const uint64_t *numbers, int count, uint64_t seed, const suite_options *options) {
  static call calls[GROUP_MOST];
  int wrong = 0;
  for (int k = 0; k < count; k++) {
    test_case of = case_of(numbers[k], options->plain);
    trace(&of, options);
    call_lay(&calls[k], &of);
  }
  for (int round = 0; round < 2; round++) {
    run_round(calls, count, round, (completion)((seed + (uint64_t)round) % COMPLETIONS));
    for (int k = 0; k < count; k++)
      wrong += !call_check(&calls[k]);
  }
  for (int k = 0; k < count; k++)
    call_free(&calls[k]);
  return wrong;
}

/* ---- all of them ---- */

static uint64_t number_of(const suite_options *options, uint64_t index) {
  if (options->chosen)
    return options->from + index;
  return options->passes > 0 ? index : mixed(options->seed, index) % (case_total() * 64);
}

static int64_t run_all(const suite_options *options, uint64_t count) {
  int64_t wrong = 0;
  for (uint64_t index = 0; index < count && wrong < WRONG_MOST;) {
    uint64_t numbers[GROUP_MOST], seed = mixed(options->seed, index);
    int group = 0;
    while (group <= (int)(seed % GROUP_MOST) && index < count)
      numbers[group++] = number_of(options, index++);
    wrong += run_group(numbers, group, seed >> 8, options);
  }
  return wrong;
}

static bool read_options(int count, char **words, suite_options *options) {
  struct {
    const char *name;
    uint64_t *value;
  } table[] = {{"--cases", &options->cases},   {"--from", &options->from},   {"--seed", &options->seed},
               {"--passes", &options->passes}, {"--plain", &options->plain}, {"--trace", &options->trace}};
  const size_t rows = sizeof table / sizeof table[0];
  for (int k = 1; k + 1 < count; k += 2) {
    size_t row = 0;
    while (row < rows && strcmp(table[row].name, words[k]) != 0)
      row++;
    if (row == rows)
      return false;
    *table[row].value = strtoull(words[k + 1], NULL, 0);
    options->chosen = options->chosen || table[row].value == &options->from;
  }
  return count % 2 == 1;
}

int main(int count, char **words) {
  suite_options options = {.cases = 500, .seed = 1};
  int rank, size;
  int64_t wrong, all = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!read_options(count, words, &options)) {
    fprintf(stderr, "usage: conform [--cases N] [--from N] [--seed N] [--passes N] [--plain 1] [--trace 1]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  element_begin();
  comms_begin(options.seed);
  uint64_t cases = options.passes > 0 ? options.passes * case_total() : options.cases;
  wrong = run_all(&options, cases);
  MPI_Reduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("conform: %d ranks, %" PRIu64 " cases, %" PRId64 " wrong\n", size, cases, all);
  comms_end();
  element_end();
  MPI_Finalize();
  return wrong > 0;
}
