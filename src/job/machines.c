/* job/machines.c - which ranks share a machine, and the transport that follows from it: shared memory where all do;
 * between machines the user's transport, or that of TUTTI_FAR on every NIC that is fit. */
#include "job/context.h"
#include "job/medium.h"
#include "topo/nics/nics.h"
#include "transport/transport.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tutti_status no_memory(const tutti_context *context) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for a job of %" PRId64 " ranks", context->size);
}

/* ---- machines ---- */

tutti_status tt_machine_map(const char *option, const char *text, int64_t rank_count, int64_t *map) {
  tutti_status status = tt_topo_parse_map(text, rank_count, map);
  char why[256];
  snprintf(why, sizeof why, "%s", tutti_last_error());
  return status == TUTTI_OK ? status : tt_fail(status, "%s: %s", option, why);
}

/* TUTTI_NODES: pretended ones, parts of the true; named node0, node1, ... */
static tutti_status pretend(const tutti_context *context, uint64_t *machine, char *name, size_t name_size) {
  const char *text = tt_options_get()->nodes;
  if (!*text)
    return TUTTI_OK;
  int64_t *map = calloc((size_t)context->size, sizeof *map);
  if (!map)
    return no_memory(context);
  tutti_status status = tt_machine_map("TUTTI_NODES", text, context->size, map);
  if (status == TUTTI_OK) {
    *machine = tt_hash(*machine, &map[context->rank], sizeof *map);
    snprintf(name, name_size, "node%" PRId64, map[context->rank]);
  }
  free(map);
  return status;
}

static const tt_transport *far_transport(void) { return tt_transport_find(TT_REACH_MACHINES, tt_options_get()->far); }

/* Of TUTTI_FAR; on one machine, too, so that a wrong one is found early. */
static tutti_status check_far(const tutti_context_options *given) {
  const tt_transport *far = far_transport();
  char names[128];
  if (given && given->transport)
    return TUTTI_OK;
  tt_transport_names(TT_REACH_MACHINES, names, sizeof names);
  if (!far)
    return tt_fail(TUTTI_ERR_ARGUMENT, "TUTTI_FAR is '%s'; it may be %s", tt_options_get()->far, names);
  return far->ops() ? TUTTI_OK
                    : tt_fail(TUTTI_ERR_UNSUPPORTED, "TUTTI_FAR is %s, but this tutti was built without %s", far->name,
                              far->needs);
}

tutti_status tt_machine_own(const tutti_context *context, const tutti_context_options *given, uint64_t *machine,
                            tt_locality *locality) {
  const char *topology = tt_options_get()->topology;
  bool said = given && given->transport;
  char name[32] = ""; /* the host's */
  *machine = said ? (uint64_t)given->node : tt_host();
  tutti_status status = check_far(given);
  if (status == TUTTI_OK && !said)
    status = pretend(context, machine, name, sizeof name);
  return status == TUTTI_OK && *topology ? tt_topo_locality(topology, name, locality) : status;
}

tutti_status tt_machines_localities(tutti_context *context, const tt_locality *locality, size_t stride) {
  if (!*tt_options_get()->topology)
    return TUTTI_OK;
  context->machine.locality = calloc((size_t)context->size, sizeof *context->machine.locality);
  if (!context->machine.locality)
    return no_memory(context);
  for (int64_t r = 0; r < context->size; r++)
    context->machine.locality[r] = *(const tt_locality *)(const void *)((const char *)locality + (size_t)r * stride);
  return TUTTI_OK;
}

static uint64_t of_rank(const uint64_t *machine, size_t stride, int64_t rank) {
  return *(const uint64_t *)(const void *)((const char *)machine + (size_t)rank * stride);
}

/* Nothing where all are on one, so that nobody looks at it. */
tutti_status tt_machines_find(tutti_context *context, const uint64_t *machine, size_t stride) {
  bool one = true;
  for (int64_t r = 1; r < context->size; r++)
    one = one && of_rank(machine, stride, r) == *machine;
  if (one)
    return TUTTI_OK;
  context->machine.head_of = calloc((size_t)context->size, sizeof *context->machine.head_of);
  if (!context->machine.head_of)
    return no_memory(context);
  for (int64_t r = 0; r < context->size; r++)
    while (of_rank(machine, stride, context->machine.head_of[r]) != of_rank(machine, stride, r))
      context->machine.head_of[r]++;
  assert(context->machine.head_of[context->rank] <= context->rank && context->machine.head_of[0] == 0);
  return TUTTI_OK;
}

static bool is_here(const tutti_context *context, int64_t rank) {
  return !context->machine.head_of || context->machine.head_of[rank] == context->machine.head_of[context->rank];
}

/* A local fact; it decides how this rank waits, and what all find worth while to read in place. */
static bool has_fewer_cores(const tutti_context *context) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int64_t ranks = 0;
  for (int64_t r = 0; r < context->size; r++)
    ranks += is_here(context, r);
  return cores > 0 && ranks > cores;
}

