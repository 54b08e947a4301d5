/* tools/plan/media.c - how what ranks send goes: in cells, slots, published, lent, read, in messages between machines.
 *
 * Each rank's plan is bound as the library would for a call of so many bytes, and the run foreseen (exec/exec.h).
 * Blocks are equally long, also where ranks may have others. */
#include "media.h"
#include "place.h"

#include "api/api.h"
#include "bind/bind.h"
#include "call/call.h"
#include "exec/exec.h"
#include "transport/shm/shm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A call of so many bytes, as it would be made here. */
typedef struct forecast {
  const plan_work *work;
  tt_medium medium; /* of TUTTI_MEDIUM */
  bool apart;       /* the ranks are on several machines */
  int64_t *machine; /* of each rank; NULL: one */
  int64_t element, bytes;
  tt_forecast_facts facts;
  int64_t *list; /* equal counts and their offsets, behind one another: of as many blocks as any table has */
  tt_arena arena;
} forecast;

/* Of one rank, by level and medium. */
typedef tt_sent_range by_medium[TT_PLAN_LEVELS][TT_MEDIUM_COUNT];

/* ---- the call ---- */

static int64_t ranks_of(const forecast *of) { return of->work->composition.rank_count; }

static int64_t most_together(const forecast *of) { return of->apart ? plan_nodes(of->work->topo)->most : ranks_of(of); }

static void find_facts(forecast *of) {
  const tt_options *options = tt_options_get();
  int64_t together = most_together(of), lend = tt_medium_lend_bytes(of->medium);
  int64_t read = tt_medium_read_bytes(of->medium);
  int64_t here = options->cma ? tt_shm_read_bytes(together > sysconf(_SC_NPROCESSORS_ONLN)) : -1;
  of->facts = (tt_forecast_facts){.slot_bytes = (int64_t)tt_comm_slot_bytes(together, of->apart),
                                  .thresholds = {.lend = lend, .keep = lend},
                                  .read_least = here > 0 && read > 0 ? read : here,
                                  .shared = {of->work->options->alloc, of->work->options->alloc}};
  tt_thresholds_fill(&of->facts.thresholds, (size_t)of->facts.slot_bytes);
}

static tutti_status find_machines(forecast *of) {
  const tt_topo_level *nodes = plan_nodes(of->work->topo);
  of->apart = nodes && nodes->group_count > 1;
  if (!of->apart)
    return TUTTI_OK;
  of->machine = tt_arena_alloc(&of->arena, (size_t)ranks_of(of), sizeof *of->machine);
  for (int64_t r = 0; of->machine && r < ranks_of(of); r++)
    of->machine[r] = nodes->group_of[r];
  return of->machine ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " ranks", ranks_of(of));
}

static tutti_status make_list(forecast *of, int64_t elements) {
  const tt_composition *composition = &of->work->composition;
  bool each = composition->layout[TT_IN] == TT_LAYOUT_ROW || composition->layout[TT_IN] == TT_LAYOUT_TOUCHED;
  int64_t blocks = composition->layout[TT_IN] == TT_LAYOUT_ROW ? ranks_of(of) : composition->block_count;
  int64_t share = composition->layout[TT_IN] == TT_LAYOUT_TOUCHED ? elements : elements / blocks;
  of->list = tt_arena_alloc(&of->arena, 2 * (size_t)blocks + 1, sizeof *of->list);
  for (int64_t b = 0; of->list && b < blocks; b++) {
    of->list[b] = share + (!each && b < elements % blocks);
    of->list[blocks + b + 1] = of->list[blocks + b] + of->list[b];
  }
  return of->list ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " blocks", blocks);
}

static tt_block_table table_of(const forecast *of) {
  const plan_work *work = of->work;
  tt_collective collective = work->options->problem.collective;
  const tt_composition *composition = &work->composition;
  bool square = composition->layout[TT_IN] == TT_LAYOUT_ROW;
  bool listed = tt_compose_info(collective).has_graph || tt_compose_side(collective, TT_IN).length == TT_BY_LIST ||
                tt_compose_side(collective, TT_OUT).length == TT_BY_LIST;
  int64_t elements = of->bytes / of->element, blocks = square ? ranks_of(of) : composition->block_count;
  const int64_t *count = of->list, *offset = of->list + blocks;
  if (square)
    return (tt_block_table){.kind = TT_TABLE_SQUARE,
                            .block_count = composition->block_count,
                            .each = elements / blocks,
                            .in_count = listed ? count : NULL,
                            .out_count = listed ? count : NULL,
                            .in_offset = offset,
                            .out_offset = offset};
  if (!listed)
    return (tt_block_table){.kind = TT_TABLE_SPLIT, .block_count = composition->block_count, .total = elements};
  return (tt_block_table){.kind = TT_TABLE_LISTED,
                          .block_count = composition->block_count,
                          .total = offset[blocks],
                          .count = count,
                          .known = tt_compose_info(collective).lengths == TT_LENGTHS_ALL,
                          .in_offset = offset,
                          .out_offset = offset,
                          .mid_offset = offset};
}

static tt_run run_of(const forecast *of) {
  const plan_work *work = of->work;
  tt_run run = {.in_own = work->composition.layout[TT_IN] == TT_LAYOUT_OWN,
                .out_own = work->composition.layout[TT_OUT] == TT_LAYOUT_OWN,
                .single_copy = work->params.single_copy,
                .refer_least = of->facts.read_least > 0 ? of->facts.read_least : 0,
                .moves_only = !tt_compose_info(work->options->problem.collective).reduces,
                .blocks = table_of(of),
                .type = of->element == 4 ? TUTTI_FLOAT32 : TUTTI_INT8,
                .op = TUTTI_SUM};
  tt_medium_apply(of->medium, &run);
  return run;
}

