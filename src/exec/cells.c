/* exec/cells.c - opening the cells, and who has completed what. */
#include "exec/cells.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

_Static_assert(sizeof(tt_line) == 128, "a line for readers to wait for, and the one that is fetched with it");
_Static_assert(TT_CELL_HEAD % 128 == 0 && TT_CELL_AWAITS >= 64 && TT_CELL_AWAITS + sizeof(uint64_t) <= TT_CELL_HEAD,
               "`awaits` is in another line than `completed`, and calls' lines are in neither");
_Static_assert((TT_CELL_FIRST & (TT_CELL_FIRST - 1)) == 0, "data of an only request are taken in turn by a mask");
enum { MANY_RANKS = 16 }; /* from here on it is worth while to say who is awaited */

static size_t round_up(size_t bytes) { return (bytes + 127) & ~(size_t)127; } /* lines are fetched in pairs */

/* Data of a call: how long, and how many of them, a power of two. */
static const struct {
  int64_t bytes; /* 0: direct_bytes */
  uint32_t count;
} areas[TT_CELL_AREAS] = {{256, 64}, {1024, 16}, {0, 4}};

static uint32_t data_count(const tt_cells *cells, int number) {
  return cells->spec->alone ? TT_CELL_FIRST : areas[number].count;
}

static void set_area(tt_cells *cells, int number) {
  int64_t bytes = areas[number].bytes ? areas[number].bytes : tt_options_get()->direct_bytes;
  tt_area *area = &cells->area[number];
  area->id = cells->id + 2 + (uint64_t)number;
  area->bytes = bytes;
  area->stride = round_up((size_t)bytes);
  area->count = data_count(cells, number);
  assert(area->count > 0 && (area->count & (area->count - 1)) == 0);
}

/* Uses with their sets of ranks behind them. */
static size_t uses_bytes(size_t count, size_t set_words) {
  return count * (sizeof(tt_cell_use) + set_words * sizeof(uint64_t));
}

/* memory: zeroed, so many bytes; or NULL. */
static tt_cell_use *lay_uses(void *memory, size_t count, size_t set_words) {
  tt_cell_use *use = memory;
  uint64_t *sets = use ? (uint64_t *)(void *)(use + count) : NULL;
  for (size_t n = 0; use && n < count; n++)
    use[n].readers = sets + n * set_words;
  return use;
}

/* NULL: no memory. */
static tt_cell_use *make_uses(size_t count, size_t set_words) {
  return lay_uses(calloc(1, uses_bytes(count, set_words)), count, set_words);
}

static tutti_status no_memory(const tt_stream_table_spec *spec) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " cells", spec->rank_count);
}

/* With all that a communicator's first calls need: one piece of memory. NULL: there is none. */
static tt_cells *allocate(const tt_stream_table_spec *spec) {
  size_t count = (size_t)spec->rank_count, set_words = (count + 63) / 64;
  size_t cells_bytes = (2 + TT_CELL_AREAS) * count * sizeof(unsigned char *),
         completed_bytes = count * sizeof(uint64_t);
  tt_cells *made = calloc(1, sizeof *made + cells_bytes + completed_bytes + uses_bytes(TT_CELL_FIRST, set_words));
  if (!made)
    return NULL;
  char *behind = (char *)(made + 1);
  made->spec = spec;
  made->set_words = set_words;
  made->cell = (unsigned char **)(void *)behind;
  made->line = made->cell + count;
  made->completed = (uint64_t *)(void *)(behind + cells_bytes);
  made->line_use = lay_uses(behind + cells_bytes + completed_bytes, TT_CELL_FIRST, set_words);
  for (int n = 0; n < TT_CELL_AREAS; n++)
    made->area[n].base = made->line + (size_t)(n + 1) * count;
  return made;
}

static void release(tt_cells *cells) {
  for (int n = 0; n < TT_CELL_AREAS; n++)
    free(cells->area[n].use);
  if (cells->line_count == TT_CELL_LINES)
    free(cells->line_use);
  free(cells);
}

static void begin_lines(tt_cells *cells, uint32_t count) {
  cells->line_count = count;
  cells->line_at = count - 1;
}

