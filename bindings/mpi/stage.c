/* bindings/mpi/stage.c - memory for what does not lie as tutti wants it, and the moves there and back.
 *
 * A stage is made with a call and filled before each start: a blocking call has it on the stack, others in their work.
 * Packing is MPI's own, in portions since its counts are ints. */
#include "stage.h"

#include "call.h"
#include "error.h"
#include "lock.h"
#include "request_tag.h"
#include "state.h"
#include "types.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PACKED ((int64_t)1 << 30) /* bytes at once */
#define MOST_CELLS 16384

/* ---- making ---- */

void *tt_mpi_stage_memory(tt_mpi_stage *stage, int which, int64_t bytes) {
  stage->memory[which] = aligned_alloc(64, ((size_t)bytes + 127) & ~(size_t)63);
  if (!stage->memory[which])
    tt_mpi_out_of_memory();
  stage->used = true;
  return stage->memory[which];
}

int64_t *tt_mpi_stage_lists(tt_mpi_stage *stage, int64_t count) {
  tt_mpi_words *words = stage->words;
  if (!words)
    return tt_mpi_stage_memory(stage, TT_MPI_STAGE_LISTS, count * (int64_t)sizeof *words->word);
  if (words->count < count) {
    free(words->word);
    words->word = malloc((size_t)count * sizeof *words->word);
    words->count = count;
  }
  if (!words->word)
    tt_mpi_out_of_memory();
  return words->word;
}

void tt_mpi_stage_add(tt_mpi_moves *moves, tt_mpi_move move) {
  if (move.count == 0)
    return;
  if (moves->count == moves->room) {
    moves->room = moves->room ? 2 * moves->room : 4;
    moves->move = realloc(moves->move, (size_t)moves->room * sizeof *moves->move);
    if (!moves->move)
      tt_mpi_out_of_memory();
  }
  moves->move[moves->count++] = move;
}

/* ---- moving ---- */

static void pack_type(char *program, MPI_Datatype type, char *packed, int64_t count, int64_t bytes, bool back) {
  int position = 0;
  if (back)
    PMPI_Unpack(packed, (int)bytes, &position, program, (int)count, type, tt_mpi.self);
  else
    PMPI_Pack(program, (int)count, type, packed, (int)bytes, &position, tt_mpi.self);
}

/* MPICH takes no MPI_BOTTOM here: the same data as seen from another address. */
static void pack_from_bottom(MPI_Datatype type, char *packed, int64_t count, int64_t bytes, bool back) {
  char here;
  int blocks = (int)count;
  MPI_Aint from_here = -(MPI_Aint)(intptr_t)&here;
  MPI_Datatype seen;
  PMPI_Type_create_hindexed(1, &blocks, &from_here, type, &seen);
  PMPI_Type_commit(&seen);
  pack_type(&here, seen, packed, 1, bytes, back);
  PMPI_Type_free(&seen);
}

static void pack(const tt_mpi_move *move, char *program, char *packed, int64_t count, int64_t bytes, bool back) {
  if (program == MPI_BOTTOM)
    pack_from_bottom(move->type, packed, count, bytes, back);
  else
    pack_type(program, move->type, packed, count, bytes, back);
}

/* Bytes that no count says: so many times MOST_PACKED, and the rest. */
static MPI_Datatype make_type_of_bytes(int64_t bytes) {
  int counts[2] = {(int)(bytes / MOST_PACKED), (int)(bytes % MOST_PACKED)};
  MPI_Aint at[2] = {0, (MPI_Aint)(bytes - counts[1])};
  MPI_Datatype made, types[2] = {MPI_DATATYPE_NULL, MPI_PACKED};
  PMPI_Type_contiguous((int)MOST_PACKED, MPI_PACKED, &types[0]);
  PMPI_Type_create_struct(2, counts, at, types, &made);
  PMPI_Type_commit(&made);
  PMPI_Type_free(&types[0]);
  return made;
}

