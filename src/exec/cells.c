/* exec/cells.c - opening the cells, and who has completed what. */
#include "exec/cells.h"

#include <stdlib.h>

static size_t round_up(size_t bytes) { return (bytes + 127) & ~(size_t)127; } /* lines are fetched in pairs */

static tutti_status allocate(tt_cells *cells) {
  size_t count = (size_t)cells->spec->rank_count;
  cells->cell = calloc(count, sizeof *cells->cell);
  cells->data = calloc(count, sizeof *cells->data);
  cells->completed = calloc(count, sizeof *cells->completed);
  return cells->cell && cells->data && cells->completed ? TUTTI_OK
                                                        : tt_fail(TUTTI_ERR_MEMORY, "no memory for %zu cells", count);
}

static void release(tt_cells *cells) {
  free(cells->cell);
  free(cells->data);
  free(cells->completed);
  free(cells);
}

tutti_status tt_cells_open(const tt_link_spec *spec, tt_cells **cells) {
  if (!spec->ops->cells_open)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "transport %s has no shared cells", spec->ops->name);
  tt_cells *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %lld cells", (long long)spec->rank_count);
  made->spec = spec;
  made->id = spec->stream_base + UINT32_MAX - 1; /* lanes are fewer */
  made->data_bytes = tt_options_get()->direct_bytes;
  made->data_stride = round_up((size_t)made->data_bytes);
  tutti_status status = allocate(made);
  if (!status)
    status = spec->ops->cells_open(spec->transport, made->id, spec->job_rank, spec->rank_count,
                                   TT_CELL_HEAD + TT_CELL_LINES * sizeof(tt_line), (void **)made->cell);
  if (status)
    release(made);
  else
    *cells = made;
  return status;
}

tutti_status tt_cells_open_data(tt_cells *cells) {
  const tt_link_spec *spec = cells->spec;
  if (cells->data[0])
    return TUTTI_OK;
  return spec->ops->cells_open(spec->transport, cells->id + 1, spec->job_rank, spec->rank_count,
                               TT_CELL_DATA * cells->data_stride, (void **)cells->data);
}

void tt_cells_close(tt_cells *cells) {
  if (!cells)
    return;
  if (cells->data[0])
    cells->spec->ops->cells_close(cells->spec->transport, cells->id + 1);
  cells->spec->ops->cells_close(cells->spec->transport, cells->id);
  release(cells);
}

static _Atomic uint64_t *completed_of(const tt_cells *cells, int64_t rank) {
  return (_Atomic uint64_t *)(void *)cells->cell[rank];
}

/* Learns what the rank says that it has completed. */
static void learn(tt_cells *cells, int64_t rank) {
  uint64_t says = atomic_load_explicit(completed_of(cells, rank), memory_order_acquire); /* pairs with complete */
  cells->completed[rank] = says > cells->completed[rank] ? says : cells->completed[rank];
}

bool tt_cells_writable(tt_cells *cells, int64_t before) {
  if (before <= (int64_t)cells->settled)
    return true;
  uint64_t least = UINT64_MAX;
  for (int64_t rank = 0; rank < cells->spec->rank_count; rank++) {
    if (cells->completed[rank] < (uint64_t)before)
      learn(cells, rank);
    if (cells->completed[rank] < (uint64_t)before)
      return false;
    least = cells->completed[rank] < least ? cells->completed[rank] : least;
  }
  cells->settled = least;
  return true;
}

bool tt_cells_awaits_neighbour(const tt_cells *cells, int64_t before) {
  for (int64_t rank = 0; rank < cells->spec->rank_count; rank++)
    if (cells->spec->neighbour[rank] && (int64_t)cells->completed[rank] < before)
      return true;
  return false;
}

void tt_cells_complete(tt_cells *cells, uint64_t sequence) {
  int64_t rank = cells->spec->rank;
  cells->completed[rank] = sequence;
  atomic_store_explicit(completed_of(cells, rank), sequence,
                        memory_order_release); /* after reading; pairs with learn */
  __builtin_prefetch(tt_cells_line(cells, rank, sequence + 1), 1);
}

void tt_cells_wake(const tt_cells *cells) {
  const tt_link_spec *spec = cells->spec;
  for (int64_t rank = 0; spec->ops->wake && rank < spec->rank_count; rank++)
    if (rank != spec->rank)
      spec->ops->wake(spec->transport, spec->job_rank[rank]);
}
