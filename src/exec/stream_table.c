/* exec/stream_table.c - the streams of one communicator on one transport, opened when a plan first needs them.
 *
 * An open hash table from (lane id, direction, peer, readers) to stream. Both ends of a stream have to name the same
 * readers: those of a published lane are the ranks at its ends, without the source. */
#include "exec/stream_table.h"

#include "exec/cells.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define OTHERS 256 /* ids at the end that are not lanes' */

typedef struct name {
  uint32_t lane_id;
  int32_t peer;
  uint64_t sends;
  uint64_t readers; /* hash of a published lane's list */
} name;

_Static_assert(sizeof(name) == 24, "no padding: names are compared and hashed byte by byte");
typedef struct entry {
  tutti_stream *stream; /* NULL: free */
  name name;
} entry;

struct tt_stream_table {
  tt_stream_table_spec spec;
  size_t used, size; /* size: a power of two, or 0 */
  entry *table;
  tt_cells *cells; /* NULL until the direct executor needs them */
  tt_sent sent[TT_MEDIUM_COUNT];
  int64_t neighbour_count;
  bool neighbour[]; /* of each rank */
};

void tt_thresholds_fill(tt_thresholds *of, size_t slot_bytes) {
  const tt_options *options = tt_options_get();
  of->lend = of->lend ? of->lend : options->bytes.lend;
  of->keep = of->keep ? of->keep : options->slot_count * (int64_t)slot_bytes;
  of->fetch = of->fetch ? of->fetch : options->bytes.fetch;
  of->combine = of->combine ? of->combine : options->bytes.combine;
  of->nontemporal = of->nontemporal ? of->nontemporal : options->bytes.nontemporal;
}

tutti_status tt_stream_table_create(const tt_stream_table_spec *spec, tt_stream_table **streams) {
  assert(spec->rank >= 0 && spec->rank < spec->rank_count);
  tt_stream_table *made = calloc(1, sizeof *made + (size_t)spec->rank_count * sizeof *made->neighbour);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator's table of streams");
  made->spec = *spec;
  tt_thresholds_fill(&made->spec.thresholds, spec->slot_bytes_minimum);
  *streams = made;
  return TUTTI_OK;
}

void tt_stream_table_destroy(tt_stream_table *streams) {
  if (!streams)
    return;
  for (size_t n = 0; n < streams->size; n++)
    if (streams->table[n].stream)
      streams->spec.ops->stream_close(streams->spec.transport, streams->table[n].stream);
  tt_cells_close(streams->cells);
  free(streams->table);
  free(streams);
}

void tt_stream_table_watch(tt_stream_table *streams, tt_spent *spent) { streams->spec.spent = spent; }

void tt_stream_table_set_neighbour(tt_stream_table *streams, int64_t rank, bool shares) {
  assert(rank >= 0 && rank < streams->spec.rank_count);
  streams->neighbour_count += shares - streams->neighbour[rank];
  streams->neighbour[rank] = shares;
}

const bool *tt_stream_table_neighbours(const tt_stream_table *streams) {
  return streams->neighbour_count > 0 ? streams->neighbour : NULL;
}

const tt_stream_table_spec *tt_stream_table_spec_of(const tt_stream_table *streams) { return &streams->spec; }

tt_sent *tt_stream_table_counts(tt_stream_table *streams) { return streams->sent; }

/* A transport that does not say from where it is worth while takes what it is asked to. */
tt_forecast_facts tt_stream_table_facts(const tt_stream_table *streams) {
  const tt_stream_table_spec *spec = &streams->spec;
  size_t least = spec->ops->refer_least ? spec->ops->refer_least(spec->transport) : 0;
  return (tt_forecast_facts){.slot_bytes = (int64_t)spec->slot_bytes_minimum,
                             .thresholds = spec->thresholds,
                             .read_least = spec->ops->refer && least < INT64_MAX ? (int64_t)least : -1};
}

static tt_medium slots_of(const tt_stream_table *streams, const name *stream) {
  assert(stream->readers || stream->peer >= 0);
  return stream->readers                                        ? TT_MEDIUM_PUBLISHED
         : streams->spec.far && streams->spec.far[stream->peer] ? TT_MEDIUM_MESSAGE
                                                                : TT_MEDIUM_SLOT;
}

static void add_stream(const tt_stream_table *streams, const entry *of, tt_sent *sent) {
  tutti_stream_sent counted = {.slots = 0};
  streams->spec.ops->sent(streams->spec.transport, of->stream, &counted);
  tt_sent *slots = &sent[slots_of(streams, &of->name)];
  slots->slots += (int64_t)counted.slots;
  slots->carried += (int64_t)counted.slot_bytes;
  sent[TT_MEDIUM_LENT].slots += (int64_t)counted.lent;
  sent[TT_MEDIUM_LENT].bytes += (int64_t)counted.lent_bytes;
  sent[TT_MEDIUM_READ].slots += (int64_t)counted.fetched;
  sent[TT_MEDIUM_READ].bytes += (int64_t)counted.fetched_bytes;
}

