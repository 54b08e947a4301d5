/* tests/mpi/traps/types.c - what ranks send has to be of the type that others receive, however each of them has made
 * it; in bytes it is always as much. Names types_of_...: ints meet floats, and the error says so. Two ranks: of more,
 * two that differ may be named before the others have come. */
#include "traps.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 8, COUNT = 4 };

static MPI_Datatype int_or_float(void) { return trap_rank == 1 ? MPI_FLOAT : MPI_INT; }

/* ---- they differ ---- */

static void types_of_broadcast(void) {
  int words[COUNT] = {0};
  trap_expect_error(MPI_Bcast(words, COUNT, int_or_float(), 0, MPI_COMM_WORLD));
}

/* Through trees and streams. */
static void types_of_large_broadcast(void) {
  int *words = calloc(TRAP_LARGE, sizeof *words);
  trap_expect_error(MPI_Bcast(words, TRAP_LARGE, int_or_float(), 0, MPI_COMM_WORLD));
  free(words);
}

static void types_of_nonblocking_broadcast(void) {
  int words[COUNT] = {0};
  MPI_Request request;
  int code = MPI_Ibcast(words, COUNT, int_or_float(), 0, MPI_COMM_WORLD, &request);
  trap_expect_error(code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code);
}

static void types_of_allgather(void) {
  int in[COUNT] = {0}, out[COUNT * MOST_RANKS];
  MPI_Datatype type = int_or_float();
  trap_expect_error(MPI_Allgather(in, COUNT, type, out, COUNT, type, MPI_COMM_WORLD));
}

static void types_of_gather(void) {
  int in[COUNT] = {0}, out[COUNT * MOST_RANKS];
  MPI_Datatype at_root = trap_rank == 1 ? MPI_FLOAT : MPI_DATATYPE_NULL;
  trap_expect_error(MPI_Gather(in, COUNT, int_or_float(), out, COUNT, at_root, 1, MPI_COMM_WORLD));
}

static void types_of_scatter_in_place(void) {
  int in[COUNT * MOST_RANKS] = {0}, out[COUNT];
  void *to = trap_rank == 1 ? MPI_IN_PLACE : out;
  trap_expect_error(MPI_Scatter(in, COUNT, MPI_FLOAT, to, COUNT, MPI_INT, 1, MPI_COMM_WORLD));
}

static void types_of_gatherv(void) {
  int in[COUNT] = {0}, out[COUNT * MOST_RANKS], counts[MOST_RANKS], at[MOST_RANKS];
  for (int r = 0; r < MOST_RANKS; r++) {
    counts[r] = COUNT;
    at[r] = COUNT * r;
  }
  trap_expect_error(MPI_Gatherv(in, COUNT, int_or_float(), out, counts, at, MPI_INT, 0, MPI_COMM_WORLD));
}

static void types_of_alltoall(void) {
  int in[COUNT * MOST_RANKS] = {0}, out[COUNT * MOST_RANKS];
  MPI_Datatype type = int_or_float();
  trap_expect_error(MPI_Alltoall(in, COUNT, type, out, COUNT, type, MPI_COMM_WORLD));
}

static MPI_Datatype make_struct(MPI_Datatype first, MPI_Datatype second, MPI_Aint between) {
  MPI_Datatype made;
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, between}, (MPI_Datatype[]){first, second}, &made);
  MPI_Type_commit(&made);
  return made;
}

static void types_in_another_order(void) {
  int data[3] = {0};
  MPI_Datatype type = trap_rank == 1 ? make_struct(MPI_DOUBLE, MPI_INT, 8) : make_struct(MPI_INT, MPI_DOUBLE, 4);
  trap_expect_error(MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD));
}

/* Rank 1 sends itself what it does not receive. */
static void type_of_own_block(void) {
  int in[COUNT] = {0}, out[COUNT * MOST_RANKS];
  trap_expect_error(MPI_Allgather(in, COUNT, MPI_INT, out, COUNT, int_or_float(), MPI_COMM_WORLD));
}

/* ---- they do not ---- */

static void broadcast_ints(const char *what, int count, MPI_Datatype type) {
  int words[COUNT];
  for (int k = 0; k < COUNT; k++)
    words[k] = trap_rank == 0 ? 10 + k : -1;
  MPI_Bcast(words, count, type, 0, MPI_COMM_WORLD);
  for (int k = 0; k < COUNT; k++)
    CHECK(words[k] == 10 + k, "%s: word %d is %d", what, k, words[k]);
}

