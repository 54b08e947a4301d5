/* tests/mpi/conform/call.c - the memory of a call, before and after; see call.h.
 *
 *     region 0   guard | in: block, gap, block ..... | guard      in place: both in one of them
 *     region 1   guard | out ....................... | guard */
#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- where blocks lie ---- */

static void order_blocks(int count, bool shuffled, uint64_t own, int *order) {
  for (int k = 0; k < count; k++)
    order[k] = k;
  for (int n = count; shuffled && n > 1; n--) {
    int other = (int)(mixed(own, (uint64_t)n) % (uint64_t)n), moved = order[other];
    order[other] = order[n - 1];
    order[n - 1] = moved;
  }
}

/* One type for all: blocks lie at multiples of its extent. */
static void lay_units(side *of, const test_case *test, layout_kind kind, bool gaps, uint64_t own) {
  int order[BLOCKS_MOST];
  int64_t first = gaps ? -(int64_t)(own % 3) : 0, at = first, unit_at[BLOCKS_MOST];
  order_blocks(of->block_count, gaps, own, order);
  for (int n = 0; n < of->block_count; n++) {
    at += gaps ? (int64_t)(mixed(own, (uint64_t)n) % 3) : 0;
    unit_at[order[n]] = at;
    at += of->block[order[n]].count;
  }
  layout made = layout_make(kind, test->base, collective_rows[test->collective].reduces ? 1 : ITEMS, at - first);
  of->layout[0] = made;
  for (int k = 0; k < of->block_count; k++) {
    of->at[k] = (MPI_Aint)unit_at[k] * made.extent;
    of->wide_displacements[k] = (MPI_Aint)unit_at[k] * made.scale;
  }
  of->begin = (MPI_Aint)first * made.extent + made.low;
  of->end = at == first ? 0 : layout_end(&made, at);
}

/* Each block its own type: blocks lie at bytes. */
static void lay_types(side *of, const test_case *test, uint64_t own) {
  int order[BLOCKS_MOST];
  MPI_Aint at = 0;
  order_blocks(of->block_count, true, own, order);
  for (int n = 0; n < of->block_count; n++) {
    int k = order[n];
    layout made = of->layout[k] = layout_make(of->block[k].kind, test->base, ITEMS, of->block[k].count);
    at += (MPI_Aint)(mixed(own, (uint64_t)n) % 3) * 8;
    of->at[k] = of->wide_displacements[k] = at - made.low;
    at += of->block[k].count > 0 ? layout_end(&made, of->block[k].count) - made.low : 0;
  }
  of->begin = 0;
  of->end = at;
}

static void lay_side(side *of, const test_case *test, bool in, uint64_t own) {
  const collective_row *row = &collective_rows[test->collective];
  extent_unit unit = in ? row->in : row->out;
  of->block_count = block_count(test, in);
  of->present = unit != UNIT_NONE && (test->comm->rank == test->root || !(in ? row->in_root : row->out_root));
  for (int k = 0; k < of->block_count; k++)
    of->block[k] = block_of(test, in, k);
  bool gaps = row->lists && unit != UNIT_ONE && !row->reduces;
  layout_kind kind = of->block_count > 0 ? of->block[0].kind : LAYOUT_PLAIN;
  if (of->present && row->types)
    lay_types(of, test, own);
  else if (of->present)
    lay_units(of, test, kind, gaps, own);
}

static void free_layouts(side *of, bool types) {
  for (int k = 0; k < (types ? of->block_count : 1); k++)
    layout_free(&of->layout[k]);
}

/* In place: inputs lie among the outputs, or outputs where inputs begin. */
static void lay_in_place(side *in, side *out, const collective_row *row, int rank) {
  in->region = out->region = 1;
  if (row->in_place == IN_PLACE_HEAD) {
    out->end = in->end;
    return;
  }
  free_layouts(in, row->types);
  for (int k = 0; k < in->block_count; k++) {
    in->at[k] = out->at[row->in_place == IN_PLACE_OWN ? rank : k];
    in->layout[k] = out->layout[k];
    in->layout[k].own = false;
  }
}

