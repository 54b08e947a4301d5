/* tools/learn/model.c - see model.h. Rates of another shape serve where a shape has none: those of the next number of
 * ranks that was measured. */
#include "model.h"

#include "call/call.h"
#include "tools/tune/predict.h"
#include "tools/tune/rates.h"
#include "tools/tune/task.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct asking {
  tune_ranks *all;
  const tune_options *options;
  learn_book *book;
  const tt_sim_rates *rates; /* of the group; NULL: none */
  int64_t until_ns, cell_ns; /* when all is to be asked; time for a cell */
  int64_t cut;               /* cells for which not all candidates could be predicted */
} asking;

static const tt_sim_rates *rates_for(const tt_fits *fits, const tt_region *shape) {
  const tt_sim_rates *rates = NULL;
  double nearest = INFINITY;
  for (int64_t n = 0; fits && n < fits->count; n++) {
    const tt_region *of = &fits->fit[n].shape;
    double apart = fabs(log((double)of->rank_count / (double)shape->rank_count)) +
                   4 * fabs(log((double)of->node_count / (double)shape->node_count));
    if (apart < nearest) {
      nearest = apart;
      rates = &fits->fit[n].rates;
    }
  }
  return rates;
}

/* ---- a cell ---- */

/* NULL in *first: nothing could be predicted. */
static tutti_status find_first(asking *of, const tt_task *task, const char **first) {
  tt_candidates space;
  int64_t begin_ns = tt_clock_ns(), n = 0;
  double best_ns = INFINITY, time_ns;
  tt_random random;
  tt_random_init(&random, 1);
  *first = NULL;
  tutti_status status = tt_candidates_make(task, &space);
  if (status == TUTTI_OK) /* what there is no time for is left out */
    tt_random_shuffle(&random, space.candidate, space.count, sizeof *space.candidate);
  for (; n < space.count && status == TUTTI_OK && tt_clock_ns() - begin_ns < of->cell_ns; n++) {
    status = tune_predict(of->all->words, of->rates, task, space.candidate[n].text, &time_ns);
    if (status == TUTTI_OK && time_ns < best_ns) {
      best_ns = time_ns;
      *first = space.candidate[n].text;
    }
    status = status == TUTTI_ERR_MEMORY ? status : TUTTI_OK;
  }
  of->cut += n < space.count;
  if (*first)
    *first = tt_arena_format(&of->book->arena, "%s", *first);
  tt_candidates_finish(&space);
  return status;
}

/* What the rules say is a text for the model. */
static const char *rules_of(const asking *of, const tt_region *region) {
  const tt_authorities said = {.params = "", .profile = of->all->words->context->profile};
  tt_region call = tt_comm_region(of->all->words, region->collective, region->bytes); /* with its caches and cores */
  return tt_choose(&said, &call, false).text;
}

/* Where a text makes no plan, the fallback runs. */
static bool predict_or_fallback(asking *of, const tt_task *task, const char *text, double *time_ns) {
  const char *runs[] = {text, tt_choose_fallback().text};
  for (size_t n = 0; n < TT_COUNT(runs); n++)
    if (tune_predict(of->all->words, of->rates, task, runs[n], time_ns) == TUTTI_OK)
      return true;
  return false;
}

/* Of what was not measured, predictions stand for times. */
static void predict_pool(asking *of, const tt_task *task, const learn_pool *pool, learn_cell *cell) {
  cell->rules = rules_of(of, &cell->region);
  cell->best_ns = INFINITY;
  for (int k = 0; k < pool->count; k++) {
    double time_ns;
    bool known = predict_or_fallback(of, task, k > 0 ? pool->text[k] : cell->rules, &time_ns);
    cell->pool_ns[k] = known ? time_ns : k > 0 ? cell->pool_ns[0] : 1;
    if (known && time_ns < cell->best_ns) {
      cell->best_ns = time_ns;
      cell->best = pool->text[k];
    }
  }
  cell->rules_ns = cell->pool_ns[0];
  cell->best_ns = fmin(cell->best_ns, cell->rules_ns);
}

