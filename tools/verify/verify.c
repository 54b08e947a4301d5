/* tools/verify/verify.c - `tutti verify`: proves a grid of cases, and random ones, with the verifier that knows nothing
 * of how plans are made; or the plans in a file, or all that a call could run with. */
#include "verify.h"
#include "cases.h"
#include "plan.h"
#include "search.h"

#include "tools/shared/shared.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "usage: tutti verify [--max-ranks N] [--random N] [--seed S] | --plan FILE | --search COLLECTIVE -n N ...\n"
    "\n"
    "Proves the plans of every collective, form, preset, rank count, root, group map, stripe, channel count and order\n"
    "of operands; then random cases of collectives, and as many random compositions. Exit code 1 if a proof fails.\n"
    "With --plan, proves the plans in a file instead; with --search, all plans that a call could run with\n"
    "(tutti verify --search --help).\n"
    "\n"
    "  --max-ranks N      largest rank count, 1 to 64 (default 64); 0: only random cases\n"
    "  --random N         number of random cases (default 10,000)\n"
    "  --seed S           seed of the random cases (default 1)\n"
    "  --plan FILE        the plans of all ranks and their claim, as tutti plan --text prints them (- is standard\n"
    "                     input; docs/plan.md has the grammar)\n"
    "\n"
    "Exit codes of --plan: 0: the plans do what they claim; 1: they do not, and it prints rank, lane, step and\n"
    "reason; 2: it cannot read the file, or the text is malformed, lacks plans or is too large.\n"
    "\n"
    "  tutti plan allreduce -n 8 --params rabenseifner --text | tutti verify --plan -\n";

typedef struct tally {
  int64_t cells[TT_VERDICTS];
} tally;

static void add_tally(tally *to, const tally *from) {
  for (int n = 0; n < TT_VERDICTS; n++)
    to->cells[n] += from->cells[n];
}

static void report_failure(const tt_case *one, const tt_outcome *outcome) {
  char text[TT_CASE_TEXT];
  tt_case_print(one, text);
  printf("FAILED  %s\n        %s\n", text, outcome->text);
  tt_case_print_composition(one);
}

/* ---- invalid cells: each reason once, with how many ---- */

#define REASONS 48

typedef struct reason {
  char text[512];
  int64_t cells;
} reason;

typedef struct reasons {
  int count; /* the last of REASONS is "other reasons" */
  reason reason[REASONS];
} reasons;

/* Without the stage and level in front of it, and with # for every number. */
static void shorten(const char *text, char *to, size_t size) {
  for (const char *next = text; (next = strstr(next, "': ")) != NULL; next += 3)
    text = next + 3;
  size_t used = 0;
  for (; *text && used + 1 < size; text++)
    if (!isdigit((unsigned char)*text))
      to[used++] = *text;
    else if (used == 0 || to[used - 1] != '#')
      to[used++] = '#';
  to[used] = '\0';
}

static void add_reason(reasons *in, const char *text) {
  char short_text[sizeof in->reason[0].text];
  shorten(text, short_text, sizeof short_text);
  int n = 0;
  while (n < in->count && n + 1 < REASONS && strcmp(in->reason[n].text, short_text) != 0)
    n++;
  if (n == in->count)
    snprintf(in->reason[in->count++].text, sizeof in->reason[0].text, "%s", short_text);
  if (n + 1 == REASONS)
    strcpy(in->reason[n].text, "other reasons");
  in->reason[n].cells++;
}

static int by_cells(const void *a, const void *b) {
  int64_t one = ((const reason *)a)->cells, other = ((const reason *)b)->cells;
  return (one < other) - (one > other);
}

static void print_reasons(reasons *in) {
  if (in->count)
    printf("\ninvalid cells:\n");
  qsort(in->reason, (size_t)in->count, sizeof *in->reason, by_cells);
  for (int n = 0; n < in->count; n++)
    printf("%9" PRId64 "  %s\n", in->reason[n].cells, in->reason[n].text);
}

/* ---- cases ---- */

typedef struct verify_run {
  int64_t max_ranks, random;
  uint64_t seed;
  tally total;
  reasons why;
} verify_run;

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void print_header(int64_t max_ranks) {
  if (max_ranks > 0)
    tt_case_print_axes(max_ranks);
  printf("%-22s %-26s %9s %9s %9s %7s %8s\n", "collective", "form", "proven", "same plan", "invalid", "failed",
         "cpu s");
}

static void print_row(const char *collective, const char *form, const tally *sum, double seconds) {
  printf("%-22s %-26s", collective, form);
  for (int n = 0; n < TT_VERDICTS; n++)
    printf(" %*" PRId64, n == TT_FAILED ? 7 : 9, sum->cells[n]);
  printf(" %8.1f\n", seconds);
  fflush(stdout);
}

