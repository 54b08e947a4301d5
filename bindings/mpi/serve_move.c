/* bindings/mpi/serve_move.c - collectives that move data: what tutti is given instead of the program's blocks.
 *
 * Each side is measured, packed if it has gaps, and then the two are brought together: MPI_IN_PLACE becomes tutti's in
 * place position. In the stage that is the same: own data is packed to where tutti looks for it. */
#include "serve_move.h"

#include "predefined.h"

#include <inttypes.h>
#include <stdio.h>

#define MOST_PLAIN ((int64_t)1 << 32) /* elements */

enum { IN, OUT };

/* Both sides of a call, while it is prepared. */
typedef struct pair {
  const tt_mpi_row *row;
  bool has[2];      /* this rank has the side */
  bool in_place[2]; /* and its data lies in the other one */
  tt_mpi_blocks blocks[2];
  tt_mpi_part *part[2];
} pair;

/* ---- the program's sides ---- */

static void count_blocks(tt_mpi_blocks *blocks, tt_mpi_unit unit, const tt_mpi_comm *comm) {
  switch (unit) {
  case TT_MPI_RANKS:
    blocks->count = comm->size;
    blocks->own = comm->rank;
    break;
  case TT_MPI_SOURCES:
    blocks->count = comm->neighbors.in_count;
    blocks->slot = comm->neighbors.in_slot;
    break;
  case TT_MPI_DESTINATIONS:
    blocks->count = comm->neighbors.out_count;
    blocks->slot = comm->neighbors.out_slot;
    break;
  default:
    blocks->count = 1;
    blocks->own = 0;
  }
}

static void begin_side(pair *both, int s, const tt_mpi_row_side *of, const tt_mpi_side *side, const tt_mpi_comm *comm,
                       bool is_root) {
  both->has[s] = of->unit != TT_MPI_NOTHING && (!of->of_root || is_root);
  both->in_place[s] = both->has[s] && side->buffer == MPI_IN_PLACE;
  both->blocks[s] = (tt_mpi_blocks){.side = side, .own = -1, .listed = of->listed};
  count_blocks(&both->blocks[s], of->unit, comm);
}

/* MPI_IN_PLACE where MPI has none is an error. */
static bool may_be_in_place(const pair *both, int s, const tt_mpi_row_side *of) {
  return !both->in_place[s] || (of->in_place && both->has[1 - s] && !both->in_place[1 - s]);
}

static bool measure(pair *both, tt_mpi_stage *stage) {
  int64_t lists = 0;
  for (int s = IN; s <= OUT; s++)
    lists += both->has[s] && !both->in_place[s] && both->blocks[s].listed ? 2 * both->blocks[s].count : 0;
  int64_t *list = lists > 0 ? tt_mpi_stage_lists(stage, lists) : NULL;
  for (int s = IN; s <= OUT; s++) {
    if (!both->has[s] || both->in_place[s])
      continue;
    if (!tt_mpi_blocks_measure(&both->blocks[s], list, both->part[s]))
      return false;
    list += both->blocks[s].listed ? 2 * both->blocks[s].count : 0;
  }
  return true;
}

/* ---- bringing the sides together ---- */

/* Data of the program's may lie between other data of it, as MPI allows. tutti takes that only where calls have lists;
 * here it is copied in any case. */
static bool must_part(const pair *both) {
  const tt_mpi_part *in = both->part[IN], *out = both->part[OUT];
  const char *in_begin = in->base + in->begin, *out_begin = out->base + out->begin;
  if (in->end == in->begin || out->end == out->begin || in_begin >= out->base + out->end ||
      out_begin >= in->base + in->end)
    return false;
  bool alike = both->row->in.unit == both->row->out.unit;
  int64_t in_own = alike || both->row->in.unit == TT_MPI_ONE ? 0 : in->own;
  int64_t out_own = alike || both->row->out.unit == TT_MPI_ONE ? 0 : out->own;
  return both->row->graph || in->base + in_own != out->base + out_own;
}

static void stage_side(pair *both, int s, tt_mpi_stage *stage) {
  tt_mpi_blocks_stage(&both->blocks[s], stage, s == IN ? TT_MPI_STAGE_IN : TT_MPI_STAGE_OUT, both->part[s]);
  both->blocks[s].dense = false;
}

/* This rank's block of `from` is the whole of a side that has one block. */
static void take_own(tt_mpi_part *to, const tt_mpi_part *from) {
  *to = (tt_mpi_part){.base = from->base + from->own, .bytes = from->own_bytes, .each = from->own_bytes};
}

static void join_in(pair *both, tt_mpi_stage *stage) {
  bool alike = both->row->in.unit == both->row->out.unit;
  if (alike)
    *both->part[IN] = *both->part[OUT];
  else
    take_own(both->part[IN], both->part[OUT]);
  if (!both->blocks[OUT].dense)
    tt_mpi_blocks_add(&both->blocks[OUT], both->part[OUT], alike ? -1 : both->blocks[OUT].own, &stage->pack);
}

