/* tools/topo/place.c - `tutti topo --place`: simulates the calls on each placement of the ranks, and says how a
 * launcher is told the better ones. */
#include "place.h"
#include "calls.h"
#include "placements.h"
#include "text.h"
#include "traffic.h"

#include "sim/sim.h"
#include "tune/tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAP = 60 }; /* characters of a map; a longer one is cut */

typedef struct placer {
  const topo_place_options *options;
  tt_arena *arena;
  tt_profile *profile;
  topo_calls calls;
  topo_placements placements;
  char model[PLAN_MODEL]; /* with what switches have */
  char printed[PLAN_MODEL];
} placer;

/* ---- the current placement ---- */

static tutti_status read_map(placer *of, int64_t *node_of) {
  const plan_options *plan = of->options->plan;
  int64_t ranks = plan->problem.rank_count, nodes = plan->node_count ? plan->node_count : 1;
  if (plan->map)
    return tt_topo_parse_map(plan->map, ranks, node_of);
  for (int64_t r = 0, rest = ranks % nodes, size = ranks / nodes; r < ranks; r++)
    node_of[r] = r < rest * (size + 1) ? r / (size + 1) : rest + (r - rest * (size + 1)) / size;
  return TUTTI_OK;
}

static tutti_status make_placements(placer *of, const tt_switches *network) {
  int64_t ranks = of->options->plan->problem.rank_count;
  if (ranks > PLAN_SIMULATED)
    return tt_fail(TUTTI_ERR_ARGUMENT, "--place: %" PRId64 " ranks; the limit is %d", ranks, PLAN_SIMULATED);
  int64_t *node_of = tt_arena_alloc(of->arena, (size_t)ranks, sizeof *node_of);
  tutti_status status = node_of ? read_map(of, node_of) : tt_fail(TUTTI_ERR_MEMORY, "no memory for a placement");
  for (int64_t r = 0; r < ranks && status == TUTTI_OK; r++)
    if (network && node_of[r] >= network->node_count)
      status = tt_fail(TUTTI_ERR_ARGUMENT, "--place: rank %" PRId64 " is on node %" PRId64 "; %s has %" PRId64 " nodes",
                       r, node_of[r], network->path, network->node_count);
  return status == TUTTI_OK ? topo_placements_make(of->arena, network, node_of, ranks, &of->placements) : status;
}

/* ---- the model: switches have half as many links upwards as nodes, unless the user says otherwise ---- */

static int64_t nodes_of_group(const tt_topo *topo, int level, int64_t ranks) {
  const tt_topo_level *node = &topo->level[topo->level_count - 2];
  int64_t count = 0, last = -1;
  for (int64_t r = 0; r < ranks; r++)
    if (topo->level[level].group_of[r] == 0 && node->group_of[r] > last) { /* numbered by their first ranks */
      last = node->group_of[r];
      count++;
    }
  return count;
}

static tutti_status make_model(placer *of) {
  const tt_topo *topo = of->placements.at[0].topo;
  size_t used = 0;
  of->model[0] = '\0';
  for (int n = 0; n < topo->level_count; n++) {
    if (strncmp(topo->level[n].name, "switch", 6) != 0)
      continue;
    int64_t links = (nodes_of_group(topo, n, topo->rank_count) + 1) / 2;
    used += (size_t)snprintf(of->model + used, PLAN_MODEL - used, "%s:links=%" PRId64 ";", topo->level[n].name,
                             links > TT_SIM_PORTS ? (int64_t)TT_SIM_PORTS : links);
  }
  if (used + strlen(of->options->plan->model) >= PLAN_MODEL)
    return tt_fail(TUTTI_ERR_ARGUMENT, "the model is too long");
  strcpy(of->model + used, of->options->plan->model);
  tt_sim_model model;
  tt_sim_model_init(&model, topo);
  tutti_status status = tt_sim_model_parse(of->model, &model);
  for (int n = 0; n < model.place_count && status == TUTTI_OK; n++)
    if (model.place[n].level >= 0)
      status =
          tt_fail(TUTTI_ERR_ARGUMENT, "--place compares placements on nodes that are alike; leave single links such "
                                      "as node.0 out of the model");
  tt_sim_model_print(&model, of->printed, sizeof of->printed);
  return status;
}

/* ---- times ---- */

/* What a job with the shipped profile would run with. */
static const char *params_of(const placer *of, const topo_call *call, const tt_topo *topo) {
  tt_region region = tt_region_of(topo, call->problem.collective, call->bytes, 1, tt_host_l2_bytes(), 0);
  const tt_rule *rule = call->params ? NULL : tt_profile_find(of->profile, &region);
  return call->params ? call->params : rule ? rule->text : tt_choose_fallback().text;
}

