/* tools/bench/json.c - the rows of `tutti bench` as JSON, for scripts and for fitting models. Times are nanoseconds. */
#include "json.h"
#include "columns.h"
#include "say.h"

#include "tools/shared/json.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static json_t *library_json(const bench_group *group) {
  return json_pack("{so so so}", "name", tool_json_text(group->launcher->name), "version",
                   tool_json_text(group->version), "command", tool_json_text(group->command));
}

/* Bytes a call of each host's NICs. */
static json_t *flow_json(const bench_map *map, const bench_host_flow *flow) {
  json_t *all = json_array();
  for (int32_t host = 0; host < map->hosts; host++)
    for (int n = 0; n < flow[host].nic_count; n++) {
      const bench_nic_flow *nic = &flow[host].nic[n];
      json_array_append_new(all, json_pack("{si ss ss sf sf}", "host", host, "name", bench_map_host(map, host)->name,
                                           "nic", nic->name, "sent_bytes", nic->sent, "received_bytes", nic->received));
    }
  return all;
}

static json_t *rounds_json(const bench_stats *stats) {
  json_t *all = json_array();
  for (int64_t round = 0; round < stats->pair_count; round++)
    json_array_append_new(all, json_real(stats->round_ns[round]));
  return all;
}

static json_t *span_json(const bench_span *span, double call_ns) {
  return json_pack("{sf sf sf sf}", "move_ns", span->move_ns, "wait_ns", span->wait_ns, "move_share",
                   span->move_ns / call_ns, "wait_share", span->wait_ns / call_ns);
}

/* Means over ranks, and the same of the busiest one. */
static json_t *levels_json(const bench_levels *levels) {
  json_t *all = json_array();
  for (int32_t n = 0; n < levels->level_count; n++) {
    const bench_level *level = &levels->level[n];
    json_t *one = span_json(&level->mean, levels->call_ns);
    json_object_set_new(one, "level", json_string(level->name));
    json_object_set_new(one, "far", json_boolean(level->far));
    json_object_set_new(one, "busiest", span_json(&level->busiest, levels->busiest_call_ns));
    json_array_append_new(all, one);
  }
  return json_pack("{sf sf sf si sf sf so}", "call_ns", levels->call_ns, "other_ns", bench_levels_other(levels, false),
                   "other_share", bench_levels_other(levels, false) / levels->call_ns, "busiest_rank", levels->busiest,
                   "busiest_call_ns", levels->busiest_call_ns, "busiest_other_ns", bench_levels_other(levels, true),
                   "levels", all);
}

/* What only jobs of the user's launchers have. */
static void add_launched(const bench_job *job, const bench_row *row, const bench_stats *stats, json_t *object) {
  if (row->bound_ns > 0)
    json_object_set_new(object, "of_bound", json_real(stats->median_ns / row->bound_ns));
  if (stats->ratio_high > 0) {
    json_object_set_new(object, "ratio_low", json_real(stats->ratio_low));
    json_object_set_new(object, "ratio_high", json_real(stats->ratio_high));
  }
  if (stats->round_ns)
    json_object_set_new(object, "rounds_ns", rounds_json(stats));
  if (stats->flow)
    json_object_set_new(object, "nics", flow_json(job->map, stats->flow));
}

static json_t *stats_json(const char *library, const bench_stats *stats) {
  return json_pack("{so sf sf sf sI sI}", "library", tool_json_text(library), "median_ns", stats->median_ns, "p99_ns",
                   stats->p99_ns, "ratio", stats->ratio, "calls", (json_int_t)stats->calls, "batches",
                   (json_int_t)stats->batch_count);
}

static json_t *overlap_json(const char *library, const bench_overlap_stats *stats) {
  return json_pack("{so sf sf s{sf sf} s{sf sf}}", "library", tool_json_text(library), "call_ns", stats->call_ns,
                   "compute_ns", stats->compute_ns, "untested", "both_ns", stats->tests[0].both_ns, "hidden",
                   stats->tests[0].hidden, "tested", "both_ns", stats->tests[1].both_ns, "hidden",
                   stats->tests[1].hidden);
}

static json_t *times_json(const bench_job *job, const bench_row *row) {
  json_t *all = json_array();
  for (int g = 0; g < job->group_count; g++) {
    const char *library = job->group[g].launcher->name;
    if (row->stats[g].present) {
      json_t *one = stats_json(library, &row->stats[g]);
      add_launched(job, row, &row->stats[g], one);
      if (row->stats[g].ran.params[0])
        json_object_set_new(one, "ran", json_string(row->stats[g].ran.params));
      if (row->stats[g].ran.media[0])
        json_object_set_new(one, "media", json_string(row->stats[g].ran.media));
      if (row->stats[g].levels)
        json_object_set_new(one, "spent", levels_json(row->stats[g].levels));
      json_array_append_new(all, one);
    }
    if (row->overlap[g].present)
      json_array_append_new(all, overlap_json(library, &row->overlap[g]));
  }
  return all;
}