/* The moves of a side that the program has. */
static void add_moves(pair *both, int s, tt_mpi_stage *stage) {
  if (both->has[s] && !both->in_place[s] && !both->blocks[s].dense)
    tt_mpi_blocks_add(&both->blocks[s], both->part[s], -1, s == IN ? &stage->pack : &stage->unpack);
}

static void join(pair *both, tt_mpi_stage *stage) {
  for (int s = IN; s <= OUT; s++)
    if (both->has[s] && !both->in_place[s] && !both->blocks[s].dense)
      stage_side(both, s, stage);
  bool apart = both->has[IN] && both->has[OUT] && !both->in_place[IN] && !both->in_place[OUT];
  if (apart && must_part(both))
    stage_side(both, IN, stage);
  if (both->in_place[IN])
    join_in(both, stage);
  if (both->in_place[OUT])
    take_own(both->part[OUT], both->part[IN]);
  add_moves(both, IN, stage);
  add_moves(both, OUT, stage);
}

/* Broadcast has one buffer: the root's is both sides. */
static void join_broadcast(pair *both, bool is_root, tt_mpi_stage *stage) {
  if (!both->blocks[OUT].dense) {
    stage_side(both, OUT, stage);
    tt_mpi_blocks_add(&both->blocks[OUT], both->part[OUT], -1, is_root ? &stage->pack : &stage->unpack);
  }
  *both->part[IN] = *both->part[OUT];
}

/* ---- blocks that are alike and of predefined dense types: most calls, which therefore go a short way ---- */

static bool place_plain(const tt_mpi_row_side *of, const tt_mpi_side *side, const tt_mpi_comm *comm, bool listed,
                        tt_mpi_part *part) {
  const tt_mpi_type *known = tt_mpi_type_find(side->type);
  if (of->listed || !known || !known->shape.dense || side->count < 0 || side->count > MOST_PLAIN ||
      side->buffer == MPI_IN_PLACE)
    return false;
  part->base = (char *)(uintptr_t)side->buffer;
  part->each = side->count * known->shape.size;
  part->bytes = of->unit == TT_MPI_RANKS ? part->each * comm->size : part->each;
  part->said = side->count > 0 ? known->said : TUTTI_BYTE;
  if (part->said == TUTTI_TYPE_COUNT) /* mixed: told by the count, which other ranks may have another one of */
    part->said = listed ? TUTTI_BYTE : tt_mpi_signature_type(&known->shape.signature, side->count);
  return true;
}

/* Of both sides: what one of them says, if they agree. */
static inline bool join_said(tutti_type in, tutti_type out, tutti_type *said) {
  *said = in == TUTTI_BYTE ? out : in;
  return in == out || in == TUTTI_BYTE || out == TUTTI_BYTE;
}

static bool place_both(const tt_mpi_call *call, const tt_mpi_comm *comm, bool is_root, tt_mpi_args *args) {
  const tt_mpi_row *row = &tt_mpi_rows[call->collective];
  tt_mpi_part *in = &args->in, *out = &args->out;
  bool listed = row->in.listed || row->out.listed;
  bool has_in = row->in.unit != TT_MPI_NOTHING && (!row->in.of_root || is_root);
  bool has_out = !row->out.of_root || is_root;
  if ((has_in && !place_plain(&row->in, &call->in, comm, listed, in)) ||
      (has_out && !place_plain(&row->out, &call->out, comm, listed, out)))
    return false;
  args->type = has_out ? out->said : in->said;
  args->count = has_out ? out->each : in->each;
  if (!has_out)
    *out = (tt_mpi_part){.base = NULL};
  else if (!has_in)
    *in = row->in.unit == TT_MPI_NOTHING ? *out : (tt_mpi_part){.base = NULL};
  return !has_in || !has_out ||
         (in->each == out->each && join_said(in->said, out->said, &args->type) &&
          (in->base + in->bytes <= out->base || out->base + out->bytes <= in->base));
}

/* ---- what the bytes are ---- */

/* Of one side. Blocks that differ in length are compared only where all elements are alike. */
static tutti_type said_of(const pair *both, int s) {
  const tt_mpi_blocks *blocks = &both->blocks[s];
  bool listed = both->row->in.listed || both->row->out.listed;
  if (!both->has[s] || both->in_place[s] || both->part[s]->bytes == 0)
    return TUTTI_BYTE;
  if (listed && tt_mpi_signature_is_mixed(&blocks->shape.signature))
    return TUTTI_BYTE;
  return tt_mpi_signature_type(&blocks->shape.signature, listed ? 1 : blocks->side->count);
}

/* What other ranks are told, so that they notice a difference. Where only both ends of a block know what it is, and the
 * ends of another one may know it to be something else, that is nothing. False: this rank's own block tells. */
