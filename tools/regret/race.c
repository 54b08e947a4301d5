/* tools/regret/race.c - all plans of a task run against each other:
 *
 *     screening   three rounds of all; what is far slower than the job's choice leaves after the first
 *     rounds      the best of them, the choices, and copies of the first choice, which nobody tells apart from others
 *
 * In each round all run once, in an order of its own. One timing is some batches of the same number of calls. Where the
 * buffers lie favours some plans: each two rounds, one that chooses and one that judges, have buffers of their own. */
#include "race.h"

#include "bench/pace.h"
#include "tools/tune/task.h"

#include <stdlib.h>
#include <string.h>

#define SCREENS 3
#define FAR_SLOWER 5
#define PLACES (REGRET_FINALISTS + REGRET_COPIES)
#define BATCHES 5        /* of a timing, if they are no longer than they have to be, */
#define SCREEN_BATCHES 2 /* and of one in the screening */

typedef struct racer {
  const char *params;
  double screen_ns[SCREENS];
  int screens;
  bool out;
} racer;

typedef struct race {
  tune_ranks *all;
  const tt_task *task;
  regret_result *result;
  tt_candidates space;
  racer *racer;
  int64_t *order;                /* of all racers, in a round */
  const racer *finalist[PLACES]; /* as in the result; behind them the first choice again, for each copy */
  int64_t count, calls, round, until_ns;
  double choice_ns;
  tt_random random;
} race;

static bool is_over(const race *of) { return tt_clock_ns() > of->until_ns; }

/* ---- who runs ---- */

static int64_t find(const race *of, const uint64_t *identity, uint64_t wanted) {
  int64_t n = 0;
  while (n < of->count && identity[n] != wanted)
    n++;
  return n;
}

/* *runs: what a call comes to that runs with these parameters. */
static tutti_status identify(const tt_task *task, const regret_choice *choice, const char **runs, uint64_t *identity) {
  *runs = choice->params;
  tutti_status status = tt_candidate_identify(task, *runs, identity);
  if (status != TUTTI_ERR_PLAN || choice->insists)
    return status;
  *runs = tt_choose_fallback().text;
  return tt_candidate_identify(task, *runs, identity);
}

/* A plan that a choice runs has the choice's text; one that the space lacks is added to it. */
static tutti_status add_choices(race *of, const tt_task *task, uint64_t *identity) {
  for (int n = 0; n < of->result->choice_count; n++) {
    regret_choice *choice = &of->result->choice[n];
    const char *runs;
    uint64_t wanted;
    tutti_status status = identify(task, choice, &runs, &wanted);
    if (status != TUTTI_OK)
      return status;
    int64_t at = find(of, identity, wanted);
    identity[at] = wanted;
    of->racer[at].params = runs;
    of->count += at == of->count;
    choice->finalist = (int)at; /* until finalists have numbers */
  }
  return TUTTI_OK;
}

static tutti_status gather(race *of, const tt_task *task) {
  tutti_status status = tt_candidates_make(task, &of->space);
  size_t room = (size_t)of->space.count + REGRET_CHOOSERS;
  of->racer = calloc(room, sizeof *of->racer);
  of->order = calloc(room, sizeof *of->order);
  uint64_t *identity = calloc(room, sizeof *identity);
  if (status == TUTTI_OK && (!of->racer || !of->order || !identity))
    status = tt_fail(TUTTI_ERR_MEMORY, "no memory for candidates");
  for (; status == TUTTI_OK && of->count < of->space.count; of->count++) {
    of->racer[of->count].params = of->space.candidate[of->count].text;
    identity[of->count] = of->space.candidate[of->count].identity;
  }
  if (status == TUTTI_OK)
    status = add_choices(of, task, identity);
  free(identity);
  of->result->candidates = of->count;
  return status;
}

/* ---- one timing ---- */