tutti_status tt_cells_open(const tt_stream_table_spec *spec, tt_cells **cells) {
  if (!spec->ops->cells_open)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "transport %s has no shared cells", spec->ops->name);
  tt_cells *made = allocate(spec);
  if (!made)
    return no_memory(spec);
  made->id = spec->stream_base + spec->ids - TT_CELL_AREAS - 3; /* the last id is an epoch's: job/comm.c */
  for (int n = 0; n < TT_CELL_AREAS; n++)
    set_area(made, n);
  tutti_status status = spec->ops->cells_open(spec->transport, made->id, spec->job_rank, spec->rank_count,
                                              TT_CELL_HEAD + TT_CELL_FIRST * sizeof(tt_line), (void **)made->cell);
  if (status != TUTTI_OK) {
    release(made);
    return status;
  }
  for (int64_t r = 0; r < spec->rank_count; r++)
    made->line[r] = made->cell[r] + TT_CELL_HEAD;
  begin_lines(made, TT_CELL_FIRST);
  *cells = made;
  return TUTTI_OK;
}

/* The lines of all calls after the first ones. Nobody waits for those of the first ones: they are not written again. */
static tutti_status open_lines(tt_cells *cells) {
  const tt_stream_table_spec *spec = cells->spec;
  tt_cell_use *use = make_uses(TT_CELL_LINES, cells->set_words);
  if (!use)
    return no_memory(spec);
  tutti_status status = spec->ops->cells_open(spec->transport, cells->id + 1, spec->job_rank, spec->rank_count,
                                              TT_CELL_LINES * sizeof(tt_line), (void **)cells->line);
  if (status != TUTTI_OK) {
    free(use);
    return status;
  }
  cells->line_use = use;
  begin_lines(cells, TT_CELL_LINES);
  return TUTTI_OK;
}

tutti_status tt_cells_begin(tt_cells *cells) {
  bool used_up = cells->sequence == TT_CELL_FIRST && !cells->spec->alone;
  tutti_status status = used_up ? open_lines(cells) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  cells->sequence++;
  cells->line_at = cells->line_at + 1 < cells->line_count ? cells->line_at + 1 : 0;
  return TUTTI_OK;
}

tutti_status tt_cells_open_area(tt_cells *cells, tt_area *area) {
  const tt_stream_table_spec *spec = cells->spec;
  if (area->base[0])
    return TUTTI_OK;
  size_t bytes;
  if (__builtin_mul_overflow(area->count, area->stride, &bytes))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for cells of %" PRIu32 " times %zu bytes, of TUTTI_DIRECT_BYTES",
                   area->count, area->stride);
  if (!area->use && !(area->use = make_uses(area->count, cells->set_words)))
    return no_memory(spec);
  return spec->ops->cells_open(spec->transport, area->id, spec->job_rank, spec->rank_count, bytes, (void **)area->base);
}

void tt_cells_close(tt_cells *cells) {
  if (!cells)
    return;
  const tt_stream_table_spec *spec = cells->spec;
  for (int n = 0; n < TT_CELL_AREAS; n++)
    if (cells->area[n].base[0])
      spec->ops->cells_close(spec->transport, cells->area[n].id);
  if (cells->line_count == TT_CELL_LINES)
    spec->ops->cells_close(spec->transport, cells->id + 1);
  spec->ops->cells_close(spec->transport, cells->id);
  release(cells);
}

static _Atomic uint64_t *completed_of(const tt_cells *cells, int64_t rank) { return tt_atomic_word(cells->cell[rank]); }

/* The first rank among those `left` of a word of a set. */
static inline int64_t first_of(size_t word, uint64_t left) { return (int64_t)word * 64 + __builtin_ctzll(left); }

/* Learns what the rank says that it has completed. */
static void learn(tt_cells *cells, int64_t rank) {
  uint64_t says = atomic_load_explicit(completed_of(cells, rank), memory_order_acquire); /* pairs with complete */
  cells->completed[rank] = says > cells->completed[rank] ? says : cells->completed[rank];
}

