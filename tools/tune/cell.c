/* tools/tune/cell.c - measurement decides:
 *
 *     prediction  where the machine's rates are known: what would take far longer than the best is left out
 *     screening   every candidate once, the most promising first, for at most half of the time
 *     rounds      the best of them and what the profile chooses, in random order, again and again; the worse half of
 *                 what is left goes after some rounds
 *
 * A candidate's time is told as a ratio to that of the profile's choice in the same round: the machine changes
 * meanwhile. Where the buffers lie favours some candidates: so they are allocated anew in each round. The profile's
 * choice stays unless something is faster by more than chance. */
#include "cell.h"
#include "predict.h"
#include "ratios.h"
#include "task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SURVIVORS 12
#define SURVIVORS_LEAST 3
#define HALVED_AFTER 4 /* rounds */
#define REFERENCE_EVERY 12
#define UNKNOWN 1.5 /* the guess for what nothing is known of */
#define SAMPLES_MOST 64

typedef struct runner {
  const char *params;
  double ratio[TUNE_ROUNDS_MOST + 1]; /* the first: of the screening */
  int count;
} runner;

typedef struct cell {
  tune_ranks *all;
  const tt_task *task;
  tt_candidates space;
  runner *runner;            /* of each candidate */
  int64_t *order;            /* of candidates */
  int64_t count;             /* of those that are to be tried */
  const tt_sim_rates *rates; /* NULL: nothing is known */
  int64_t calls, start_ns, budget_ns;
  double rules_ns;             /* the last */
  const char *sure[TUNE_SURE]; /* these have their rounds, whatever one try says */
  tt_random random;
} cell;

static int64_t spent_ns(const cell *of) { return tt_clock_ns() - of->start_ns; }

/* ---- one try ---- */

static tutti_status run(cell *of, const char *params, int64_t batches, double *time_ns) {
  return tune_lead_try(of->all, params, TUNE_TURNS, of->calls, batches, time_ns);
}

static tutti_status run_rules(cell *of, int64_t batches) { return run(of, "", batches, &of->rules_ns); }

/* ---- screening ---- */

static double guess_of(const tune_guesses *guesses, const char *params) {
  for (int64_t n = 0; guesses && n < guesses->count; n++)
    if (strcmp(guesses->guess[n].params, params) == 0)
      return guesses->guess[n].ratio;
  return UNKNOWN;
}

static cell *sorted_of; /* qsort has no argument for it */

static double score(const runner *at) {
  return at->count == 0 ? UNKNOWN * 100 : tune_ratios_median(at->ratio, at->count);
}

/* Who has stayed for more rounds comes first: what left after few may have been lucky in these. */
static int by_score(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  const runner *left = &sorted_of->runner[x], *right = &sorted_of->runner[y];
  if (left->count != right->count)
    return left->count > right->count ? -1 : 1;
  return score(left) < score(right) ? -1 : score(left) > score(right) ? 1 : x < y ? -1 : x > y;
}

static void sort(cell *of, int64_t count) {
  sorted_of = of;
  qsort(of->order, (size_t)count, sizeof *of->order, by_score);
}

/* The most promising first. */
static void order_by_guess(cell *of, const tune_guesses *guesses) {
  for (int64_t n = 0; n < of->space.count; n++) {
    of->order[n] = n;
    of->runner[n] = (runner){
        .params = of->space.candidate[n].text, .ratio = {guess_of(guesses, of->space.candidate[n].text)}, .count = 1};
  }
  sort(of, of->space.count);
  for (int64_t n = 0; n < of->space.count; n++)
    of->runner[n].count = 0;
}

/* What cannot be predicted in an eighth of the time stays unknown. */
static tutti_status predict_all(cell *of, const tt_task *task) {
  tutti_status status = TUTTI_OK;
  int64_t begin_ns = tt_clock_ns();
  for (int64_t n = 0; n < of->space.count && status != TUTTI_ERR_MEMORY; n++) {
    runner *at = &of->runner[n];
    double time_ns = 0;
    of->order[n] = n;
    *at = (runner){.params = of->space.candidate[n].text};
    if (tt_clock_ns() - begin_ns > of->budget_ns / 8)
      continue;
    status = tune_predict(of->all->words, of->rates, task, at->params, &time_ns);
    at->count = status == TUTTI_OK;
    at->ratio[0] = time_ns / of->rules_ns;
  }
  return status == TUTTI_ERR_MEMORY ? status : TUTTI_OK;
}