/* One call on a placement; and its traffic. NULL: not wanted. */
static tutti_status simulate(const placer *of, const topo_placement *on, const topo_call *call, topo_traffic *traffic,
                             double *time_ns) {
  plan_options options = *of->options->plan;
  plan_work work;
  options.problem = call->problem;
  options.topo = on->topo;
  options.models = true;
  strcpy(options.model, of->model);
  tutti_status status = plan_work_open(&options, params_of(of, call, on->topo), &work);
  if (status == TUTTI_OK)
    status = plan_work_lower(&work, PLAN_SIMULATED);
  if (status == TUTTI_OK && traffic)
    topo_traffic_add(traffic, &work, call->bytes, call->count);
  if (status == TUTTI_OK && time_ns)
    status = plan_work_cost(&work, call->bytes, time_ns);
  plan_work_close(&work);
  return status;
}

static tutti_status find_time(const placer *of, topo_placement *on) {
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < of->calls.count && status == TUTTI_OK; n++) {
    double time_ns = 0;
    status = simulate(of, on, &of->calls.call[n], NULL, &time_ns);
    on->time_ns += of->calls.call[n].count * time_ns;
  }
  return status;
}

/* ---- by traffic ---- */

static tutti_status place_by_traffic(placer *of) {
  topo_placements *all = &of->placements;
  int64_t ranks = all->rank_count;
  topo_traffic traffic;
  if (ranks > TOPO_TRAFFIC_RANKS)
    return TUTTI_OK;
  const int64_t *slot = topo_placements_slots(all);
  uint8_t *near = tt_arena_alloc(of->arena, (size_t)(ranks * ranks), sizeof *near);
  int64_t *slot_of = tt_arena_alloc(of->arena, (size_t)ranks, sizeof *slot_of);
  tutti_status status = topo_traffic_make(of->arena, ranks, &traffic);
  if (!slot || !near || !slot_of || status != TUTTI_OK)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the traffic of %" PRId64 " ranks", ranks);
  for (int64_t n = 0; n < ranks * ranks; n++)
    near[n] = (uint8_t)topo_placements_near(all, slot[n / ranks], slot[n % ranks]);
  for (int64_t n = 0; n < of->calls.count && status == TUTTI_OK; n++)
    status = simulate(of, &all->at[0], &of->calls.call[n], &traffic, NULL);
  if (status != TUTTI_OK)
    return status;
  topo_traffic_place(&traffic, near, slot_of);
  for (int64_t r = 0; r < ranks; r++)
    slot_of[r] = slot[slot_of[r]];
  return topo_placements_add(all, "by traffic", TOPO_BY_FILE, slot_of);
}

/* ---- how launchers are told ---- */

static bool is_cyclic(const tt_topo_level *node, int64_t ranks) {
  for (int64_t r = 0; r < ranks; r++)
    if (node->group_of[r] != r % node->group_count)
      return false;
  return true;
}

/* "4x8", "cyclic:4", "7,8,3,1" or "0,0,1,0:", as TUTTI_GROUPS has it; nodes are numbered by their first ranks. */
static const char *map_text(const placer *of, const topo_placement *on) {
  const tt_topo_level *node = &on->topo->level[on->topo->level_count - 2];
  int64_t ranks = of->placements.rank_count, count = node->group_count;
  bool even = ranks % count == 0, block = even, cyclic = even && is_cyclic(node, ranks);
  const char *text = "";
  for (int64_t r = 0; r < ranks; r++)
    block &= node->group_of[r] == r / (ranks / count);
  if (block)
    return tt_arena_format(of->arena, "%" PRId64 "x%" PRId64, count, ranks / count);
  if (cyclic)
    return tt_arena_format(of->arena, "cyclic:%" PRId64, count);
  for (int64_t r = 0; r < ranks && text; r++) {
    text = tt_arena_format(of->arena, "%s%s%d", text, r ? "," : "", (int)node->group_of[r]);
    if (text && strlen(text) > MAP && r + 1 < ranks)
      return tt_arena_format(of->arena, "%s...", text);
  }
  return text ? tt_arena_format(of->arena, "%s:", text) : NULL;
}

/* Hydra places so many ranks on each host in turn, and goes around: it knows of no host that is full. */
static const char *mpich_text(const placer *of, const topo_placement *on) {
  const tt_topo_level *node = &on->topo->level[on->topo->level_count - 2];
  int64_t each = of->placements.rank_count / node->group_count;
  if (on->launch == TOPO_CYCLIC && is_cyclic(node, of->placements.rank_count))
    return "-ppn 1";
  bool even = each * node->group_count == of->placements.rank_count && node->most == each;
  return on->launch == TOPO_BLOCK && even ? tt_arena_format(of->arena, "-ppn %" PRId64, each) : "-f FILE";
}