void tt_stream_table_sent(const tt_stream_table *streams, tt_sent *sent) {
  memcpy(sent, streams->sent, sizeof streams->sent);
  for (size_t n = 0; streams->spec.ops->sent && n < streams->size; n++)
    if (streams->table[n].stream && streams->table[n].name.sends)
      add_stream(streams, &streams->table[n], sent);
  sent[TT_MEDIUM_CELL].slots = sent[TT_MEDIUM_CELL].messages;
}

static name name_of(const tt_stream_end *end) {
  uint64_t readers = end->published ? tt_hash(0, end->reader, end->reader_count * sizeof *end->reader) : 0;
  return (name){end->lane_id, end->peer, end->sends, readers};
}

/* Where `wanted` is or would be. */
static entry *find(entry *table, size_t size, const name *wanted) {
  assert(size > 0 && (size & (size - 1)) == 0);
  size_t n = (size_t)tt_hash(0, wanted, sizeof *wanted) & (size - 1);
  while (table[n].stream && memcmp(&table[n].name, wanted, sizeof *wanted) != 0)
    n = (n + 1) & (size - 1);
  return &table[n];
}

static tutti_status grow(tt_stream_table *streams) {
  size_t size = streams->size ? 2 * streams->size : 16;
  entry *table = calloc(size, sizeof *table);
  if (!table)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a table of %zu streams", size);
  for (size_t n = 0; n < streams->size; n++)
    if (streams->table[n].stream)
      *find(table, size, &streams->table[n].name) = streams->table[n];
  free(streams->table);
  streams->table = table;
  streams->size = size;
  return TUTTI_OK;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Job ranks that read a published stream, ascending: the lane's, without the source, and this one if it reads; both may
 * be in the list or not. Returns how many. */
static int64_t list_readers(const tt_stream_table *streams, const tt_stream_end *end, int64_t source,
                            int64_t *readers) {
  bool listed = end->sends;
  int64_t count = 0;
  for (uint32_t n = 0; n < end->reader_count; n++) {
    listed |= end->reader[n] == streams->spec.rank;
    if (end->reader[n] != source)
      readers[count++] = streams->spec.job_rank[end->reader[n]];
  }
  if (!listed)
    readers[count++] = streams->spec.job_rank[streams->spec.rank];
  assert(count <= (int64_t)end->reader_count + 1);
  qsort(readers, (size_t)count, sizeof *readers, ascending);
  return count;
}

/* readers: room for one more than the end has. */
static tutti_status open_stream(tt_stream_table *streams, const tt_stream_end *end, int64_t *readers,
                                tutti_stream **stream) {
  assert(end->peer >= 0 || (end->sends && end->published)); /* only what is published has no one peer */
  int64_t source = end->sends ? streams->spec.rank : end->peer;
  int64_t count = 1;
  readers[0] = streams->spec.job_rank[end->sends && end->peer >= 0 ? end->peer : streams->spec.rank];
  if (end->published)
    count = list_readers(streams, end, source, readers);
  tutti_stream_spec spec = {.id = streams->spec.stream_base + end->lane_id,
                            .source = streams->spec.job_rank[source],
                            .readers = readers,
                            .reader_count = count,
                            .slot_bytes_minimum = streams->spec.slot_bytes_minimum,
                            .once = streams->spec.alone};
  return streams->spec.ops->stream_open(streams->spec.transport, &spec, stream);
}

static tutti_status add(tt_stream_table *streams, const tt_stream_end *end, entry *at) {
  size_t most = (size_t)end->reader_count + 1;
  if (end->lane_id + OTHERS > streams->spec.ids)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "after a refused call, parameters may have at most 255 channels");
  int64_t *readers = malloc(most * sizeof *readers);
  if (!readers)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %zu readers of a stream", most);
  tutti_status status = open_stream(streams, end, readers, &at->stream);
  free(readers);
  if (status != TUTTI_OK)
    return status;
  at->name = name_of(end);
  streams->used++;
  return TUTTI_OK;
}

tutti_status tt_stream_table_stream(tt_stream_table *streams, const tt_stream_end *end, tutti_stream **stream) {
  tutti_status status = 2 * streams->used >= streams->size ? grow(streams) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  name wanted = name_of(end);
  entry *at = find(streams->table, streams->size, &wanted);
  if (!at->stream)
    status = add(streams, end, at);
  if (status == TUTTI_OK)
    *stream = at->stream;
  return status;
}

tutti_status tt_stream_table_cells(tt_stream_table *streams, tt_cells **cells) {
  tutti_status status = streams->cells ? TUTTI_OK : tt_cells_open(&streams->spec, &streams->cells);
  if (status == TUTTI_OK)
    *cells = streams->cells;
  return status;
}