/* Whether the rank has completed that call, as far as can be known. */
static inline bool has_completed(tt_cells *cells, int64_t rank, uint64_t sequence) {
  if (cells->completed[rank] < sequence)
    learn(cells, rank);
  return cells->completed[rank] >= sequence;
}

bool tt_cells_writable(tt_cells *cells, const tt_cell_use *use) {
  if (use->sequence <= cells->settled)
    return true;
  for (size_t word = 0; word < cells->set_words; word++)
    for (uint64_t left = use->readers[word]; left; left &= left - 1)
      if (!has_completed(cells, first_of(word, left), use->sequence))
        return false;
  return true;
}

bool tt_cells_awaits(const tt_cells *cells, const tt_cell_use *use, const bool *neighbour) {
  for (size_t word = 0; word < cells->set_words; word++)
    for (uint64_t left = use->readers[word]; left; left &= left - 1)
      if (neighbour[first_of(word, left)] && cells->completed[first_of(word, left)] < use->sequence)
        return true;
  return false;
}

/* The last one: ranks mostly begin in order. */
int64_t tt_cells_awaited(tt_cells *cells, const tt_cell_use *use) {
  for (int64_t r = cells->spec->rank_count - 1; r >= 0; r--)
    if (tt_cells_has(use->readers, r) && !has_completed(cells, r, use->sequence))
      return r;
  return -1;
}

static _Atomic uint64_t *awaits_of(const tt_cells *cells, int64_t rank) {
  return tt_atomic_word(cells->cell[rank] + TT_CELL_AWAITS);
}

static bool tells_apart(const tt_cells *cells) {
  return cells->spec->rank_count >= MANY_RANKS && cells->spec->ops->wake;
}

/* An announcement of before may have been seen together with another `awaits`: it is taken back. */
void tt_cells_prepare_sleep(tt_cells *cells, int64_t rank) {
  assert(rank >= -1 && rank < cells->spec->rank_count);
  const tt_stream_table_spec *spec = cells->spec;
  uint64_t awaits = (uint64_t)(rank + 1);
  if (awaits == cells->awaits || !tells_apart(cells))
    return;
  cells->awaits = awaits;
  atomic_store_explicit(awaits_of(cells, spec->rank), awaits, memory_order_release); /* pairs with tt_cells_wake */
  spec->ops->wake(spec->transport, spec->job_rank[spec->rank]);
}

void tt_cells_used(tt_cells *cells, tt_cell_use *use, const uint64_t *readers) {
  assert(use->sequence < cells->sequence);
  use->sequence = cells->sequence;
  for (size_t n = 0; n < cells->set_words; n++)
    use->readers[n] = readers[n];
}

void tt_cells_complete(tt_cells *cells, uint64_t sequence) {
  int64_t rank = cells->spec->rank;
  assert(cells->completed[rank] < sequence); /* calls are completed in turn */
  cells->completed[rank] = sequence;
  atomic_store_explicit(completed_of(cells, rank), sequence,
                        memory_order_release); /* after reading; pairs with learn */
  uint32_t next = cells->line_at + 1 < cells->line_count ? cells->line_at + 1 : 0;
  __builtin_prefetch((tt_line *)(void *)cells->line[rank] + next, 1);
}

/* What it waits for is stored before the look at `awaits`; the sleeper's transport sees to it that it is so for all. */
static bool awaits_us(const tt_cells *cells, int64_t rank) {
  atomic_signal_fence(memory_order_seq_cst);
  uint64_t awaits = atomic_load_explicit(awaits_of(cells, rank), memory_order_relaxed);
  return awaits == 0 || awaits == (uint64_t)(cells->spec->rank + 1);
}

void tt_cells_wake(const tt_cells *cells, const uint64_t *ranks) {
  const tt_stream_table_spec *spec = cells->spec;
  bool tells = tells_apart(cells);
  for (size_t word = 0; spec->ops->wake && word < cells->set_words; word++)
    for (uint64_t left = ranks[word]; left; left &= left - 1)
      if (!tells || awaits_us(cells, first_of(word, left)))
        spec->ops->wake(spec->transport, spec->job_rank[first_of(word, left)]);
}
