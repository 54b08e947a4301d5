/* bindings/mpi/ops.c - MPI's operators as tutti applies them.
 *
 * MPI's own are tutti's where a type fits: a table; which types each takes, MPI is asked. All others are applied by
 * MPI_Reduce_local, which knows how to call them, in C and Fortran: a tutti operator for each (operator, type) that
 * meets. Ranks compare of those the bytes of an element and whether they commute, so that one that is no longer used
 * may serve another like it, and none is ever destroyed. */
#include "ops.h"

#include "call.h"
#include "contents.h"
#include "lock.h"
#include "state.h"
#include "types.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ELEMENT ((int64_t)16384) /* bytes that always fit into a slot of tutti */

/* ---- MPI's own ---- */

#define NUMBERS (TT_MPI_INTEGER | TT_MPI_FLOAT)
#define TRUTHS (TT_MPI_INTEGER | TT_MPI_LOGICAL)
#define BIT_FIELDS (TT_MPI_INTEGER | TT_MPI_BITS)

static const struct row {
  MPI_Op mpi;
  tutti_op tutti;
  int families; /* that both combine alike */
} rows[] = {
    {MPI_SUM, TUTTI_SUM, NUMBERS | TT_MPI_COMPLEX},
    {MPI_MAX, TUTTI_MAX, NUMBERS},
    {MPI_MIN, TUTTI_MIN, NUMBERS},
    {MPI_PROD, TUTTI_PRODUCT, NUMBERS | TT_MPI_COMPLEX},
    {MPI_LAND, TUTTI_LOGICAL_AND, TRUTHS},
    {MPI_LOR, TUTTI_LOGICAL_OR, TRUTHS},
    {MPI_LXOR, TUTTI_LOGICAL_XOR, TRUTHS},
    {MPI_BAND, TUTTI_BIT_AND, BIT_FIELDS},
    {MPI_BOR, TUTTI_BIT_OR, BIT_FIELDS},
    {MPI_BXOR, TUTTI_BIT_XOR, BIT_FIELDS},
    {MPI_MAXLOC, TUTTI_MAX_LOC, TT_MPI_PAIR},
    {MPI_MINLOC, TUTTI_MIN_LOC, TT_MPI_PAIR},
    {MPI_REPLACE, TUTTI_SUM, 0}, /* of windows */
    {MPI_NO_OP, TUTTI_SUM, 0},
};

static const struct row *row_of(MPI_Op op) {
  for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
    if (rows[n].mpi == op)
      return &rows[n];
  return NULL;
}

bool tt_mpi_op_is_own(MPI_Op op) { return row_of(op) != NULL; }

#define ASKED (UINT32_C(1) << 31)

/* MPIs differ in it, and their versions do. Asked once for a type, when it is first reduced; threads may do so at once.
 */
static bool is_taken(const tt_mpi_type *known, const struct row *by) {
  _Atomic uint32_t *kept = &((tt_mpi_type *)(uintptr_t)known)->taken;
  uint32_t taken = atomic_load_explicit(kept, memory_order_relaxed);
  if (taken == 0) {
    taken = ASKED;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
      taken |= (uint32_t)(rows[n].families && tt_mpi_type_takes(known->type, rows[n].mpi)) << n;
    atomic_store_explicit(kept, taken, memory_order_relaxed);
  }
  return taken >> (by - rows) & 1;
}

/* ---- applied by MPI ---- */

