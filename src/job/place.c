/* job/place.c - where the ranks of a team are: on which machines, by which transport they reach each other, and in
 * which groups plans put them. */
#include "job/comm.h"
#include "job/medium.h"
#include "transport/transport.h"

#include <assert.h>
#include <inttypes.h>

static tutti_status no_memory(const tt_team *team) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", team->size);
}

static int64_t machine_of(const tutti_context *context, const tt_team *team, int64_t rank) {
  return context->machine.head_of ? context->machine.head_of[team->job_rank[rank]] : 0;
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
  assert(!team->far[team->rank] && team->head <= team->rank);
  return team->apart ? list_machines(context, team) : TUTTI_OK;
}

/* Ranks of one machine need not go through what also reaches others. */
static void choose_transport(const tutti_context *context, tt_team *team) {
  bool inner = context->machine.head_of && !team->apart;
  team->ops = inner ? tt_shm_ops() : context->ops;
  team->transport = inner ? tt_nodes_inner(context->transport) : context->transport;
}

static int64_t node_of(const tutti_context *context, const tt_team *team, int64_t rank) {
  return context->machine.groups ? context->machine.groups[team->job_rank[rank]] : machine_of(context, team, rank);
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
    locality[r] = context->machine.locality[team->job_rank[r]];
    locality[r].node = (uint64_t)node_of(context, team, r);
  }
  return tt_topo_build(&team->arena, locality, team->size, &team->topo);
}

static tutti_status make_topology(const tutti_context *context, tt_team *team) {
  int32_t *reach_of = tt_arena_alloc(&team->arena, (size_t)team->size, sizeof *reach_of);
  if (!reach_of)
    return no_memory(team);
  tutti_status status = context->machine.locality ? make_all_levels(context, team) : make_two_levels(context, team);
  if (status != TUTTI_OK)
    return status;
  for (int64_t r = 0; r < team->size; r++)
    reach_of[r] = (int32_t)machine_of(context, team, r);
  team->topo->reach_of = reach_of;
  team->topo->level[team->topo->level_count - 1].publish = team->ops->publish && tt_medium_publishes(context->medium);
  return TUTTI_OK;
}

static tutti_status place_team(const tutti_context *context, tt_team *team) {
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

static void take_team(tutti_comm *comm) {
  const tt_team *team = comm->team;
  assert(team->ready);
  comm->ops = team->ops;
  comm->transport = team->transport;
  comm->topo = team->topo;
  comm->far = team->far;
  comm->apart = team->apart;
  comm->head = team->head;
}

tutti_status tt_comm_place(tutti_comm *comm) {
  tutti_status status = place_team(comm->context, comm->team);
  if (status == TUTTI_OK)
    take_team(comm);
  return status;
}