/* In the order of their predictions; those that are far from the best are no candidates any more. */
static tutti_status order_by_model(cell *of, const tt_task *task) {
  tutti_status status = predict_all(of, task);
  sort(of, of->space.count);
  double best = of->space.count > 0 ? score(&of->runner[of->order[0]]) : 0;
  int64_t known = 0, near = 0;
  for (int64_t n = 0; n < of->space.count; n++) {
    runner *at = &of->runner[of->order[n]];
    known += at->count;
    near += at->count > 0 && at->ratio[0] <= TUNE_FAR * best;
    at->count = 0;
  }
  /* near, far, unknown: the unknown ones close up */
  memmove(of->order + near, of->order + known, (size_t)(of->space.count - known) * sizeof *of->order);
  of->count = of->space.count - (known - near);
  return status;
}

/* One that was disturbed would make all of its candidates look fast: so it is the median of three neighbors; of two,
 * the shorter. */
static double reference_near(const double *reference_ns, int64_t count, int64_t at) {
  double near[3];
  if (count < 3)
    return count == 2 && reference_ns[1] < reference_ns[0] ? reference_ns[1] : reference_ns[0];
  int64_t first = at == 0 ? 0 : at + 1 < count ? at - 1 : count - 3;
  memcpy(near, reference_ns + first, sizeof near);
  return bench_median(near, 3);
}

/* Each once: its time stands where its ratio will. */
static tutti_status screen_all(cell *of, double *reference_ns, int64_t *tried) {
  tutti_status status = TUTTI_OK;
  int64_t n = 0;
  for (; n < of->count && status == TUTTI_OK && (n < SURVIVORS_LEAST || spent_ns(of) < of->budget_ns / 2); n++) {
    runner *at = &of->runner[of->order[n]];
    status = n % REFERENCE_EVERY == 0 ? run_rules(of, 2) : TUTTI_OK;
    reference_ns[n / REFERENCE_EVERY] = of->rules_ns;
    if (status == TUTTI_OK)
      status = run(of, at->params, 2, &at->ratio[0]);
    at->count = status == TUTTI_OK;
    if (status == TUTTI_ERR_PLAN)
      status = TUTTI_OK;
  }
  *tried = n;
  return status;
}

static void put_sure_first(cell *of, int64_t count) {
  int64_t front = 0;
  for (int64_t n = 0; n < count; n++) {
    int64_t at = of->order[n];
    const runner *one = &of->runner[at];
    for (int s = 0; s < TUNE_SURE; s++)
      if (one->count > 0 && of->sure[s] && strcmp(one->params, of->sure[s]) == 0) {
        memmove(of->order + front + 1, of->order + front, (size_t)(n - front) * sizeof *of->order);
        of->order[front++] = at;
        break;
      }
  }
}

static tutti_status screen(cell *of, int64_t *tried) {
  double *reference_ns = calloc((size_t)(of->count / REFERENCE_EVERY) + 1, sizeof *reference_ns);
  if (!reference_ns)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for references");
  tutti_status status = screen_all(of, reference_ns, tried);
  int64_t count = (*tried + REFERENCE_EVERY - 1) / REFERENCE_EVERY;
  for (int64_t n = 0; n < *tried; n++)
    of->runner[of->order[n]].ratio[0] /= reference_near(reference_ns, count, n / REFERENCE_EVERY);
  free(reference_ns);
  sort(of, *tried);
  put_sure_first(of, *tried);
  return status;
}

/* ---- rounds ---- */

/* The reference stands before and behind what is compared with it. */
static tutti_status run_round(cell *of, int64_t count, double *rules_ns) {
  tt_random_shuffle(&of->random, of->order, count, sizeof *of->order);
  tutti_status status = run_rules(of, 4);
  for (int64_t n = 0; n < count && status == TUTTI_OK; n++) {
    runner *at = &of->runner[of->order[n]];
    double before_ns = of->rules_ns, time_ns = 0;
    status = run(of, at->params, 4, &time_ns);
    if (status == TUTTI_OK)
      status = run_rules(of, 4);
    if (status == TUTTI_OK)
      at->ratio[at->count++] = 2 * time_ns / (before_ns + of->rules_ns);
  }
  *rules_ns = of->rules_ns;
  return status;
}