static void say_progress(const tt_region *region) {
  char bytes[16];
  tt_format_bytes(region->bytes, bytes);
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r\033[K%s, %" PRId64 " ranks, %s\r", tt_compose_info(region->collective).name, region->rank_count,
            bytes);
}

static tutti_status ask(asking *of, const tt_task *task, learn_cell *cell) {
  const learn_pool *pool = &of->book->pool[cell->region.collective];
  say_progress(&cell->region);
  if (cell->measured)
    learn_cell_fill(cell, task, pool);
  else if (of->rates)
    predict_pool(of, task, pool, cell);
  tutti_status status = of->rates && !cell->model ? find_first(of, task, &cell->model) : TUTTI_OK;
  if (status == TUTTI_OK && cell->model && cell->measured)
    cell->model_ns = learn_cell_time(cell, task, cell->model);
  return status;
}

/* ---- a group ---- */

/* What is left of the time is shared by what is left to ask. */
static void share_time(asking *of) {
  int64_t count = 0, left_ns = of->until_ns - tt_clock_ns();
  for (int64_t n = 0; n < of->book->count; n++)
    count += !of->book->cell[n].model;
  of->cell_ns = left_ns > 0 ? left_ns / (count > 0 ? count : 1) : 0;
}

/* Those asked for; cells that were measured are there already. */
static tutti_status add_cells(asking *of) {
  const tutti_comm *comm = of->all->words;
  for (int c = 0; c < of->options->collective_count; c++)
    for (int s = 0; s < of->options->size_count; s++) {
      tt_collective collective = of->options->collective[c];
      tt_region region = tt_comm_region(comm, collective, tune_task_bytes(comm, collective, of->options->size[s]));
      if (of->book->pool[collective].count > 1 && !learn_book_find(of->book, &region) &&
          !learn_book_add(of->book, &region))
        return tt_fail(TUTTI_ERR_MEMORY, "no memory for cells");
    }
  return TUTTI_OK;
}

static bool is_of_shape(const tt_region *region, tt_region shape) {
  shape.collective = region->collective;
  shape.bytes = region->bytes;
  return tt_region_same(region, &shape);
}

static tutti_status ask_group(asking *of, const tt_fits *fits) {
  const tutti_comm *comm = of->all->words;
  tt_region shape = tt_comm_region(comm, TT_ALLREDUCE, 0);
  tutti_status status = TUTTI_OK;
  bool measured = false;
  of->rates = rates_for(fits, &shape);
  for (int64_t n = 0; n < of->book->count; n++)
    measured = measured || (of->book->cell[n].measured && is_of_shape(&of->book->cell[n].region, shape));
  if (of->rates && !measured)
    status = add_cells(of);
  share_time(of);
  for (int64_t n = 0; n < of->book->count && status == TUTTI_OK; n++) {
    learn_cell *cell = &of->book->cell[n];
    if (!is_of_shape(&cell->region, shape))
      continue;
    tt_task task = tune_task_on(comm, cell->region.collective, cell->region.bytes);
    status = ask(of, &task, cell);
  }
  return status;
}

/* ---- all ---- */

tutti_status learn_model_ask(tune_ranks *all, const tune_options *options, const char *wisdom, const char *machine,
                             learn_book *book) {
  tt_fits *fits = NULL;
  asking of = {.all = all, .options = options, .book = book, .until_ns = tt_clock_ns() + options->budget_ns};
  tutti_status status = tune_rates_read(wisdom, machine, &fits);
  if (status == TUTTI_OK && !fits)
    puts("no rates of this machine are known, so the model is not asked; see --fit");
  for (int n = 0; n < options->rank_kinds && status == TUTTI_OK; n++) {
    status = tune_lead_group(all, options->ranks[n]);
    if (status == TUTTI_OK)
      status = tt_comm_place(all->words);
    if (status == TUTTI_OK)
      status = ask_group(&of, fits);
    if (status == TUTTI_OK)
      status = tune_lead_leave(all);
  }
  if (of.cut > 0)
    printf("for %" PRId64 " cells there was no time to predict all candidates; see --budget\n", of.cut);
  tt_fits_destroy(fits);
  return status;
}