static json_t *row_json(const bench_job *job, const bench_row *row) {
  static const char *const results[] = {"ok", "wrong data", "no plan", "lacks type or operator", "failed"};
  bool measured = row->stats[0].present || row->overlap[0].present;
  const char *result = row->result == BENCH_OK && !measured ? "not measured" : results[row->result];
  json_t *object = json_pack("{ss so sI ss so}", "collective", tt_compose_info(row->collective).name, "params",
                             tool_json_text(row->params), "bytes", (json_int_t)row->bytes, "result", result, "text",
                             tool_json_text(row->text));
  if (!object || row->result != BENCH_OK || !measured)
    return object;
  json_object_set_new(object, "rounds", json_integer(row->round_count));
  if (!job->options->call.overlap) {
    if (!job->map)
      json_object_set_new(object, "copy_ns", json_real(row->copy_ns));
    if (row->bound_ns > 0)
      json_object_set_new(object, "bound_ns", json_real(row->bound_ns));
    if (row->bound_bytes > 0)
      json_object_set_new(object, "bound_bytes", json_real(row->bound_bytes));
    json_object_set_new(object, "algorithm_gb_s", json_real(bench_algorithm_bandwidth(row)));
    json_object_set_new(object, "bus_gb_s", json_real(bench_bus_bandwidth(row, job->options->ranks.count)));
  }
  json_object_set_new(object, "times", times_json(job, row));
  return object;
}

static json_t *settings_json(const bench_job *job) {
  const bench_options *options = job->options;
  const char *mode = options->call.overlap                    ? "overlap"
                     : options->call.mode == BENCH_PERSISTENT ? "persistent"
                                                              : "blocking";
  return json_pack("{si sI ss ss ss sb sb sb sf sf}", "tutti_bench", 2, "ranks", (json_int_t)options->ranks.count,
                   "type", tutti_type_name(options->call.type), "op", tutti_op_name(options->call.op), "mode", mode,
                   "tutti_alloc", options->call.alloc, "sparse", options->call.sparse, "apart", options->call.apart,
                   "flags_ns", job->flags_ns, "delay", options->call.delay);
}

static json_t *machine_json(const bench_machine *machine) {
  json_t *nics = json_array();
  for (int n = 0; n < machine->nic_count; n++)
    json_array_append_new(nics, json_pack("{ss sI}", "name", machine->nic[n].name, "bits_per_second",
                                          (json_int_t)machine->nic[n].bits_per_second));
  return json_pack("{ss si si si so}", "name", machine->name, "host", machine->host, "ranks", machine->ranks, "cores",
                   machine->cores, "nics", nics);
}

static void add_map(const bench_job *job, json_t *all) {
  json_t *machines = json_array(), *ranks = json_array();
  for (int32_t m = 0; m < job->map->machines; m++)
    json_array_append_new(machines, machine_json(&job->map->machine[m]));
  for (int32_t rank = 0; rank < job->map->ranks; rank++)
    json_array_append_new(ranks, json_integer(job->map->machine_of[rank]));
  json_object_set_new(all, "machines", machines);
  json_object_set_new(all, "machine_of_rank", ranks);
  json_object_set_new(all, "rate_bits_per_second", json_integer(job->options->launch.rate));
}

/* A pipe or a terminal cannot be emptied. */
static bool empty(FILE *file) { return ftruncate(fileno(file), 0) == 0 || errno == EINVAL; }

int bench_json_write(const bench_job *job, const bench_row *row, int row_count, FILE *file) {
  json_t *all = settings_json(job), *libraries = json_array(), *rows = json_array();
  bool whole = true;
  for (int g = 0; g < job->group_count; g++)
    whole = json_array_append_new(libraries, library_json(&job->group[g])) == 0 && whole;
  for (int i = 0; i < row_count; i++)
    whole = json_array_append_new(rows, row_json(job, &row[i])) == 0 && whole;
  if (job->map)
    add_map(job, all);
  else
    json_object_set_new(all, "cores", json_integer(job->core_count));
  json_object_set_new(all, "libraries", libraries);
  json_object_set_new(all, "rows", rows);
  int result = whole && empty(file) ? json_dumpf(all, file, JSON_INDENT(2)) : -1;
  json_decref(all);
  return result == 0 ? 0 : bench_fail("--json: cannot write %s: %s", job->options->json, strerror(errno));
}