static void list_side(side *of, bool types) {
  for (int k = 0; k < of->block_count || k < 1; k++) {
    const layout *its = &of->layout[types ? k : 0];
    bool exists = of->present && (k < of->block_count || !types);
    of->types[k] = exists ? its->type : MPI_DATATYPE_NULL;
    of->wide_counts[k] = k < of->block_count ? of->block[k].count * its->scale : of->present ? 0 : -1;
    of->counts[k] = (int)of->wide_counts[k];
    of->displacements[k] = (int)of->wide_displacements[k];
  }
}

static void allocate(call *made, side *of) {
  if (!of->present)
    return;
  MPI_Aint skip = of->begin < 0 ? (-of->begin + 15) / 16 * 16 : 0; /* elements are aligned as C wants */
  made->bytes[of->region] = (size_t)(GUARD + skip + of->end + GUARD);
  made->region[of->region] = malloc(made->bytes[of->region]);
  of->base = made->region[of->region] + GUARD + skip;
}

void call_lay(call *made, const test_case *of) {
  const collective_row *row = &collective_rows[of->collective];
  bool has_both = of->comm->rank == of->root || !(row->in_root || row->out_root);
  uint64_t own = mixed(of->number, 1000 + (uint64_t)of->comm->rank);
  memset(made, 0, sizeof *made);
  made->of = *of;
  made->in_place = (of->in_place || of->collective == BCAST) && has_both && row->in_place != IN_PLACE_NEVER;
  lay_side(&made->in, of, true, own);
  lay_side(&made->out, of, false, own + 1);
  made->in.region = 0;
  made->out.region = 1;
  if (made->in_place && row->in_place == IN_PLACE_KEPT)
    made->out.present = false;
  else if (made->in_place)
    lay_in_place(&made->in, &made->out, row, of->comm->rank);
  list_side(&made->in, row->types);
  if (made->in_place && !row->reduces && row->in_place != IN_PLACE_KEPT) /* MPI must not look at them */
    made->in.types[0] = MPI_DATATYPE_NULL;
  list_side(&made->out, row->types);
  if (made->in.region == 0)
    allocate(made, &made->in);
  allocate(made, &made->out);
  if (made->in.region == 1)
    made->in.base = made->out.base;
  made->request = MPI_REQUEST_NULL;
}

void call_free(call *made) {
  bool types = collective_rows[made->of.collective].types;
  free_layouts(&made->in, types);
  free_layouts(&made->out, types);
  free(made->region[0]);
  free(made->region[1]);
  if (made->request != MPI_REQUEST_NULL)
    MPI_Request_free(&made->request);
}

/* ---- contents ---- */

static uint64_t seed_of(const call *made, int rank, int64_t index) {
  return mixed(mixed(made->of.number, (uint64_t)(made->round + 2 * rank)), (uint64_t)index);
}

static element joined(const call *made, const block *of, int64_t n) {
  const test_case *test = &made->of;
  element all = {0, 0};
  for (int rank = of->first; rank <= of->last; rank++) {
    element next = element_input(test->base, test->op, seed_of(made, rank, of->index) + (uint64_t)n);
    all = rank == of->first ? next : element_join(test->base, test->op, all, next);
  }
  return all;
}

static void write_item(const call *made, const block *of, int64_t n, unsigned char *to) {
  if (collective_rows[made->of.collective].reduces)
    element_write(made->of.base, joined(made, of, n), to);
  else
    element_write_bits(made->of.base, seed_of(made, of->first, of->index) + (uint64_t)n, to);
}

static const layout *layout_of(const call *made, const side *of, int k) {
  return &of->layout[collective_rows[made->of.collective].types ? k : 0];
}

typedef void item_function(const call *made, const block *of, int64_t n, unsigned char *at);

