/* tests/mpi/conform/layout.c - makes the derived types; see layout.h. */
#include "layout.h"

/* Where the elements lie, in elements, and the extent. Columns are stated as if there was one unit. */
typedef struct layout_row {
  const char *name;
  int at[ITEMS], extent;
} layout_row;

static const layout_row rows[LAYOUT_COUNT] = {
    [LAYOUT_PLAIN] = {"plain", {0, 1, 2, 3, 4, 5}, 6},
    [LAYOUT_CONTIGUOUS] = {"contiguous", {0, 1, 2, 3, 4, 5}, 6},
    [LAYOUT_VECTOR] = {"vector", {0, 1, 3, 4, 6, 7}, 8},
    [LAYOUT_RESIZED] = {"resized", {0, 1, 2, 3, 4, 5}, 9},
    [LAYOUT_INDEXED] = {"indexed", {7, 4, 5, 0, 1, 2}, 8},
    [LAYOUT_STRUCT] = {"struct", {0, 2, 3, 5, 6, 7}, 8},
    [LAYOUT_NEGATIVE] = {"negative", {-4, -3, -2, 0, 1, 2}, 8},
    [LAYOUT_SUBARRAY] = {"subarray", {5, 6, 7, 9, 10, 11}, 12},
    [LAYOUT_COLUMNS] = {"columns", {0, 1, 2, 3, 4, 5}, 1},
};

const char *layout_name(layout_kind kind) { return rows[kind].name; }

static MPI_Datatype resized_take(MPI_Datatype type, MPI_Aint low, MPI_Aint extent) {
  MPI_Datatype made;
  MPI_Type_create_resized(type, low, extent, &made);
  MPI_Type_free(&type);
  return made;
}

static MPI_Datatype structure(MPI_Datatype base, MPI_Aint size) {
  MPI_Datatype two, made;
  MPI_Type_contiguous(2, base, &two);
  MPI_Type_create_struct(3, (int[]){1, 1, 3}, (MPI_Aint[]){0, 2 * size, 5 * size}, (MPI_Datatype[]){base, two, base},
                         &made);
  MPI_Type_free(&two);
  return made;
}

static MPI_Datatype type_of(layout_kind kind, MPI_Datatype base, MPI_Aint size, int64_t total) {
  MPI_Datatype made = base;
  switch (kind) {
  case LAYOUT_CONTIGUOUS:
    MPI_Type_contiguous(ITEMS, base, &made);
    break;
  case LAYOUT_VECTOR:
    MPI_Type_vector(3, 2, 3, base, &made);
    break;
  case LAYOUT_RESIZED:
    MPI_Type_contiguous(ITEMS, base, &made);
    return resized_take(made, 0, 9 * size);
  case LAYOUT_INDEXED:
    MPI_Type_indexed(3, (int[]){1, 2, 3}, (int[]){7, 4, 0}, base, &made);
    break;
  case LAYOUT_STRUCT:
    return structure(base, size);
  case LAYOUT_NEGATIVE:
    MPI_Type_create_hindexed(2, (int[]){3, 3}, (MPI_Aint[]){-4 * size, 0}, base, &made);
    return resized_take(made, -4 * size, 8 * size);
  case LAYOUT_SUBARRAY:
    MPI_Type_create_subarray(2, (int[]){3, 4}, (int[]){2, 3}, (int[]){1, 1}, MPI_ORDER_C, base, &made);
    break;
  case LAYOUT_COLUMNS:
    MPI_Type_create_hvector(ITEMS, 1, (MPI_Aint)total * size, base, &made);
    return resized_take(made, 0, size);
  default:
    break;
  }
  return made;
}

layout layout_make(layout_kind kind, const base_type *of, int items, int64_t total) {
  MPI_Aint size = (MPI_Aint)of->extent, stride = kind == LAYOUT_COLUMNS ? (MPI_Aint)(total > 0 ? total : 1) : 1;
  layout made = {.items = items, .scale = kind == LAYOUT_PLAIN ? items : 1, .own = kind != LAYOUT_PLAIN};
  made.type = type_of(kind, of->type, size, stride);
  made.extent = size * (kind == LAYOUT_PLAIN ? items : rows[kind].extent);
  for (int i = 0; i < items; i++) {
    made.item_at[i] = rows[kind].at[i] * stride * size;
    made.low = i == 0 || made.item_at[i] < made.low ? made.item_at[i] : made.low;
    made.high = i == 0 || made.item_at[i] + size > made.high ? made.item_at[i] + size : made.high;
  }
  if (made.own)
    MPI_Type_commit(&made.type);
  return made;
}

void layout_free(layout *of) {
  if (of->own)
    MPI_Type_free(&of->type);
}
