/* tools/verify/search.c - proves all that a call could run with: the candidates that `tutti tune` measures
 * (tune/space.c).
 *
 * A proof holds for slices of any length and for every medium, so candidates that differ in these alone are proven
 * once: the space is that of calls in cells, which know neither. */
#include "search.h"
#include "all.h"

#include "tools/plan/work.h"
#include "tune/tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RANKS_MOST 256
#define BYTES ((int64_t)1 << 24) /* so many that every block may be cut for channels */

static const char help[] =
    "usage: tutti verify --search COLLECTIVE -n N [options]\n"
    "\n"
    "Proves all plans that such a call could run with: what `tutti tune` measures and `tutti explain --all` lists.\n"
    "\n"
    "  -n N               number of ranks, up to 256 (not needed if --groups gives it)\n"
    "  --nodes N          place the ranks on N nodes, in rank order\n"
    "  --groups MAP       place each rank on a node: 4x8, 7,8,3,1 (sizes), cyclic:4, or 0,0,1,0: (the map itself)\n"
    "  --root R           root, for collectives that have one\n"
    "  --graph GRAPH      for neighbor collectives: 4x4, a periodic grid; or a file with a line for each edge: 0 1\n"
    "  --in-place         in and out are the same memory\n"
    "  --ordered          the operator does not commute\n"
    "\n"
    "Exit code 1 if a proof fails; the parameters are printed with rank, lane, step and reason. 2 if none fails, but\n"
    "some plans are too large to prove.\n";

typedef struct search {
  const plan_options *options;
  tt_candidates space;
  int64_t *machine;             /* of each rank; NULL: one node */
  int64_t proven, failed, open; /* open: there was no proof, and none failed */
} search;

/* ---- one candidate ---- */

static tutti_status find_machines(const plan_work *work, search *of) {
  const int32_t *node = work->topo->reach_of;
  int64_t ranks = work->composition.rank_count;
  if (!node)
    return TUTTI_OK;
  of->machine = calloc((size_t)ranks, sizeof *of->machine);
  if (!of->machine)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " ranks", ranks);
  for (int64_t r = 0; r < ranks; r++)
    of->machine[r] = node[r];
  return TUTTI_OK;
}

static tutti_status verify_work(const search *of, plan_work *work) {
  const tt_problem *problem = &of->options->problem;
  tt_question question = {.collective = tt_compose_info(problem->collective).name,
                          .rank_count = problem->rank_count,
                          .block_count = work->composition.block_count,
                          .root = problem->root,
                          .in_place = problem->in_place,
                          .ordered = problem->ordered,
                          .reproducible = work->params.reproducible,
                          .edge_count = of->options->graph.edge_count,
                          .from = of->options->graph.from,
                          .to = of->options->graph.to};
  tt_meaning meaning;
  tutti_status status = tt_verify_meaning(&question, &meaning);
  if (status == TUTTI_OK)
    status = plan_work_lower(work, RANKS_MOST);
  if (status == TUTTI_OK && !plan_work_is_whole(work))
    status = tt_fail(TUTTI_ERR_UNSUPPORTED, "too many steps to prove");
  return status == TUTTI_OK ? verify_all_plans(&meaning, work->plan, of->machine) : status;
}

static void prove(search *of, const char *text) {
  plan_work work;
  tutti_status status = plan_work_open(of->options, text, &work);
  if (status == TUTTI_OK)
    status = verify_work(of, &work);
  plan_work_close(&work);
  of->proven += status == TUTTI_OK;
  bool open = status == TUTTI_ERR_MEMORY || status == TUTTI_ERR_UNSUPPORTED;
  of->failed += status != TUTTI_OK && !open;
  of->open += open;
  if (status != TUTTI_OK)
    printf("%s  %s\n        %s\n", open ? "NOT PROVEN" : "FAILED", text, tutti_last_error());
}

/* ---- all ---- */

static tutti_status make_space(search *of) {
  plan_work work;
  tutti_status status = plan_work_open(of->options, "linear", &work);
  tt_task task = {
      .problem = of->options->problem, .topo = work.topo, .bytes = BYTES, .slot_bytes = BYTES, .cells_bytes = BYTES};
  if (status == TUTTI_OK)
    status = find_machines(&work, of);
  if (status == TUTTI_OK)
    status = tt_candidates_make(&task, &of->space);
  plan_work_close(&work);
  return status;
}

static int prove_all(search *of) {
  const tt_problem *problem = &of->options->problem;
  for (int64_t n = 0; n < of->space.count; n++) {
    if (isatty(STDERR_FILENO))
      fprintf(stderr, "\r\033[Kplan %" PRId64 " of %" PRId64 "\r", n + 1, of->space.count);
    prove(of, of->space.candidate[n].text);
  }
  if (isatty(STDERR_FILENO))
    fputs("\r\033[K", stderr);
  printf("%s, %" PRId64 " ranks: %" PRId64 " texts make %" PRId64 " plans that differ, %" PRId64
         " texts make none; %" PRId64 " proven, %" PRId64 " failed",
         tt_compose_info(problem->collective).name, problem->rank_count, of->space.tried - of->space.refused,
         of->space.count, of->space.refused, of->proven, of->failed);
  if (of->open > 0)
    printf(", %" PRId64 " not proven", of->open);
  putchar('\n');
  return of->failed > 0 ? 1 : of->open > 0 ? 2 : 0;
}

static int run(const plan_options *options) {
  search of = {.options = options};
  int code = 2;
  if (options->problem.rank_count > RANKS_MOST)
    tool_fail("verify", code, "-n %" PRId64 ": the limit is %d ranks", options->problem.rank_count, RANKS_MOST);
  else if (make_space(&of) != TUTTI_OK)
    tool_fail("verify", code, "%s", tutti_last_error());
  else
    code = prove_all(&of);
  tt_candidates_finish(&of.space);
  free(of.machine);
  return code;
}

/* ---- the command ---- */

static int take_help(void *options, const char *value) {
  (void)options;
  (void)value;
  fputs(help, stdout);
  return TOOL_HELPED;
}

static const tool_option rows[] = {
    PLAN_SUBJECT_ROWS,
    {NULL, 1, TOOL_TAKE, 0, plan_take_collective},
    {"help", 'h', TOOL_DO, 0, take_help},
};

int verify_search(int argc, char **argv) {
  plan_options options;
  plan_subject_init("verify", &options);
  int result = tool_options_read(argc, argv, "-", rows, TT_COUNT(rows), &options);
  if (result == TOOL_GO_ON)
    result = plan_subject_check(&options);
  int code = result == TOOL_HELPED ? 0 : result == TOOL_GO_ON ? run(&options) : TOOL_MISUSED;
  plan_options_finish(&options);
  return code;
}