/* All items of a block, in memory where the side's base is `base`. */
static void each_item(const call *made, const side *of, int k, unsigned char *base, item_function *function) {
  const layout *its = layout_of(made, of, k);
  for (int64_t unit = 0; unit < of->block[k].count; unit++)
    for (int i = 0; i < its->items; i++)
      function(made, &of->block[k], unit * its->items + i,
               base + of->at[k] + (MPI_Aint)unit * its->extent + its->item_at[i]);
}

/* What is neither input nor output, such as gaps, differs between ranks, so that nobody gets another's unseen. */
static int filling(const call *made, int region) { return 0x20 + 16 * region + made->of.comm->rank; }

static unsigned char *base_in(const call *made, const side *of, unsigned char *const memory[2]) {
  return memory[of->region] + (of->base - made->region[of->region]);
}

static void paint(const call *made, unsigned char *const memory[2]) {
  for (int n = 0; n < 2; n++)
    if (memory[n] != NULL)
      memset(memory[n], filling(made, n), made->bytes[n]);
  for (int k = 0; made->in.present && k < made->in.block_count; k++)
    each_item(made, &made->in, k, base_in(made, &made->in, memory), write_item);
}

void call_fill(call *made, int round) {
  made->round = round;
  paint(made, made->region);
}

/* ---- the check ---- */

static void clear_item(const call *made, const block *of, int64_t n, unsigned char *at) {
  (void)of, (void)n;
  (collective_rows[made->of.collective].reduces ? element_clear_reduced : element_clear_padding)(made->of.base, at);
}

/* What a reduction in place leaves of its inputs behind its output is undefined. */
static void take_undefined(const call *made, unsigned char *const expected[2]) {
  MPI_Aint from = made->out.base - made->region[1];
  if (made->in_place && collective_rows[made->of.collective].in_place == IN_PLACE_HEAD)
    memcpy(expected[1] + from, made->out.base, (size_t)made->out.end);
}

static void paint_expected(const call *made, unsigned char *const expected[2]) {
  paint(made, expected);
  if (!made->out.present)
    return;
  take_undefined(made, expected);
  for (int k = 0; k < made->out.block_count; k++) {
    if (made->out.block[k].content == CONTENT_KEPT)
      continue;
    each_item(made, &made->out, k, base_in(made, &made->out, expected), write_item);
    each_item(made, &made->out, k, base_in(made, &made->out, expected), clear_item);
    each_item(made, &made->out, k, made->out.base, clear_item);
  }
}

static void report(const call *made, int region, const unsigned char *expected) {
  char text[400];
  size_t at = 0;
  int rank;
  const side *of = region == made->out.region ? &made->out : &made->in;
  while (made->region[region][at] == expected[at])
    at++;
  case_print(&made->of, text, sizeof text);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("WRONG at rank %d, world rank %d: %s, round %d: byte %td of %td..%td of %s is %#x, not %#x\n",
         made->of.comm->rank, rank, text, made->round, made->region[region] + at - of->base, (ptrdiff_t)of->begin,
         (ptrdiff_t)of->end, of == &made->out ? "out" : "in", made->region[region][at], expected[at]);
  fflush(stdout);
}

bool call_check(call *made) {
  unsigned char *expected[2] = {NULL, NULL};
  bool right = true;
  for (int n = 0; n < 2; n++)
    expected[n] = made->region[n] != NULL ? malloc(made->bytes[n]) : NULL;
  paint_expected(made, expected);
  for (int n = 0; n < 2 && right; n++) {
    right = expected[n] == NULL || memcmp(expected[n], made->region[n], made->bytes[n]) == 0;
    if (!right)
      report(made, n, expected[n]);
  }
  if (made->of.collective == BARRIER && !comms_entered(made->of.comm, made->ticket)) {
    printf("WRONG: %s barrier was left before all had entered\n", made->of.comm->name);
    right = false;
  }
  free(expected[0]);
  free(expected[1]);
  return right;
}