/* The first of each that stays has forgotten its screening: it was chosen for its luck there, too. */
static tutti_status run_rounds(cell *of, int64_t count, tune_result *result) {
  double rules_ns[TUNE_ROUNDS_MOST];
  int rounds = 0;
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < count; n++)
    of->runner[of->order[n]].count = 0;
  for (; rounds < TUNE_ROUNDS_MOST && status == TUTTI_OK; rounds++) {
    if (rounds >= TUNE_ROUNDS_LEAST && spent_ns(of) > of->budget_ns)
      break;
    status = tune_lead_cell(of->all, of->task);
    if (status == TUTTI_OK)
      status = run_round(of, count, &rules_ns[rounds]);
    if ((rounds + 1) % HALVED_AFTER == 0 && count > 3) {
      sort(of, count);
      count = (count + 1) / 2;
    }
  }
  if (status != TUTTI_OK)
    return status;
  sort(of, count);
  result->rules_ns = bench_median(rules_ns, rounds);
  return TUTTI_OK;
}

static void decide(cell *of, tune_result *result) {
  const runner *best = &of->runner[of->order[0]];
  bool changes = result->tried > 0 && best->count > 0 && tune_ratios_win(best->ratio, best->count);
  snprintf(result->params, sizeof result->params, "%s", changes ? best->params : result->rules);
  result->time_ns = changes ? result->rules_ns * score(best) : result->rules_ns;
}

/* ---- what the next size begins with ---- */

static tutti_status keep_guesses(const cell *of, tune_guesses *guesses) {
  tt_arena_finish(&guesses->arena);
  tt_arena_init(&guesses->arena);
  guesses->count = 0;
  guesses->guess = tt_arena_alloc(&guesses->arena, (size_t)of->space.count + 1, sizeof *guesses->guess);
  for (int64_t n = 0; n < of->space.count && guesses->guess; n++)
    if (of->runner[n].count > 0)
      guesses->guess[guesses->count++] =
          (tune_guess){tt_arena_format(&guesses->arena, "%s", of->runner[n].params), score(&of->runner[n])};
  return guesses->arena.failed ? tt_fail(TUTTI_ERR_MEMORY, "no memory for what was measured") : TUTTI_OK;
}

/* ---- what is kept beside the winner ---- */

static tutti_status keep_samples(cell *of, tune_result *result) {
  int64_t most = result->tried < SAMPLES_MOST ? result->tried : SAMPLES_MOST;
  sort(of, result->tried);
  result->sample = tt_arena_alloc(&result->arena, (size_t)most + 1, sizeof *result->sample);
  for (int64_t n = 0; n < most && result->sample; n++) {
    const runner *at = &of->runner[of->order[n]];
    if (at->count > 0)
      result->sample[result->sample_count++] =
          (tune_sample){tt_arena_format(&result->arena, "%s", at->params), result->rules_ns * score(at), at->count};
  }
  return result->arena.failed ? tt_fail(TUTTI_ERR_MEMORY, "no memory for samples") : TUTTI_OK;
}

void tune_result_finish(tune_result *result) { tt_arena_finish(&result->arena); }

/* ---- a cell ---- */

/* As many as half of the time is enough for, in as many rounds as it takes to tell them apart. */
static int64_t survivors_of(const cell *of, int64_t tried) {
  while (tried > 0 && of->runner[of->order[tried - 1]].count == 0) /* those that make no plan are the last */
    tried--;
  int64_t try_ns = tried > 0 ? spent_ns(of) / tried : 1, most = tried < SURVIVORS ? tried : SURVIVORS;
  int64_t affordable = of->budget_ns / 2 / (TUNE_ROUNDS_LEAST * 4 * (try_ns > 0 ? try_ns : 1));
  int64_t least = tried < SURVIVORS_LEAST ? tried : SURVIVORS_LEAST;
  return affordable < least ? least : affordable > most ? most : affordable;
}

/* What runs as the profile's choice does is no candidate: it would win by chance. */
static tutti_status find_rules(cell *of, const tt_task *task, tune_result *result) {
  uint64_t identity;
  snprintf(result->rules, sizeof result->rules, "%s", tutti_comm_last_params(of->all->target));
  tutti_status status = tt_candidate_identify(task, result->rules, &identity);
  int64_t kept = 0;
  for (int64_t n = 0; n < of->space.count && status == TUTTI_OK; n++)
    if (of->space.candidate[n].identity != identity)
      of->space.candidate[kept++] = of->space.candidate[n];
  of->space.count = status == TUTTI_OK ? kept : of->space.count;
  return status;
}

