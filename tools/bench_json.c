/* tools/bench_json.c - the rows of `tutti bench` as JSON, for scripts and for fitting models. Times are nanoseconds. */
#include "bench.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

static json_t *library_json(const bench_group *group) {
  return json_pack("{ss ss ss}", "name", group->launcher->name, "version", group->version, "command", group->command);
}

static json_t *stats_json(const char *library, const bench_stats *stats) {
  return json_pack("{ss sf sf sf sI sI}", "library", library, "median_ns", stats->median_ns, "p99_ns", stats->p99_ns,
                   "ratio", stats->ratio, "calls", (json_int_t)stats->calls, "batches", (json_int_t)stats->batch_count);
}

static json_t *overlap_json(const char *library, const bench_overlap_stats *stats) {
  return json_pack("{ss sf sf s{sf sf} s{sf sf}}", "library", library, "call_ns", stats->call_ns, "compute_ns",
                   stats->compute_ns, "untested", "both_ns", stats->tests[0].both_ns, "hidden", stats->tests[0].hidden,
                   "tested", "both_ns", stats->tests[1].both_ns, "hidden", stats->tests[1].hidden);
}

static json_t *times_json(const bench_job *job, const bench_row *row) {
  json_t *all = json_array();
  for (int g = 0; g < job->group_count; g++) {
    const char *library = job->group[g].launcher->name;
    if (row->stats[g].present)
      json_array_append_new(all, stats_json(library, &row->stats[g]));
    if (row->overlap[g].present)
      json_array_append_new(all, overlap_json(library, &row->overlap[g]));
  }
  return all;
}

static json_t *row_json(const bench_job *job, const bench_row *row) {
  static const char *const results[] = {"ok", "wrong data", "no plan", "lacks type or operator", "failed"};
  json_t *object =
      json_pack("{ss ss sI ss ss}", "collective", tt_compose_info(row->collective).name, "params", row->params, "bytes",
                (json_int_t)row->bytes, "result", results[row->result], "text", row->text);
  if (!object || row->result != BENCH_OK)
    return object;
  json_object_set_new(object, "rounds", json_integer(row->round_count));
  if (!job->options->overlap) {
    json_object_set_new(object, "copy_ns", json_real(row->copy_ns));
    json_object_set_new(object, "algorithm_gb_s", json_real(bench_algorithm_bandwidth(row)));
    json_object_set_new(object, "bus_gb_s", json_real(bench_bus_bandwidth(row, job->options->rank_count)));
  }
  json_object_set_new(object, "times", times_json(job, row));
  return object;
}

static json_t *settings_json(const bench_job *job) {
  const bench_options *options = job->options;
  const char *mode = options->overlap ? "overlap" : options->mode == BENCH_PERSISTENT ? "persistent" : "blocking";
  return json_pack("{si sI si ss ss ss sb sb sb sf}", "tutti_bench", 2, "ranks", (json_int_t)options->rank_count,
                   "cores", job->core_count, "type", tutti_type_name(options->type), "op", tutti_op_name(options->op),
                   "mode", mode, "tutti_alloc", options->shared_memory, "sparse", options->sparse, "apart",
                   options->apart, "flags_ns", job->flags_ns);
}

int bench_json_write(const bench_job *job, const bench_row *row, int row_count, FILE *file) {
  json_t *all = settings_json(job), *libraries = json_array(), *rows = json_array();
  for (int g = 0; g < job->group_count; g++)
    json_array_append_new(libraries, library_json(&job->group[g]));
  for (int i = 0; i < row_count; i++)
    json_array_append_new(rows, row_json(job, &row[i]));
  json_object_set_new(all, "libraries", libraries);
  json_object_set_new(all, "rows", rows);
  int result = json_dumpf(all, file, JSON_INDENT(2));
  json_decref(all);
  return result == 0 ? 0 : bench_fail("--json: cannot write %s: %s", job->options->json, strerror(errno));
}
