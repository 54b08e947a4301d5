/* tests/mpi/random/layouts.c - derived types, and places for blocks of them. */
#include "random.h"

static void shuffle(int *list, int count, stream *from) {
  for (int n = count - 1; n > 0; n--) {
    int other = pick(from, n + 1), kept = list[n];
    list[n] = list[other];
    list[other] = kept;
  }
}

/* Single elements: close together or apart, in order or not. */
static void make_indexed(MPI_Datatype element, int unit, stream *from, MPI_Datatype *made) {
  int at[MOST_BLOCKS], lengths[MOST_BLOCKS], apart = 1 + pick(from, 3);
  for (int n = 0; n < unit; n++) {
    at[n] = n * apart;
    lengths[n] = 1;
  }
  if (pick(from, 2))
    shuffle(at, unit, from);
  MPI_Type_indexed(unit, lengths, at, element, made);
}

static void make_struct(MPI_Datatype element, int unit, MPI_Datatype *made) {
  int lengths[MOST_BLOCKS];
  MPI_Aint at[MOST_BLOCKS];
  MPI_Datatype types[MOST_BLOCKS];
  for (int n = 0; n < unit; n++) {
    at[n] = (n - 2) * 2 * extent_of(element);
    lengths[n] = 1;
    types[n] = element;
  }
  MPI_Type_create_struct(unit, lengths, at, types, made);
}

static void make_subarray(MPI_Datatype element, int unit, stream *from, MPI_Datatype *made) {
  const int sizes[2] = {unit + 2, 4}, parts[2] = {unit, 1}, starts[2] = {pick(from, 3), pick(from, 4)};
  MPI_Type_create_subarray(2, sizes, parts, starts, pick(from, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, element, made);
}

static void make_type(MPI_Datatype element, int unit, stream *from, MPI_Datatype *made) {
  int block = unit % 2 ? 1 : 2;
  MPI_Aint shift = 3 * extent_of(element);
  switch (pick(from, 8)) {
  case 0:
    MPI_Type_contiguous(unit, element, made);
    break;
  case 1:
    MPI_Type_vector(unit / block, block, block + pick(from, 4), element, made);
    break;
  case 2:
    MPI_Type_vector(unit, 1, -1 - pick(from, 3), element, made);
    break;
  case 3:
    make_struct(element, unit, made);
    break;
  case 4:
    make_subarray(element, unit, from, made);
    break;
  case 5:
    MPI_Type_create_hindexed_block(1, unit, &shift, element, made);
    break;
  default:
    make_indexed(element, unit, from, made);
  }
}

/* Frees the old one. */
static void change_bounds(MPI_Datatype *type, int64_t element, stream *from) {
  MPI_Datatype old = *type;
  MPI_Aint lower, extent;
  MPI_Type_get_extent(old, &lower, &extent);
  MPI_Type_create_resized(old, lower - pick(from, 3) * element, extent + (2 + pick(from, 3)) * element, type);
  MPI_Type_free(&old);
}

static void duplicate(MPI_Datatype *type) {
  MPI_Datatype old = *type;
  MPI_Type_dup(old, type);
  MPI_Type_free(&old);
}

layout make_layout(const element *of, int unit, stream *from) {
  layout made = {.type = of->type, .made = unit > 1 || pick(from, 4) > 0};
  MPI_Aint lower, extent;
  if (made.made) {
    make_type(of->type, unit, from, &made.type);
    if (pick(from, 3) == 0)
      change_bounds(&made.type, extent_of(of->type), from);
    if (pick(from, 6) == 0)
      duplicate(&made.type);
    MPI_Type_commit(&made.type);
  }
  made.extent = extent_of(made.type);
  MPI_Type_get_true_extent(made.type, &lower, &extent);
  made.low = lower;
  made.high = lower + extent;
  return made;
}

void free_layout(layout *of) {
  if (of->made)
    MPI_Type_free(&of->type);
}

MPI_Datatype at_address(const char *at, MPI_Datatype type) {
  MPI_Aint address;
  MPI_Datatype made;
  MPI_Get_address(at, &address);
  MPI_Type_create_hindexed_block(1, 1, &address, type, &made);
  MPI_Type_commit(&made);
  return made;
}

/* Calls of one rank are MPI's own, and MPICH's are wrong there. */
view make_view(char *at, MPI_Datatype type, stream *from) {
  if (size == 1 || pick(from, 3) > 0)
    return (view){.at = at, .type = type};
  return (view){.at = MPI_BOTTOM, .type = at_address(at, type), .made = true};
}

void free_view(view *of) {
  if (of->made)
    MPI_Type_free(&of->type);
}

int64_t extents_of(const layout *of, int64_t count) {
  int64_t reach = of->high - of->low;
  return count == 0 ? 1 : count + (reach > of->extent ? (reach - 1) / of->extent : 0);
}

void place_blocks(blocks *of, int count, const layout *layout, stream *from) {
  int order[MOST_BLOCKS];
  int64_t at = -pick(from, 20);
  for (int n = 0; n < count; n++)
    order[n] = n;
  shuffle(order, count, from);
  for (int n = 0; n < count; n++) {
    of->at[order[n]] = (int)at;
    at += extents_of(layout, of->count[order[n]]) + pick(from, 3);
  }
}
