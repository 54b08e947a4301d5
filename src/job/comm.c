/* job/comm.c - cells and streams of a communicator. Ranks of one machine share the cells; each has one. */
#include "job/comm.h"
#include "job/medium.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#define STREAMS_BYTES ((int64_t)4 << 20) /* one slot of each stream */

/* Ids of a communicator, from its base on: those of lanes, of epochs, of side communicators, of cells and notes. Those
 * of an epoch are taken again when no rank can still have them: see refuse.c. */
#define EPOCHS (2 * TT_EPOCHS_APART)
#define EPOCH_IDS ((uint64_t)1 << 19)
#define EPOCH_FIRST (1u << 27)

_Static_assert(EPOCH_FIRST + EPOCHS * EPOCH_IDS == (UINT64_C(1) << 27) + (UINT64_C(1) << 30),
               "call/side.c has the next");

/* ---- cells ---- */

tutti_status tt_comm_no_memory(const tutti_comm *comm) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", comm->size);
}

tutti_status tt_comm_open_cells(const tutti_comm *comm, uint32_t id, size_t bytes, void **cell) {
  int64_t *here = malloc((size_t)comm->size * sizeof *here), count = 0;
  if (!here)
    return tt_comm_no_memory(comm);
  for (int64_t r = 0; r < comm->size; r++)
    if (!comm->far[r])
      here[count++] = comm->job_rank[r];
  assert(count > 0 && !comm->far[comm->rank]); /* this rank is here */
  tutti_status status = comm->ops->cells_open(comm->transport, tt_comm_base(comm) + id, here, count, bytes, cell);
  for (int64_t r = comm->size - 1; r >= 0 && status == TUTTI_OK; r--) /* spread: none lies before its place */
    cell[r] = comm->far[r] ? NULL : cell[--count];
  assert(status != TUTTI_OK || count == 0);
  free(here);
  return status;
}

void tt_comm_close_cells(const tutti_comm *comm, uint32_t id, void **cell) {
  comm->ops->cells_close(comm->transport, tt_comm_base(comm) + id);
  for (int64_t r = 0; r < comm->size; r++)
    if (comm->far[r])
      free(cell[r]);
}

/* ---- streams ---- */

/* Two ranks have both a core of their own and its cache, and want to overlap. More of them share: the longer a slot,
 * the fewer changes of rank; but all streams of a communicator should lie in the outer cache together. */
static int64_t default_slot_bytes(int64_t ranks, bool apart) {
  assert(ranks > 0);
  int64_t room = STREAMS_BYTES / (ranks * ranks);
  return ranks <= 2 && !apart ? 32 << 10 : room > 64 << 10 ? 64 << 10 : room > 16 << 10 ? room : 16 << 10;
}

/* How many ranks the fullest machine has: the same for all. */
static tutti_status count_together(const tutti_comm *comm, int64_t *most) {
  *most = comm->size;
  if (!comm->apart)
    return TUTTI_OK;
  int64_t *together = calloc((size_t)comm->context->size, sizeof *together); /* of the lowest rank on each */
  if (!together)
    return tt_comm_no_memory(comm);
  *most = 0;
  for (int64_t r = 0; r < comm->size; r++) {
    int64_t count = ++together[comm->context->machine.head_of[comm->job_rank[r]]];
    *most = count > *most ? count : *most;
  }
  free(together);
  return TUTTI_OK;
}

static uint32_t epoch_id(uint32_t epoch) { return EPOCH_FIRST + epoch % EPOCHS * (uint32_t)EPOCH_IDS; }

size_t tt_comm_slot_bytes(int64_t ranks, bool apart) {
  int64_t bytes = tt_options_get()->slot_bytes;
  if (bytes <= 0)
    bytes = default_slot_bytes(ranks, apart);
  return (size_t)(bytes + 63) / 64 * 64;
}