/* Rooted calls go round all ranks, or begin at the same one for all in a round; both halves of the rounds have all. */
static tutti_status run(race *of, const char *params, int64_t batches, double *time_ns) {
  int64_t root = of->round / 2 % of->all->group_size;
  return tune_lead_try(of->all, params, root, of->calls, batches, time_ns);
}

/* The fewer, the slower it is. */
static int64_t batches_of(const race *of, double time_ns, int64_t most) {
  int64_t batches = most * BENCH_BATCH_SHARED_NS / (int64_t)(time_ns * (double)of->calls + 1);
  return batches < 1 ? 1 : batches > most ? most : batches;
}

/* So many calls of that time that a batch is long enough. */
static void set_calls(race *of, double time_ns) {
  int64_t calls = (int64_t)(BENCH_BATCH_SHARED_NS / time_ns) + 1, size = of->all->group_size;
  int64_t least = tune_ranks_least_calls(of->all, time_ns);
  calls = calls < least ? least : calls;
  of->calls = of->all->rooted && calls > size / 2 ? (calls + size - 1) / size * size : calls;
}

static tutti_status pace(race *of) {
  const char *params = of->racer[of->result->choice[0].finalist].params;
  tutti_status status = TUTTI_OK;
  double batch_ns = 0;
  for (of->calls = 0; status == TUTTI_OK && batch_ns < BENCH_BATCH_SHARED_NS;) {
    of->calls = bench_more_calls(of->calls, (int64_t)batch_ns, BENCH_BATCH_SHARED_NS);
    status = run(of, params, 3, &of->choice_ns);
    batch_ns = of->choice_ns * (double)of->calls;
  }
  if (status == TUTTI_OK)
    set_calls(of, of->choice_ns);
  return status == TUTTI_OK ? run(of, params, BATCHES, &of->choice_ns) : status;
}

/* ---- screening ---- */

/* Of what may take long, one batch; another one if that was slow, since it may have been disturbed. */
static tutti_status try_out(race *of, racer *at) {
  double limit_ns = FAR_SLOWER * of->choice_ns, *time_ns = &at->screen_ns[at->screens++];
  tutti_status status = run(of, at->params, 1, time_ns);
  if (status == TUTTI_OK && *time_ns > limit_ns)
    status = run(of, at->params, 1, time_ns);
  at->out = status == TUTTI_ERR_PLAN || *time_ns > limit_ns;
  return status == TUTTI_ERR_PLAN ? TUTTI_OK : status;
}

static tutti_status screen_one(race *of, racer *at) {
  if (of->round == 0)
    return try_out(of, at);
  if (at->out)
    return TUTTI_OK;
  return run(of, at->params, batches_of(of, at->screen_ns[0], SCREEN_BATCHES), &at->screen_ns[at->screens++]);
}

/* The fastest says how many calls all need. */
static void renew_calls(race *of) {
  double least_ns = of->choice_ns;
  for (int64_t n = 0; n < of->count; n++)
    if (!of->racer[n].out && of->racer[n].screen_ns[0] < least_ns)
      least_ns = of->racer[n].screen_ns[0];
  set_calls(of, least_ns);
}

static tutti_status screen(race *of) {
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < of->count; n++)
    of->order[n] = n;
  for (of->round = 0; of->round < SCREENS && status == TUTTI_OK; of->round++) {
    tt_random_shuffle(&of->random, of->order, of->count, sizeof *of->order);
    for (int64_t n = 0; n < of->count && status == TUTTI_OK && !is_over(of); n++)
      status = screen_one(of, &of->racer[of->order[n]]);
    if (of->round == 0)
      renew_calls(of);
  }
  for (int64_t n = 0; n < of->count; n++)
    of->result->dropped += of->racer[n].out;
  return status;
}

/* ---- rounds ---- */

static double score(const racer *at) {
  double copy[SCREENS];
  memcpy(copy, at->screen_ns, sizeof copy);
  return bench_median(copy, at->screens);
}

static int place_of(const race *of, const racer *at) {
  int place = 0;
  while (place < of->result->finalist_count && of->finalist[place] != at)
    place++;
  return place;
}