static void show_progress(const tt_case *one, int64_t cells) {
  if (cells % 64 == 0 && isatty(STDERR_FILENO))
    fprintf(stderr, "\r%-22s %3" PRId64 " ranks, %" PRId64 " cells ", tt_compose_info(one->problem.collective).name,
            one->problem.rank_count, cells);
}

static void clear_progress(void) {
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r%60s\r", "");
}

static void prove_one(verify_run *run, const tt_case *one, tally *sum) {
  tt_outcome outcome = tt_case_prove(one);
  if (outcome.verdict == TT_OPEN)
    exit(tool_fail("verify", 2, "%s", outcome.text));
  sum->cells[outcome.verdict]++;
  if (outcome.verdict == TT_FAILED)
    report_failure(one, &outcome);
  if (outcome.verdict == TT_INVALID)
    add_reason(&run->why, outcome.text);
}

static void run_form(verify_run *run, tt_collective collective, const char *form) {
  tally sum = {{0}};
  double began = cpu_seconds();
  int64_t cells = 0;
  tt_case one;
  for (bool more = tt_case_first(&one, collective, form, run->max_ranks); more; more = tt_case_next(&one)) {
    prove_one(run, &one, &sum);
    show_progress(&one, ++cells);
  }
  clear_progress();
  print_row(tt_compose_info(collective).name, form, &sum, cpu_seconds() - began);
  add_tally(&run->total, &sum);
}

static void run_grid(verify_run *run) {
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_collective_info info = tt_compose_info((tt_collective)c);
    for (int f = 0; f < info.form_count; f++)
      run_form(run, (tt_collective)c, info.form[f]);
  }
}

/* What does not fit together is drawn again; were it more than three quarters, fewer cases would do. */
static void run_random(verify_run *run, tt_case_kind kind, const char *name) {
  tally sum = {{0}};
  double began = cpu_seconds();
  tt_case one;
  for (int64_t n = 0; sum.cells[TT_PROVEN] + sum.cells[TT_FAILED] < run->random && n < 4 * run->random; n++) {
    tt_case_draw(&one, kind, run->seed + (uint64_t)n);
    prove_one(run, &one, &sum);
    show_progress(&one, n);
  }
  char form[32];
  snprintf(form, sizeof form, "seed %" PRIu64, run->seed);
  clear_progress();
  print_row(name, form, &sum, cpu_seconds() - began);
  add_tally(&run->total, &sum);
}

/* ---- the command ---- */

#define NUMBER_MOST (INT64_MAX / 8) /* random cases are drawn up to four times */

static bool take_number(int argc, char **argv, int *at, const char *name, int64_t most, int64_t *number) {
  if (strcmp(argv[*at], name) != 0 || *at + 1 >= argc)
    return false;
  return tool_read_number(argv[++*at], 0, most, number);
}

static bool take_path(int argc, char **argv, int *at, const char **path) {
  if (strcmp(argv[*at], "--plan") != 0 || *at + 1 >= argc)
    return false;
  *path = argv[++*at];
  return true;
}

/* 0, or the exit code. */
static int read_arguments(int argc, char **argv, verify_run *run, const char **plan) {
  int64_t seed = 1;
  for (int n = 1; n < argc; n++)
    if (!take_number(argc, argv, &n, "--max-ranks", TT_CASE_RANKS, &run->max_ranks) &&
        !take_number(argc, argv, &n, "--random", NUMBER_MOST, &run->random) &&
        !take_number(argc, argv, &n, "--seed", NUMBER_MOST, &seed) && !take_path(argc, argv, &n, plan)) {
      fprintf(stderr, "tutti verify: unknown argument '%s'\n%s", argv[n], help);
      return 2;
    }
  if (*plan && argc > 3) {
    fprintf(stderr, "tutti verify: --plan %s excludes other options\n", *plan);
    return 2;
  }
  run->seed = (uint64_t)seed;
  return 0;
}

static int prove_all(verify_run *run) {
  double began = cpu_seconds();
  print_header(run->max_ranks);
  if (run->max_ranks > 0)
    run_grid(run);
  run_random(run, TT_CASE_RANDOM, "random collectives");
  run_random(run, TT_CASE_COMPOSITION, "random compositions");
  print_row("total", "", &run->total, cpu_seconds() - began);
  print_reasons(&run->why);
  return run->total.cells[TT_FAILED] > 0;
}

int tt_tool_verify(int argc, char **argv) {
  static verify_run run = {.max_ranks = TT_CASE_RANKS, .random = 10000};
  const char *plan = NULL;
  if (argc > 1 && strcmp(argv[1], "--help") == 0) {
    fputs(help, stdout);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "--search") == 0)
    return verify_search(argc - 1, argv + 1);
  int code = read_arguments(argc, argv, &run, &plan);
  if (code)
    return code;
  return plan ? verify_plan_file(plan) : prove_all(&run);
}
