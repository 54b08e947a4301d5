/* api/team.c - teams: made once for a list of ranks, kept a while after the last communicator of them has gone. */
#include "api/api.h"
#include "transport/transport.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMPILED_KEPT 64 /* plans of a team; of more, those that nobody uses go */

static tutti_status no_memory(const tt_team *team) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", team->size);
}

/* ---- where its ranks are ---- */

static int64_t machine_of(const tutti_context *context, const tt_team *team, int64_t rank) {
  return context->head_of ? context->head_of[team->job_rank[rank]] : 0;
}

static tutti_status list_machines(const tutti_context *context, tt_team *team) {
  team->machine = tt_arena_alloc(&team->arena, (size_t)team->size, sizeof *team->machine);
  for (int64_t r = 0; r < team->size && team->machine; r++)
    team->machine[r] = machine_of(context, team, r);
  return team->machine ? TUTTI_OK : no_memory(team);
}

static tutti_status find_far(const tutti_context *context, tt_team *team) {
  team->far = tt_arena_alloc(&team->arena, (size_t)team->size, sizeof *team->far);
  if (!team->far)
    return no_memory(team);
  int64_t own = machine_of(context, team, team->rank);
  for (int64_t r = team->size - 1; r >= 0; r--) {
    team->far[r] = machine_of(context, team, r) != own;
    team->apart = team->apart || team->far[r];
    team->head = team->far[r] ? team->head : r;
  }
  return team->apart ? list_machines(context, team) : TUTTI_OK;
}

/* Ranks of one machine need not go through what also reaches others. */
static void choose_transport(const tutti_context *context, tt_team *team) {
  bool inner = context->head_of && !team->apart;
  team->ops = inner ? tt_shm_ops() : context->ops;
  team->transport = inner ? tt_nodes_inner(context->transport) : context->transport;
}

static int64_t node_of(const tutti_context *context, const tt_team *team, int64_t rank) {
  return context->groups ? context->groups[team->job_rank[rank]] : machine_of(context, team, rank);
}

/* Levels "node" and "core". */
static tutti_status make_two_levels(const tutti_context *context, tt_team *team) {
  int64_t *node = tt_arena_alloc(&team->arena, (size_t)team->size, sizeof *node);
  team->topo = tt_topo_flat(&team->arena, team->size);
  if (!team->topo || !node)
    return no_memory(team);
  for (int64_t r = 0; r < team->size; r++)
    node[r] = node_of(context, team, r);
  return tt_topo_add(team->topo, &team->arena, "node", node);
}

/* Those that switches and the machines' insides make, too. */
static tutti_status make_all_levels(const tutti_context *context, tt_team *team) {
  tt_locality *locality = tt_arena_alloc(&team->arena, (size_t)team->size, sizeof *locality);
  if (!locality)
    return no_memory(team);
  for (int64_t r = 0; r < team->size; r++) {
    locality[r] = context->locality[team->job_rank[r]];
    locality[r].node = (uint64_t)node_of(context, team, r);
  }
  return tt_topo_build(&team->arena, locality, team->size, &team->topo);
}

static tutti_status make_topology(const tutti_context *context, tt_team *team) {
  int32_t *reach_of = tt_arena_alloc(&team->arena, (size_t)team->size, sizeof *reach_of);
  if (!reach_of)
    return no_memory(team);
  tutti_status status = context->locality ? make_all_levels(context, team) : make_two_levels(context, team);
  if (status != TUTTI_OK)
    return status;
  for (int64_t r = 0; r < team->size; r++)
    reach_of[r] = (int32_t)machine_of(context, team, r);
  team->topo->reach_of = reach_of;
  team->topo->level[team->topo->level_count - 1].publish = team->ops->publish && tt_medium_publishes(context->medium);
  return TUTTI_OK;
}

tutti_status tt_team_prepare(const tutti_context *context, tt_team *team) {
  if (team->ready)
    return TUTTI_OK;
  tutti_status status = find_far(context, team);
  if (status == TUTTI_OK) {
    choose_transport(context, team);
    status = make_topology(context, team);
  }
  team->ready = status == TUTTI_OK;
  return status;
}

/* ---- by their ranks ---- */

static tt_team *find(const tutti_context *context, const int64_t *job_rank, int64_t size, uint64_t hash) {
  tt_team *team = tt_index_find(&context->teams.by_ranks, hash);
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
  free(team->job_rank);
  free(team);
}

static tt_team *make(tutti_context *context, const int64_t *job_rank, int64_t size, int64_t rank, uint64_t hash) {
  tt_team *made = calloc(1, sizeof *made);
  if (!made || !(made->job_rank = malloc((size_t)size * sizeof *job_rank))) {
    free(made);
    return NULL;
  }
  memcpy(made->job_rank, job_rank, (size_t)size * sizeof *job_rank);
  made->size = size;
  made->rank = rank;
  made->hash = hash;
  made->other = tt_index_find(&context->teams.by_ranks, hash);
  tt_arena_init(&made->arena);
  if (tt_index_set(&context->teams.by_ranks, hash, made))
    return made;
  destroy(made);
  return NULL;
}

tt_team *tt_team_take(tutti_context *context, const int64_t *job_rank, int64_t size, int64_t rank) {
  uint64_t hash = tt_hash(0, job_rank, (size_t)size * sizeof *job_rank);
  tt_team *team = find(context, job_rank, size, hash);
  if (!team && !(team = make(context, job_rank, size, rank, hash)))
    return NULL;
  team->uses++;
  if (team->kept)
    *team->kept = NULL;
  team->kept = NULL;
  return team;
}

static void unlink_team(tutti_context *context, const tt_team *team) {
  tt_team *first = tt_index_find(&context->teams.by_ranks, team->hash);
  if (first == team && !team->other)
    tt_index_remove(&context->teams.by_ranks, team->hash);
  else if (first == team)
    tt_index_set(&context->teams.by_ranks, team->hash, team->other); /* has its place already */
  for (tt_team *before = first; before; before = before->other)
    if (before->other == team)
      before->other = team->other;
}

/* It takes the place of the one that has been kept longest. */
void tt_team_give(tutti_context *context, tt_team *team) {
  tt_teams *teams = &context->teams;
  if (!team || --team->uses > 0)
    return;
  tt_team **place = &teams->kept[teams->kept_next++ % TT_TEAMS_KEPT];
  if (*place) {
    unlink_team(context, *place);
    destroy(*place);
  }
  *place = team;
  team->kept = place;
}

void tt_teams_finish(tutti_context *context) {
  for (int n = 0; n < TT_TEAMS_KEPT; n++)
    destroy(context->teams.kept[n]);
  tt_index_finish(&context->teams.by_ranks);
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
  compiled->next = team->compiled;
  team->compiled = compiled;
  team->compiled_count++;
}

void tt_compiled_destroy(tt_compiled *compiled) {
  if (!compiled)
    return;
  tt_executors_destroy(compiled->spare);
  tt_bound_plans_destroy(compiled->by_class);
  tt_plan_destroy(compiled->plan);
  free(compiled->text);
  free(compiled);
}