/* All times of a single rank are 0. */
static double ratio_of(double time_ns, double other_ns) { return time_ns == other_ns ? 1 : time_ns / other_ns; }

static void add_row(const placer *of, const topo_placement *on, topo_table *table) {
  static const char *const openmpi[] = {"--map-by slot", "--map-by node", "--map-by seq --hostfile FILE"};
  static const char *const slurm[] = {"--distribution=block", "--distribution=cyclic", "--distribution=arbitrary"};
  char time[32];
  double ratio = ratio_of(on->time_ns, of->placements.at[0].time_ns);
  tool_format_time(on->time_ns, time);
  const char *cell[] = {tt_arena_format(of->arena, "%s%s%s", on->name ? on->name : "",
                                        on->name && on->is_current ? ", " : "", on->is_current ? "as it is" : ""),
                        tt_arena_format(of->arena, "%s", time),
                        tt_arena_format(of->arena, "%.3f", ratio),
                        openmpi[on->launch],
                        mpich_text(of, on),
                        slurm[on->launch],
                        map_text(of, on)};
  for (size_t n = 0; n < TT_COUNT(cell); n++)
    cell[n] = cell[n] ? cell[n] : "";
  topo_table_add(table, cell);
}

static int by_time(const void *x, const void *y) {
  const topo_placement *const *a = x, *const *b = y;
  if ((*a)->time_ns != (*b)->time_ns)
    return (*a)->time_ns < (*b)->time_ns ? -1 : 1;
  return *a < *b ? -1 : *a > *b; /* the current one first */
}

static const topo_placement *print_table(const placer *of) {
  const topo_placement *order[TOPO_PLACEMENTS];
  int count = of->placements.count;
  for (int n = 0; n < count; n++)
    order[n] = &of->placements.at[n];
  qsort(order, (size_t)count, sizeof(const topo_placement *), by_time);
  topo_table table = topo_table_make(of->arena, (const char *[]){"placement", "time", "ratio", "mpirun (Open MPI)",
                                                                 "mpiexec (MPICH)", "srun", "TUTTI_GROUPS", NULL});
  for (int n = 0; n < count; n++)
    add_row(of, order[n], &table);
  printf("%s on %" PRId64 " nodes\nmodel: %s\n", of->calls.title,
         order[0]->topo->level[order[0]->topo->level_count - 2].group_count, of->printed);
  topo_table_print(&table);
  return order[0];
}

static void print_remarks(const placer *of, const topo_placement *best) {
  double ratio = of->placements.at[0].time_ns / best->time_ns;
  if (best->is_current)
    puts("\nNo placement is faster than the current one.");
  else
    printf("\n'%s' is %.2f times as fast as the current placement.\n", best->name, ratio);
  puts("FILE: a line for each rank, its host (--write FILE). srun reads it from SLURM_HOSTFILE.\n"
       "TUTTI_GROUPS: the placement on one machine, to try it with tutti run.");
  if (of->calls.left_out[0])
    printf("left out: %s\n", of->calls.left_out);
}

/* ---- the file ---- */

static tutti_status write_file(void *user, FILE *file) {
  const placer *of = user;
  const topo_placement *best = &of->placements.at[0];
  for (int n = 1; n < of->placements.count; n++)
    best = of->placements.at[n].time_ns < best->time_ns ? &of->placements.at[n] : best;
  for (int64_t r = 0; r < of->placements.rank_count; r++)
    if (of->placements.network)
      fprintf(file, "%s\n", of->placements.network->node[best->node_of[r]].name);
    else
      fprintf(file, "node%" PRId64 "\n", best->node_of[r]);
  return TUTTI_OK;
}

/* ---- all ---- */

static tutti_status place(placer *of, const tt_switches *network) {
  tutti_status status = topo_calls_make(of->options, of->arena, &of->calls);
  if (status == TUTTI_OK)
    status = tt_profile_open(NULL, &of->profile);
  if (status == TUTTI_OK)
    status = make_placements(of, network);
  if (status == TUTTI_OK)
    status = make_model(of);
  if (status == TUTTI_OK)
    status = place_by_traffic(of);
  for (int n = 0; n < of->placements.count && status == TUTTI_OK; n++)
    status = find_time(of, &of->placements.at[n]);
  if (status != TUTTI_OK)
    return status;
  print_remarks(of, print_table(of));
  return of->options->write ? tool_write_file(of->options->write, write_file, of) : TUTTI_OK;
}

tutti_status topo_place(const topo_place_options *options, topo_subject *subject) {
  placer of = {.options = options, .arena = &subject->arena};
  if (subject->machine && subject->path[0])
    return tt_fail(TUTTI_ERR_ARGUMENT, "--place: --file %s is a machine; a file of switches is needed", subject->path);
  tutti_status status = place(&of, subject->network);
  tt_profile_close(of.profile);
  return status;
}