static tutti_status begin(forecast *of) {
  tt_arena_init(&of->arena);
  tutti_status status = tt_medium_read(&of->medium);
  if (status == TUTTI_OK)
    status = find_machines(of);
  if (status != TUTTI_OK)
    return status;
  find_facts(of);
  of->element = of->bytes % 4 == 0 ? 4 : 1;
  return make_list(of, of->bytes / of->element);
}

/* ---- of a rank ---- */

static tutti_status foresee_bound(const forecast *of, const tt_bound_plan *bound, const tt_run *run,
                                  tt_sent_range *by_lane, by_medium sent) {
  const tt_plan *plan = bound->list;
  tutti_status status = tt_forecast(bound, run, &of->facts, by_lane);
  for (uint32_t lane = 0; lane < plan->lane_count && status == TUTTI_OK; lane++)
    for (uint32_t n = 0; n < TT_MEDIUM_COUNT; n++)
      tt_sent_range_add(&sent[plan->lane[lane].level][n], &by_lane[lane * TT_MEDIUM_COUNT + n]);
  return status;
}

static tutti_status foresee(forecast *of, const tt_plan *plan, by_medium sent) {
  tt_run run = run_of(of);
  tt_class blocks = of->apart ? TT_CLASS_STREAMS : tt_medium_class(of->medium, plan, &run);
  tt_bind_facts facts = {.blocks = blocks, .able = tt_medium_able(of->medium), .machine = of->machine};
  tt_sent_range *by_lane = tt_arena_alloc(&of->arena, (size_t)plan->lane_count * TT_MEDIUM_COUNT + 1, sizeof *by_lane);
  tt_bound_plan *bound = NULL;
  memset(sent, 0, sizeof(by_medium));
  tutti_status status = by_lane ? tt_bind(plan, &facts, &bound) : tt_fail(TUTTI_ERR_MEMORY, "no memory for a forecast");
  if (status == TUTTI_OK)
    status = foresee_bound(of, bound, &run, by_lane, sent);
  tt_bound_plan_destroy(bound);
  return status;
}

/* ---- printed ---- */

static bool is_none(const tt_sent_range *range) { return range->most.bytes == 0 && range->most.slots == 0; }

static void put_range(int64_t low, int64_t high, int width) {
  char text[64];
  if (low == high)
    snprintf(text, sizeof text, "%" PRId64, low);
  else
    snprintf(text, sizeof text, "%" PRId64 " .. %" PRId64, low, high);
  printf(" %*s", width, text);
}

static void put_row(const tt_sent_range *range) {
  put_range(range->least.messages, range->most.messages, 12);
  put_range(range->least.bytes, range->most.bytes, 24);
  put_range(range->least.slots, range->most.slots, 14);
  putchar('\n');
}

static void widen(tt_sent_range *to, const tt_sent_range *by, bool first) {
#define WIDEN(field)                                                                                                   \
  to->least.field = first || by->least.field < to->least.field ? by->least.field : to->least.field;                    \
  to->most.field = first || by->most.field > to->most.field ? by->most.field : to->most.field
  WIDEN(messages);
  WIDEN(bytes);
  WIDEN(slots);
#undef WIDEN
}

static void print_rows(const plan_work *work, const char *who, by_medium sent) {
  const tt_plan *plan = work->plan[0];
  for (uint32_t level = 0; level < plan->level_count; level++)
    for (int n = 0; n < TT_MEDIUM_COUNT; n++)
      if (!is_none(&sent[level][n])) {
        printf("  %s%-15s %-10s", who, plan->level[level], tt_medium_name[n]);
        put_row(&sent[level][n]);
      }
}

static void print_head(const forecast *of, const char *who) {
  char size[16];
  tt_format_bytes(of->bytes, size);
  printf("\n  how it goes, n = %s%s\n", size, of->work->options->alloc ? ", in memory of tutti_alloc" : "");
  printf("  %s%-15s %-10s %12s %24s %14s\n", who, "each rank sends", "medium", "messages", "bytes", "slots");
}

static tutti_status print_by_rank(forecast *of) {
  by_medium sent;
  char who[16];
  tutti_status status = TUTTI_OK;
  print_head(of, "rank   ");
  for (int64_t n = 0; n < of->work->plan_count && status == TUTTI_OK; n++) {
    status = foresee(of, of->work->plan[n], sent);
    snprintf(who, sizeof who, "%-7" PRId64, of->work->plan[n]->rank);
    if (status == TUTTI_OK)
      print_rows(of->work, who, sent);
  }
  return status;
}

static tutti_status print_all(forecast *of) {
  by_medium sent, all;
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < of->work->plan_count && status == TUTTI_OK; n++) {
    status = foresee(of, of->work->plan[n], sent);
    for (int level = 0; level < TT_PLAN_LEVELS; level++)
      for (int medium = 0; medium < TT_MEDIUM_COUNT; medium++)
        widen(&all[level][medium], &sent[level][medium], n == 0);
  }
  if (status != TUTTI_OK)
    return status;
  print_head(of, "");
  print_rows(of->work, "", all);
  return TUTTI_OK;
}

tutti_status plan_media_print(const plan_work *work, int64_t bytes) {
  forecast of = {.work = work, .bytes = bytes};
  if (work->options->problem.collective == TT_BARRIER) /* its block is the library's */
    return TUTTI_OK;
  if (!tt_task_knows_lengths(work->options->problem.collective, work->lowering)) {
    puts("\n  it cannot run: ranks would pass on blocks whose length they do not know");
    return TUTTI_OK;
  }
  tutti_status status = begin(&of);
  if (status == TUTTI_OK)
    status = work->options->by_rank ? print_by_rank(&of) : print_all(&of);
  tt_arena_finish(&of.arena);
  return status;
}