static bool find_said(const pair *both, const tt_mpi_comm *comm, tt_mpi_args *args) {
  args->type = TUTTI_BYTE;
  if (both->row->graph || (both->row->in.listed && both->row->out.listed) ||
      join_said(said_of(both, IN), said_of(both, OUT), &args->type))
    return true;
  snprintf(args->text, sizeof args->text, "rank %d sends %s and receives %s", comm->rank,
           tt_mpi_signature_name(&both->blocks[IN].shape.signature),
           tt_mpi_signature_name(&both->blocks[OUT].shape.signature));
  return false;
}

/* ---- calls ---- */

static bool differs_from_itself(const pair *both, const tt_mpi_comm *comm, tt_mpi_args *args) {
  const tt_mpi_part *in = both->part[IN], *out = both->part[OUT];
  if (both->row->graph || !both->has[IN] || !both->has[OUT] || both->in_place[IN] || both->in_place[OUT] ||
      in->own_bytes == out->own_bytes)
    return false;
  snprintf(args->text, sizeof args->text,
           "rank %d sends itself %" PRId64 " bytes and receives %" PRId64 " bytes of itself", comm->rank, in->own_bytes,
           out->own_bytes);
  return true;
}

/* Own data in one place on both sides is an error that MPICH finds before it communicates; Open MPI takes it, and so
 * does tutti. */
static bool is_refused_alias(const pair *both) {
#ifdef MPICH_NUMVERSION
  const tt_mpi_part *in = both->part[IN], *out = both->part[OUT];
  bool alike = both->row->in.unit == both->row->out.unit;
  if (both->row->graph || !both->has[IN] || !both->has[OUT] || both->in_place[IN] || both->in_place[OUT] ||
      in->end == in->begin || out->end == out->begin || (alike && both->row->in.listed))
    return false;
  int64_t in_own = alike || both->row->in.unit == TT_MPI_ONE ? 0 : in->own;
  int64_t out_own = alike || both->row->out.unit == TT_MPI_ONE ? 0 : out->own;
  return in->base + in_own == out->base + out_own;
#else
  (void)both;
  return false;
#endif
}

static tt_mpi_verdict tell_alias(tt_mpi_args *args) {
  args->error = MPI_ERR_BUFFER;
  snprintf(args->text, sizeof args->text, "this rank's data has the same place in both buffers");
  return TT_MPI_WRONG;
}

static tt_mpi_verdict tell_wrong(const pair *both, tt_mpi_args *args) {
  for (int s = IN; s <= OUT; s++) {
    const char *side = s == IN ? "sent" : "received";
    const tt_mpi_blocks *blocks = &both->blocks[s];
    args->error = both->in_place[s] ? MPI_ERR_BUFFER : blocks->error;
    if (both->in_place[s] && !may_be_in_place(both, s, s == IN ? &both->row->in : &both->row->out))
      snprintf(args->text, sizeof args->text, "MPI_IN_PLACE is not allowed for the %s data", side);
    else if (blocks->error == MPI_ERR_COUNT)
      snprintf(args->text, sizeof args->text, "the count of the %s data is %" PRId64, side, blocks->wrong);
    else if (blocks->error == MPI_ERR_TYPE)
      snprintf(args->text, sizeof args->text, "the type of the %s data is invalid or not committed", side);
    else
      continue;
    break;
  }
  return TT_MPI_WRONG;
}

tt_mpi_verdict tt_mpi_prepare_move(const tt_mpi_call *call, const tt_mpi_comm *comm, tt_mpi_args *args,
                                   tt_mpi_stage *stage) {
  const tt_mpi_row *row = &tt_mpi_rows[call->collective];
  bool is_root = row->rooted && call->root == comm->rank;
  if (place_both(call, comm, is_root, args))
    return TT_MPI_SERVED;
  pair both = {.row = row, .part = {&args->in, &args->out}};
  begin_side(&both, IN, &row->in, &call->in, comm, is_root);
  begin_side(&both, OUT, &row->out, &call->out, comm, is_root);
  if (!may_be_in_place(&both, IN, &row->in) || !may_be_in_place(&both, OUT, &row->out) || !measure(&both, stage))
    return tell_wrong(&both, args);
  if (is_refused_alias(&both))
    return tell_alias(args);
  if (differs_from_itself(&both, comm, args) || !find_said(&both, comm, args))
    return TT_MPI_WRONG;
  if (!both.has[IN])
    args->in = (tt_mpi_part){0};
  if (!both.has[OUT])
    args->out = (tt_mpi_part){0};
  if (row->in.unit == TT_MPI_NOTHING)
    join_broadcast(&both, is_root, stage);
  else
    join(&both, stage);
  args->count = args->out.each ? args->out.each : args->in.each;
  return TT_MPI_SERVED;
}