/* ---- transports ---- */

/* The NICs that transports between machines take. A lack of them is told to all, by the transport's own opening. */
static int64_t find_rails(tt_rail rail[TT_RAILS_MOST]) {
  tt_nic nic[TT_NICS_MOST];
  int64_t count = 0;
  if (tt_nics_find("", nic, TT_COUNT(nic), &count) != TUTTI_OK ||
      tt_nics_choose(tt_options_get()->nics, nic, &count) != TUTTI_OK)
    return 0;
  count = count < TT_RAILS_MOST ? count : TT_RAILS_MOST;
  for (int64_t n = 0; n < count; n++) {
    rail[n] = (tt_rail){
        .address = nic[n].address, .prefix_bits = nic[n].prefix_bits, .bits_per_second = nic[n].bits_per_second};
    memcpy(rail[n].name, nic[n].name, sizeof rail[n].name);
  }
  return count;
}

int64_t tt_machine_nics(const tutti_context_options *given) {
  tt_rail rail[TT_RAILS_MOST];
  return given && given->transport ? 0 : find_rails(rail);
}

/* Small packets that go at the same time take different rails: from ranks of a machine to those in the same places on
 * another one, from one machine to many and from many to one, and between one rank and all of a machine. So the first
 * rail is that of the numbers of both machines and of the later place on its machine. */
static tutti_status find_first_rails(tutti_context *context) {
  int64_t size = context->size, machines = 0, *first = calloc((size_t)size, sizeof *first);
  int64_t *place = calloc((size_t)size, sizeof *place), *ranks = calloc((size_t)size, sizeof *ranks);
  context->machine.first_rail = first;
  for (int64_t r = 0; first && place && ranks && r < size; r++) {
    int64_t head = context->machine.head_of[r];
    assert(head <= r && context->machine.head_of[head] == head);
    first[r] = head == r ? machines++ : first[head];
    place[r] = ranks[head]++;
  }
  bool made = first && place && ranks;
  int64_t own = made ? first[context->rank] : 0;
  for (int64_t r = 0; made && r < size; r++)
    first[r] += own + (place[r] > place[context->rank] ? place[r] : place[context->rank]);
  free(place);
  free(ranks);
  return made ? TUTTI_OK : no_memory(context);
}

static tutti_status open_nodes(tutti_context *context, const tutti_transport_ops *across, const void *across_config,
                               const tutti_boot *boot) {
  const tt_nodes_config config = {.head_of = context->machine.head_of,
                                  .across = across,
                                  .across_config = across_config,
                                  .timeout_ns = context->create_timeout_ns,
                                  .crowded = context->machine.crowded,
                                  .read_bytes = tt_medium_read_bytes(context->medium)};
  context->ops = tt_nodes_ops();
  tutti_status status = context->ops->open(&config, boot, &context->transport);
  context->machine.wakes = status == TUTTI_OK && context->ops->descriptor(context->transport) >= 0;
  return status;
}

static tutti_status open_between(tutti_context *context, const tutti_boot *boot) {
  tt_rail rail[TT_RAILS_MOST];
  char lack[256];
  tt_fail_clear();
  int64_t count = find_rails(rail);
  snprintf(lack, sizeof lack, "%s", tutti_last_error());
  tutti_status status = find_first_rails(context);
  const tt_between_config config = {.rail = rail,
                                    .rail_count = count,
                                    .lack = lack,
                                    .first_rail = context->machine.first_rail,
                                    .timeout_ns = context->create_timeout_ns,
                                    .broken = &context->made.gives_up};
  return status == TUTTI_OK ? open_nodes(context, far_transport()->ops(), &config, boot) : status;
}

static tutti_status open_alone(tutti_context *context, const tutti_transport_ops *ops, const void *config,
                               const tutti_boot *boot) {
  context->ops = ops;
  return ops->open(config, boot, &context->transport);
}

tutti_status tt_machines_open(tutti_context *context, const tutti_context_options *given, const tutti_boot *boot) {
  assert(!context->transport);
  context->machine.crowded = has_fewer_cores(context);
  const tt_shm_config shm = {.timeout_ns = context->create_timeout_ns,
                             .crowded = context->machine.crowded,
                             .read_bytes = tt_medium_read_bytes(context->medium)};
  const tutti_transport_ops *theirs = given ? given->transport : NULL;
  bool alone = theirs && given->node < 0;
  context->machine.foreign = alone || context->machine.head_of;
  context->machine.waits_beside = !theirs && (!context->machine.head_of || far_transport()->beside);
  if (alone)
    return open_alone(context, theirs, given->transport_config, boot);
  if (!context->machine.head_of)
    return open_alone(context, tt_shm_ops(), &shm, boot);
  return theirs ? open_nodes(context, theirs, given->transport_config, boot) : open_between(context, boot);
}
