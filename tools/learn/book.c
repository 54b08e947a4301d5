/* tools/learn/book.c - see book.h. The samples are those of `tutti tune` (tools/tune/samples.c). A line that is wrong
 * is no reason to learn nothing: it is left out and counted. */
#include "book.h"

#include "tune/wisdom.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_LEAST 4 /* one try may have been lucky */
#define GAIN 0.98      /* what is not faster than that is left to the rules */
#define NS_MOST 1e12   /* of a call */

static tutti_status no_memory(void) { return tt_fail(TUTTI_ERR_MEMORY, "no memory for samples"); }

/* ---- cells ---- */

learn_cell *learn_book_find(const learn_book *book, const tt_region *region) {
  for (int64_t n = 0; n < book->count; n++)
    if (tt_region_same(&book->cell[n].region, region))
      return &book->cell[n];
  return NULL;
}

learn_cell *learn_book_add(learn_book *book, const tt_region *region) {
  if (book->count == book->room) {
    int64_t room = 2 * book->room + 64;
    learn_cell *larger = realloc(book->cell, (size_t)room * sizeof *larger);
    if (!larger)
      return NULL;
    book->cell = larger;
    book->room = room;
  }
  learn_cell *cell = &book->cell[book->count++];
  *cell = (learn_cell){.region = *region, .rules = "", .best = ""};
  return cell;
}

/* ---- a line ---- */

/* Of others, a lesson would have ratios with which nobody reads it. */
static bool is_time(double time_ns) { return time_ns >= 1 && time_ns <= NS_MOST; }

static bool read_region(const json_t *line, tt_region *region) {
  const char *name = json_string_value(json_object_get(line, "collective"));
  region->collective = name ? tt_compose_find(name) : TT_COLLECTIVE_COUNT;
  bool good = region->collective < TT_COLLECTIVE_COUNT;
  for (size_t n = 0; n < TT_REGION_MEMBERS && good; n++) {
    const tt_region_member *is = &tt_region_members[n];
    const json_t *found = json_object_get(line, is->name);
    int64_t value = json_integer_value(found);
    *tt_region_value(region, is) = value;
    good = json_is_integer(found) && value >= is->least && value <= is->most;
  }
  return good;
}

static bool read_sample(const json_t *from, tt_arena *arena, learn_sample *sample) {
  const char *text = json_string_value(json_array_get(from, 0));
  *sample = (learn_sample){.time_ns = json_number_value(json_array_get(from, 1)),
                           .rounds = json_integer_value(json_array_get(from, 2))};
  tt_params params;
  if (!text || tt_params_parse(text, &params) != TUTTI_OK)
    return false;
  sample->text = tt_arena_format(arena, "%s", text);
  return sample->text && is_time(sample->time_ns);
}

/* winner: what `tutti tune` was sure of; NULL: the line is of an older one, and of those that stayed for all rounds the
 * fastest is the best. All others have lost to it, lucky as their few rounds may have been. */
static void find_best(learn_cell *cell, const char *winner) {
  int64_t most = ROUNDS_LEAST;
  cell->best_ns = cell->worst_ns = cell->rules_ns;
  for (int64_t n = 0; n < cell->sample_count; n++)
    most = cell->sample[n].rounds > most ? cell->sample[n].rounds : most;
  for (int64_t n = 0; n < cell->sample_count; n++) {
    const learn_sample *at = &cell->sample[n];
    double beat_ns = cell->best[0] ? cell->best_ns : GAIN * cell->rules_ns;
    bool won = winner ? strcmp(at->text, winner) == 0 : at->rounds == most && at->time_ns < beat_ns;
    cell->best_ns = won ? at->time_ns : cell->best_ns;
    cell->best = won ? at->text : cell->best;
  }
  for (int64_t n = 0; n < cell->sample_count; n++) {
    cell->sample[n].time_ns = fmax(cell->sample[n].time_ns, cell->best_ns);
    cell->worst_ns = fmax(cell->worst_ns, cell->sample[n].time_ns);
  }
}

