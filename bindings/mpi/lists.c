/* bindings/mpi/lists.c - blocks of one side of a call: where the program has them, and as tutti is given them.
 *
 * What is moved is bytes. Dense blocks stay where they are: counts and displacements become bytes. If any block has
 * gaps, all of that side are packed, one after the other. */
#include "lists.h"

#include "types.h"

/* ---- blocks of the program's ---- */

static int64_t slot_of(const tt_mpi_blocks *blocks, int64_t n) { return blocks->slot ? blocks->slot[n] : n; }

static int64_t count_of(const tt_mpi_blocks *blocks, int64_t n) {
  const tt_mpi_side *side = blocks->side;
  return side->counts.value ? tt_mpi_at(side->counts, slot_of(blocks, n)) : side->count;
}

static MPI_Datatype type_of(const tt_mpi_blocks *blocks, int64_t n) {
  return blocks->side->types ? blocks->side->types[slot_of(blocks, n)] : blocks->side->type;
}

/* From the buffer, as MPI counts. */
static int64_t offset_of(const tt_mpi_blocks *blocks, int64_t n, int64_t extent) {
  const tt_mpi_side *side = blocks->side;
  int64_t slot = slot_of(blocks, n);
  if (!side->offsets.value)
    return slot * side->count * extent;
  return tt_mpi_at(side->offsets, slot) * (side->types ? 1 : extent);
}

static bool shape_of(const tt_mpi_blocks *blocks, int64_t n, tt_mpi_shape *shape) {
  if (!blocks->side->types)
    *shape = blocks->shape;
  return !blocks->side->types || tt_mpi_shape_of(type_of(blocks, n), shape);
}

/* ---- measuring ---- */

static bool fail(tt_mpi_blocks *blocks, int error, int64_t count) {
  blocks->error = error;
  blocks->wrong = count;
  return false;
}

static bool bytes_of(tt_mpi_blocks *blocks, int64_t count, int64_t size, int64_t *bytes) {
  return (count >= 0 && !__builtin_mul_overflow(count, size, bytes)) || fail(blocks, MPI_ERR_COUNT, count);
}

static bool measure_alike(tt_mpi_blocks *blocks, tt_mpi_part *part) {
  if (!bytes_of(blocks, blocks->side->count, blocks->shape.size, &part->each) ||
      !bytes_of(blocks, part->each, blocks->count, &part->bytes))
    return false;
  blocks->dense = blocks->shape.dense || part->bytes == 0 ||
                  (blocks->shape.whole && blocks->count == 1 && blocks->side->count == 1);
  part->base = tt_mpi_behind(blocks->side->buffer, blocks->shape.lower);
  part->begin = 0;
  part->end = part->bytes;
  part->own = blocks->own * part->each;
  part->own_bytes = part->each;
  return true;
}

static void cover(tt_mpi_part *part, int64_t begin, int64_t bytes, bool first) {
  if (first || begin < part->begin)
    part->begin = begin;
  if (first || begin + bytes > part->end)
    part->end = begin + bytes;
}

/* A block without elements needs no type. */
static bool measure_block(tt_mpi_blocks *blocks, int64_t n, tt_mpi_part *part) {
  tt_mpi_shape shape = {.dense = true};
  int64_t count = count_of(blocks, n);
  part->counts[n] = part->offsets[n] = 0;
  if (count == 0)
    return true;
  if (!shape_of(blocks, n, &shape))
    return fail(blocks, MPI_ERR_TYPE, count);
  if (!bytes_of(blocks, count, shape.size, &part->counts[n]))
    return false;
  blocks->dense = blocks->dense && (shape.dense || (shape.whole && count == 1));
  part->offsets[n] = offset_of(blocks, n, shape.extent) + shape.lower;
  if (part->counts[n] > 0)
    cover(part, part->offsets[n], part->counts[n], part->bytes == 0);
  return !__builtin_add_overflow(part->bytes, part->counts[n], &part->bytes) || fail(blocks, MPI_ERR_COUNT, count);
}

/* From MPI_BOTTOM offsets are addresses, and to tutti that is no buffer: it begins where the first block does. */
static void leave_bottom(const tt_mpi_blocks *blocks, tt_mpi_part *part) {
  for (int64_t n = 0; n < blocks->count; n++)
    part->offsets[n] -= part->counts[n] > 0 ? part->begin : 0;
  part->base = tt_mpi_behind(part->base, part->begin);
  part->end -= part->begin;
  part->begin = 0;
}

static bool measure_listed(tt_mpi_blocks *blocks, tt_mpi_part *part) {
  part->base = (char *)(uintptr_t)blocks->side->buffer;
  part->bytes = part->begin = part->end = part->own = part->own_bytes = part->each = 0;
  blocks->dense = true;
  for (int64_t n = 0; n < blocks->count; n++)
    if (!measure_block(blocks, n, part))
      return false;
  if (blocks->side->buffer == MPI_BOTTOM && part->bytes > 0)
    leave_bottom(blocks, part);
  if (blocks->own >= 0) {
    part->own = part->offsets[blocks->own];
    part->own_bytes = part->counts[blocks->own];
  }
  return true;
}

bool tt_mpi_blocks_measure(tt_mpi_blocks *blocks, int64_t *lists, tt_mpi_part *part) {
  part->counts = part->offsets = NULL;
  if (!blocks->side->types && !tt_mpi_shape_of(blocks->side->type, &blocks->shape))
    return fail(blocks, MPI_ERR_TYPE, blocks->side->count);
  if (!blocks->listed)
    return measure_alike(blocks, part);
  part->counts = lists;
  part->offsets = lists + blocks->count;
  return measure_listed(blocks, part);
}

/* ---- staging ---- */

void tt_mpi_blocks_stage(const tt_mpi_blocks *blocks, tt_mpi_stage *stage, int which, tt_mpi_part *part) {
  int64_t at = 0;
  part->base = tt_mpi_stage_memory(stage, which, part->bytes);
  part->begin = 0;
  part->end = part->bytes;
  for (int64_t n = 0; part->counts && n < blocks->count; n++) {
    part->offsets[n] = at;
    at += part->counts[n];
  }
  if (part->counts && blocks->own >= 0)
    part->own = part->offsets[blocks->own];
}

static void add_block(const tt_mpi_blocks *blocks, const tt_mpi_part *part, int64_t n, tt_mpi_moves *moves) {
  tt_mpi_shape shape;
  if (count_of(blocks, n) == 0 || !shape_of(blocks, n, &shape))
    return;
  tt_mpi_stage_add(moves,
                   (tt_mpi_move){.program = tt_mpi_behind(blocks->side->buffer, offset_of(blocks, n, shape.extent)),
                                 .staged = part->base + (part->counts ? part->offsets[n] : n * part->each),
                                 .count = count_of(blocks, n),
                                 .type = type_of(blocks, n),
                                 .way = TT_MPI_AS_PACKED});
}

void tt_mpi_blocks_add(const tt_mpi_blocks *blocks, const tt_mpi_part *part, int64_t only, tt_mpi_moves *moves) {
  if (only >= 0)
    add_block(blocks, part, only, moves);
  else if (part->counts)
    for (int64_t n = 0; n < blocks->count; n++)
      add_block(blocks, part, n, moves);
  else
    tt_mpi_stage_add(moves, (tt_mpi_move){.program = tt_mpi_behind(blocks->side->buffer, 0),
                                          .staged = part->base,
                                          .count = blocks->side->count * blocks->count,
                                          .type = blocks->side->type,
                                          .way = TT_MPI_AS_PACKED});
}
