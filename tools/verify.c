/* tools/verify.c - `tutti verify`: proves every cell of collective x form x preset x ranks x roots x group maps x
 * stripe x channels, and random cases, with the verifier that knows nothing of how plans are made. */
#include "tools.h"

#include "verify_cases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: tutti verify [--max-ranks N] [--random N] [--seed S] [--list-invalid]\n"
    "Proves the plans of every collective, form, preset, rank count (1..17, 24, 32, 64, at most N), root, group map,\n"
    "stripe and channel count, then N random cases (10,000; seed S). Exit code 1 where a proof fails.\n";

typedef struct tally {
  int64_t proven, same, invalid, failed;
} tally;

static void count(tally *in, const tt_outcome *outcome) {
  in->proven += outcome->kind == TT_CASE_PROVEN;
  in->same += outcome->kind == TT_CASE_SAME;
  in->invalid += outcome->kind == TT_CASE_INVALID;
  in->failed += outcome->kind == TT_CASE_FAILED;
}

static void report_failure(const tt_case *one, const tt_outcome *outcome) {
  char text[TT_CASE_TEXT];
  tt_case_print(one, text);
  printf("FAILED  %s\n        %s\n", text, outcome->text);
}

/* ---- invalid cells: each reason once, with how many ---- */

#define REASONS 64

typedef struct reasons {
  int count;
  struct {
    char text[512];
    int64_t cells;
  } reason[REASONS];
} reasons;

static void add_reason(reasons *in, const char *text) {
  int n = 0;
  while (n < in->count && strcmp(in->reason[n].text, text) != 0)
    n++;
  if (n == REASONS)
    return;
  if (n == in->count)
    snprintf(in->reason[in->count++].text, sizeof in->reason[0].text, "%s", text);
  in->reason[n].cells++;
}

static void print_reasons(const reasons *in) {
  if (in->count)
    printf("\ninvalid cells:\n");
  for (int n = 0; n < in->count; n++)
    printf("%9" PRId64 "  %s\n", in->reason[n].cells, in->reason[n].text);
}

/* ---- the grid ---- */

static void print_header(void) {
  printf("%-16s %-26s %9s %9s %9s %7s %8s\n", "collective", "form", "proven", "same plan", "invalid", "failed",
         "seconds");
}

static void print_row(const char *collective, const char *form, const tally *sum, int64_t ns) {
  printf("%-16s %-26s %9" PRId64 " %9" PRId64 " %9" PRId64 " %7" PRId64 " %8.1f\n", collective, form, sum->proven,
         sum->same, sum->invalid, sum->failed, (double)ns * 1e-9);
  fflush(stdout);
}

static void show_progress(const tt_case *one, int64_t cells) {
  if (cells % 64 == 0 && isatty(STDERR_FILENO))
    fprintf(stderr, "\r%-16s %3" PRId64 " ranks, %" PRId64 " cells ", tt_compose_info(one->collective).name,
            one->rank_count, cells);
}

static void run_grid(int64_t max_ranks, tally *total, reasons *why) {
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_collective_info info = tt_compose_info((tt_collective)c);
    for (int f = 0; f < info.form_count; f++) {
      tally sum = {0};
      int64_t began = tt_clock_ns(), cells = 0;
      tt_case one;
      for (bool more = tt_case_first(&one, (tt_collective)c, info.form[f], max_ranks); more;
           more = tt_case_next(&one)) {
        tt_outcome outcome = tt_case_prove(&one);
        count(&sum, &outcome);
        if (outcome.kind == TT_CASE_FAILED)
          report_failure(&one, &outcome);
        if (outcome.kind == TT_CASE_INVALID)
          add_reason(why, outcome.text);
        show_progress(&one, ++cells);
      }
      if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%60s\r", "");
      print_row(info.name, info.form[f], &sum, tt_clock_ns() - began);
      total->proven += sum.proven;
      total->same += sum.same;
      total->invalid += sum.invalid;
      total->failed += sum.failed;
    }
  }
}

static void run_random(int64_t cases, uint64_t seed, tally *total) {
  tally sum = {0};
  int64_t began = tt_clock_ns();
  for (int64_t n = 0; n < cases; n++) {
    tt_random random;
    tt_random_init(&random, seed + (uint64_t)n); /* each case can be repeated alone */
    tt_case one;
    tt_case_random(&one, &random);
    tt_outcome outcome = tt_case_prove(&one);
    count(&sum, &outcome);
    if (outcome.kind == TT_CASE_FAILED || outcome.kind == TT_CASE_INVALID)
      report_failure(&one, &outcome);
    show_progress(&one, n);
  }
  char form[32];
  snprintf(form, sizeof form, "seed %" PRIu64, seed);
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r%60s\r", "");
  print_row("random", form, &sum, tt_clock_ns() - began);
  total->proven += sum.proven;
  total->invalid += sum.invalid;
  total->failed += sum.failed + sum.invalid; /* random cases are valid by construction */
}

static bool take_number(int argc, char **argv, int *at, const char *name, int64_t least, int64_t *number) {
  if (strcmp(argv[*at], name) != 0 || *at + 1 >= argc)
    return false;
  char *rest;
  *number = strtoll(argv[++*at], &rest, 10);
  return *rest == '\0' && *number >= least;
}

int tt_tool_verify(int argc, char **argv) {
  int64_t max_ranks = 64, random = 10000, seed = 1;
  for (int n = 1; n < argc; n++) {
    if (strcmp(argv[n], "--help") == 0) {
      fputs(help, stdout);
      return 0;
    }
    if (!take_number(argc, argv, &n, "--max-ranks", 1, &max_ranks) &&
        !take_number(argc, argv, &n, "--random", 0, &random) && !take_number(argc, argv, &n, "--seed", 0, &seed)) {
      fprintf(stderr, "tutti verify: '%s' is not understood\n%s", argv[n], help);
      return 2;
    }
  }
  tally total = {0};
  reasons why = {0};
  int64_t began = tt_clock_ns();
  print_header();
  run_grid(max_ranks, &total, &why);
  run_random(random, (uint64_t)seed, &total);
  print_row("total", "", &total, tt_clock_ns() - began);
  print_reasons(&why);
  return total.failed > 0;
}