static bool read_cell(const json_t *line, learn_book *book) {
  tt_region region = {.l2_bytes = 0};
  const char *rules = json_string_value(json_object_get(line, "rules"));
  double rules_ns = json_number_value(json_object_get(line, "rules_ns"));
  const json_t *samples = json_object_get(line, "samples");
  if (!read_region(line, &region) || !rules || !is_time(rules_ns) || !json_is_array(samples) ||
      learn_book_find(book, &region))
    return false;
  learn_cell *cell = learn_book_add(book, &region);
  if (!cell)
    return false;
  cell->measured = true;
  cell->rules_ns = rules_ns;
  cell->rules = tt_arena_format(&book->arena, "%s", rules);
  cell->sample = tt_arena_alloc(&book->arena, json_array_size(samples) + 1, sizeof *cell->sample);
  for (size_t n = 0; n < json_array_size(samples) && cell->sample; n++)
    cell->sample_count += read_sample(json_array_get(samples, n), &book->arena, &cell->sample[cell->sample_count]);
  find_best(cell, json_string_value(json_object_get(line, "winner")));
  return true;
}

static void read_line(const char *text, const char *machine, learn_book *book) {
  json_error_t error;
  json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, &error);
  const char *of = json_string_value(json_object_get(line, "machine"));
  if (!of || strcmp(of, machine) == 0)
    book->wrong += !read_cell(line, book);
  json_decref(line);
}

/* ---- pools ---- */

static void add_to_pool(learn_pool *pool, const char *text) {
  int n = 0;
  while (n < pool->count && strcmp(pool->text[n], text) != 0)
    n++;
  if (n == pool->count && n < LEARN_POOL)
    pool->text[pool->count++] = text;
}

static void make_pools(learn_book *book) {
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    add_to_pool(&book->pool[c], "");
  for (int64_t n = 0; n < book->count; n++)
    add_to_pool(&book->pool[book->cell[n].region.collective], book->cell[n].best);
}

/* ---- times ---- */

static bool is_alike(learn_cell *cell, const tt_task *task, const char *text, double *time_ns) {
  uint64_t wanted, rules;
  if (tt_candidate_identify(task, text, &wanted) != TUTTI_OK &&
      tt_candidate_identify(task, tt_choose_fallback().text, &wanted) != TUTTI_OK) /* it is passed over */
    return false;
  if (tt_candidate_identify(task, cell->rules, &rules) == TUTTI_OK && rules == wanted) {
    *time_ns = cell->rules_ns;
    return true;
  }
  for (int64_t n = 0; n < cell->sample_count; n++) {
    learn_sample *at = &cell->sample[n];
    if (at->identity == 0 && tt_candidate_identify(task, at->text, &at->identity) != TUTTI_OK)
      at->identity = UINT64_MAX;
    if (at->identity == wanted) {
      *time_ns = at->time_ns;
      return true;
    }
  }
  return false;
}

/* What one try made faster than the best is luck. */
double learn_cell_time(learn_cell *cell, const tt_task *task, const char *text) {
  double time_ns = cell->worst_ns;
  if (!*text || strcmp(text, cell->rules) == 0)
    return cell->rules_ns;
  for (int64_t n = 0; n < cell->sample_count; n++)
    if (strcmp(cell->sample[n].text, text) == 0)
      return fmax(cell->best_ns, cell->sample[n].time_ns);
  if (task && is_alike(cell, task, text, &time_ns))
    return fmax(cell->best_ns, time_ns);
  return time_ns;
}

void learn_cell_fill(learn_cell *cell, const tt_task *task, const learn_pool *pool) {
  for (int k = 0; k < pool->count; k++)
    cell->pool_ns[k] = learn_cell_time(cell, task, pool->text[k]);
}

/* ---- life ---- */

tutti_status learn_book_open(const char *samples, const char *machine, learn_book *book) {
  char *line = NULL;
  size_t room = 0;
  *book = (learn_book){.count = 0};
  tt_arena_init(&book->arena);
  FILE *file = fopen(samples, "re");
  if (!file && errno != ENOENT)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: cannot read it: %s", samples, strerror(errno));
  while (file && getline(&line, &room, file) > 0)
    read_line(line, machine, book);
  free(line);
  if (file)
    fclose(file);
  make_pools(book);
  for (int64_t n = 0; n < book->count; n++)
    learn_cell_fill(&book->cell[n], NULL, &book->pool[book->cell[n].region.collective]);
  return book->arena.failed ? no_memory() : TUTTI_OK;
}

void learn_book_close(learn_book *book) {
  free(book->cell);
  tt_arena_finish(&book->arena);
}
