/* tools/bench/rows.c - the rows that the options ask for, and what is known of each before it is measured. */
#include "rows.h"
#include "call.h"
#include "print.h"
#include "say.h"

#include "bench/bound.h"

#include <stdlib.h>

int bench_rows_alloc(const bench_options *options, bench_rows *rows) {
  size_t most = (size_t)(options->rows.collective_count * options->rows.params_count * options->rows.size_count);
  rows->row = calloc(most, sizeof *rows->row);
  return rows->row ? 0 : bench_fail("no memory for %zu rows", most);
}

void bench_rows_free(bench_rows *rows) {
  for (int r = 0; r < rows->count; r++)
    for (int g = 0; g < BENCH_GROUPS; g++) {
      free(rows->row[r].stats[g].round_ns);
      free(rows->row[r].stats[g].flow);
      free(rows->row[r].stats[g].levels);
    }
  free(rows->row);
}

/* The nearest size that is a whole number of elements, and of blocks where these are even; at least one of each. */
static int64_t whole_elements(const bench_options *options, tt_collective collective, int64_t bytes) {
  bool even;
  int64_t blocks = bench_call_blocks(options, collective, &even);
  int64_t unit = (int64_t)tutti_type_size(options->call.type) * (even ? blocks : 1);
  bytes *= options->rows.per_pair ? blocks : 1;
  return collective == TT_BARRIER ? 0 : bytes < unit ? unit : bytes / unit * unit;
}

static int visit_sizes(bench_job *job, bench_rows *rows, tt_collective collective, const char *params,
                       bench_visit visit) {
  const bench_options *options = job->options;
  int64_t last = -1;
  int result = 0;
  for (int s = 0; s < options->rows.size_count && result == 0; s++) {
    int64_t bytes = whole_elements(options, collective, options->rows.size[s]);
    if (bytes == last)
      continue;
    bench_row *row = &rows->row[rows->count];
    *row = (bench_row){.collective = collective, .params = params, .bytes = bytes};
    bench_row_set_bound(job, row);
    result = visit(job, rows, row);
    rows->count += result >= 0;
    last = bytes;
  }
  return result < 0 ? -1 : 0;
}

int bench_rows_visit(bench_job *job, bench_rows *rows, bench_visit visit) {
  const bench_options *options = job->options;
  for (int c = 0; c < options->rows.collective_count; c++)
    for (int p = 0; p < options->rows.params_count; p++)
      if (visit_sizes(job, rows, options->rows.collective[c], options->rows.params[p], visit) != 0)
        return -1;
  return 0;
}

/* Parameters that make no plan are said, and are a failure only where they were asked for by name. A row has no numbers
 * then, and so for every size. */
int bench_rows_done(bench_job *job, bench_rows *rows, bench_row *row) {
  rows->failed = rows->failed || row->result == BENCH_WRONG_DATA || row->result == BENCH_LACKS ||
                 row->result == BENCH_FAILED || (row->result == BENCH_NO_PLAN && !job->options->rows.params_all);
  bench_print_row(job, row);
  return row->result == BENCH_NO_PLAN || row->result == BENCH_LACKS;
}

void bench_row_set_bound(const bench_job *job, bench_row *row) {
  const bench_options *options = job->options;
  if (!job->map || job->map->machines == 1)
    return;
  bench_problem problem = bench_call_problem(options, row->collective, row->bytes);
  int64_t element = (int64_t)tutti_type_size(options->call.type);
  row->bound_ns = bench_bound_ns(&problem, job->map, element, options->launch.rate, options->call.apart);
  row->bound_bytes = bench_bound_bytes(&problem, job->map, element, options->call.apart);
}
