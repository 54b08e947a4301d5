/* job/team.c - teams: made once for a list of ranks, kept a while after the last communicator of them has gone. */
#include "job/team.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMPILED_KEPT 64 /* plans of a team; of more, those that nobody uses go */

/* ---- by their ranks ---- */

static tt_team *find(const tt_teams *teams, const int64_t *job_rank, int64_t size, uint64_t hash) {
  tt_team *team = tt_index_find(&teams->by_ranks, hash);
  while (team && (team->size != size || memcmp(team->job_rank, job_rank, (size_t)size * sizeof *job_rank) != 0))
    team = team->other;
  return team;
}

static void destroy(tt_team *team) {
  if (!team)
    return;
  for (tt_compiled *n = team->compiled, *next; n; n = next) {
    next = n->next;
    tt_compiled_destroy(n);
  }
  tt_arena_finish(&team->arena);
  free(team->dispatch);
  free(team->job_rank);
  free(team);
}

static tt_team *make(tt_teams *teams, const int64_t *job_rank, int64_t size, int64_t rank, uint64_t hash) {
  tt_team *made = calloc(1, sizeof *made);
  if (!made || !(made->job_rank = malloc((size_t)size * sizeof *job_rank))) {
    free(made);
    return NULL;
  }
  memcpy(made->job_rank, job_rank, (size_t)size * sizeof *job_rank);
  made->size = size;
  made->rank = rank;
  made->hash = hash;
  made->other = tt_index_find(&teams->by_ranks, hash);
  tt_arena_init(&made->arena);
  if (tt_index_set(&teams->by_ranks, hash, made))
    return made;
  destroy(made);
  return NULL;
}

tt_team *tt_team_get(tt_teams *teams, const int64_t *job_rank, int64_t size, int64_t rank) {
  assert(rank >= 0 && rank < size);
  uint64_t hash = tt_hash(0, job_rank, (size_t)size * sizeof *job_rank);
  tt_team *team = find(teams, job_rank, size, hash);
  if (!team && !(team = make(teams, job_rank, size, rank, hash)))
    return NULL;
  assert(team->rank == rank && (!team->kept || (team->uses == 0 && *team->kept == team)));
  team->uses++;
  if (team->kept)
    *team->kept = NULL;
  team->kept = NULL;
  return team;
}

static void unlink_team(tt_teams *teams, const tt_team *team) {
  tt_team *first = tt_index_find(&teams->by_ranks, team->hash);
  assert(first && team->uses == 0);
  if (first == team && !team->other)
    tt_index_remove(&teams->by_ranks, team->hash);
  else if (first == team)
    tt_index_set(&teams->by_ranks, team->hash, team->other); /* has its place already */
  for (tt_team *before = first; before; before = before->other)
    if (before->other == team)
      before->other = team->other;
}

/* It takes the place of the one that has been kept longest. */
void tt_team_put(tt_teams *teams, tt_team *team) {
  assert(!team || (team->uses > 0 && !team->kept));
  if (!team || --team->uses > 0)
    return;
  tt_team **place = &teams->kept[teams->kept_next++ % TT_TEAMS_KEPT];
  if (*place) {
    assert((*place)->uses == 0 && (*place)->kept == place);
    unlink_team(teams, *place);
    destroy(*place);
  }
  *place = team;
  team->kept = place;
}

void tt_teams_finish(tt_teams *teams) {
  for (int n = 0; n < TT_TEAMS_KEPT; n++)
    destroy(teams->kept[n]);
  tt_index_finish(&teams->by_ranks);
}

/* ---- plans ---- */

static bool same_key(const tt_entry_key *a, const tt_entry_key *b) {
  return a->collective == b->collective && a->root == b->root && a->in_place == b->in_place && a->ordered == b->ordered;
}

tt_compiled *tt_team_find(const tt_team *team, const tt_entry_key *key, const char *text, bool own) {
  for (tt_compiled *n = team->compiled; n && !key->graph; n = n->next)
    if (same_key(&n->key, key) && strcmp(n->text, text) == 0 && (!own || strcmp(n->runs, text) == 0))
      return n;
  return NULL;
}

static void drop_unused(tt_team *team) {
  for (tt_compiled **at = &team->compiled; *at;) {
    tt_compiled *compiled = *at;
    if (compiled->uses > 0) {
      at = &compiled->next;
      continue;
    }
    assert(team->compiled_count > 0 && compiled->uses == 0);
    *at = compiled->next;
    team->compiled_count--;
    tt_compiled_destroy(compiled);
  }
}

void tt_team_keep(tt_team *team, tt_compiled *compiled) {
  if (compiled->key.graph)
    return;
  if (team->compiled_count >= COMPILED_KEPT)
    drop_unused(team);
  assert(compiled->plan);
  compiled->next = team->compiled;
  team->compiled = compiled;
  team->compiled_count++;
}

void tt_executors_destroy(tt_executor **by_class) {
  for (int n = 0; n < TT_CLASS_COUNT; n++) {
    tt_executor_destroy(by_class[n]);
    by_class[n] = NULL;
  }
}

void tt_bound_plans_destroy(tt_bound_plan **by_class) {
  for (int n = 0; n < TT_CLASS_COUNT; n++)
    tt_bound_plan_destroy(by_class[n]);
}

void tt_compiled_destroy(tt_compiled *compiled) {
  if (!compiled)
    return;
  assert(compiled->uses == 0);
  tt_executors_destroy(compiled->spare);
  tt_bound_plans_destroy(compiled->by_class);
  tt_plan_destroy(compiled->plan);
  free(compiled->text);
  free(compiled);
}