static bool is_taken(const race *of, const racer *at) { return place_of(of, at) < of->result->finalist_count; }

/* The place of a racer, which becomes a finalist if it is none. */
static int take(race *of, const racer *at) {
  int place = place_of(of, at);
  if (place == of->result->finalist_count) {
    of->finalist[place] = at;
    snprintf(of->result->finalist[place].params, TUNE_TEXT, "%s", at->params);
    of->result->finalist_count++;
  }
  return place;
}

/* The best that are left, and the choices. */
static void take_finalists(race *of) {
  regret_result *result = of->result;
  for (int place = 0; place < REGRET_BEST; place++) {
    const racer *best = NULL;
    for (const racer *at = of->racer; at < of->racer + of->count; at++)
      if (!at->out && !is_taken(of, at) && (!best || score(at) < score(best)))
        best = at;
    if (best)
      take(of, best);
  }
  for (int n = 0; n < result->choice_count; n++)
    result->choice[n].finalist = take(of, &of->racer[result->choice[n].finalist]);
  for (int n = 0; n < REGRET_COPIES; n++)
    of->finalist[result->finalist_count + n] = of->finalist[result->choice[0].finalist];
}

/* One timing of each, in a round. */
static tutti_status run_places(race *of, int64_t *place, int64_t count) {
  regret_result *result = of->result;
  tutti_status status = TUTTI_OK;
  tt_random_shuffle(&of->random, place, count, sizeof *place);
  for (int64_t n = 0; n < count && status == TUTTI_OK && !is_over(of); n++) {
    const racer *at = of->finalist[place[n]];
    double *round_ns = place[n] < result->finalist_count ? result->finalist[place[n]].round_ns
                                                         : result->copy_ns[place[n] - result->finalist_count];
    status = run(of, at->params, batches_of(of, score(at), BATCHES), &round_ns[of->round]);
  }
  return status;
}

static tutti_status run_rounds(race *of) {
  int64_t place[PLACES], count = of->result->finalist_count + REGRET_COPIES;
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < count; n++)
    place[n] = n;
  for (of->round = 0; of->round < REGRET_ROUNDS && status == TUTTI_OK; of->round++) {
    status = tune_lead_cell(of->all, of->task); /* other buffers: what judges knows nothing of what found the best */
    if (status == TUTTI_OK)
      status = run_places(of, place, count);
  }
  return status;
}

/* ---- the task ---- */

static tutti_status measure(race *of) {
  tutti_status status = pace(of);
  if (status == TUTTI_OK)
    status = screen(of);
  if (status != TUTTI_OK || is_over(of))
    return status;
  take_finalists(of);
  return run_rounds(of);
}

static tutti_status measure_alone(race *of, regret_outcome *outcome) {
  tune_load begin, end;
  tutti_status status = tune_lead_load(of->all, &begin);
  if (status == TUTTI_OK)
    status = measure(of);
  outcome->done = !is_over(of);
  if (status == TUTTI_OK)
    status = tune_lead_load(of->all, &end);
  if (status != TUTTI_OK)
    return status;
  outcome->others = tune_load_others(&begin, &end);
  outcome->disturbed = tune_load_disturbs(outcome->others, end.cores, of->all->group_size);
  return TUTTI_OK;
}

tutti_status regret_race(tune_ranks *all, const tt_task *task, int64_t until_ns, regret_result *result,
                         regret_outcome *outcome) {
  race of = {.all = all, .task = task, .result = result, .until_ns = until_ns};
  tt_random_init(&of.random, (uint64_t)tt_clock_ns());
  tutti_status status = gather(&of, task);
  if (status == TUTTI_OK)
    status = tune_lead_cell(all, task);
  if (status == TUTTI_OK)
    status = measure_alone(&of, outcome);
  free(of.racer);
  free(of.order);
  tt_candidates_finish(&of.space);
  return status;
}