/* An element that has too many bytes for MPI_Pack: a message to ourselves. */
static void send_to_self(const tt_mpi_move *move, char *program, char *packed, int64_t bytes, bool back) {
  MPI_Datatype type = make_type_of_bytes(bytes);
  int tag = 0;
  tt_mpi_lock();
  bool taken = tt_mpi_tag_get(&tag);
  tt_mpi_unlock();
  PMPI_Sendrecv(back ? packed : program, 1, back ? type : move->type, 0, tag, back ? program : packed, 1,
                back ? move->type : type, 0, tag, tt_mpi.self, MPI_STATUS_IGNORE);
  tt_mpi_lock();
  if (taken)
    tt_mpi_tag_give(tag);
  tt_mpi_unlock();
  PMPI_Type_free(&type);
}

static void move_packed(const tt_mpi_move *move, const tt_mpi_shape *shape, bool back) {
  int64_t most = MOST_PACKED / shape->size;
  for (int64_t done = 0, now; done < move->count; done += now) {
    char *program = tt_mpi_behind(move->program, done * shape->extent), *packed = move->staged + done * shape->size;
    now = most == 0 ? 1 : move->count - done < most ? move->count - done : most;
    if (most == 0)
      send_to_self(move, program, packed, shape->size, back);
    else
      pack(move, program, packed, now, now * shape->size, back);
  }
}

/* Packed and unpacked again, so that gaps stay as they are. */
static void move_cells(const tt_mpi_move *move, const tt_mpi_shape *shape, bool back) {
  char packed[MOST_CELLS];
  int64_t most = MOST_CELLS / shape->size;
  for (int64_t done = 0, now; done < move->count; done += now) {
    char *program = tt_mpi_behind(move->program, done * shape->extent);
    char *cells = tt_mpi_behind(move->staged, done * shape->extent - shape->bound);
    now = move->count - done < most ? move->count - done : most;
    pack(move, back ? cells : program, packed, now, now * shape->size, false);
    pack(move, back ? program : cells, packed, now, now * shape->size, true);
  }
}

static void do_move(const tt_mpi_move *move, bool back) {
  tt_mpi_shape shape;
  if (move->way == TT_MPI_AS_BYTES)
    memcpy(back ? move->program : move->staged, back ? move->staged : move->program, (size_t)move->count);
  else if (tt_mpi_shape_of(move->type, &shape) && shape.size > 0)
    (move->way == TT_MPI_AS_PACKED ? move_packed : move_cells)(move, &shape, back);
}

void tt_mpi_stage_pack(const tt_mpi_stage *stage) {
  for (int64_t n = 0; n < stage->pack.count; n++)
    do_move(&stage->pack.move[n], false);
}

void tt_mpi_stage_unpack(const tt_mpi_stage *stage) {
  for (int64_t n = 0; n < stage->unpack.count; n++)
    do_move(&stage->unpack.move[n], true);
}

/* ---- keeping ---- */

static void hold_types(tt_mpi_stage *stage, const tt_mpi_moves *moves) {
  for (int64_t n = 0; n < moves->count; n++) {
    MPI_Datatype type = moves->move[n].type;
    if (moves->move[n].way == TT_MPI_AS_BYTES || (n > 0 && moves->move[n - 1].type == type))
      continue;
    MPI_Datatype holder = tt_mpi_type_hold(type);
    if (holder != MPI_DATATYPE_NULL)
      stage->held[stage->held_count++] = holder;
  }
}

void tt_mpi_stage_hold(tt_mpi_stage *stage) {
  int64_t most = stage->pack.count + stage->unpack.count + 1;
  stage->held = malloc((size_t)most * sizeof *stage->held);
  if (!stage->held)
    tt_mpi_out_of_memory();
  hold_types(stage, &stage->pack);
  hold_types(stage, &stage->unpack);
  MPI_Datatype holder = stage->applied ? tt_mpi_applied_hold(stage->applied) : MPI_DATATYPE_NULL;
  if (holder != MPI_DATATYPE_NULL)
    stage->held[stage->held_count++] = holder;
  stage->holds = true;
}

void tt_mpi_stage_finish(tt_mpi_stage *stage) {
  if (stage->holds)
    tt_mpi_applied_release(stage->applied);
  for (int64_t n = 0; n < stage->held_count; n++)
    PMPI_Type_free(&stage->held[n]);
  free(stage->held);
  free(stage->pack.move);
  free(stage->unpack.move);
  for (int n = 0; n < 3; n++)
    free(stage->memory[n]);
}