tutti_status tt_comm_open_streams(tutti_comm *comm) {
  assert(!comm->streams);
  int64_t together = 0;
  tutti_status status = count_together(comm, &together);
  if (status != TUTTI_OK)
    return status;
  assert(together > 0 && together <= comm->size);
  tt_stream_table_spec spec = {.ops = comm->ops,
                               .transport = comm->transport,
                               .job_rank = comm->job_rank,
                               .rank = comm->rank,
                               .rank_count = comm->size,
                               .stream_base =
                                   tt_comm_base(comm) + (comm->refused.epoch > 0 ? epoch_id(comm->refused.epoch) : 0),
                               .ids = comm->side.main           ? TT_SIDE_IDS
                                      : comm->refused.epoch > 0 ? EPOCH_IDS
                                                                : TT_STREAM_TABLE_IDS,
                               .alone = comm->side.main,
                               .patient = !comm->context->machine.crowded,
                               .far = comm->far,
                               .thresholds = {.lend = tt_medium_lend_bytes(comm->context->medium),
                                              .keep = tt_medium_lend_bytes(comm->context->medium)},
                               .slot_bytes_minimum = tt_comm_slot_bytes(together, comm->apart)};
  return tt_stream_table_create(&spec, &comm->streams);
}

/* ---- epochs ---- */

/* The last of its ids. */
static uint32_t epoch_cells(uint32_t epoch) { return epoch_id(epoch) + (uint32_t)EPOCH_IDS - 1; }

/* A cell that all ranks open and close: what only some of them have opened of the epoch goes with it. */
static tutti_status open_epoch(const tutti_comm *comm) {
  void **cell = calloc((size_t)comm->size, sizeof *cell);
  tutti_status status =
      cell ? tt_comm_open_cells(comm, epoch_cells(comm->refused.epoch), 1, cell) : tt_comm_no_memory(comm);
  free(cell);
  return status;
}

void tt_comm_close_epoch(const tutti_comm *comm) {
  if (comm->refused.epoch > 0)
    comm->ops->cells_close(comm->transport, tt_comm_base(comm) + epoch_cells(comm->refused.epoch));
}

/* What came of earlier epochs from other machines for calls that this rank did not make. `half`: epochs that no rank
 * can be in any more, or not yet. */
static void forget_epochs(const tutti_comm *comm) {
  const tutti_transport_ops *ops = comm->ops;
  uint64_t base = tt_comm_base(comm), first = base + EPOCH_FIRST, half = TT_EPOCHS_APART * EPOCH_IDS;
  uint64_t here = comm->refused.epoch % EPOCHS * EPOCH_IDS;
  if (!comm->apart || !ops->forget)
    return;
  ops->forget(comm->transport, base, EPOCH_FIRST);
  ops->forget(comm->transport, here < half ? first : first + here - half, here < half ? here : half);
  if (here < half)
    ops->forget(comm->transport, first + here + half, half - here);
}

void tt_comm_bury(tutti_comm *comm) {
  if (!comm->apart || !comm->ops->forget)
    return;
  uint64_t *place = &comm->context->made.gone[comm->context->made.gone_count++ % TT_COMMS_GONE], before = *place;
  *place = tt_comm_base(comm);
  if (before == 0)
    return;
  comm->ops->forget(comm->transport, before, TT_COMMON_IDS); /* its lanes, later epochs and persistent requests */
  comm->ops->forget(comm->transport, before + UINT32_MAX + 1 - TT_LAST_IDS, TT_LAST_IDS); /* cells and notes */
}

void tt_comm_raise(tutti_context *context, uint64_t id) {
  for (int n = 0; n < TT_COMMS_GONE; n++)
    if (context->made.gone[n] == id << 32)
      context->made.gone[n] = 0;
}

/* Executors follow when they are started: tt_operation_start. */
tutti_status tt_comm_renew(tutti_comm *comm, uint32_t epoch) {
  assert(epoch > comm->refused.epoch && !comm->side.main);
  tutti_status status = TUTTI_OK;
  tt_stream_table_destroy(comm->streams);
  comm->streams = NULL;
  while (comm->refused.epoch < epoch && status == TUTTI_OK) {
    tt_comm_close_epoch(comm);
    comm->refused.epoch++;
    status = open_epoch(comm);
  }
  forget_epochs(comm);
  comm->wait.yields = 0; /* who shares the core is found anew */
  return status == TUTTI_OK ? tt_comm_open_streams(comm) : status;
}

/* ---- ranks and requests ---- */

int64_t tt_comm_rank_of(const tutti_comm *comm, int64_t job_rank) {
  int64_t rank = comm->size - 1;
  while (rank >= 0 && comm->job_rank[rank] != job_rank)
    rank--;
  return rank;
}

tutti_comm *tt_comm_side(const tutti_comm *comm, uint64_t init) {
  tutti_comm *side = comm->persistent.sides;
  while (side && side->side.init != init)
    side = side->side.next;
  return side;
}
