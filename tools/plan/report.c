/* tools/plan/report.c - what `tutti plan` prints: composition, resolved levels, what each rank sends, and
 * modelled times where they are asked for. */
#include "report.h"
#include "media.h"
#include "text.h"

#include "tools/shared/shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- ranges ---- */

static void format_range(int64_t low, int64_t high, char text[static 48]) {
  if (low == high)
    snprintf(text, 48, "%" PRId64, low);
  else
    snprintf(text, 48, "%" PRId64 " .. %" PRId64, low, high);
}

/* ---- composition ---- */

static void print_indented(const char *text) {
  for (const char *line = text; line && *line;) {
    size_t length = strcspn(line, "\n");
    printf("  %.*s\n", (int)length, line);
    line += length + (line[length] == '\n');
  }
}

static void print_composition(const plan_work *work) {
  tt_arena scratch;
  tt_arena_init(&scratch);
  printf("\ncomposition, form %s\n", tt_compose_form(work->options->problem.collective, work->params.form));
  print_indented(tt_ir_print(&work->composition, &scratch));
  tt_arena_finish(&scratch);
}

/* ---- levels ---- */

static void print_level(const tt_level_info *level, const char *stage_name) {
  char shape[TT_SHAPE_TEXT], trees[48];
  tt_shape_print(&level->params, shape);
  format_range(level->fewest, level->most, trees);
  printf("  %-15s %-11s %6" PRId64 "  %-9s %-9s %-9s %-5s %6" PRId64 "%s%s%s\n", stage_name, level->name,
         level->group_count, trees, shape, tt_labelling_name(level->params.labelling), plan_order_text(&level->params),
         level->rounds, level->fold ? "  folded to a power of two" : "", level->striped ? "  striped" : "",
         level->publish ? "  may publish" : "");
}

static void print_levels(const plan_work *work) {
  int stages = work->composition.stage_count;
  printf("\n  %-15s %-11s %6s  %-9s %-9s %-9s %-5s %6s\n", "stage", "level", "groups", "in a tree", "shape",
         "labelling", "order", "rounds");
  for (int s = 0; s < stages; s++)
    for (int n = 0; n < tt_lowering_level_count(work->lowering, s); n++) {
      tt_level_info level = tt_lowering_level(work->lowering, s, n);
      print_level(&level, n ? "" : work->composition.stage[s].name);
    }
  printf("  rounds in total: %u\n", tt_lowering_round(work->lowering, stages));
}

/* ---- counts ---- */

typedef struct counts {
  tt_plan_counts low, high, sum;
} counts;

static counts count_level(const plan_work *work, int level) {
  counts all = {{INT64_MAX, INT64_MAX}, {0, 0}, {0, 0}};
  for (int64_t n = 0; n < work->plan_count; n++) {
    tt_plan_counts sent = tt_plan_sent(work->plan[n], level);
    all.low.messages = sent.messages < all.low.messages ? sent.messages : all.low.messages;
    all.low.blocks = sent.blocks < all.low.blocks ? sent.blocks : all.low.blocks;
    all.high.messages = sent.messages > all.high.messages ? sent.messages : all.high.messages;
    all.high.blocks = sent.blocks > all.high.blocks ? sent.blocks : all.high.blocks;
    all.sum.messages += sent.messages;
    all.sum.blocks += sent.blocks;
  }
  return all;
}

static void format_bytes(const plan_work *work, int64_t low, int64_t high, char text[static 72]) {
  char from[32], to[32];
  plan_unit_format(work, low, from);
  plan_unit_format(work, high, to);
  if (low == high)
    snprintf(text, 72, "%s n", to);
  else
    snprintf(text, 72, "%s .. %s n", from, to);
}

static void print_counts(const plan_work *work, const char *name, int level) {
  counts sent = count_level(work, level);
  char messages[48], blocks[48], bytes[72], total[72];
  format_range(sent.low.messages, sent.high.messages, messages);
  format_range(sent.low.blocks, sent.high.blocks, blocks);
  format_bytes(work, sent.low.blocks, sent.high.blocks, bytes);
  format_bytes(work, sent.sum.blocks, sent.sum.blocks, total);
  printf("  %-15s %12s %14s %18s", name, messages, blocks, bytes);
  if (plan_work_is_whole(work))
    printf(" %17" PRId64 " %11s", sent.sum.messages, total);
  putchar('\n');
}