static void other_makes_of_ints(void) {
  MPI_Datatype four, two;
  MPI_Type_contiguous(COUNT, MPI_INT, &four);
  MPI_Type_vector(2, 1, 1, MPI_UNSIGNED, &two);
  MPI_Type_commit(&four);
  MPI_Type_commit(&two);
  broadcast_ints("contiguous", trap_rank == 1 ? 1 : COUNT, trap_rank == 1 ? four : MPI_INT);
  broadcast_ints("vector", trap_rank == 0 ? 2 : COUNT, trap_rank == 0 ? two : MPI_INT32_T);
  broadcast_ints("bytes", trap_rank == 1 ? COUNT * 4 : COUNT, trap_rank == 1 ? MPI_BYTE : MPI_INT);
  broadcast_ints("bytes of root", trap_rank == 0 ? COUNT * 4 : COUNT, trap_rank == 0 ? MPI_CHAR : MPI_INT);
  broadcast_ints("packed", trap_rank == 1 ? COUNT * 4 : 1, trap_rank == 1 ? MPI_PACKED : four);
  MPI_Type_free(&four);
  MPI_Type_free(&two);
}

typedef struct cell {
  int number;
  double value;
} cell;

static bool is_right(const cell *of, int k) { return of->number == 5 + k && of->value == k + 0.5; }

/* Cells one by one, and as one struct of both; with gaps in other places at other ranks. */
static void other_makes_of_structs(void) {
  cell cells[2] = {{-1, -1}, {-1, -1}};
  MPI_Datatype one = make_struct(MPI_INT, MPI_DOUBLE, offsetof(cell, value)), each, both;
  MPI_Type_create_resized(one, 0, sizeof(cell), &each);
  MPI_Type_commit(&each);
  MPI_Type_create_struct(4, (int[]){1, 1, 1, 1},
                         (MPI_Aint[]){0, offsetof(cell, value), sizeof(cell), sizeof(cell) + offsetof(cell, value)},
                         (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_INTEGER4, MPI_REAL8}, &both);
  MPI_Type_commit(&both);
  for (int k = 0; k < 2 && trap_rank == 0; k++)
    cells[k] = (cell){5 + k, k + 0.5};
  MPI_Bcast(cells, trap_rank == 1 ? 1 : 2, trap_rank == 1 ? both : each, 0, MPI_COMM_WORLD);
  CHECK(is_right(&cells[0], 0) && is_right(&cells[1], 1), "cells of a broadcast");
  char packed[2 * 12];
  cell again[2 * MOST_RANKS];
  int at = 0;
  MPI_Pack(cells, 2, each, packed, sizeof packed, &at, MPI_COMM_SELF);
  memset(again, 0, sizeof again);
  if (trap_rank == 1) /* as a message it would be legal, and works */
    MPI_Allgather(packed, sizeof packed, MPI_PACKED, again, 1, both, MPI_COMM_WORLD);
  else
    MPI_Allgather(cells, 2, each, again, 1, both, MPI_COMM_WORLD);
  for (int n = 0; n < 2 * trap_size; n++)
    CHECK(is_right(&again[n], n % 2), "cell %d of an allgather", n);
  MPI_Type_free(&one);
  MPI_Type_free(&each);
  MPI_Type_free(&both);
}

static void pairs_and_structs(void) {
  struct pair {
    double value;
    int index;
  } pair = {trap_rank == 0 ? 2.5 : 0, trap_rank == 0 ? 3 : 0};
  MPI_Datatype made = make_struct(MPI_DOUBLE, MPI_INT, offsetof(struct pair, index));
  MPI_Bcast(&pair, 1, trap_rank == 1 ? made : MPI_DOUBLE_INT, 0, MPI_COMM_WORLD);
  CHECK(pair.value == 2.5 && pair.index == 3, "a pair is %g and %d", pair.value, pair.index);
  double numbers[2] = {pair.value, trap_rank == 0};
  MPI_Bcast(numbers, trap_rank == 1 ? 1 : 2, trap_rank == 1 ? MPI_C_DOUBLE_COMPLEX : MPI_DOUBLE, 0, MPI_COMM_WORLD);
  CHECK(numbers[1] == 1, "the imaginary part is %g", numbers[1]);
  MPI_Type_free(&made);
}