static tutti_status measure(cell *of, const tt_task *task, tune_guesses *guesses, tune_result *result) {
  tutti_status status = tune_lead_calibrate(of->all, TUNE_BATCH_NS, &of->calls, &of->rules_ns);
  if (status == TUTTI_OK)
    status = find_rules(of, task, result);
  if (status != TUTTI_OK)
    return status;
  of->count = of->space.count;
  if (of->rates)
    status = order_by_model(of, task);
  else
    order_by_guess(of, guesses);
  result->left_out = of->space.count - of->count;
  if (status == TUTTI_OK)
    status = screen(of, &result->tried);
  if (status == TUTTI_OK && guesses)
    status = keep_guesses(of, guesses);
  if (status == TUTTI_OK)
    status = run_rounds(of, survivors_of(of, result->tried), result);
  if (status != TUTTI_OK)
    return status;
  decide(of, result);
  return keep_samples(of, result);
}

static tutti_status measure_alone(cell *of, const tt_task *task, tune_guesses *guesses, tune_result *result) {
  tune_load begin, end;
  tutti_status status = tune_lead_load(of->all, &begin);
  if (status == TUTTI_OK)
    status = measure(of, task, guesses, result);
  if (status == TUTTI_OK)
    status = tune_lead_load(of->all, &end);
  if (status != TUTTI_OK)
    return status;
  result->others = tune_load_others(&begin, &end);
  result->disturbed = tune_load_disturbs(result->others, end.cores, of->all->group_size);
  return TUTTI_OK;
}

/* of->space is filled, and finished here. */
static tutti_status run_cell(cell *of, const tt_task *task, tune_guesses *guesses, tune_result *result) {
  tutti_status status = TUTTI_OK;
  result->candidates = of->space.count;
  tt_random_init(&of->random, 1);
  of->runner = calloc((size_t)of->space.count + 1, sizeof *of->runner);
  of->order = calloc((size_t)of->space.count + 1, sizeof *of->order);
  if (!of->runner || !of->order)
    status = tt_fail(TUTTI_ERR_MEMORY, "no memory for candidates");
  if (status == TUTTI_OK)
    status = tune_lead_cell(of->all, task);
  if (status == TUTTI_OK)
    status = measure_alone(of, task, guesses, result);
  free(of->runner);
  free(of->order);
  tt_candidates_finish(&of->space);
  return status;
}

tutti_status tune_cell_run(tune_ranks *all, const tt_task *task, const tt_sim_rates *rates, int64_t budget_ns,
                           tune_guesses *guesses, tune_result *result) {
  cell of = {.all = all, .task = task, .rates = rates, .start_ns = tt_clock_ns(), .budget_ns = budget_ns};
  *result = (tune_result){.tried = 0};
  tt_arena_init(&result->arena);
  tutti_status status = tt_candidates_make(task, &of.space);
  if (status == TUTTI_OK)
    return run_cell(&of, task, guesses, result);
  tt_candidates_finish(&of.space);
  return status;
}

/* Those that make a plan for the task. */
static tutti_status take_texts(const tt_task *task, const char *const *params, int64_t count, tt_candidates *space) {
  *space = (tt_candidates){.count = 0};
  tt_arena_init(&space->arena);
  space->candidate = tt_arena_alloc(&space->arena, (size_t)count, sizeof *space->candidate);
  for (int64_t n = 0; n < count && space->candidate; n++) {
    tt_candidate *at = &space->candidate[space->count];
    tutti_status status = tt_candidate_identify(task, params[n], &at->identity);
    at->text = params[n];
    if (status == TUTTI_OK)
      space->count++;
    else if (status != TUTTI_ERR_PLAN)
      return status;
  }
  return space->candidate ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for candidates");
}

tutti_status tune_cell_race(tune_ranks *all, const tt_task *task, int64_t budget_ns, const char *const *params,
                            int64_t count, tune_result *result) {
  cell of = {.all = all, .task = task, .start_ns = tt_clock_ns(), .budget_ns = budget_ns};
  memcpy(of.sure, params, (size_t)(count < TUNE_SURE ? count : TUNE_SURE) * sizeof *params);
  *result = (tune_result){.tried = 0};
  tt_arena_init(&result->arena);
  tutti_status status = take_texts(task, params, count, &of.space);
  if (status == TUTTI_OK)
    return run_cell(&of, task, NULL, result);
  tt_candidates_finish(&of.space);
  return status;
}