static bool publishes(const plan_work *work) {
  for (int64_t n = 0; n < work->plan_count; n++)
    for (uint32_t lane = 0; lane < work->plan[n]->lane_count; lane++)
      if (work->plan[n]->lane[lane].published)
        return true;
  return false;
}

static void print_remarks(const plan_work *work) {
  const tt_plan *plan = work->plan[0];
  int64_t blocks = plan_unit_blocks(work);
  printf("\n  n: %s, cut into %" PRId64 " block%s\n", plan_unit_text(work), blocks, blocks == 1 ? "" : "s");
  if (publishes(work))
    puts("  a published message counts once, however many ranks read it");
  if (work->large.found)
    printf("  of %" PRId64 " ranks, %" PRId64 " were compiled: the plans of all others are these with other numbers\n",
           work->composition.rank_count, work->plan_count);
  else if (!plan_work_is_whole(work))
    printf("  of %" PRId64 " ranks, only %" PRId64 " evenly spaced ones were compiled\n", work->composition.rank_count,
           work->plan_count);
  printf("  rank 0's plan: steps %u, lanes %u, cells of tmp %u, bytes of memory %zu\n", plan->step_count,
         plan->lane_count, plan->tmp_count, tt_plan_bytes(plan));
}

static void print_table(const plan_work *work) {
  const tt_plan *plan = work->plan[0];
  bool all = plan_work_is_whole(work);
  printf("\n  %-15s %12s %14s %18s%s\n", "each rank sends", "messages", "blocks", "bytes",
         all ? "  in all: messages       bytes" : "");
  for (uint32_t n = 0; n < plan->level_count; n++)
    print_counts(work, plan->level[n], (int)n);
  if (plan->level_count > 1)
    print_counts(work, "all levels", -1);
}

/* ---- modelled times ---- */

/* Of the calls that go on at the same time. */
static void print_also(const plan_options *options, int64_t size, const double *time_ns) {
  for (int n = 0; n < options->also.count; n++) {
    const plan_also *also = &options->also.call[n];
    char time[32], bytes[16] = "";
    tool_format_time(time_ns[n], time);
    if (also->problem.collective != TT_BARRIER)
      tt_format_bytes(also->bytes ? also->bytes : size, bytes);
    printf("    also %-8s %12s  %s\n", bytes, time, tt_compose_info(also->problem.collective).name);
  }
}

static tutti_status print_times(const plan_work *work) {
  const plan_options *options = work->options;
  const int64_t *size;
  int count = plan_sizes(options, &size);
  char text[PLAN_MODEL], time[32], bytes[16];
  tutti_status status = TUTTI_OK;
  tt_sim_model_print(&work->model, text, sizeof text);
  printf("\n  modelled time, %s\n", text);
  if (work->large.found)
    printf("  of %" PRId64 " ranks, %" PRId64 " are simulated, which stand for all\n", work->composition.rank_count,
           tt_symmetry_unit_total(&work->large.machine) * work->large.machine.unit_size);
  for (int n = 0; n < count && status == TUTTI_OK; n++) {
    double time_ns[1 + PLAN_ALSO];
    status = plan_work_times(work, size[n], time_ns);
    if (status != TUTTI_OK)
      break;
    tool_format_time(time_ns[0], time);
    tt_format_bytes(size[n], bytes);
    if (options->problem.collective == TT_BARRIER)
      printf("  %-15s %12s\n", "time", time);
    else
      printf("  n = %-11s %12s\n", bytes, time);
    print_also(options, size[n], time_ns + 1);
  }
  return status;
}

tutti_status plan_report_print(const plan_work *work) {
  char title[160], params[512];
  plan_title(work, title, sizeof title);
  tt_params_print(&work->params, params, sizeof params);
  printf("%s\nparameters: %s\n", title, params);
  print_composition(work);
  print_levels(work);
  print_table(work);
  print_remarks(work);
  tutti_status status = TUTTI_OK;
  for (int n = 0; n < work->options->size_count && status == TUTTI_OK; n++)
    status = plan_media_print(work, work->options->size[n]);
  return status == TUTTI_OK && work->options->models ? print_times(work) : status;
}