/* Two parts of one element beside another element, and the same parts one by one. */
static void parts_within_structs(void) {
  struct {
    int pair[2];
    double value;
  } mixed = {{0}, 0};
  struct {
    double parts[2];
    int index;
  } number = {{0}, 0};
  MPI_Datatype ints, doubles;
  MPI_Type_contiguous(2, MPI_INT, &ints);
  MPI_Type_contiguous(2, MPI_DOUBLE, &doubles);
  MPI_Datatype first = make_struct(trap_rank == 0 ? MPI_2INT : ints, MPI_DOUBLE, sizeof mixed.pair);
  MPI_Datatype second = make_struct(trap_rank == 1 ? MPI_C_DOUBLE_COMPLEX : doubles, MPI_INT, sizeof number.parts);
  if (trap_rank == 0) {
    mixed.pair[1] = 4;
    mixed.value = 2.5;
    number.parts[1] = 3.5;
    number.index = 5;
  }
  MPI_Bcast(&mixed, 1, first, 0, MPI_COMM_WORLD);
  CHECK(mixed.pair[1] == 4 && mixed.value == 2.5, "a pair's second is %d, what follows %g", mixed.pair[1], mixed.value);
  MPI_Bcast(&number, 1, second, 0, MPI_COMM_WORLD);
  CHECK(number.parts[1] == 3.5 && number.index == 5, "an imaginary part is %g, what follows %d", number.parts[1],
        number.index);
  MPI_Type_free(&first);
  MPI_Type_free(&second);
  MPI_Type_free(&ints);
  MPI_Type_free(&doubles);
}

/* Rank 1 sends nothing, of another type; ranks that exchange different things in pairs. */
static void types_of_nothing(void) {
  int word = 7 + trap_rank, out[MOST_RANKS], counts[MOST_RANKS], at[MOST_RANKS], none[MOST_RANKS] = {0};
  for (int r = 0; r < trap_size; r++) {
    counts[r] = r != 1;
    at[r] = r;
  }
  MPI_Gatherv(&word, trap_rank != 1, int_or_float(), out, counts, at, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(trap_rank != 0 || out[2] == 9, "gatherv brought %d of rank 2", out[2]);
  MPI_Bcast(&word, 0, int_or_float(), 0, MPI_COMM_WORLD);
  memset(counts, 0, sizeof counts);
  counts[trap_rank] = 1;
  MPI_Alltoallv(&word, counts, none, int_or_float(), out, counts, none, int_or_float(), MPI_COMM_WORLD);
  CHECK(out[0] == word, "alltoallv brought %d of this rank", out[0]);
}

/* Blocks of a type that is made of two, of another length for each. */
static void pairs_of_scatterv(void) {
  struct pair {
    float value;
    int index;
  } in[MOST_RANKS * MOST_RANKS], out[MOST_RANKS];
  int counts[MOST_RANKS], at[MOST_RANKS], count = 0;
  for (int r = 0; r < trap_size; r++) {
    counts[r] = r + 1;
    at[r] = count;
    count += r + 1;
  }
  for (int k = 0; k < count; k++)
    in[k] = (struct pair){(float)k / 2, k};
  MPI_Scatterv(in, counts, at, MPI_FLOAT_INT, out, trap_rank + 1, MPI_FLOAT_INT, 0, MPI_COMM_WORLD);
  for (int k = 0; k <= trap_rank; k++)
    CHECK(out[k].index == at[trap_rank] + k && out[k].value == (float)out[k].index / 2, "pair %d is %g and %d", k,
          (double)out[k].value, out[k].index);
}

const trap trap_types[] = {
    {"types_of_broadcast", 2, TRAP_MISUSE, types_of_broadcast},
    {"types_of_large_broadcast", 2, TRAP_MISUSE, types_of_large_broadcast},
    {"types_of_nonblocking_broadcast", 2, TRAP_MISUSE, types_of_nonblocking_broadcast},
    {"types_of_allgather", 2, TRAP_MISUSE, types_of_allgather},
    {"types_of_gather", 2, TRAP_MISUSE, types_of_gather},
    {"types_of_scatter_in_place", 2, TRAP_MISUSE, types_of_scatter_in_place},
    {"types_of_gatherv", 2, TRAP_MISUSE, types_of_gatherv},
    {"types_of_alltoall", 2, TRAP_MISUSE, types_of_alltoall},
    {"types_in_another_order", 2, TRAP_MISUSE, types_in_another_order},
    {"type_of_own_block", 2, TRAP_ALONE, type_of_own_block},
    {"other_makes_of_ints", 3, TRAP_ENDS, other_makes_of_ints},
    {"other_makes_of_structs", 3, TRAP_ENDS, other_makes_of_structs},
    {"pairs_and_structs", 3, TRAP_ENDS, pairs_and_structs},
    {"parts_within_structs", 3, TRAP_ENDS, parts_within_structs},
    {"types_of_nothing", 3, TRAP_ENDS, types_of_nothing},
    {"pairs_of_scatterv", 3, TRAP_ENDS, pairs_of_scatterv},
    {0},
};