struct tt_mpi_applied {
  MPI_Op op; /* MPI_OP_NULL: this one waits for another use */
  MPI_Datatype type;
  int64_t bytes, lower;
  int commutes;
  bool cells;
  tutti_op tutti;
  tutti_type element;
  int64_t uses; /* works; the operator stays until there are none */
  bool freed;   /* by the program */
  tt_mpi_applied *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tt_mpi_applied *all;

static void reduce_local(const tt_mpi_applied *how, const char *left, char *inout, int64_t count) {
  for (int64_t done = 0; done < count;) {
    int now = count - done > INT_MAX ? INT_MAX : (int)(count - done);
    int64_t at = done * how->bytes - how->lower;
    PMPI_Reduce_local(tt_mpi_behind(left, at), tt_mpi_behind(inout, at), now, how->type, how->op);
    done += now;
  }
}

/* The result stands where the left operand does, and the operands may not change places. */
static void reduce_over_left(const tt_mpi_applied *how, char *left, const char *right, int64_t count) {
  _Alignas(64) char copy[MOST_ELEMENT];
  int64_t most = MOST_ELEMENT / how->bytes;
  for (int64_t done = 0; done < count; done += most) {
    int64_t now = count - done < most ? count - done : most, at = done * how->bytes;
    memcpy(copy, right + at, (size_t)(now * how->bytes));
    reduce_local(how, left + at, copy, now);
    memcpy(left + at, copy, (size_t)(now * how->bytes));
  }
}

static void apply(const void *left, const void *right, void *out, int64_t count, void *user) {
  const tt_mpi_applied *how = user;
  if (out == left && out != right) {
    if (how->commutes)
      reduce_local(how, right, out, count);
    else
      reduce_over_left(how, out, right, count);
    return;
  }
  if (out != right)
    memcpy(out, right, (size_t)(count * how->bytes));
  reduce_local(how, left, out, count);
}

/* ---- one for each operator and type that meet ---- */

static tt_mpi_applied *find(MPI_Op op, MPI_Datatype type) {
  tt_mpi_applied *at = all;
  while (at && !(at->op == op && at->type == type && !at->freed))
    at = at->next;
  return at;
}

static tt_mpi_applied *find_idle(int64_t bytes, int commutes) {
  tt_mpi_applied *at = all;
  while (at && !(at->op == MPI_OP_NULL && at->bytes == bytes && at->commutes == commutes))
    at = at->next;
  return at;
}

/* tutti's types live as long as its context: one for each number of bytes. */
static tutti_type type_of(int64_t bytes) {
  for (const tt_mpi_applied *at = all; at; at = at->next)
    if (at->bytes == bytes)
      return at->element;
  return TUTTI_TYPE_COUNT;
}

static tt_mpi_applied *create(int64_t bytes, int commutes, tutti_type element) {
  tt_mpi_applied *made = calloc(1, sizeof *made);
  tutti_status status = made ? TUTTI_OK : TUTTI_ERR_MEMORY;
  if (!made)
    return NULL;
  *made = (tt_mpi_applied){.op = MPI_OP_NULL, .bytes = bytes, .commutes = commutes, .element = element};
  tt_mpi_lock();
  if (element == TUTTI_TYPE_COUNT)
    status = tutti_type_create(tt_mpi.context, (size_t)bytes, &made->element);
  if (status == TUTTI_OK)
    status = tutti_op_create(tt_mpi.context, apply, made, (size_t)bytes, commutes, &made->tutti);
  tt_mpi_unlock();
  if (status == TUTTI_OK)
    return made;
  free(made);
  return NULL;
}

/* How elements lie; false: they cannot be combined as so many bytes each. */
static bool lay_out(MPI_Datatype type, tt_mpi_shape *shape, const char **why) {
  if (!tt_mpi_shape_of(type, shape))
    return false;
  if (!shape->within || shape->size == 0)
    *why = "elements of a type that overlap, or are empty";
  else if (shape->extent > MOST_ELEMENT)
    *why = "elements longer than 16 KiB";
  return !*why;
}

/* The type is no more. Works hold their types: none uses it. */
static void forget(MPI_Datatype type) {
  pthread_mutex_lock(&lock);
  for (tt_mpi_applied *at = all; at; at = at->next)
    if (at->op != MPI_OP_NULL && at->type == type)
      at->op = MPI_OP_NULL;
  pthread_mutex_unlock(&lock);
}

/* tt_mpi_lock is taken with `lock` not held: whoever holds it may free types. */
static tt_mpi_applied *make(MPI_Op op, MPI_Datatype type, const tt_mpi_shape *shape) {
  int commutes;
  if (PMPI_Op_commutative(op, &commutes) != MPI_SUCCESS)
    return NULL;
  tt_mpi_types_tell(forget);
  pthread_mutex_lock(&lock);
  tt_mpi_applied *made = find_idle(shape->extent, commutes);
  tutti_type element = type_of(shape->extent);
  if (!made) {
    pthread_mutex_unlock(&lock);
    made = create(shape->extent, commutes, element);
    if (!made)
      return NULL;
    pthread_mutex_lock(&lock);
    made->next = all;
    all = made;
  }
  made->op = op;
  made->type = type;
  made->lower = shape->bound;
  made->cells = !shape->dense && !tt_mpi_type_find(type);
  made->freed = false;
  pthread_mutex_unlock(&lock);
  return made;
}

/* Whether MPI combines elements of a type of its own that predefined.c does not have; no other type is sure to fit what
 * tt_mpi_type_takes has. */
static bool is_taken_unknown(MPI_Op op, MPI_Datatype type) {
  tt_mpi_shape shape;
  pthread_mutex_lock(&lock);
  bool met = find(op, type) != NULL;
  pthread_mutex_unlock(&lock);
  return met || (tt_mpi_shape_of(type, &shape) && tt_mpi_type_is_basic(type) && tt_mpi_type_takes(type, op));
}

static bool find_applied(MPI_Op op, MPI_Datatype type, tt_mpi_reduction *reduction, const char **why) {
  tt_mpi_shape shape;
  *why = tt_mpi_reduces_locally() ? NULL : "operator that this MPI does not apply in programs with sessions only";
  if (*why)
    return false;
  pthread_mutex_lock(&lock);
  tt_mpi_applied *applied = find(op, type);
  pthread_mutex_unlock(&lock);
  if (!applied && !lay_out(type, &shape, why))
    return false;
  if (!applied && !(applied = make(op, type, &shape)))
    return false;
  *reduction = (tt_mpi_reduction){.op = applied->tutti,
                                  .element = applied->element,
                                  .bytes = applied->bytes,
                                  .lower = applied->lower,
                                  .cells = applied->cells,
                                  .applied = applied};
  return true;
}

bool tt_mpi_reduction_find(MPI_Op op, MPI_Datatype type, tt_mpi_reduction *reduction, const char **why) {
  const struct row *row = row_of(op);
  const tt_mpi_type *known = row ? tt_mpi_type_find(type) : NULL;
  *why = NULL;
  if (op == MPI_OP_NULL || type == MPI_DATATYPE_NULL)
    return false;
  if (row && !(known ? is_taken(known, row) : is_taken_unknown(op, type)))
    return false;
  if (!known || known->element == TUTTI_TYPE_COUNT || !(row->families & known->family))
    return find_applied(op, type, reduction, why);
  *reduction = (tt_mpi_reduction){.op = row->tutti, .element = known->element, .bytes = known->shape.extent};
  return true;
}

/* ---- what the program frees ---- */

MPI_Datatype tt_mpi_applied_hold(tt_mpi_applied *applied) {
  pthread_mutex_lock(&lock);
  applied->uses++;
  pthread_mutex_unlock(&lock);
  return tt_mpi_type_hold(applied->type);
}

static bool is_used(MPI_Op op) {
  for (const tt_mpi_applied *at = all; at; at = at->next)
    if (at->op == op && at->uses > 0)
      return true;
  return false;
}

/* All that apply it are idle again. */
static void retire(MPI_Op op) {
  for (tt_mpi_applied *at = all; at; at = at->next)
    if (at->op == op)
      at->op = MPI_OP_NULL;
}

void tt_mpi_applied_release(tt_mpi_applied *applied) {
  if (!applied)
    return;
  pthread_mutex_lock(&lock);
  applied->uses--;
  MPI_Op op = applied->op;
  bool last = applied->freed && !is_used(op);
  if (last)
    retire(op);
  pthread_mutex_unlock(&lock);
  if (last)
    PMPI_Op_free(&op);
}

/* Later, where calls that are not complete still apply the operator. */
int MPI_Op_free(MPI_Op *op) {
  pthread_mutex_lock(&lock);
  bool later = op && is_used(*op);
  for (tt_mpi_applied *at = all; at && later; at = at->next)
    at->freed = at->freed || at->op == *op;
  if (op && !later && !row_of(*op))
    retire(*op);
  pthread_mutex_unlock(&lock);
  if (!later)
    return PMPI_Op_free(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}
