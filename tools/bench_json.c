/* tools/bench_json.c - the rows of `tutti bench` as JSON, for scripts and for fitting models. Times are nanoseconds. */
#include "bench.h"

#include <jansson.h>

static json_t *library_json(const bench_group *group) {
  return json_pack("{ss ss ss}", "name", group->launcher->name, "version", group->version, "command", group->command);
}

static json_t *stats_json(const bench_group *group, const bench_stats *stats) {
  return json_pack("{ss sf sf sf sI sI}", "library", group->launcher->name, "median_ns", stats->median_ns, "p99_ns",
                   stats->p99_ns, "ratio", stats->ratio, "calls", (json_int_t)stats->calls, "batches",
                   (json_int_t)stats->batch_count);
}

static json_t *row_json(const bench_job *job, const bench_row *row) {
  static const char *const results[] = {"ok", "wrong data", "no plan", "failed"};
  json_t *object =
      json_pack("{ss ss sI ss ss}", "collective", bench_collectives[row->collective].name, "params", row->params,
                "bytes", (json_int_t)row->bytes, "result", results[row->result], "text", row->text);
  if (!object || row->result != BENCH_OK)
    return object;
  json_object_set_new(object, "copy_ns", json_real(row->copy_ns));
  json_object_set_new(object, "rounds", json_integer(row->round_count));
  json_object_set_new(object, "algorithm_gb_s", json_real(bench_algorithm_bandwidth(row)));
  json_object_set_new(object, "bus_gb_s", json_real(bench_bus_bandwidth(row, job->options->rank_count)));
  json_t *all = json_array();
  for (int g = 0; g < job->group_count; g++)
    json_array_append_new(all, stats_json(&job->group[g], &row->stats[g]));
  json_object_set_new(object, "times", all);
  return object;
}

int bench_json_write(const bench_job *job, const bench_row *row, int row_count) {
  const bench_options *options = job->options;
  json_t *libraries = json_array(), *rows = json_array();
  for (int g = 0; g < job->group_count; g++)
    json_array_append_new(libraries, library_json(&job->group[g]));
  for (int i = 0; i < row_count; i++)
    json_array_append_new(rows, row_json(job, &row[i]));
  json_t *all = json_pack("{si sI si ss sb so so}", "tutti_bench", 1, "ranks", (json_int_t)options->rank_count, "cores",
                          job->core_count, "mode", options->mode == BENCH_PERSISTENT ? "persistent" : "blocking",
                          "tutti_alloc", options->shared_memory, "libraries", libraries, "rows", rows);
  int result = all ? json_dump_file(all, options->json, JSON_INDENT(2)) : -1;
  json_decref(all);
  return result == 0 ? 0 : bench_fail("--json: cannot write %s", options->json);
}
